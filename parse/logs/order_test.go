package logs

import (
	"fmt"
	"strings"
	"testing"
)

// TestDirection: lines are newest first if their times fall from line to line; a single fall among
// many lines may be a clock that was set.
func TestDirection(t *testing.T) {
	at := func(times ...int) string {
		var b strings.Builder
		for _, s := range times {
			fmt.Fprintf(&b, "Jul 26 12:%02d:%02d n1 kernel: XFS (dm-1): Mounting V5 Filesystem\n", s/60, s%60)
		}
		return b.String()
	}
	for _, c := range []struct {
		name  string
		lines string
		want  bool
	}{
		{"oldest first", at(0, 10, 20, 30), false},
		{"newest first", at(40, 30, 20, 10), true},
		{"two lines, newest first", at(40, 30), true},
		{"a clock set back after the first of many lines", at(600, 1, 1, 1, 1, 1, 1, 1, 1, 1), false},
	} {
		if got := decodeString(c.lines).Coverage[0].Reversed; got != c.want {
			t.Errorf("%s: reversed %v", c.name, got)
		}
	}
}

// TestExtremes: the earliest and the latest line are kept where the clock steps back, also across
// runs.
func TestExtremes(t *testing.T) {
	in := ""
	for _, at := range []string{"10:00:10", "10:00:30", "10:00:05", "10:00:20"} {
		in += "Jul 26 " + at + " n1 kernel: XFS (dm-1): Mounting V5 Filesystem\n"
	}
	c := decodeString(in).Coverage[0]
	if c.Low.Line != 3 || c.High.Line != 2 {
		t.Errorf("low %d, high %d", c.Low.Line, c.High.Line)
	}
}
