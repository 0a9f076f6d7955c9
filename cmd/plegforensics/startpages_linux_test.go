package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestAsInFile: only read-only mappings of the program that are unmodified.
func TestAsInFile(t *testing.T) {
	const smaps = `00400000-01093000 r-xp 00000000 fe:00 104                              /bin/a program
Rss:                9420 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
01093000-01e88000 r--p 00c93000 fe:00 104                              /bin/a program
Anonymous:             0 kB
01e88000-01f00000 r--p 01a80000 fe:00 104                              /bin/a program
Anonymous:             4 kB
01f00000-01f3b000 rw-p 01a88000 fe:00 104                              /bin/a program
Anonymous:             0 kB
c16cc800000-c16cd800000 rw-p 00000000 00:00 0
Anonymous:             0 kB
7f46b7213000-7f46b7369000 r-xp 00026000 fe:00 326                      /bin/a program
Anonymous:             0 kB
`
	want := []mapping{{0x400000, 0x1093000}, {0x1093000, 0x1e88000}}
	if got := asInFile(strings.NewReader(smaps), "/bin/a program"); !slices.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
	if got := asInFile(strings.NewReader(smaps), "/bin/another program"); got != nil {
		t.Errorf("of another program: %x", got)
	}
}

// TestDropProgramPages: the program continues with fewer of its pages resident.
func TestDropProgramPages(t *testing.T) {
	resident := func() (kib int) {
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Skip(err)
		}
		_, after, ok := strings.Cut(string(status), "RssFile:")
		if !ok {
			t.Skip("an old kernel")
		}
		fmt.Sscan(after, &kib)
		return kib
	}
	before := resident()
	dropProgramPages()
	if after := resident(); after > before-before/4 {
		t.Errorf("%d KiB of files are resident, of %d", after, before)
	}
}
