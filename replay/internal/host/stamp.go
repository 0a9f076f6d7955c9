package host

import (
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// ParseStamp parses the timestamp of a condition, and returns Unix ns: RFC 3339 in objects, RFC 1123 in the
// tables of kubectl describe, or Go's time format in the lines of a controller.
func ParseStamp(s string) (int64, bool) {
	layout := "2006-01-02 15:04:05 -0700 MST"
	switch {
	case len(s) > 3 && s[3] == ',':
		layout = time.RFC1123Z
	case len(s) > len(time.DateOnly) && s[len(time.DateOnly)] == 'T':
		layout = time.RFC3339Nano
	}
	if t, err := parse.ParseTime(layout, s); err == nil && t.Year() >= 2000 {
		return t.UnixNano(), true
	}
	return 0, false
}
