package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/replay"
)

// Date formats Unix ns with date and milliseconds, in UTC.
func Date(at int64) string { return layout(at, "2006-01-02 15:04:05.000") }

// Layouts of moments in tables: without the year, because rows must fit.
const (
	dayAndTime = "01-02 15:04:05.000"
	timeOnly   = "15:04:05.000"
)

func clockOf(at int64) string { return layout(at, dayAndTime) }

func layout(at int64, l string) string {
	if at == 0 {
		return "?"
	}
	return time.Unix(0, at).UTC().Format(l)
}

// instant is a moment with its uncertainty where that is worth saying.
func instant(i replay.Instant) string { return instantAs(i, dayAndTime) }

func instantAs(i replay.Instant, date string) string {
	if !i.Known() {
		return "?"
	}
	if i.Slack < 5*time.Millisecond {
		return layout(i.At, date)
	}
	return layout(i.At, date) + " " + slack(i)
}

func slack(i replay.Instant) string {
	if !i.Known() {
		return ""
	}
	return "±" + Span(i.Slack)
}

// Span formats a duration for people: three significant figures below a
// minute, whole seconds above.
func Span(d time.Duration) string {
	if d < 0 {
		return "-" + Span(-d)
	}
	switch {
	case d == 0:
		return "0s"
	case d < time.Minute:
		return roundTo3(d).String()
	}
	return d.Round(time.Second).String()
}

func roundTo3(d time.Duration) time.Duration {
	unit := time.Duration(math.Pow(10, math.Floor(math.Log10(float64(d)))-2))
	return d.Round(max(unit, 1))
}

// span is a number of seconds for people, "?" for nil.
func span(s *float64) string { return maybe(model.Duration(s)) }

func maybe(d time.Duration) string {
	if d < 0 {
		return "?"
	}
	return Span(d)
}

// quantity is a value and its unit; seconds become a span.
func quantity(v float64, unit string) string {
	if math.IsNaN(v) {
		return "?"
	}
	if unit == "seconds" && math.Abs(v) < 1e9 {
		return Span(time.Duration(v * 1e9))
	}
	s := strconv.FormatFloat(v, 'g', 4, 64)
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		s = strconv.FormatFloat(v, 'f', 0, 64)
	}
	if unit == "" {
		return s
	}
	return s + " " + unit
}

// Bytes formats a size with a binary unit.
func Bytes(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	f, units := float64(n)/1024, "KMGTPE"
	for f >= 1024 && len(units) > 1 {
		f, units = f/1024, units[1:]
	}
	return fmt.Sprintf("%.1f %ciB", f, units[0])
}

// Plural is plural for the packages that write reports of their own.
func Plural(n int, noun string) string { return plural(n, noun) }

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "ch") {
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func numbers(ns []int) string {
	var b strings.Builder
	for i, n := range ns {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Itoa(n))
	}
	return b.String()
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return Visible(s)
}
