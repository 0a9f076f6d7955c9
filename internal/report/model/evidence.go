package model

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// Evidence is a line of an input and the reason it is cited.
type Evidence struct {
	File   string `json:"file"`
	Line   uint32 `json:"line,omitempty"`
	Offset *int64 `json:"offset,omitempty"` // nil if the input was an export that had to be decoded
	Time   Time   `json:"time"`
	Text   string `json:"text"`
	Source string `json:"source"`
	Note   string `json:"note,omitempty"`

	message func() string
	Length  int `json:"-"` // of the original line, in bytes
	Input   int `json:"-"` // index of the input, -1 unknown
}

// Message returns the message for people: without framing and header, JSON turned into words.
func (e *Evidence) Message() string {
	if e.message == nil {
		return ""
	}
	return e.message()
}

// Where returns file:line, or the file alone if no line is known.
func (e *Evidence) Where() string {
	if e.Line == 0 {
		return e.File
	}
	return e.File + ":" + strconv.FormatUint(uint64(e.Line), 10)
}

// Proof is a list of evidence whose elements are made on demand: of thousands of relists, a text
// report quotes ten.
type Proof struct {
	cited []replay.Evidence
	clean *Cleaner
	made  []Evidence // used instead of cited if not nil
}

// ProofOf returns a Proof of evidence that is already clean.
func ProofOf(es ...Evidence) Proof { return Proof{made: es} }

// Proof returns a Proof that cleans es on demand.
func (c *Cleaner) Proof(es []replay.Evidence) Proof {
	if c != nil && c.citer != nil {
		c.citer.Cited(es)
	}
	note := func(e replay.Evidence) bool { return e.Record == nil }
	if slices.ContainsFunc(es, note) { // rare: a note without a line is not evidence
		es = slices.DeleteFunc(slices.Clone(es), note)
	}
	return Proof{cited: es, clean: c}
}

func (c *Cleaner) record(r parse.Record) Proof { return c.Proof([]replay.Evidence{{Record: r}}) }

// Len returns the number of pieces of evidence.
func (p Proof) Len() int { return len(p.made) + len(p.cited) }

// At returns the i-th piece of evidence.
func (p Proof) At(i int) Evidence {
	if p.made != nil {
		return p.made[i]
	}
	return p.clean.evidence(p.cited[i])
}

// Best returns the first piece of evidence, or nil if there is none.
func (p Proof) Best() *Evidence {
	if p.Len() == 0 {
		return nil
	}
	e := p.At(0)
	return &e
}

// First returns the first n pieces of evidence, or all if there are fewer.
func (p Proof) First(n int) []Evidence {
	out := make([]Evidence, min(n, p.Len()))
	for i := range out {
		out[i] = p.At(i)
	}
	return out
}

// Told returns the first n pieces of evidence that have a note. If none has, it returns the first
// piece alone.
func (p Proof) Told(n int) (out []Evidence) {
	for i := 0; i < p.Len() && len(out) < n; i++ {
		if e := p.At(i); e.Note != "" {
			out = append(out, e)
		}
	}
	if out == nil {
		return p.First(min(n, 1))
	}
	return out
}

// All returns all evidence, never nil.
func (p Proof) All() []Evidence { return p.First(p.Len()) }

// MarshalJSONTo implements json.MarshalerTo.
func (p Proof) MarshalJSONTo(e *jsontext.Encoder) error {
	var one Evidence
	return encodeList(e, func(yield func(*Evidence) bool) {
		for i := 0; i < p.Len(); i++ {
			if one = p.At(i); !yield(&one) {
				return
			}
		}
	})
}

// evidence cleans one piece of evidence.
func (c *Cleaner) evidence(e replay.Evidence) Evidence {
	at := e.Where()
	text, shown := c.quotation(e.Record)
	out := Evidence{Line: at.Line, Text: shown, Source: string(e.From()), Note: c.text(e.Note), Length: len(text), Input: -1}
	if at.File != nil {
		out.File, out.Input = c.path(at.File.Path), at.File.Input
	}
	if at.File == nil || !at.File.Export {
		out.Offset = &at.Offset
	}
	_, fact := e.Record.(*parse.Fact) // a fact dated by its file: the time the file was saved, not that of the observation
	if s := e.When(); s.Basis > parse.FileTime || s.Basis == parse.FileTime && !fact {
		out.Time = Time(s.At)
	}
	out.message = func() string {
		if ev, ok := e.Record.(*parse.Event); ok {
			text = cmp.Or(ev.Message(), text)
		}
		return c.quote(parse.Readable(text))
	}
	return out
}
