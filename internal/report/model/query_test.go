package model

import "testing"

func TestAPIValues(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1.5: "1.5", 1e21: "1e+21", 1e-7: "1e-07", 1e20: "100000000000000000000"} {
		if got := Value(v); got != want {
			t.Errorf("%g is %s, want %s", v, got, want)
		}
	}
	for ms, want := range map[int64]string{0: "0", 1500: "1.5", 1795217460123: "1795217460.123", 1795217460000: "1795217460"} {
		if got := apiTime(ms); got != want {
			t.Errorf("%d is %s, want %s", ms, got, want)
		}
	}
}
