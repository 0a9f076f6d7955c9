//go:build unix

package bundle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plegforensics/plegforensics/parse"
)

// plainPieces are lines whose order decides how they are joined to records.
var plainPieces = []string{
	"Nov 20 23:50:41 node-7 kubelet[812]: I1120 23:50:41.261469     812 kubelet.go:2453] \"SyncLoop (PLEG): event for pod\" pod=\"prod/db-0\" event={\"ID\":\"0d1c\",\"Type\":\"ContainerDied\",\"Data\":\"5f6c\"}\n",
	"Nov 20 23:50:42 node-7 kubelet[812]: E1120 23:50:42.261469     812 generic.go:256] \"GenericPLEG: Unable to retrieve pods\" err=<\n",
	"Nov 20 23:50:42 node-7 kubelet[812]: \trpc error: code = DeadlineExceeded\n",
	"Nov 20 23:50:42 node-7 kubelet[812]:  >\n",
	"Nov 20 23:50:43 node-7 kubelet[812]: I1120 23:50:43.261469     812 kubelet.go:1] skipping pod synchronization - PLEG is not healthy: pleg was last seen active 3m1s ago; threshold is 3m0s\r\n",
	"Nov 20 23:58:43 node-7 systemd[1]: Started Session 4 of user root.\n",
	"Nov 20 23:58:44 node-8 sshd[4]: y\r\n",
	"E1120 23:50:39.261469   26980 generic.go:256] \"GenericPLEG: Unable to retrieve pods\" err=<\n", "\tindented\n", " >\n",
	"\n", "\r\n", "\x00\x00\x00Nov 20 23:59:42 node-7 kubelet[812]: words\n", "plain words\n", "==> kubelet <==\n",
	"2024-04-16T06:21:39.5Z stderr P I1120 23:50:43.261469     812 kubelet.go:1] skipping pod synchronization - PLEG is \n",
	"2024-04-16T06:21:39.5Z stderr F not healthy: pleg was last seen active 3m1s ago; threshold is 3m0s\n",
	"Nov 20 23:50:41 node-7 containerd[6]: time=\"2026-11-20T23:50:41.455014979Z\" level=info msg=\"shim disconnected\" id=5f\n",
	"-- Reboot --\n", "Nov 20 23:59:42 node-7 kubelet[812]: " + strings.Repeat("a long line ", 300) + "\n",
}

// everything formats all that a bundle holds about its logs.
func everything(b *parse.Bundle) string {
	var s strings.Builder
	s.WriteString(whole(b))
	mark := func(m parse.Mark) string {
		return fmt.Sprintf("%d@%d %v %q", m.Line, m.Offset, m.Raw, m.Text.String())
	}
	for _, e := range b.Events {
		fmt.Fprintf(&s, "event %d@%d %q %v\n", e.Line, e.Offset, e.Message(), e.Fields())
	}
	for _, c := range b.Coverage {
		fmt.Fprintf(&s, "%+v [%s .. %s] %v %s\n", *c.Origin, mark(c.FirstLine), mark(c.LastLine), c.HasLag, mark(c.MaxLagAt))
		for _, g := range c.Gaps {
			fmt.Fprintf(&s, "  %s .. %s\n", mark(g.Last), mark(g.Next))
		}
	}
	for _, m := range b.Markers {
		fmt.Fprintf(&s, "marker %d@%d %s %q\n", m.Line, m.Offset, m.Kind, m.Text.String())
	}
	for _, f := range b.Facts {
		fmt.Fprintf(&s, "fact %d@%d %s %s\n", f.Line, f.Offset, f.Key, f.Value)
	}
	return s.String()
}

// aStream is a run size larger than any file, which makes the file be read as a
// stream.
const aStream = 1 << 40

// TestPlainRuns: a plain file gives the same result read as a stream or by the
// workers, with runs of any size.
func TestPlainRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubelet.log")
	rapid.Check(t, func(t *rapid.T) {
		var log bytes.Buffer
		for range rapid.IntRange(20, 200).Draw(t, "lines") {
			log.WriteString(rapid.SampledFrom(plainPieces).Draw(t, "line"))
		}
		if rapid.Bool().Draw(t, "unfinished") {
			log.Truncate(log.Len() - 1)
		}
		if rapid.IntRange(0, 9).Draw(t, "encoding") == 0 {
			log = *bytes.NewBuffer(utf16Of(log.Bytes(), false))
		}
		if err := os.WriteFile(path, log.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		places := rapid.SampledFrom([]int64{1, aStream}).Draw(t, "places")
		get := func(run int64, limit int) string {
			b, err := Load(context.Background(), []string{path}, Options{plainRun: run, placesLeast: places, Jobs: 3, Limits: Limits{Line: limit}})
			if err != nil {
				t.Fatal(err)
			}
			return everything(b)
		}
		run := rapid.Int64Range(1, int64(log.Len()/plainRuns)).Draw(t, "run")
		// With a limit below the length of a line the rest is read as a stream.
		limit := rapid.SampledFrom([]int{0, 600}).Draw(t, "limit")
		if got, want := get(run, limit), get(aStream, 0); got != want {
			t.Fatalf("runs of %d bytes:\n%s\nas a stream:\n%s", run, got, want)
		}
	})
}

// TestPlainShrinks truncates a file after it was opened.
func TestPlainShrinks(t *testing.T) {
	log := testLog(5000)
	path := file(t, "kubelet.log", log)
	keep := bytes.LastIndexByte(log[:len(log)/2], '\n') + 1
	opt := Options{plainRun: 8 << 10, newLines: func(f *parse.File, head []byte) lineDecoder {
		if err := os.Truncate(path, int64(keep)); err != nil {
			t.Error(err)
		}
		return newKeepAll(f, head)
	}}
	b := load(t, opt, path)
	if want := bytes.Count(log[:keep], newline); len(b.Events) != want {
		t.Errorf("%d lines, want %d", len(b.Events), want)
	}
	checkEnd(t, b, int64(keep), "became shorter")
}

// checkEnd checks that there is one warning, at the offset where the file ends.
func checkEnd(t *testing.T, b *parse.Bundle, end int64, why string) {
	t.Helper()
	if len(b.Warnings) != 1 || b.Warnings[0].Offset != end || !strings.Contains(b.Warnings[0].Msg, why) {
		t.Errorf("warnings %+v, want one that the file ends at %d: %s", b.Warnings, end, why)
	}
	if b.Files[0].Size != end || b.Inputs[0].Bytes != end || !b.Inputs[0].Partial {
		t.Errorf("file of %d bytes, input %+v, want %d bytes", b.Files[0].Size, b.Inputs[0], end)
	}
}

// badDisk is a file that cannot be read from offset bad on.
type badDisk struct {
	*bytes.Reader
	bad int64
}

var errDisk = errors.New("input/output error")

func (d badDisk) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) <= d.bad {
		return d.Reader.ReadAt(p, off)
	}
	n, _ := d.Reader.ReadAt(p[:max(d.bad-off, 0)], off)
	return n, errDisk
}

// TestPlainUnreadable reads a file whose disk fails in the middle.
func TestPlainUnreadable(t *testing.T) {
	log := testLog(10000)
	bad := int64(bytes.LastIndexByte(log[:len(log)*3/4], '\n') + 1)
	opt := Options{Jobs: 2, plainRun: 8 << 10, newLines: newKeepAll, Progress: new(Progress), Limits: DefaultLimits}
	l := newLoader(context.Background(), opt)
	closed := 0
	u := &unit{path: "kubelet.log", lone: true, open: func() (*opened, error) {
		d := badDisk{bytes.NewReader(log), bad}
		return &opened{r: io.NewSectionReader(d, 0, int64(len(log))), at: d, size: int64(len(log)), close: func() { closed++ }}, nil
	}}
	countLogs([]*unit{u}, opt.Limits.Logs)
	l.run([]*unit{u})
	b := &parse.Bundle{Inputs: make([]parse.Input, 1)}
	merge(b, []*unit{u}, nil)
	if want := bytes.Count(log[:bad], newline); len(b.Events) != want {
		t.Errorf("%d lines, want %d", len(b.Events), want)
	}
	checkEnd(t, b, bad, errDisk.Error())
	if closed != 1 {
		t.Errorf("closed %d times", closed)
	}
}
