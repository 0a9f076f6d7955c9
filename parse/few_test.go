package parse

import (
	"slices"
	"testing"
)

// TestWeightiest checks that the first, the last and the heaviest items are kept in
// order, and the first of equally heavy ones.
func TestWeightiest(t *testing.T) {
	for _, c := range []struct {
		list []int64
		most int
		want []int64
	}{
		{nil, 3, nil},
		{[]int64{3, 1, 2}, 3, []int64{3, 1, 2}},
		{[]int64{0, 5, 9, 7, 1}, 4, []int64{0, 9, 7, 1}},
		{[]int64{9, 1, 1, 1, 8}, 3, []int64{9, 1, 8}},
		{[]int64{1, 2, 3}, 0, []int64{1, 3}},
	} {
		if got := Weightiest(slices.Clone(c.list), c.most, func(v *int64) int64 { return *v }); !slices.Equal(got, c.want) {
			t.Errorf("%d of %v: %v, want %v", c.most, c.list, got, c.want)
		}
	}
	w := Counted(Pos{}, 1_000_000, "clock step", 10_000, "the first, the last and the largest")
	if want := "1000000 clock steps: 10000 are kept one by one, the first, the last and the largest; the others are only counted"; w.Msg != want {
		t.Errorf("%q, want %q", w.Msg, want)
	}
}
