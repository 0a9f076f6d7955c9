package parse

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Short formats a duration for people: three significant figures in convenient
// units, such as 8.17 ms, 19.1s, 4m48s, 2h5m, 3d4h.
func Short(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + Short(max(-d, -(d+1))) // the least duration has no opposite
	case d == 0:
		return "0s"
	case d < 999500*time.Nanosecond:
		return digits3(float64(d)/1e3) + " µs"
	case d < 999500*time.Microsecond:
		return digits3(float64(d)/1e6) + " ms"
	case d < 59950*time.Millisecond:
		return digits3(d.Seconds()) + "s"
	case d < time.Hour-500*time.Millisecond:
		return inUnits(d.Round(time.Second), time.Minute, "m", time.Second, "s")
	case d < 48*time.Hour:
		return inUnits(d.Round(time.Minute), time.Hour, "h", time.Minute, "m")
	}
	return inUnits(d.Round(time.Hour), 24*time.Hour, "d", time.Hour, "h")
}

// Around formats a duration and its uncertainty to the same digit, as in 2m ±47s.
// The uncertainty is rounded up and covers the rounding of d.
func Around(d, slack time.Duration) string {
	digit := digitOf(d)
	return Short(d) + " ±" + Slack(slack+(d-d.Round(digit)).Abs(), digit)
}

// About is Around if the uncertainty is worth mentioning, else Short.
func About(d, slack time.Duration) string {
	if slack < min(500*time.Millisecond, d/10) {
		return Short(d)
	}
	return Around(d, slack)
}

// Least formats a lower bound, rounded down.
func Least(d time.Duration) string { return Short(d.Truncate(digitOf(d))) }

// Most formats an upper bound, rounded up.
func Most(d time.Duration) string { return Slack(d, 0) }

// OrLess formats a duration that may have been up to slack shorter, but not longer,
// as in 1m48s to 1m53s. A slack below half a second is not mentioned.
func OrLess(d, slack time.Duration) string {
	if slack < 500*time.Millisecond {
		return Short(d)
	}
	return Least(max(d-slack, 0)) + " to " + Most(d)
}

// Between formats a duration that is only known to lie between two bounds.
func Between(lo, hi time.Duration) string {
	switch {
	case hi-lo <= max(100*time.Millisecond, lo/100):
		return Short(lo + (hi-lo)/2)
	case lo == 0:
		return "at most " + Most(hi)
	}
	return "between " + Least(lo) + " and " + Most(hi)
}

// Slack formats the uncertainty of a value printed to the given digit, rounded up.
func Slack(slack, digit time.Duration) string {
	digit = max(digit, digitOf(slack))
	return Short((slack + digit - 1) / digit * digit)
}

// digitOf returns the value of the last digit that Short prints of d.
func digitOf(d time.Duration) time.Duration {
	switch {
	case d >= 48*time.Hour:
		return time.Hour
	case d >= time.Hour-500*time.Millisecond:
		return time.Minute
	case d >= 59950*time.Millisecond:
		return time.Second
	}
	digit := time.Duration(1)
	for d >= 999500*digit/1000 {
		digit *= 10
	}
	return digit
}

func digits3(f float64) string {
	unit := math.Pow(10, math.Floor(math.Log10(f))-2)
	out := strconv.FormatFloat(math.Round(f/unit)*unit, 'f', max(0, int(-math.Log10(unit)+0.5)), 64)
	if strings.Contains(out, ".") {
		out = strings.TrimSuffix(strings.TrimRight(out, "0"), ".")
	}
	return out
}

func inUnits(d, large time.Duration, l string, small time.Duration, s string) string {
	out := fmt.Sprintf("%d%s", d/large, l)
	if rest := d % large / small; rest > 0 {
		out += fmt.Sprintf("%d%s", rest, s)
	}
	return out
}

// Plural formats a count with its noun.
func Plural(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "ch"):
		noun += "e"
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
