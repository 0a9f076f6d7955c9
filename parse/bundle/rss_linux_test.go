package bundle

import (
	"fmt"
	"os"
	"strings"
)

// peakRSS is how much of this process was resident at most, in KiB. What
// getrusage tells counts the process that started this one too.
func peakRSS() (kib int64) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	fmt.Sscan(after, &kib)
	return kib
}
