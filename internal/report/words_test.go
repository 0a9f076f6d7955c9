package report

import (
	"slices"
	"testing"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

func num(f float64) *float64 { return &f }

// TestAmounts: a measured value is shown with its uncertainty and its threshold.
func TestAmounts(t *testing.T) {
	at := func(s int64) model.Time { return model.Time(1.8e18 + s*1e9) }
	for _, c := range []struct{ got, want string }{
		{measured(&model.Breach{Value: num(1), Threshold: num(0), Unit: "calls", End: at(1)}), "1 call"},
		{measured(&model.Breach{Value: num(35), Threshold: num(30), Unit: "seconds", End: at(1)}), "35s, threshold 30s"},
		{measured(&model.Breach{Value: num(35), Threshold: num(30), Unit: "seconds"}), "at least 35s, threshold 30s"},
		{measured(&model.Breach{Value: num(0), Threshold: num(0), Unit: "seconds"}), ""},
		{episodeLength(&model.Episode{Breach: at(0), Recovered: at(19), RecoveredSlack: num(18)}), "1s to 19s"},
		{episodeLength(&model.Episode{Breach: at(0), Recovered: at(113), RecoveredSlack: num(5)}), "1m48s to 1m53s"},
		{episodeLength(&model.Episode{Breach: at(0), LastReport: at(113)}), "≥ 1m53s"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	for _, c := range []struct {
		r    model.Relist
		want string
	}{
		{model.Relist{Start: at(0), StartSlack: num(0.1), Until: at(0) + 1e8, Duration: num(0.1), Basis: []string{"list-error"}}, "≤ 200 ms"},
		{model.Relist{Start: at(0), StartSlack: num(60), Until: at(180), Basis: []string{"list-error"}}, "≤ 4m"},
		{model.Relist{Start: at(0), Open: true, Least: 117e9}, "≥ 1m57s, not over"},
	} {
		if got := (times{}).relists("", model.Seq[model.Relist](slices.Values([]model.Relist{c.r}))).Rows[0][2].Text; got != c.want {
			t.Errorf("length %q, want %q", got, c.want)
		}
	}
	v := "v1.14"
	if got := (&model.Kubelet{VersionMin: v, VersionMax: v}).Versions(); got != v {
		t.Errorf("one version is called %q", got)
	}
}
