//go:build unix && !linux

package bundle

import (
	"runtime"
	"syscall"
)

// peakRSS is how much of this process was resident at most, in KiB.
func peakRSS() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(u.Maxrss) >> 10 // counts bytes
	}
	return int64(u.Maxrss)
}
