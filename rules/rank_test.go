package rules

import (
	"slices"
	"testing"
)

// TestSample: the worst episode is judged wherever it stands, because reports describe it.
func TestSample(t *testing.T) {
	for _, c := range []struct {
		n, most, must int
		want          []int
	}{
		{0, 4, 0, nil},
		{3, 4, 1, []int{0, 1, 2}},
		{9, 4, 0, []int{0, 1, 7, 8}},
		{9, 4, 5, []int{0, 1, 5, 7, 8}},
	} {
		if got := sample(c.n, c.most, c.must); !slices.Equal(got, c.want) {
			t.Errorf("sample(%d, %d, %d) = %v, want %v", c.n, c.most, c.must, got, c.want)
		}
	}
}
