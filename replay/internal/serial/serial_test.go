package serial

import (
	"slices"
	"testing"

	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// TestFit checks that a measured relist is one of the dated ones if it fits nowhere else, another relist if it
// can be none of them, and either if both are possible.
func TestFit(t *testing.T) {
	span := func(from, to float64) host.Span { return host.Span{From: int64(from * 1e9), To: int64(to * 1e9)} }
	dated := func(from, to, end float64) Relist { return Relist{Start: span(from, to), End: int64(end * 1e9)} }
	m := func(start, end host.Span, took float64) Measured { return Measured{start, end, int64(took * 1e9)} }
	for name, c := range map[string]struct {
		m     Measured
		all   []Relist
		same  []int
		apart bool
		start host.Span
	}{
		"none is dated":                       {m(span(10, 20), span(40, 60), 30), nil, nil, true, span(10, 20)},
		"before the next, none after":         {m(span(10, 20), span(40, 60), 30), []Relist{dated(12, 12, 12), dated(43.5, 43.5, 43.5)}, []int{0}, false, span(12, 12)},
		"itself, or the one behind it":        {m(span(10, 20), span(40, 60), 30), []Relist{dated(12, 12, 12), dated(52, 52, 52)}, []int{0}, true, span(12, 20)},
		"it began before that was over":       {m(span(10, 20), span(40, 60), 30), []Relist{dated(12, 12, 19.5)}, []int{0}, false, span(12, 12)},
		"that was over before":                {m(span(10, 20), span(40, 60), 30), []Relist{dated(8, 8, 9)}, nil, true, span(10, 20)},
		"behind that":                         {m(span(10, 20), span(40, 60), 30), []Relist{dated(9, 9, 14)}, nil, true, span(15, 20)},
		"no room: the sources do not agree":   {m(span(10, 20), span(40, 60), 30), []Relist{dated(9, 9, 9), dated(25, 25, 25), dated(45, 45, 45)}, nil, false, host.Span{}},
		"among quick ones, before the gap":    {m(span(0, 20), span(40, 60), 30), []Relist{dated(1, 1, 1), dated(2, 2, 2), dated(3, 3, 3), dated(34.5, 34.5, 34.5)}, []int{2}, false, span(3, 3)},
		"no end is known, and it still runs":  {m(span(10, 20), span(40, 0), 30), []Relist{dated(12, 12, 12)}, []int{0}, true, span(12, 20)},
		"a moment that two sources stamp":     {m(span(10, 20), span(40, 60), 30), []Relist{dated(20.05, 20.05, 20.05)}, []int{0}, false, span(20.05, 20.05)},
		"of which the bounds leave no second": {m(span(10, 10.3), span(40, 60), 30), []Relist{dated(9.8, 10.8, 9.8)}, []int{0}, false, span(10, 10.3)},
	} {
		got := Fit(c.m, c.all, 1e9, func(int) bool { return true })
		if !slices.Equal(got.Same, c.same) || got.Apart != c.apart || got.Start != c.start {
			t.Errorf("%s: the same as %v, apart %v, began %v", name, got.Same, got.Apart, got.Start)
		}
	}
	if got := Fit(m(span(10, 20), span(40, 60), 30), []Relist{dated(12, 12, 12)}, 1e9, func(int) bool { return false }); len(got.Same) > 0 || !got.Apart {
		t.Errorf("one that it cannot be: %+v", got)
	}
}
