package parse

import (
	"strings"
	"time"
)

// Date is a date with a time of day that stands in a text, such as 2016-02-11 14:22:20.123 +0100.
type Date struct {
	Read  time.Time // as it reads, in UTC
	East  int       // offset of its zone in seconds east of UTC, if Zoned
	Zoned bool
}

// DatesIn returns the dates in a text.
func DatesIn(text string) (out []Date) {
	for i := 0; i+len(time.DateTime) <= len(text); i++ {
		if text[i+4] != '-' || text[i+7] != '-' || text[i+13] != ':' {
			continue
		}
		t, err := time.Parse(time.DateTime, strings.Replace(text[i:i+len(time.DateTime)], "T", " ", 1))
		if err != nil {
			continue
		}
		d := Date{Read: t}
		rest := text[i+len(time.DateTime):]
		if len(rest) > 1 && rest[0] == '.' {
			digits := len(rest) - 1 - len(strings.TrimLeft(rest[1:], "0123456789"))
			fraction, _ := time.ParseDuration("0" + rest[:1+min(digits, 9)] + "s")
			d.Read, rest = t.Add(fraction), rest[1+digits:]
		}
		for _, layout := range []string{"Z07:00", " -0700", "-0700"} {
			n := len(" -0700")
			if strings.HasPrefix(rest, "Z") {
				n = 1
			} else if layout == "-0700" {
				n--
			}
			if zone, err := time.Parse(layout, rest[:min(n, len(rest))]); err == nil {
				_, d.East = zone.Zone()
				d.Zoned = true
				break
			}
		}
		out = append(out, d)
	}
	return out
}
