//go:build unix && !linux

package bundle

import (
	"runtime"
	"syscall"
)

// peakRSS returns the peak resident size of this process in KiB, 0 if unknown.
func peakRSS() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(u.Maxrss) >> 10 // macOS counts bytes
	}
	return int64(u.Maxrss)
}
