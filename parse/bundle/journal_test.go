package bundle

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// TestBinaryJournal decodes the same entries from journals of different
// compression: the events must be the same, whatever the number of workers.
func TestBinaryJournal(t *testing.T) {
	want := ""
	for _, name := range []string{"regular-plain-lz4.journal.xz", "regular-plain-xz.journal.xz"} {
		for _, jobs := range []int{1, 4} {
			b := load(t, Options{Jobs: jobs}, filepath.Join("..", "journal", "binary", "testdata", name))
			var got strings.Builder
			for _, e := range b.Events {
				if e.Line == 0 || e.Line > 728 || e.Origin.Boot == "" || e.Origin.Unit != "kubelet.service" || e.Basis != parse.Stated && e.Basis != parse.ZoneInferred {
					t.Fatalf("%s: event at %v of %+v, basis %v", name, e.Where(), *e.Origin, e.Basis)
				}
				fmt.Fprintf(&got, "%d %d %s\n", e.Line, e.At, e.Text())
			}
			if want == "" {
				want = got.String()
			}
			if got.String() != want || len(b.Events) < 100 {
				t.Errorf("%s with %d workers: %d events differ from the first", name, jobs, len(b.Events))
			}
			if k := b.Inputs[0].Kind; k != "journal" {
				t.Errorf("%s: kind %q", name, k)
			}
		}
	}
}
