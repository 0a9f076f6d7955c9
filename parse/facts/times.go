package facts

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// reading returns a clock reading, to the second, for a time that was parsed as UTC.
func reading(t time.Time, lack parse.Lack) parse.Clock {
	return parse.Clock{NS: t.UnixNano(), Res: time.Second, Lack: lack, Set: true}
}

// offsetOf parses a zone: an abbreviation, "+0530", "+05:30" or "-05".
func offsetOf(word string) (seconds int, ok bool) {
	if n, _, ok := parse.ZoneOffset(word); ok {
		return n, true
	}
	digits := strings.ReplaceAll(strings.TrimLeft(word, "+-"), ":", "")
	if word == "" || word[0] != '+' && word[0] != '-' || len(digits) != 2 && len(digits) != 4 {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0, false
	}
	if len(digits) == 2 {
		n *= 100
	}
	seconds = n/100*3600 + n%100*60
	if word[0] == '-' {
		seconds = -seconds
	}
	return seconds, true
}

// dateForms are output formats of date(1), without the zone: C locale of old and
// new versions, ISO, RFC 5322, and en_US with a 12-hour clock.
var dateForms = []string{
	"Mon Jan _2 15:04:05 2006", "Mon Jan _2 03:04:05 PM 2006", "Mon _2 Jan 15:04:05 2006", "Mon _2 Jan 2006 15:04:05",
	"Mon _2 Jan 2006 03:04:05 PM", "Mon, 02 Jan 2006 15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04:05", "Mon 2006-01-02 15:04:05",
	"2006-01-02 15:04:05.999999999", "Mon Jan 2 15:04:05 2006",
}

// dateOf parses a date and time. zone is "" if it states none or an ambiguous one;
// c then lacks the zone.
func dateOf(line string) (c parse.Clock, zone string, ok bool) {
	if len(line) < len("2006-01-02") || !strings.ContainsAny(line, "0123456789") || strings.Count(line, ":") < 2 { // all formats have a time of day
		return c, "", false
	}
	f := goTime(fields(line))
	if len(f) < 1 || len(f) > 8 {
		return c, "", false
	}
	if len(f) == 1 { // 2026-11-21T00:05:41+00:00
		if t, err := parse.ParseTime(time.RFC3339Nano, f[0]); err == nil {
			_, off := t.Zone()
			return reading(t, 0), zoneName(off), true
		}
	}
	for i := len(f) - 1; i >= 0; i-- {
		if !zoneLike(f[i]) {
			continue
		}
		rest := strings.Join(append(append([]string(nil), f[:i]...), f[i+1:]...), " ")
		t, fine := parseDate(rest)
		if !fine {
			continue
		}
		off, known := offsetOf(f[i])
		if !known {
			return reading(t, parse.LackZone), "", true
		}
		return reading(t.Add(-time.Duration(off)*time.Second), 0), f[i], true
	}
	t, fine := parseDate(strings.Join(f, " "))
	if !fine {
		return c, "", false
	}
	return reading(t, parse.LackZone), "", true
}

// goTime drops parts specific to Go's time.Time format: the zone name after the
// offset, and the monotonic clock ("2006-01-02 15:04:05.9 +0000 UTC m=+0.1").
func goTime(f []string) []string {
	if n := len(f); n > 3 && strings.HasPrefix(f[n-1], "m=") {
		f = f[:n-1]
	}
	if n := len(f); n == 4 && len(f[2]) == 5 && (f[2][0] == '+' || f[2][0] == '-') && zoneLike(f[3]) {
		f = f[:n-1]
	}
	return f
}

func parseDate(s string) (time.Time, bool) {
	if len(s) < len("2006-01-02") || len(s) > 64 {
		return time.Time{}, false
	}
	for _, form := range dateForms {
		if t, err := parse.ParseTime(form, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// zoneLike reports whether a word of a date may be its zone.
func zoneLike(w string) bool {
	if len(w) >= 3 && (w[0] == '+' || w[0] == '-') {
		return true
	}
	if len(w) < 1 || len(w) > 5 || w == "AM" || w == "PM" {
		return false
	}
	for _, c := range w {
		if c < 'A' || c > 'Z' {
			return false
		}
	}
	return true
}

func zoneName(seconds int) string {
	if seconds == 0 {
		return "UTC"
	}
	return time.Unix(0, 0).In(time.FixedZone("", seconds)).Format("-07:00")
}

func isDate(name, head string) bool {
	if !strings.HasPrefix(name, "date") && !strings.HasSuffix(name, "_date") && name != "uptime_date" && len(head) > 200 {
		return false
	}
	_, _, ok := dateOf(firstLine(head))
	return ok
}

// date reads the output of date(1). It adds no zone for "date --utc", nor for the
// file timestamp of oc adm must-gather, which is from the machine where the command
// was run.
func (s *scan) date() {
	for s.advance() {
		c, zone, ok := dateOf(strings.TrimSpace(s.line))
		if !ok {
			continue
		}
		f := s.text(KeyCollected, strings.TrimSpace(s.line))
		f.Raw = c
		if zone != "" && s.name != "timestamp" && !strings.Contains(s.name, "utc") && !strings.HasSuffix(s.name, "-u") {
			off, _ := offsetOf(zone)
			s.add(KeyZone, zone, float64(off))
		}
		return
	}
}

// hwclock reads the output of hwclock(8).
func (s *scan) hwclock() {
	for s.advance() {
		line := strings.TrimSpace(s.line)
		if i := strings.Index(line, "."); i > 0 && len(line) > i+7 && strings.Contains(line, "-") {
			line = line[:i] + " " + line[i+7:] // drop microseconds
		}
		if c, _, ok := dateOf(line); ok {
			s.text(KeyRTC, strings.TrimSpace(s.line)).Raw = c
			return
		}
	}
}

// timedatectl reads the zone, the times, and whether the clock is synchronized.
func (s *scan) timedatectl() {
	for s.advance() {
		name, v, ok := strings.Cut(s.line, ":")
		if !ok {
			continue
		}
		v = strings.TrimSpace(v)
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "universal time":
			if c, _, ok := dateOf(v); ok {
				s.text(KeyCollected, v).Raw = c
			}
		case "rtc time":
			if c, _, ok := dateOf(v + " UTC"); ok {
				s.text(KeyRTC, v).Raw = c
			}
		case "time zone", "timezone":
			s.zone(v)
		case "system clock synchronized", "ntp synchronized":
			s.add(KeyNTP, v, boolean(v))
		}
	}
}

// zone parses "America/New_York (EST, -0500)".
func (s *scan) zone(v string) {
	name, rest, _ := strings.Cut(v, " (")
	word := strings.TrimSuffix(rest, ")")
	if i := strings.LastIndexByte(word, ' '); i >= 0 {
		word = word[i+1:]
	}
	if off, ok := offsetOf(word); ok {
		s.add(KeyZone, name, float64(off))
	}
}

func isListBoots(name, head string) bool {
	if strings.Contains(name, "list-boots") {
		return true
	}
	return strings.HasPrefix(firstLine(head), "IDX BOOT ID")
}

// listBoots reads journalctl --list-boots, old format ("-1 <id> Mon 2021-03-01
// 10:00:00 UTC—Tue 2021-03-02 11:00:00 UTC") and new format (a table with header).
func (s *scan) listBoots() {
	for s.advance() {
		f := fields(strings.ReplaceAll(s.line, "—", " "))
		if len(f) < 10 || len(f[1]) != 32 {
			continue
		}
		half := (len(f) - 2) / 2
		first, last := strings.Join(f[2:2+half], " "), strings.Join(f[2+half:], " ")
		fact := s.text(KeyBoot, f[1], attr("boot", f[1]), attr("index", f[0]), attr("first", first), attr("last", last))
		if c, zone, ok := dateOf(last); ok {
			fact.Raw = c
			if off, known := offsetOf(zone); known && zone != "" {
				s.add(KeyZone, zone, float64(off))
			}
		}
	}
}

// seconds parses a duration in Go syntax ("2m0s", "4h"), NaN if it is none.
func seconds(v string) float64 {
	d, err := time.ParseDuration(v)
	if err != nil {
		return math.NaN()
	}
	return d.Seconds()
}
