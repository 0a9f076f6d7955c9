package parse

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Date is a date with a time of day that stands in a text, such as 2016-02-11 14:22:20.123 +0100.
type Date struct {
	Read  time.Time // as it reads, in UTC
	East  int       // offset of its zone in seconds east of UTC, if Zoned
	Zoned bool
	Own   bool // the moment at which the line was written
}

// DatesIn returns the dates in a text: ISO dates, those of ctime(3) and date(1), the insides of a Go time.Time, the
// moments of records of the kernel's audit, and the day from or until which a command shows a log.
func DatesIn(text string) (out []Date) {
	for i := 0; i+len(time.DateTime) <= len(text); i++ {
		if DayNamed(text[i:]) {
			if read, _, ok := wordDate(text[i:]); ok {
				out = append(out, Date{Read: read})
			}
		}
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
	out = append(append(out, goTimes(text)...), auditTimes(text)...)
	if day, ok := AskedDay(text); ok {
		out = append(out, Date{Read: day})
	}
	return slices.DeleteFunc(out, func(d Date) bool { return d.Read.Unix() <= 0 }) // a time that was never set
}

// DayNamed reports whether a text begins like a date of ctime(3) or date(1): with the short name of a day.
func DayNamed(text string) bool {
	return len(text) > 4 && text[3] == ' ' && text[0]-'A' < 26 && strings.Contains("Mon Tue Wed Thu Fri Sat Sun", text[:3])
}

// wordForms are the forms of ctime(3) and date(1), in the C locale and in English ones.
var wordForms = []string{
	"Mon Jan 2 15:04:05 2006", "Mon Jan 2 15:04:05 MST 2006", "Mon 2 Jan 15:04:05 MST 2006", "Mon 2 Jan 2006 15:04:05", "Mon 2 Jan 2006 15:04:05 MST",
	"Mon Jan 2 03:04:05 PM 2006", "Mon Jan 2 03:04:05 PM MST 2006", "Mon 2 Jan 2006 03:04:05 PM", "Mon 2 Jan 2006 03:04:05 PM MST",
}

// wordDate reads the longest date with words at the beginning of a text. Its day of the week must be right. rest is what
// follows it.
func wordDate(text string) (read time.Time, rest string, ok bool) {
	const most = 7 // words of a date
	words := strings.Fields(text[:min(len(text), len("Mon Jan  2 03:04:05 PM +0000 2006 "))])
	for n := min(most, len(words)); n >= 5; n-- {
		for _, form := range wordForms {
			t, err := ParseTime(form, strings.Join(words[:n], " "))
			if err != nil || t.Weekday().String()[:3] != words[0] {
				continue
			}
			for rest = text; n > 0; n-- {
				rest = strings.TrimLeft(rest, " ")
				rest = rest[len(strings.Fields(rest)[0]):]
			}
			return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC), rest, true
		}
	}
	return read, "", false
}

// HeadingDate returns the date of a line that is nothing else, as date(1) prints it, or that ends the heading of watch(1):
// when the lines above it were there.
func HeadingDate(line string) (read time.Time, ok bool) {
	line = strings.TrimSpace(line)
	if interval, _, ok := strings.Cut(line, "s: "); ok && strings.HasPrefix(interval, "Every ") {
		if i := strings.LastIndex(line, ": "); i > 0 {
			line = strings.TrimSpace(line[i+2:])
		}
	}
	if !DayNamed(line) {
		return read, false
	}
	read, rest, ok := wordDate(line)
	return read, ok && strings.TrimSpace(rest) == ""
}

// asked are the flags with which journalctl, docker, crictl and kubectl show a log from or until a day.
var asked = []string{"--since", "--until"}

// AskedDay returns the day behind a flag of a command that shows a log from or until then.
func AskedDay(text string) (day time.Time, ok bool) {
	for _, flag := range asked {
		if _, rest, found := strings.Cut(text, flag); found {
			rest = strings.TrimLeft(strings.TrimPrefix(rest, "-time"), `= "'\`)
			if day, err := time.Parse(time.DateOnly, rest[:min(len(rest), len(time.DateOnly))]); err == nil {
				return day, true
			}
		}
	}
	return day, false
}

// goTime is what %#v and %+v print of a time.Time: seconds of the year 1 on, or, with the highest bit of wall, of the year
// 1885 on in its upper half.
var goTime = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\bwall:(0x[0-9a-f]+|\d+),? ext:(\d+)|\bsec:(\d+),? nsec:`)
})

// goTimes returns the moments whose insides Go printed.
func goTimes(text string) (out []Date) {
	if !strings.Contains(text, "sec:") && !strings.Contains(text, "wall:") {
		return nil
	}
	for _, m := range goTime().FindAllStringSubmatch(text, -1) {
		seconds, err := strconv.ParseInt(m[2]+m[3], 10, 64)
		if wall, _ := strconv.ParseUint(m[1], 0, 64); wall>>63 != 0 {
			seconds, err = int64(wall<<1>>31)+yearSeconds(1885), nil
		}
		if seconds -= yearSeconds(1970); err == nil && seconds > 0 && seconds < LastSecond {
			out = append(out, Date{Read: time.Unix(seconds, 0).UTC(), Zoned: true})
		}
	}
	return out
}

// auditTime is the serial of a record of the kernel's audit (kernel/audit.c, audit_log_start): its moment and a number.
var auditTime = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\baudit\((\d{9,10})\.(\d{3}):\d+\)`) })

// auditTimes returns the moments of records of the kernel's audit.
func auditTimes(text string) (out []Date) {
	if !strings.Contains(text, "audit(") {
		return nil
	}
	for _, m := range auditTime().FindAllStringSubmatch(text, -1) {
		seconds, _ := strconv.ParseInt(m[1], 10, 64)
		ms, _ := strconv.ParseInt(m[2], 10, 64)
		out = append(out, Date{Read: time.Unix(seconds, ms*1e6).UTC(), Zoned: true, Own: true})
	}
	return out
}

// yearSeconds returns how many seconds a year begins after the year 1.
func yearSeconds(year int) int64 {
	return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Unix() - time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
}
