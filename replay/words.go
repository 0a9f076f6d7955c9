package replay

import (
	"strings"
	"time"
)

// Short prints a duration for people.
func Short(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= 10*time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(time.Microsecond).String()
}

// TimedOut reports whether an error text says that a call ran into its
// deadline.
func TimedOut(err string) bool {
	return strings.Contains(err, "DeadlineExceeded") || strings.Contains(err, "deadline exceeded") ||
		strings.Contains(err, "operation timeout")
}
