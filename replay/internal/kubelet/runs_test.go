package kubelet

import (
	"testing"
	"time"
)

func TestProcessStart(t *testing.T) {
	got, ok := processStart("2021-01-09 19:48:52.460628029 +0800 CST m=+1199233.179")
	if want := time.Date(2020, 12, 26, 14, 41, 39, 0, time.UTC); !ok || time.Unix(0, got).UTC().Truncate(time.Second) != want {
		t.Errorf("process start %v, want %v", time.Unix(0, got).UTC(), want)
	}
	for _, s := range []string{"", "m=+1", "2021-01-09 19:48:52 +0800 CST", "x y z m=+5", "2021-01-09 19:48:52 +0800 CST m=+-5"} {
		if _, ok := processStart(s); ok {
			t.Errorf("%q gives a process start", s)
		}
	}
}
