package kubelet

import (
	"testing"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// TestSelected checks that lines of a process are a selection if all of them, in every file, contain a word, or too few
// are ordinary ones.
func TestSelected(t *testing.T) {
	of := func(kept int, common ...string) *parse.Coverage {
		return &parse.Coverage{Origin: &parse.Origin{Source: parse.SrcKubelet, PID: 42}, Lines: 500, Kept: kept, Common: common}
	}
	for name, c := range map[string]struct {
		files []*parse.Coverage
		want  bool
	}{
		"whole":                      {[]*parse.Coverage{of(100)}, false},
		"all lines contain a word":   {[]*parse.Coverage{of(100, "pod")}, true},
		"in one of two files":        {[]*parse.Coverage{of(100, "pod"), of(100)}, false},
		"hardly a line is ordinary":  {[]*parse.Coverage{of(499)}, true},
		"two files, each by a word":  {[]*parse.Coverage{of(100, "pod"), of(100, "default")}, true},
		"two files without any word": {[]*parse.Coverage{of(100), of(100)}, false},
	} {
		w := &Witness{runs: make([]sight, 1)}
		w.pick(&Log{Records: &host.Records{Coverage: c.files}, Runs: []Run{{PID: 42}}})
		if got := w.runs[0].filtered; got != c.want {
			t.Errorf("%s: a selection: %v, want %v", name, got, c.want)
		}
	}
}
