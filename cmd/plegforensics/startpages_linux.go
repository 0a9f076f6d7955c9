package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// dropProgramPages unmaps the pages of the executable that stand in memory just
// as they stand in the file.
func dropProgramPages() {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer f.Close()
	for _, m := range asInFile(f, program) {
		syscall.Syscall(syscall.SYS_MADVISE, m.from, m.to-m.from, syscall.MADV_DONTNEED)
	}
}

// mapping is a stretch of memory.
type mapping struct{ from, to uintptr }

// asInFile returns the mappings of a file that nobody can write to and that hold
// no page of their own: those may be dropped at any time. smaps is in the format
// of /proc/PID/smaps, of which no more is read than the mappings of the file and
// those before: the system goes through the pages of each that is asked for.
func asInFile(smaps io.Reader, path string) []mapping {
	var out []mapping
	var m mapping
	lines, ours, seen := bufio.NewScanner(smaps), false, false
	lines.Buffer(make([]byte, 512), bufio.MaxScanTokenSize) // less than a mapping
	for lines.Scan() {
		line := lines.Text()
		if own, ok := strings.CutPrefix(line, "Anonymous:"); ok {
			if ours && strings.TrimSpace(own) == "0 kB" {
				out = append(out, m)
			}
			ours = false
			continue
		}
		var perms string
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &m.from, &m.to, &perms); n < 3 {
			continue // a line about the mapping at hand
		}
		if strings.HasSuffix(line, " "+path) {
			ours, seen = !strings.Contains(perms, "w"), true
		} else if seen {
			break
		}
	}
	return out
}
