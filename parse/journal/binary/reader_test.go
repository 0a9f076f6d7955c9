package binary

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mikelolasagasti/xz"
)

// journals pairs each journal in testdata with an export of the same entries made
// by journalctl.
var journals = []struct{ file, export string }{
	{"compact-keyed-none.journal.xz", "entries.export"},
	{"compact-keyed-zstd.journal.xz", "entries.export"},
	{"regular-keyed-zstd.journal.xz", "entries.export"},
	{"regular-plain-zstd.journal.xz", "entries.export"},
	{"regular-plain-lz4.journal.xz", "legacy.export.xz"},
	{"regular-plain-xz.journal.xz", "legacy.export.xz"},
}

func load(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(name, ".xz") {
		return b
	}
	r, err := xz.NewReader(bytes.NewReader(b), 0)
	if err != nil {
		t.Fatal(err)
	}
	if b, err = io.ReadAll(r); err != nil {
		t.Fatal(err)
	}
	return b
}

func open(t testing.TB, b []byte) *Reader {
	t.Helper()
	r, err := Open(bytes.NewReader(b), int64(len(b)), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func describeAll(r *Reader) []string {
	var out []string
	for e := range r.Entries {
		out = append(out, describe(r, e))
	}
	return out
}

func TestEntries(t *testing.T) {
	for _, tt := range journals {
		t.Run(tt.file, func(t *testing.T) {
			want := readExport(t, load(t, tt.export))
			r := open(t, load(t, tt.file))
			got := describeAll(r)
			if len(r.Warnings()) > 0 {
				t.Errorf("warnings: %v", r.Warnings())
			}
			if len(got) != len(want) {
				t.Fatalf("%d entries, want %d", len(got), len(want))
			}
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("entry %d\n got %.1500s\nwant %.1500s", i+1, got[i], want[i])
				}
			}
		})
	}
}

// TestGet checks that Get returns the fields that Fields iterates over, the last
// one of a name winning.
func TestGet(t *testing.T) {
	for _, tt := range journals {
		r := open(t, load(t, tt.file))
		number := uint32(0)
		for e := range r.Entries {
			if number++; e.Number != number {
				t.Fatalf("%s: entry %d has number %d", tt.file, number, e.Number)
			}
			want := map[string]string{}
			for name, value := range r.fields(e) {
				want[string(name)] = string(value)
			}
			for f, name := range fieldNames {
				value, has := want[name]
				if got := string(e.Get(Field(f))); got != value || e.Has(Field(f)) != has {
					t.Fatalf("%s: entry %d: %s is %q (%v), want %q (%v)", tt.file, number, name, got, e.Has(Field(f)), value, has)
				}
			}
		}
	}
}

// TestTornIndex breaks the index of entries: walking the objects must find the same
// entries.
func TestTornIndex(t *testing.T) {
	for _, tt := range journals {
		b := load(t, tt.file)
		want := describeAll(open(t, b))
		first := open(t, b).Header.entryArray
		for name, breakIt := range map[string]func([]byte){
			"no index":        func(b []byte) { binary.LittleEndian.PutUint64(b[176:], 0) },
			"index elsewhere": func(b []byte) { binary.LittleEndian.PutUint64(b[176:], 272) },
			"chain to itself": func(b []byte) { binary.LittleEndian.PutUint64(b[first+16:], uint64(first)) },
			"wrong item":      func(b []byte) { binary.LittleEndian.PutUint32(b[first+arrayHeader+8:], 0x1230) },
			"array kind":      func(b []byte) { b[first] = objTag },
		} {
			c := bytes.Clone(b)
			breakIt(c)
			r := open(t, c)
			got := describeAll(r)
			if strings.Join(got, "\n\n") != strings.Join(want, "\n\n") {
				t.Errorf("%s, %s: %d entries, want the %d", tt.file, name, len(got), len(want))
			}
			if w := r.Warnings(); len(w) == 0 || !w[0].Note { // nothing is lost
				t.Errorf("%s, %s: %v", tt.file, name, w)
			}
		}
	}
}

// TestTruncated truncates the file: what is complete before the cut must be
// returned.
func TestTruncated(t *testing.T) {
	b := load(t, "compact-keyed-zstd.journal.xz")
	var ends []int64
	r := open(t, b)
	for e := range r.Entries {
		o, _ := r.object(e.Offset)
		ends = append(ends, e.Offset+o.size)
	}
	for i := 1; i < len(ends); i += 5 {
		cut := b[:ends[i]+1]
		r := open(t, cut)
		got := describeAll(r)
		if len(got) != i+1 {
			t.Errorf("cut behind entry %d: %d entries", i+1, len(got))
		}
		if lost := fmt.Sprintf("%d of the %d entries that the header counts are not found: they are lost; the file is cut short at %d of ", len(ends)-i-1, len(ends), len(cut)); i+1 < len(ends) &&
			!slices.ContainsFunc(r.Warnings(), func(w Warning) bool { return strings.HasPrefix(w.Msg, lost) && !w.Note }) {
			t.Errorf("cut behind entry %d: %v", i+1, r.Warnings())
		}
	}
}

// TestHole overwrites the middle of the objects: entries on both sides must
// survive.
func TestHole(t *testing.T) {
	b := load(t, "regular-plain-lz4.journal.xz")
	whole := map[string]bool{}
	var offsets []int64
	r := open(t, b)
	for e := range r.Entries {
		offsets = append(offsets, e.Offset)
		whole[describe(r, e)] = true
	}
	lo, hi := offsets[300], offsets[330]
	copy(b[lo:hi], bytes.Repeat([]byte{0xa5}, int(hi-lo)))
	r = open(t, b)
	last, n := int64(0), 0
	for e := range r.Entries {
		last = e.Offset
		n++
	}
	if last != offsets[len(offsets)-1] || n < 600 {
		t.Errorf("%d entries, last at %d, want the last at %d", n, last, offsets[len(offsets)-1])
	}
	if len(r.Warnings()) == 0 {
		t.Error("no warning")
	}
}

// TestPayloads changes the payload of one message: what is no text any more is left out, and its entry has lost
// it, also if the name of the field is gone; another text is used, and noted.
func TestPayloads(t *testing.T) {
	for _, tt := range journals {
		b := load(t, tt.file)
		var at, data int64 // of an entry, and the DATA object of its message
		r := open(t, b)
		for e := range r.Entries {
			per, _ := r.itemSize()
			for items := e.items; len(items) >= int(per); items = items[per:] {
				off := r.offsetAt(items)
				o, _ := r.object(off)
				if p, _, ok := r.payload(off, o, 1<<20); ok && o.flags == 0 && len(p) > 100 && strings.HasPrefix(string(p), "MESSAGE=I1120") {
					at, data = e.Offset, off
				}
			}
		}
		text := data + r.dataHeader()
		for how, damage := range map[string]struct {
			from int64
			with string
			lost bool
		}{
			"zeros": {40, "\x00\x00\x00\x00", true}, "no UTF-8": {40, "\xff", true}, "name": {2, "\x00", true},
			"another text": {40, "worker-7", false},
		} {
			c := bytes.Clone(b)
			copy(c[text+damage.from:], damage.with)
			r := open(t, c)
			found := false
			for e := range r.Entries {
				if e.Lost != (damage.lost && e.Offset == at) || e.Lost && e.Has(Message) {
					t.Errorf("%s, %s: entry at %d: lost %v, message %q", tt.file, how, e.Offset, e.Lost, e.Get(Message))
				}
				found = found || e.Offset == at && strings.Contains(string(e.Get(Message)), damage.with)
			}
			if w := r.Warnings(); len(w) != 1 || w[0].Offset != data || w[0].Note == damage.lost || found == damage.lost {
				t.Errorf("%s, %s: used %v, warnings %v", tt.file, how, found, w)
			}
		}
	}
}

// TestItems: an item that is no offset is told with the offset of its entry.
func TestItems(t *testing.T) {
	b := load(t, "regular-keyed-zstd.journal.xz")
	var at int64
	for e := range open(t, b).Entries {
		at = e.Offset
	}
	binary.LittleEndian.PutUint64(b[at+entryHeader:], 0)
	r := open(t, b)
	for range r.Entries {
	}
	if w := r.Warnings(); len(w) != 1 || w[0].Offset != at || w[0].Note {
		t.Errorf("entry at %d: %v", at, w)
	}
}

// TestIslands breaks the index and the objects on both sides of some entries: no
// entry may be lost because of damage next to it.
func TestIslands(t *testing.T) {
	for _, tt := range journals[:3] {
		b := load(t, tt.file)
		r := open(t, b)
		var entries []int64
		for e := range r.Entries {
			entries = append(entries, e.Offset)
		}
		var objects []int64
		for off := r.Header.size; off <= r.Header.tailObject; {
			o, ok := r.object(off)
			if !ok {
				t.Fatalf("no object at %d", off)
			}
			objects = append(objects, off)
			off += align(o.size)
		}
		kind := func(off int64) byte { o, _ := r.object(off); return o.kind }
		broken := 0
		for i := 1; i+1 < len(objects); i++ {
			if kind(objects[i]) == objEntry && kind(objects[i-1]) == objData && kind(objects[i+1]) == objData && broken < 5 {
				broken++
				for _, off := range []int64{objects[i-1], objects[i+1]} {
					copy(b[off:], bytes.Repeat([]byte{0xa5}, 16))
				}
				i += 20
			}
		}
		b[r.Header.entryArray] = objTag
		got := map[int64]bool{}
		x := open(t, b)
		for e := range x.Entries {
			got[e.Offset] = true
		}
		for _, off := range entries {
			if !got[off] {
				t.Errorf("%s: the entry at %d is lost", tt.file, off)
			}
		}
		if broken == 0 {
			t.Errorf("%s: nothing was broken", tt.file)
		}
	}
}

// TestMutations flips bytes at random: there must be no panic and no endless loop,
// and every entry returned must lie within the file.
func TestMutations(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for _, tt := range journals {
		b := load(t, tt.file)
		used := open(t, b).Header.tailObject + 4096
		b = b[:min(used, int64(len(b)))]
		for range 25 {
			c := bytes.Clone(b)
			for range 1 + rng.Intn(200) {
				c[rng.Intn(len(c))] = byte(rng.Intn(256))
			}
			copy(c, b[:88]) // keep it a journal
			walk(t, c)
		}
	}
}

func walk(t testing.TB, b []byte) {
	t.Helper()
	begin := time.Now()
	r, err := Open(bytes.NewReader(b), int64(len(b)), Limits{})
	if err != nil {
		return
	}
	last := int64(-1)
	for e := range r.Entries {
		if e.Offset <= last || e.Offset >= int64(len(b)) {
			t.Fatalf("entry at %d after one at %d in %d bytes", e.Offset, last, len(b))
		}
		last = e.Offset
	}
	if d := time.Since(begin); d > 10*time.Second {
		t.Fatalf("took %v", d)
	}
	if n := len(r.Warnings()); n > 103 {
		t.Fatalf("%d warnings", n)
	}
}

func TestNotAJournal(t *testing.T) {
	for _, b := range [][]byte{nil, []byte("LPKSHHRH"), bytes.Repeat([]byte{'x'}, 4096), append([]byte(Magic), make([]byte, 300)...)} {
		if _, err := Open(bytes.NewReader(b), int64(len(b)), Limits{}); err == nil {
			t.Errorf("%d bytes pass as a journal", len(b))
		}
	}
	b := load(t, "compact-keyed-none.journal.xz")
	b[12] |= 0x80
	if _, err := Open(bytes.NewReader(b), int64(len(b)), Limits{}); err == nil || !strings.Contains(err.Error(), "incompatible") {
		t.Errorf("unknown incompatible flag: %v", err)
	}
}

func TestLimits(t *testing.T) {
	b := load(t, "compact-keyed-zstd.journal.xz")
	r, err := Open(bytes.NewReader(b), int64(len(b)), Limits{Field: 1000, Entries: 36})
	if err != nil {
		t.Fatal(err)
	}
	longest, n := 0, 0
	for e := range r.Entries {
		longest = max(longest, len(e.Get(Message)))
		n++
	}
	if n != 36 || longest > 1000+longestName {
		t.Errorf("%d entries, longest message %d", n, longest)
	}
	if len(r.Warnings()) == 0 {
		t.Error("no warning")
	}
}

// excerpt is the header of a journal and its last objects, at their original
// offsets so that references between them remain valid. What lies between,
// megabytes of hash tables, is treated as part of the header.
type excerpt struct {
	data  []byte
	shift int64 // shift of what follows the header
}

func (x excerpt) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	if off < minHeader {
		copy(p, x.data[min(off, int64(len(x.data))):min(minHeader, len(x.data))])
	}
	if at := off + int64(len(p)) - x.shift - minHeader; at > 0 {
		from := max(off-x.shift, minHeader)
		if from < int64(len(x.data)) {
			copy(p[from+x.shift-off:], x.data[from:])
		}
	}
	if off+int64(len(p)) > int64(len(x.data))+x.shift {
		return max(0, int(int64(len(x.data))+x.shift-off)), io.EOF
	}
	return len(p), nil
}

var updateSeeds = flag.Bool("update-seeds", false, "rewrite the seeds of FuzzReader")

// TestSeeds checks that the seeds of FuzzReader are excerpts of the journals in
// testdata. They are stored in files, because unpacking the journals in the
// instrumented program would take longer than everything else.
func TestSeeds(t *testing.T) {
	f := t
	for _, tt := range journals {
		b := load(f, tt.file)
		r := open(f, b)
		start := r.Header.size
		for off := start; off < r.Header.tailObject; {
			o, ok := r.object(off)
			if !ok {
				off += 8 // allocated ahead
				continue
			}
			if off < r.Header.tailObject-8<<10 {
				start = off
			}
			off += align(o.size)
		}
		data := append(bytes.Clone(b[:minHeader]), b[start:r.Header.tailObject+512]...)
		le := binary.LittleEndian
		le.PutUint64(data[88:], uint64(start))                                 // size of the header
		le.PutUint64(data[96:], uint64(r.Header.tailObject)+512-uint64(start)) // size of the arena
		le.PutUint64(data[176:], 0)                                            // no index: the objects are walked
		seed := fmt.Sprintf("go test fuzz v1\n[]byte(%q)\nuint32(%d)\n", data, start-minHeader)
		name := filepath.Join("testdata", "fuzz", "FuzzReader", strings.TrimSuffix(tt.file, ".journal.xz"))
		if *updateSeeds {
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(seed), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		have, err := os.ReadFile(name)
		if err != nil || string(have) != seed {
			t.Errorf("%s is no excerpt of its journal (-update-seeds): %v", name, err)
		}
		n := 0
		x, err := Open(excerpt{data, start - minHeader}, int64(len(data))+start-minHeader, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for range x.Entries {
			n++
		}
		if n < 3 {
			t.Errorf("%s: %d entries", name, n)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte, shift uint32) {
		if len(data) < minHeader || len(data) > 64<<10 {
			return
		}
		x := excerpt{data, int64(shift % (16 << 20) &^ 7)}
		size := int64(len(data)) + x.shift
		r, err := Open(x, size, Limits{})
		if err != nil {
			return
		}
		if r.Header.size < x.shift {
			return // walks megabytes of nothing
		}
		last := int64(-1)
		for e := range r.Entries {
			if e.Offset <= last || e.Offset >= size {
				t.Fatalf("entry at %d after one at %d in %d bytes", e.Offset, last, size)
			}
			last = e.Offset
		}
	})
}

func BenchmarkEntries(b *testing.B) {
	for _, tt := range journals {
		b.Run(strings.TrimSuffix(tt.file, ".journal.xz"), func(b *testing.B) {
			data := load(b, tt.file)
			n := 0
			for b.Loop() {
				r := open(b, data)
				for e := range r.Entries {
					n += len(e.Get(Message))
				}
			}
			b.SetBytes(int64(n / b.N))
		})
	}
}
