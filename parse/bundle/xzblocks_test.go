package bundle

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// TestXZDamage damages xz files in many places. Warnings must be the same whether a
// file is read sequentially, as a stream, or decoded concurrently, and the latter
// must read no less.
func TestXZDamage(t *testing.T) {
	log := testLog(6600)
	if len(log) < xzMinFile {
		t.Fatalf("a log of %d bytes is read in sequence", len(log))
	}
	half := len(log) / 2
	tests := []struct {
		name  string
		args  []string
		edges bool // damage headers and footers, too
	}{
		{"CRC64", []string{"-1"}, true},
		{"blocks", []string{"-1", "--block-size=80000"}, true},
		{"CRC32", []string{"-1", "--check=crc32"}, false},
		{"SHA-256", []string{"-1", "--check=sha256"}, false},
		{"no check", []string{"-1", "--check=none"}, false},
		{"sizes in headers", []string{"-1", "-T2", "--block-size=280000"}, false},
		{"filters", []string{"--delta=dist=4", "--lzma2=preset=1"}, false},
		{"large dictionary", []string{"--lzma2=preset=1,dict=256MiB"}, false},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := 6
			if testing.Short() || raceDetector {
				if n, tt.edges = 1, false; i > 1 {
					t.Skip("takes long")
				}
			}
			args := append(tt.args, "-c")
			whole := pipe(t, log, "xz", args...)
			streams := append(append(pipe(t, log[:half], "xz", args...), 0, 0, 0, 0), pipe(t, log[half:], "xz", args...)...)
			for what, data := range damaged(whole, n, tt.edges) {
				sameXZ(t, what, data)
			}
			for what, data := range damaged(streams, 1, false) {
				sameXZ(t, "streams, "+what, data)
			}
		})
	}
}

// damaged yields data unchanged, with a bit flipped in n places and near its edges,
// truncated, and with bytes appended.
func damaged(data []byte, n int, edges bool) func(yield func(string, []byte) bool) {
	return func(yield func(string, []byte) bool) {
		var flips []int
		if edges {
			flips = []int{7, 9, 12, 13, 18, 25, len(data) - 3, len(data) - 9, len(data) - 15, len(data) - 20, len(data) - 26, len(data) - 31, len(data) - 44}
		}
		for i := range n {
			flips = append(flips, 40+(len(data)-100)*i/n)
		}
		if !yield("whole", data) {
			return
		}
		for _, at := range flips {
			b := bytes.Clone(data)
			b[at] ^= 0x10
			if !yield(fmt.Sprintf("bit at %d of %d", at, len(data)), b) {
				return
			}
		}
		yield("cut", data[:len(data)*2/3])
		yield("more", append(bytes.Clone(data), "more"...))
		yield("zeros", append(bytes.Clone(data), make([]byte, 3*xzMaxPadding)...))
	}
}

func sameXZ(t *testing.T, what string, data []byte) {
	t.Helper()
	path := file(t, "k.log.xz", data)
	opt := Options{Jobs: 2, newLines: newKeepFew, Stdin: bytes.NewReader(data)}
	want := load(t, opt, "-")
	const lost = xzStep/800 + 1 // lines within what the library may drop
	var first string
	for _, jobs := range []int{1, 5} {
		opt.Jobs = jobs
		b := load(t, opt, path)
		if messages(b) != messages(want) || len(b.Events) < len(want.Events)-lost {
			t.Errorf("%s: with %d workers %d lines and\n%swant %d and\n%s", what, jobs, len(b.Events), messages(b), len(want.Events), messages(want))
		}
		if d := dump(b, true); first == "" {
			first = d
		} else if d != first {
			t.Errorf("%s: with %d workers other lines than with one", what, jobs)
		}
	}
}

// keepFew keeps every tenth line of a test log.
type keepFew struct{ keepAll }

func newKeepFew(f *parse.File, head []byte) lineDecoder {
	return keepFew{newKeepAll(f, head).(keepAll)}
}

func (k keepFew) Decode(r run) (any, int) {
	all, lines := k.keepAll.Decode(r)
	return slices.DeleteFunc(all.([]*parse.Event), func(e *parse.Event) bool { return !strings.HasSuffix(e.Text().String(), "0") }), lines
}

func messages(b *parse.Bundle) string {
	var s strings.Builder
	for _, w := range b.Warnings {
		s.WriteString(w.Msg + "\n")
	}
	return s.String()
}

// TestXZRatio reads a file of several blocks that expands beyond freeStream: the
// bytes read of the file must be counted up to its end, or the ratio limit would be
// hit.
func TestXZRatio(t *testing.T) {
	if raceDetector {
		t.Skip("takes long")
	}
	log := testLog(freeStream/80 + 1)
	if len(log) <= freeStream {
		t.Fatalf("a log of %d bytes", len(log))
	}
	path := file(t, "k.log.xz", pipe(t, log, "xz", "-0", "--block-size=4MiB", "-c"))
	b := load(t, Options{newLines: newKeepFew, Limits: Limits{RatioFree: 1 << 20}}, path)
	if len(b.Warnings) > 0 {
		t.Error(messages(b))
	}
}

// TestXZIndexHostile: forged indexes are rejected.
func TestXZIndexHostile(t *testing.T) {
	header := xzHeader(4)
	footer := func(size uint32) []byte {
		tail := append(binary.LittleEndian.AppendUint32(nil, size), header[6:8]...)
		return append(append(binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(tail)), tail...), "YZ"...)
	}
	index := func(body ...byte) []byte { return binary.LittleEndian.AppendUint32(body, crc32.ChecksumIEEE(body)) }
	tests := []struct {
		name string
		data []byte
	}{
		{"empty index", append(make([]byte, 64), footer(0)...)},
		{"index of zeros", append(make([]byte, 64), footer(3)...)},
		{"no header", append(append(make([]byte, 12), index(0, 0, 0, 0)...), footer(1)...)},
		{"more blocks than bytes", append(append(header[:], index(0, 200, 1, 0)...), footer(1)...)},
		{"block without data", append(append(header[:], index(0, 1, 8, 0)...), footer(1)...)},
		{"junk in the padding", append(append(header[:], index(0, 0, 1, 0)...), footer(1)...)},
		{"block before the file", append(append(header[:], index(0, 1, 40, 1)...), footer(1)...)},
		{"zeros only", make([]byte, 4*xzMaxPadding)},
	}
	for _, tt := range tests {
		if blocks, err := xzIndex(bytes.NewReader(tt.data), int64(len(tt.data))); err == nil {
			t.Errorf("%s: taken for %d blocks", tt.name, len(blocks))
		}
	}
	empty := append(append(bytes.Clone(header[:]), index(0, 0, 0, 0)...), footer(1)...)
	if blocks, err := xzIndex(bytes.NewReader(empty), int64(len(empty))); err != nil || len(blocks) != 0 {
		t.Errorf("an empty stream: %v, %v", blocks, err)
	}
}
