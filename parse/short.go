package parse

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Short prints a duration for people: three significant figures, in units that
// they read easily: 8.17 ms, 19.1s, 4m48s, 2h5m, 3d4h.
func Short(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + Short(-d)
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

// Around prints a duration and its uncertainty to the same digit, the latter rounded up:
// what it says holds of the duration itself, 2m ±47s.
func Around(d, slack time.Duration) string {
	digit := digitOf(d)
	return Short(d) + " ±" + Slack(slack+(d-d.Round(digit)).Abs(), digit)
}

// About is Around where the uncertainty is worth a word, else Short.
func About(d, slack time.Duration) string {
	if slack < min(500*time.Millisecond, d/10) {
		return Short(d)
	}
	return Around(d, slack)
}

// Least prints a lower bound, which is rounded down.
func Least(d time.Duration) string { return Short(d.Truncate(digitOf(d))) }

// Most prints an upper bound, which is rounded up.
func Most(d time.Duration) string { return Slack(d, 0) }

// OrLess prints a duration that may have been less by slack, but not more, where that is
// worth a word: 1m48s to 1m53s.
func OrLess(d, slack time.Duration) string {
	if slack < 500*time.Millisecond {
		return Short(d)
	}
	return Least(max(d-slack, 0)) + " to " + Most(d)
}

// Slack prints the uncertainty of something that is printed to a digit, rounded up.
func Slack(slack, digit time.Duration) string {
	digit = max(digit, digitOf(slack))
	return Short((slack + digit - 1) / digit * digit)
}

// digitOf is what the last digit is worth that Short prints of a duration.
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

// Plural is a number of things in words.
func Plural(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "ch"):
		noun += "e"
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
