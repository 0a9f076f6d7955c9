package bundle

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mikelolasagasti/xz"

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

// TestJournalOverwritten: messages that were overwritten in a binary journal are told, and are a place where
// something is lost.
func TestJournalOverwritten(t *testing.T) {
	data := journalData(t)
	whole, _ := loaded(t, file(t, "x.journal", data))
	at := bytes.Index(data, []byte("PLEG is not healthy: pleg was last seen"))
	clear(data[at : at+24])
	b, _ := loaded(t, file(t, "x.journal", data))
	holes := slices.DeleteFunc(slices.Clone(b.Markers), func(m *parse.Marker) bool { return m.Kind != parse.MarkHole })
	if len(b.Warnings) != 1 || b.Warnings[0].Offset > int64(at) || b.Warnings[0].Offset < int64(at)-500 || !b.Inputs[0].Partial ||
		len(holes) != 1 || !holes[0].Raw.Set || len(b.Events) >= len(whole.Events) || whole.Inputs[0].Partial {
		t.Errorf("bytes at %d: partial %v, damage at %d, holes %v, %d events of %d", at, b.Inputs[0].Partial, b.Warnings[0].Offset, holes, len(b.Events), len(whole.Events))
	}
}

// journalData returns a journal.
func journalData(t *testing.T) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "journal", "binary", "testdata", "regular-plain-lz4.journal.xz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := xz.NewReader(f, 0)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestJournalBehindZeros: a journal behind zeros is read, and one behind another is told.
func TestJournalBehindZeros(t *testing.T) {
	data := journalData(t)
	whole, _ := loaded(t, file(t, "x.journal", data))
	for _, zeros := range []int{hole, 4096, 600 << 10} {
		behind := append(make([]byte, zeros), data...)
		for name, in := range map[string][]byte{"x.journal": behind, "x.journal.gz": gz(t, behind)} {
			if b, _ := loaded(t, file(t, name, in)); len(whole.Events) == 0 || textsOf(b) != textsOf(whole) {
				t.Errorf("%s behind %d zeros: %d events of %d, %s", name, zeros, len(b.Events), len(whole.Events), warnings(b))
			}
		}
	}
	b, _ := loaded(t, file(t, "x.journal", append(bytes.Clone(data), data...)))
	if want := fmt.Sprintf("another journal begins at byte %d of the file", len(data)); !strings.Contains(warnings(b), want) || !b.Inputs[0].Partial || whole.Inputs[0].Partial {
		t.Errorf("joined: want %q, %s", want, warnings(b))
	}
}
