package bundle

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse/logs"
)

// TestSparse: what a sparse file does not store costs no time, and what is said of it is
// what is said of a file that stores the zeros.
func TestSparse(t *testing.T) {
	t.Parallel()
	line := func(i int) string {
		return fmt.Sprintf("I1120 23:40:%02d.801000    5203 kubelet.go:1] line %d\n", i, i)
	}
	text := func(from int) string { return line(from) + line(from+1) + line(from+2) }
	number := regexp.MustCompile(`longer than \d+ bytes`) // a stream is cut a little later than a file
	const large, small = 1 << 40, 9<<20 + 4096
	for _, c := range []struct {
		what        string
		front, back string
		odd         int // bytes from the beginning of a block to back
		lines       int
		warnings    string
	}{
		{"nothing else", "", "", 0, 0, "kubelet.log: holds nothing but NUL bytes"},
		{"at the beginning", "", text(1), 0, 3, ""},
		{"at the beginning, to the middle of a block", "", text(1), 777, 3, ""},
		{"in the middle", text(1), "\n" + text(4), 0, 7, "kubelet.log:4: line or record longer than 4 MiB: the rest of it is skipped\n" +
			"kubelet.log:4: zeros stand in place of what was written from here on: lines are lost"},
		{"at the end", text(1), "", 0, 4, "kubelet.log:4: line or record longer than 4 MiB: the rest of it is skipped\n" +
			"kubelet.log:4: zeros stand in place of what was written from here on: lines are lost"},
		{"twice", strings.Repeat("\x00", 4096) + text(1), "\n" + text(4), 0, 7, "kubelet.log:4: line or record longer than 4 MiB: the rest of it is skipped\n" +
			"kubelet.log:4: zeros stand in place of what was written from here on: lines are lost"},
	} {
		for _, size := range []int64{small, large} {
			path := filepath.Join(t.TempDir(), "kubelet.log")
			at := size + int64(c.odd)
			sparse(t, path, c.front, at, c.back)
			of := fmt.Sprintf("%s, %d bytes", c.what, size)
			check := func(input string, stdin *os.File) {
				opt := Options{newLines: textLogs(logs.Builtin()), Limits: Limits{Time: 20 * time.Second}}
				if stdin != nil {
					opt.Stdin, opt.Limits.Bytes = stdin, 2*large
				}
				b := load(t, opt, input)
				var said []string
				for _, w := range b.Warnings {
					said = append(said, number.ReplaceAllString(strings.Replace(w.String(), "-:", "kubelet.log:", 1), "longer than 4 MiB"))
				}
				if got := strings.Join(said, "\n"); got != c.warnings {
					t.Errorf("%s: warnings %q, want %q", of, got, c.warnings)
				}
				lines := 0
				for _, v := range b.Coverage {
					lines += v.Lines
				}
				if end := at + int64(len(c.back)); lines != c.lines || lines > 0 && b.Files[0].Size != end {
					t.Errorf("%s: %d lines, want %d; %d bytes, want %d", of, lines, c.lines, b.Files[0].Size, end)
				}
			}
			check(path, nil)
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			check("-", f)
			f.Close()
			if size == small { // the same with the zeros stored
				data := append([]byte(c.front), make([]byte, at-int64(len(c.front)))...)
				if err := os.WriteFile(path, append(data, c.back...), 0o644); err != nil {
					t.Fatal(err)
				}
				of += ", stored"
				check(path, nil)
			}
		}
	}
}

// sparse writes a file of which only both ends are stored. It skips the test where the
// file system stores all, or does not tell.
func sparse(t *testing.T, path, front string, at int64, back string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(at + int64(len(back))); err != nil {
		t.Skip(err)
	}
	for off, s := range map[int64]string{0: front, at: back} {
		if _, err := f.WriteAt([]byte(s), off); err != nil {
			t.Skip(err)
		}
	}
	if nextData(f, 1<<20) == 1<<20 {
		t.Skip("no holes here")
	}
	if front := bytes.TrimLeft([]byte(front), "\x00"); len(front) > 0 && nextData(f, 0) != 0 {
		t.Fatal("a hole where data is")
	}
}
