package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// dropProgramPages unmaps the pages of the executable that are unmodified in memory.
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

// mapping is an address range.
type mapping struct{ from, to uintptr }

// asInFile returns the mappings of a file that are not writable and have no anonymous page: those
// may be dropped at any time. smaps is in the format of /proc/PID/smaps. It is read only up to the
// last mapping of the file, because the kernel walks the pages of every mapping that is read.
func asInFile(smaps io.Reader, path string) []mapping {
	var out []mapping
	var m mapping
	lines, ours, seen := bufio.NewScanner(smaps), false, false
	lines.Buffer(make([]byte, 512), bufio.MaxScanTokenSize) // shorter than one mapping's entry
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
			continue // an attribute of the current mapping
		}
		if strings.HasSuffix(line, " "+path) {
			ours, seen = !strings.Contains(perms, "w"), true
		} else if seen {
			break
		}
	}
	return out
}
