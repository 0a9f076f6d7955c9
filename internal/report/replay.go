package report

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
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
	one      model.SimRelist // the one being written
}

func newReplayJSON(w io.Writer, p model.Profile, showFiltered, _ bool) ReplayWriter {
	j := &replayJSON{Writer: bufio.NewWriterSize(w, 1<<16), filtered: showFiltered}
	j.WriteString("{\"schema\":\"plegforensics/replay/v1\",\n\"profile\":")
	j.err = model.CompactTo(j, p)
	j.sep = ",\n\"relists\":[\n"
	return j
}

// Relist implements ReplayWriter.
func (j *replayJSON) Relist(r model.SimRelist) {
	if !j.filtered {
		r.Events = slices.DeleteFunc(r.Events, func(e model.SimEvent) bool { return e.Filtered })
	}
	j.WriteString(j.sep)
	j.one = r
	j.err = cmp.Or(j.err, model.CompactTo(j, &j.one))
	j.sep = ",\n"
}

// End implements ReplayWriter: the fields of end become siblings of "relists".
func (j *replayJSON) End(end model.ReplayEnd) error {
	if j.sep != ",\n" {
		j.WriteString(",\n\"relists\":[")
	}
	b, err := model.Compact(end)
	fmt.Fprintf(j, "\n],\n%s\n", bytes.TrimPrefix(b, []byte("{")))
	j.err = cmp.Or(j.err, err)
	return cmp.Or(j.err, j.Flush())
}
