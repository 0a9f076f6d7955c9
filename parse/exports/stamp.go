package exports

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// layouts are time formats of services besides numbers. A time without a zone is
// local, or UTC if the service says so.
var layouts = []string{
	"2006-01-02T15:04:05.999999999Z07:00",
	"2006-01-02T15:04:05.999999999-0700",
	"2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02 15:04:05.999999999 -0700",
	"2006-01-02 15:04:05.999999999 MST",
	"2006-01-02T15:04:05.999999999",
	"2006-01-02 15:04:05.999999999",
	"Jan 2, 2006 @ 15:04:05.999999999",
	"Jan 2, 2006, 15:04:05.999999999",
	"Jan 2, 2006 15:04:05.999999999",
	"1/2/2006, 3:04:05.999999999 PM",
	"1/2/2006 3:04:05.999999999 PM -0700",
	"1/2/2006 3:04:05.999999999 PM",
	"1/2/2006 15:04:05.999999999",
	"2/Jan/2006:15:04:05.999999999 -0700",
	"2006/01/02 15:04:05.999999999",
}

// stamp returns a time in RFC 3339 format, without a zone if none is known; "" if s
// is not a time.
func stamp(s string, utc bool) string {
	s = strings.TrimSpace(s)
	if len(s) < 9 || len(s) > 64 {
		return ""
	}
	if t, ok := epoch(s); ok {
		return t.UTC().Format("2006-01-02T15:04:05.000000000Z")
	}
	if z, ok := strings.CutSuffix(s, " [UTC]"); ok {
		s, utc = z, true
	}
	for _, l := range layouts {
		t, err := time.Parse(l, s)
		if err != nil {
			continue
		}
		switch {
		case strings.Contains(l, "Z07") || strings.Contains(l, "-0700"):
			return t.UTC().Format("2006-01-02T15:04:05.999999999Z")
		case strings.Contains(l, "MST"):
			// Zone abbreviations other than UTC are ambiguous.
			if name, _ := t.Zone(); name == "UTC" || name == "GMT" || name == "Z" {
				return t.UTC().Format("2006-01-02T15:04:05.999999999Z")
			}
		case utc:
			return t.Format("2006-01-02T15:04:05.999999999Z")
		}
		return t.Format("2006-01-02T15:04:05.999999999")
	}
	return ""
}

// epoch parses a number of seconds, milliseconds, microseconds or nanoseconds; its
// magnitude determines the unit.
func epoch(s string) (time.Time, bool) {
	whole, frac, _ := strings.Cut(s, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n <= 0 {
		return time.Time{}, false
	}
	unit := int64(1)
	switch {
	case n < 1e8:
		return time.Time{}, false
	case n < 1e11:
		unit = 1e9
	case n < 1e14:
		unit = 1e6
	case n < 1e17:
		unit = 1e3
	}
	if n > math.MaxInt64/unit-1 {
		return time.Time{}, false
	}
	ns := n * unit
	for i, scale := 0, unit/10; i < len(frac) && scale > 0; i, scale = i+1, scale/10 {
		if frac[i]-'0' > 9 {
			return time.Time{}, false
		}
		ns += int64(frac[i]-'0') * scale
	}
	return time.Unix(0, ns), true
}
