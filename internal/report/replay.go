package report

import (
	"bufio"
	"io"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// ReplayWriter writes a replay while it runs: relists one by one, then the
// rest. Errors are kept and returned by End.
type ReplayWriter interface {
	Relist(model.SimRelist)
	End(model.ReplayEnd) error
}

// ReplayFormat is an output format of replay.
type ReplayFormat struct {
	Name  string
	About string
	New   func(w io.Writer, p model.Profile, showFiltered bool) ReplayWriter
	Made  func(w io.Writer, p model.Profile, showFiltered bool) ReplayWriter // of a scenario
}

// ReplayFormats are the output formats of replay.
var ReplayFormats = []ReplayFormat{
	{"text", "events, health and the answer, for people", newReplayText, newScenarioText},
	{"json", "one object, schema plegforensics/replay/v1", newReplayJSON, newReplayJSON},
}

// replayJSON writes plegforensics/replay/v1 one relist a line.
type replayJSON struct {
	w        *bufio.Writer
	err      error
	n        int
	filtered bool
}

func newReplayJSON(w io.Writer, p model.Profile, showFiltered bool) ReplayWriter {
	j := &replayJSON{w: bufio.NewWriterSize(w, 1<<16), filtered: showFiltered}
	j.text("{\"schema\":\"plegforensics/replay/v1\",\n\"profile\":")
	j.value(p)
	j.text(",\n\"relists\":[")
	return j
}

func (j *replayJSON) text(s string) {
	if j.err == nil {
		_, j.err = j.w.WriteString(s)
	}
}

func (j *replayJSON) value(v any) {
	b, err := model.Compact(v)
	if err != nil && j.err == nil {
		j.err = err
	}
	j.text(string(b))
}

// Relist implements ReplayWriter.
func (j *replayJSON) Relist(r model.SimRelist) {
	if j.n++; j.n > 1 {
		j.text(",")
	}
	j.text("\n")
	if !j.filtered {
		kept := r.Events[:0]
		for _, e := range r.Events {
			if !e.Filtered {
				kept = append(kept, e)
			}
		}
		r.Events = kept
	}
	j.value(r)
}

// End implements ReplayWriter.
func (j *replayJSON) End(end model.ReplayEnd) error {
	b, err := model.Compact(end)
	if err != nil && j.err == nil {
		j.err = err
	}
	j.text("\n],\n")
	if len(b) > 1 {
		j.text(string(b[1:])) // its fields stand beside "relists"
	}
	j.text("\n")
	if j.err != nil {
		return j.err
	}
	return j.w.Flush()
}
