package report

import (
	"encoding/json"
	"io"
	"math"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/replay"
)

func writeJSON(w io.Writer, r *Report, _ Options) error { return Encode(w, model.Fill(r, nil)) }

func writeTimelineJSON(w io.Writer, r *Report, _ Options) error {
	return Encode(w, model.Fill(r, nil).Timeline())
}

func writeInspectJSON(w io.Writer, r *Report, _ Options) error {
	return Encode(w, model.Fill(r, nil).Inspect())
}

// Encode writes one JSON document of the model.
func Encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

type jsonEvidence struct {
	File   string  `json:"file"`
	Line   uint32  `json:"line,omitempty"`
	Offset *int64  `json:"offset,omitempty"` // nil in an export that was laid out
	Time   *string `json:"time"`
	Text   string  `json:"text"`
	Source string  `json:"source"`
	Note   string  `json:"note,omitempty"`
}

// encode writes one JSON document, given by pointer: strings made visible, but
// no HTML escaping.
func encode(w io.Writer, v any) error {
	scrub(v)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func evidenceJSON(es []replay.Evidence) []jsonEvidence {
	out := []jsonEvidence{}
	for _, e := range es {
		if e.Record == nil {
			continue
		}
		p := e.Where()
		j := jsonEvidence{Line: p.Line, Text: Quote(e.Quote()), Source: string(e.From()), Note: Visible(e.Note)}
		if p.File != nil {
			j.File = Visible(p.File.Path)
		}
		if p.File == nil || !p.File.Export {
			j.Offset = &p.Offset
		}
		if s := e.When(); s.Basis > 0 {
			j.Time = stamp(s.At)
		}
		out = append(out, j)
	}
	return out
}

// stamp formats Unix ns as RFC 3339 with nanoseconds in UTC, nil for unknown.
func stamp(at int64) *string {
	if at == 0 {
		return nil
	}
	s := time.Unix(0, at).UTC().Format("2006-01-02T15:04:05.000000000Z")
	return &s
}

func known(s string) *string {
	if s == "" {
		return nil
	}
	s = Visible(s)
	return &s
}

func number(f float64) *float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return &f
}

func positive(d time.Duration) *float64 {
	if d <= 0 {
		return nil
	}
	return number(seconds(d))
}

func notNegative(d time.Duration) *float64 {
	if d < 0 {
		return nil
	}
	return number(seconds(d))
}

func round2(f float64) float64 { return math.Round(f*100) / 100 }

// list is xs made visible, never null.
func list(xs []string) []string {
	out := []string{}
	for _, x := range xs {
		out = append(out, Visible(x))
	}
	return out
}
