package query

import "testing"

func TestAsks(t *testing.T) {
	var a Asks
	a.Add(`rate(x_total[5m]) / on() {__name__=~"y_.*", __name__!="y_z", l="1"}`)
	a.Add(`broken(`)
	for name, want := range map[string]bool{"x_total": true, "x": false, "y_a": true, "y_z": false, "broken": false} {
		if a.Has(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
	a.Add(`{l="1"}`)
	if !a.Has("anything") {
		t.Error("a selector without a name picks any metric")
	}
}
