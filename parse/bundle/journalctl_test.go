package bundle

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/journal/binary"
)

// TestJournalctlDirectory compares the merged journals of a machine with the output
// of journalctl for their directory: the same entries, each once, in the same
// order. It creates journals if systemd-journal-remote is installed, and also reads
// the directory in PLEGFORENSICS_JOURNALS.
func TestJournalctlDirectory(t *testing.T) {
	if _, err := exec.LookPath("journalctl"); err != nil {
		t.Skip("journalctl is not installed")
	}
	dirs := []string{}
	if dir := os.Getenv("PLEGFORENSICS_JOURNALS"); dir != "" {
		dirs = append(dirs, dir)
	}
	if dir := madeJournals(t); dir != "" {
		dirs = append(dirs, dir)
	}
	if len(dirs) == 0 {
		t.Skip("there are no journals, and systemd-journal-remote is not installed")
	}
	for _, dir := range dirs {
		got, want := joinedCursors(t, dir), cursors(t, dir)
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Fatalf("%s: entry %d is %s, journalctl has %s", dir, i, got[i], want[i])
			}
		}
		if len(got) != len(want) || len(got) < 20 {
			t.Errorf("%s: %d entries, journalctl gives %d", dir, len(got), len(want))
		}
		t.Logf("%s: %d entries", dir, len(got))
	}
}

// madeJournals creates a directory of journals: one, a copy of it as left by an
// unclean rotation, and one of a later boot. It returns "" if the tool is missing.
func madeJournals(t *testing.T) string {
	const tool = "/lib/systemd/systemd-journal-remote"
	if _, err := os.Stat(tool); err != nil {
		return ""
	}
	dir := t.TempDir()
	write := func(name, boot string, from int, n int) {
		var b bytes.Buffer
		for i := range n {
			us := 1795217339000000 + int64(from+i)*250000
			fmt.Fprintf(&b, "__REALTIME_TIMESTAMP=%d\n__MONOTONIC_TIMESTAMP=%d\n_BOOT_ID=%s\n_MACHINE_ID=0123456789abcdef0123456789abcdef\n", us, int64(i)*250000+1000, boot)
			fmt.Fprintf(&b, "_HOSTNAME=node-a\nSYSLOG_IDENTIFIER=kubelet\n_PID=77\nMESSAGE=entry %d of %s\n\n", i, boot)
		}
		cmd := exec.Command(tool, "-o", filepath.Join(dir, name), "-")
		cmd.Stdin = &b
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	write("system.journal", strings.Repeat("a1", 16), 0, 300)
	write("user-1000.journal", strings.Repeat("b2", 16), 400, 200)
	data, err := os.ReadFile(filepath.Join(dir, "system.journal"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "system@0005bd6c97ab07c6-0000000000000001.journal~"), data, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// joinedCursors returns the entries of the journals in dir in merged order, each
// with its seqnum ID and sequence number.
func joinedCursors(t *testing.T, dir string) []string {
	files, _ := filepath.Glob(filepath.Join(dir, "*.journal*"))
	slices.Sort(files)
	var slots []*slot
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		st, _ := f.Stat()
		r, err := binary.Open(f, st.Size(), binary.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		s := &slot{file: &parse.File{Path: path}}
		x := newIndexer(s.file, r.Header)
		for e := range r.Entries {
			x.add(e)
			s.part.Events = append(s.part.Events, parse.NewEvent(&parse.EventKind{File: s.file}, parse.Text{}, parse.Event{Line: e.Number, Arrived: e.Realtime}))
		}
		s.part.Journals = []*parse.JournalFile{x.JournalFile}
		slots = append(slots, s)
	}
	joinJournals(slots)
	type at struct {
		wall   int64
		seq    uint64
		cursor string
	}
	var all []at
	for _, s := range slots {
		j := s.part.Journals[0]
		for _, e := range s.part.Events {
			seq := j.SeqnumOf(e.Line)
			all = append(all, at{e.Arrived + j.Span(e.Line).Shift/1000, seq, fmt.Sprintf("s=%s;i=%x", j.Seqnum, seq)})
		}
	}
	slices.SortStableFunc(all, func(x, y at) int { return cmp.Or(cmp.Compare(x.wall, y.wall), cmp.Compare(x.seq, y.seq)) })
	out := make([]string, len(all))
	for i, a := range all {
		out[i] = a.cursor
	}
	return out
}

// cursors returns the entries that journalctl prints.
func cursors(t *testing.T, dir string) (out []string) {
	text, err := exec.Command("journalctl", "--directory", dir, "-o", "export", "--no-pager", "-q").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		if c, ok := bytes.CutPrefix(line, []byte("__CURSOR=")); ok {
			f := strings.SplitN(string(c), ";", 3)
			out = append(out, f[0]+";"+f[1])
		}
	}
	return out
}
