//go:build linux || darwin

package ulimit

import (
	"strconv"
	"syscall"
)

// What the Go runtime needs. It reserves far more address space than it uses.
const (
	leastFiles     = 16
	leastAddresses = 2560 << 20
	leastData      = 256 << 20
)

// exitNothing is the exit status of a run in which no input could be analyzed.
const exitNothing = 3

func init() {
	problem, hint := tooLittle()
	if problem == "" {
		return
	}
	_, _ = syscall.Write(2, []byte("plegforensics: error: "+problem+"\nplegforensics: hint: "+hint+"\n")) // there is nowhere to report an error
	syscall.Exit(exitNothing)
}

// tooLittle says which limit is too low and what is needed, "" if none is.
func tooLittle() (problem, hint string) {
	var n syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &n) == nil && n.Cur < leastFiles {
		return "the limit of open files (ulimit -n) is " + strconv.FormatUint(n.Cur, 10), "at least " + strconv.Itoa(leastFiles) + " are needed"
	}
	if syscall.Getrlimit(syscall.RLIMIT_AS, &n) == nil && n.Cur < leastAddresses {
		return "the limit of addresses (ulimit -v) is " + strconv.FormatUint(n.Cur>>20, 10) + " MiB",
			"at least " + strconv.Itoa(leastAddresses>>20) + " MiB are needed, of which little is used; a cgroup bounds what is used"
	}
	if syscall.Getrlimit(syscall.RLIMIT_DATA, &n) == nil && n.Cur < leastData {
		return "the limit of data (ulimit -d) is " + strconv.FormatUint(n.Cur>>20, 10) + " MiB", "at least " + strconv.Itoa(leastData>>20) + " MiB are needed"
	}
	return "", ""
}
