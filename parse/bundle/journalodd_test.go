package bundle

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mikelolasagasti/xz"

	"github.com/plegforensics/plegforensics/parse"
	journal "github.com/plegforensics/plegforensics/parse/journal/binary"
)

// TestMender: an entry whose clocks the next one does not bear out gets those that its
// neighbours give it; a clock that was set stays set.
func TestMender(t *testing.T) {
	const far = 1 << 20
	for _, x := range []struct {
		name     string
		in, want [][2]int64 // seconds since boot and of the wall clock
		told     int
	}{
		{"wall", [][2]int64{{1, 101}, {2, 102}, {3, 103 + far}, {4, 104}, {5, 105}}, [][2]int64{{1, 101}, {2, 102}, {3, 103}, {4, 104}, {5, 105}}, 1},
		{"wall back", [][2]int64{{1, 101}, {3, 3}, {4, 104}}, [][2]int64{{1, 101}, {3, 103}, {4, 104}}, 1},
		{"monotonic", [][2]int64{{1, 101}, {2, 102}, {3 + far, 103}, {4, 104}}, [][2]int64{{1, 101}, {2, 102}, {3, 103}, {4, 104}}, 1},
		{"both", [][2]int64{{1, 101}, {2, 102}, {far, 5 * far}, {4, 104}}, [][2]int64{{1, 101}, {2, 102}, {2, 102}, {4, 104}}, 1},
		{"two in a row", [][2]int64{{1, 101}, {2, 102}, {3, 103 + far}, {4 + far, 104}, {5, 105}, {6, 106}}, [][2]int64{{1, 101}, {2, 102}, {3, 103}, {4, 104}, {5, 105}, {6, 106}}, 2},
		{"every other", [][2]int64{{1, 101}, {2, 102 + far}, {3, 103}, {4, 104 - far}, {5, 105}, {6, 106 + 2*far}, {7, 107}}, [][2]int64{{1, 101}, {2, 102}, {3, 103}, {4, 104}, {5, 105}, {6, 106}, {7, 107}}, 3},
		{"set", [][2]int64{{1, 101}, {2, 102}, {3, 103 + far}, {4, 104 + far}, {5, 105 + far}}, nil, 0},
		{"two that agree", [][2]int64{{1, 101}, {2, 102}, {3, 103 + far}, {4, 104 + far}, {5, 105}, {6, 106}}, [][2]int64{{1, 101}, {2, 102}, {3, 103}, {4, 104}, {5, 105}, {6, 106}}, 2},
		{"two that agree, monotonic", [][2]int64{{1, 101}, {2, 102}, {3 + far, 103}, {4 + far, 104}, {5, 105}}, [][2]int64{{1, 101}, {2, 102}, {3, 103}, {4, 104}, {5, 105}}, 2},
		{"two pairs", [][2]int64{{1, 101}, {2, 102}, {3, 103}, {4, 104}, {5, 105 + far}, {6, 106 + far}, {7, 107 - far}, {8, 108 - far}, {9, 109}}, [][2]int64{{1, 101}, {2, 102}, {3, 103}, {4, 104}, {5, 105}, {6, 106}, {7, 107}, {8, 108}, {9, 109}}, 4},
		{"as many before as damaged", [][2]int64{{1, 101}, {2, 102 + far}, {3, 103 + far}, {4, 104}, {5, 105}}, nil, 0},
		{"damaged behind a setting", [][2]int64{{1, 101}, {2, 102}, {3, 103 + far}, {4, 104 + far}, {5, 105 + 3*far}, {6, 106 + far}, {7, 107 + far}}, [][2]int64{{1, 101}, {2, 102}, {3, 103 + far}, {4, 104 + far}, {5, 105 + far}, {6, 106 + far}, {7, 107 + far}}, 1},
		{"set twice", [][2]int64{{1, 101}, {2, 102}, {3, 103 + far}, {4, 104 + 3*far}, {5, 105 + 3*far}}, nil, 0},
		{"out of order", [][2]int64{{1, 101}, {3, 103}, {2, 102}, {4, 104}}, nil, 0},
		{"asleep twice", [][2]int64{{1, 101}, {2, 102}, {3, 203}, {4, 304}, {5, 305}}, nil, 0},
		{"last", [][2]int64{{1, 101}, {2, 102}, {3, 103 + far}}, nil, 0}, // told when the boot is known
	} {
		if x.want == nil {
			x.want = x.in
		}
		m := &mender{file: &parse.File{Path: "j"}}
		var got [][2]int64
		for e := range m.mended(func(yield func(*journal.Entry) bool) {
			var e journal.Entry // valid until the next
			for i, c := range x.in {
				e = journal.Entry{Number: uint32(i + 1), Monotonic: c[0] * 1e6, Realtime: c[1] * 1e6}
				if !yield(&e) {
					return
				}
			}
		}) {
			if int(e.Number) != len(got)+1 {
				t.Errorf("%s: entry %d in place %d", x.name, e.Number, len(got)+1)
			}
			got = append(got, [2]int64{e.Monotonic / 1e6, e.Realtime / 1e6})
		}
		if !slices.Equal(got, x.want) || len(m.warnings()) != x.told {
			t.Errorf("%s: %v, want %v; %v", x.name, got, x.want, m.warnings())
		}
	}
}

// TestJournalEnds: an entry at the end of a boot that alone differs from all others moves
// none of them; one that another file bears out does.
func TestJournalEnds(t *testing.T) {
	const far = 1 << 20
	shifts := func(s *slot) (out []int64) {
		for _, x := range s.part.Journals[0].Spans {
			out = append(out, x.Shift/1e9, x.Wall/1e6)
		}
		return out
	}
	for _, x := range []struct {
		name    string
		entries [][3]int64
		want    []int64 // shift and wall clock of each span
	}{
		{"last wall", [][3]int64{{1, 5, 2 * far}, {2, 6, 2*far + 1}, {3, 7, 2}}, []int64{0, 2 * far, 0, 2*far + 2}},
		{"last monotonic", [][3]int64{{1, 5, 105}, {2, 6, 106}, {3, 7 + far, 107}}, []int64{0, 105, 0, 107}},
		{"last monotonic back", [][3]int64{{1, 5 + far, 105}, {2, 6 + far, 106}, {3, 7, 107}}, []int64{0, 105, 0, 107}},
		{"first monotonic", [][3]int64{{1, 5 + far, 105}, {2, 6, 106}, {3, 7, 107}}, []int64{0, 105, 0, 106}},
		{"first wall", [][3]int64{{1, 5, 105 + far}, {2, 6, 106}, {3, 7, 107}}, []int64{0, 105, 0, 106}},
		{"set behind the first", [][3]int64{{1, 5, 5}, {2, 6, 106 + far}, {3, 7, 107 + far}}, []int64{0, 105 + far, 0, 106 + far}},
	} {
		s := indexed("a.journal", 1, x.entries...)
		joinJournals([]*slot{s})
		if got := shifts(s); !slices.Equal(got, x.want) || len(s.part.Warnings) != 1 || s.part.Warnings[0].Note != strings.HasPrefix(x.name, "set") {
			t.Errorf("%s: shifts and times %v, want %v; %v", x.name, got, x.want, s.part.Warnings)
		}
	}
	user := indexed("u.journal", 1, [3]int64{5, 5, 105}, [3]int64{6, 6, 106}, [3]int64{9, 20, 120 + far})
	system := indexed("s.journal", 1, [3]int64{7, 7, 107}, [3]int64{8, 19, 119 + far}, [3]int64{10, 21, 121 + far})
	joinJournals([]*slot{user, system})
	if got := shifts(user); !slices.Equal(got, []int64{far, 105, 0, 120 + far}) || len(user.part.Warnings)+len(system.part.Warnings) > 0 {
		t.Errorf("set, as two files show: %v", got)
	}
}

// TestJournalBits: a bit that flips in a clock of an entry, anywhere in a journal, is told,
// and moves nothing.
func TestJournalBits(t *testing.T) {
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
	le := binary.LittleEndian
	var entries []int
	for at, last := int(le.Uint64(data[88:])), int(le.Uint64(data[136:])); at <= last; at += max(int(le.Uint64(data[at+8:]))+7, 8) &^ 7 {
		if data[at] == 3 {
			entries = append(entries, at)
		}
	}
	times := func(b *parse.Bundle) string {
		var s strings.Builder
		for _, e := range b.Events {
			fmt.Fprintln(&s, e.Line, e.At, e.Arrived/1e9)
		}
		for _, c := range b.Coverage {
			fmt.Fprintln(&s, c.FirstLine.At/1e9, c.LastLine.At/1e9)
		}
		return s.String()
	}
	whole, _ := loaded(t, file(t, "x.journal", data))
	events := map[uint32]bool{}
	for _, e := range whole.Events {
		events[e.Line] = true
	}
	n := len(entries)
	for _, at := range [][]int{{0}, {1}, {n / 2}, {n - 2}, {n - 1}, {n / 3, n/3 + 1}, {n / 4, n/4 + 1, n/4 + 2}, {5, n / 2, n - 3}} {
		for _, field := range []int{24, 32} { // realtime and monotonic
			for _, bit := range []int{36, 42, 50} {
				bad := slices.Clone(data)
				for k, i := range at {
					if len(at) > 2 {
						k = 0 // the same bit, so that they agree
					}
					p := bad[entries[i]+field:]
					le.PutUint64(p, le.Uint64(p)^1<<(bit+k))
				}
				b, _ := loaded(t, file(t, "x.journal", bad))
				if got, want := times(b), times(whole); got != want {
					t.Errorf("bit %d of byte %d of entries %v moves something", bit, field, at)
				}
				if len(b.Warnings) != len(whole.Warnings)+len(at) || !strings.Contains(b.Warnings[0].Msg, fmt.Sprint(entries[at[0]])) {
					t.Errorf("bit %d of byte %d of entries %v: %v", bit, field, at, b.Warnings)
				}
			}
		}
	}
}
