package binary

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"
)

// TestJournalctl compares every entry of the journals in a directory, field by
// field, with the export of the real journalctl. It runs if PLEGFORENSICS_JOURNALS
// names a directory of *.journal files and journalctl is installed.
func TestJournalctl(t *testing.T) {
	dir := os.Getenv("PLEGFORENSICS_JOURNALS")
	if dir == "" {
		t.Skip("PLEGFORENSICS_JOURNALS is not set")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.journal*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no journals in %s (%v)", dir, err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) { compare(t, f) })
	}
}

func compare(t *testing.T, path string) {
	cmd := exec.Command("journalctl", "--file", path, "-o", "export", "--no-pager", "-q")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("journalctl: %v", err)
	}
	want := readExport(t, out)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open(f, st.Size(), Limits{Field: 256 << 20})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for e := range r.Entries {
		got = append(got, describe(r, e))
	}
	for _, w := range r.Warnings() {
		t.Logf("%d: %s", w.Offset, w.Msg)
	}
	t.Logf("%+v: %d entries", r.Header, len(got))
	// In a file of several boots, journalctl interleaves them by time while the
	// file stores them by sequence number. Compare them as sets.
	sort.Strings(want)
	sort.Strings(got)
	if len(got) != len(want) {
		t.Errorf("%d entries, journalctl gives %d", len(got), len(want))
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("entry %d\n got %.2000s\nwant %.2000s", i, got[i], want[i])
		}
	}
}

// describe formats an entry as sorted NAME=value lines.
func describe(r *Reader, e *Entry) string {
	lines := []string{
		"__REALTIME_TIMESTAMP=" + strconv.FormatInt(e.Realtime, 10),
		"__MONOTONIC_TIMESTAMP=" + strconv.FormatInt(e.Monotonic, 10),
		"_BOOT_ID=" + e.Boot.String(),
	}
	for name, value := range r.fields(e) {
		if string(name) != "_BOOT_ID" {
			lines = append(lines, string(name)+"="+string(value))
		}
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

func (r *Reader) fields(e *Entry) func(func(name, value []byte) bool) {
	return func(yield func(name, value []byte) bool) { r.Fields(e, yield) }
}

// readExport reads the export format into the form of describe.
func readExport(t *testing.T, b []byte) []string {
	t.Helper()
	var out, lines []string
	rd := bufio.NewReader(bytes.NewReader(b))
	for {
		line, err := rd.ReadString('\n')
		if line == "\n" || (err != nil && len(lines) > 0) {
			sort.Strings(lines)
			out = append(out, strings.Join(lines, "\n"))
			lines = nil
			continue
		}
		if err != nil {
			return out
		}
		line = line[:len(line)-1]
		name, _, text := strings.Cut(line, "=")
		if !text {
			var n uint64
			if err := binary.Read(rd, binary.LittleEndian, &n); err != nil {
				t.Fatal(err)
			}
			v := make([]byte, n+1)
			if _, err := io.ReadFull(rd, v); err != nil {
				t.Fatal(err)
			}
			line = fmt.Sprintf("%s=%s", name, v[:n])
		}
		switch name {
		case "__CURSOR", "__SEQNUM", "__SEQNUM_ID":
			continue
		}
		lines = append(lines, line)
	}
}
