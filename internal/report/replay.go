package report

import (
	"bufio"
	"cmp"
	"io"
	"slices"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// ReplayWriter writes a replay while it runs: relists one by one, then the rest. End returns the
// first error that occurred.
type ReplayWriter interface {
	Relist(model.SimRelist)
	End(model.ReplayEnd) error
}

// ReplayFormat is an output format of replay.
type ReplayFormat struct {
	Name  string
	About string
	New   func(w io.Writer, p model.Profile, showFiltered, made bool) ReplayWriter // made: a scenario is simulated
}

// ReplayFormats lists the output formats of replay.
var ReplayFormats = []ReplayFormat{
	{"text", "events, health and the answer, for people", newReplayText},
	{"json", "one object, schema plegforensics/replay/v1", newReplayJSON},
}

// replayJSON writes plegforensics/replay/v1 with one relist per line.
type replayJSON struct {
	*bufio.Writer
	err      error
	sep      string
	filtered bool
}

func newReplayJSON(w io.Writer, p model.Profile, showFiltered, _ bool) ReplayWriter {
	j := &replayJSON{Writer: bufio.NewWriterSize(w, 1<<16), filtered: showFiltered}
	j.value("{\"schema\":\"plegforensics/replay/v1\",\n\"profile\":", p, 0)
	j.sep = ",\n\"relists\":[\n"
	return j
}

// value writes before and then v as JSON without its first without bytes.
func (j *replayJSON) value(before string, v any, without int) {
	b, err := model.Compact(v)
	j.err = cmp.Or(j.err, err)
	j.WriteString(before)
	j.Write(b[min(without, len(b)):])
}

// Relist implements ReplayWriter.
func (j *replayJSON) Relist(r model.SimRelist) {
	if !j.filtered {
		r.Events = slices.DeleteFunc(r.Events, func(e model.SimEvent) bool { return e.Filtered })
	}
	j.value(j.sep, r, 0)
	j.sep = ",\n"
}

// End implements ReplayWriter: the fields of end become siblings of "relists".
func (j *replayJSON) End(end model.ReplayEnd) error {
	if j.sep != ",\n" {
		j.WriteString(",\n\"relists\":[")
	}
	j.value("\n],\n", end, len("{"))
	j.WriteString("\n")
	return cmp.Or(j.err, j.Flush())
}
