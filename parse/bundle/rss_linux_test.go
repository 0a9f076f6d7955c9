package bundle

import (
	"fmt"
	"os"
	"strings"
)

// peakRSS returns the peak resident size of this process in KiB, 0 if unknown. It
// does not use getrusage, whose value includes the parent process before exec.
func peakRSS() (kib int64) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	fmt.Sscan(after, &kib)
	return kib
}
