package report

import (
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// TestExcerpt: of a line that is too long, the message is shown.
func TestExcerpt(t *testing.T) {
	const framing = "Mar 13 16:02:43 worker-3 kubelet[812]: I0313 16:02:43.934000     812 kubelet.go:1826] "
	const msg = "skipping pod synchronization - [PLEG is not healthy: pleg was last seen active 3m5.3s ago; threshold is 3m0s]"
	e := &model.Evidence{Text: framing + msg, Message: msg}
	for width, want := range map[int]string{
		300: framing + msg,
		132: "…812 kubelet.go:1826] " + msg,
		111: "…" + msg,
		60:  "…skipping pod synchronization - [PLEG is not healthy: pleg …",
	} {
		if got := excerpt(e, framing+msg, width); got != want {
			t.Errorf("width %d:\n got %q\nwant %q", width, got, want)
		}
	}
	e.Message = "" // not known
	if got := excerpt(e, framing+msg, 40); got != "Mar 13 16:02:43 worker-3 kubelet[812]: …" {
		t.Errorf("without a known message: %q", got)
	}
	if got := excerpt(&model.Evidence{}, "0123456789", 5); got != "0123…" {
		t.Errorf("a record without a message: %q", got)
	}
}

// TestSpan: three significant figures, in units that people read.
func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0s", 999: "0.999 µs", 8172 * time.Microsecond: "8.17 ms", 20 * time.Millisecond: "20 ms", 999600 * time.Microsecond: "1s",
		5 * time.Second: "5s", 19131 * time.Millisecond: "19.1s", 59990 * time.Millisecond: "1m", 3*time.Minute + 8196*time.Millisecond: "3m8s",
		27 * time.Minute: "27m", 59*time.Minute + 59900*time.Millisecond: "1h", 125 * time.Minute: "2h5m", 76 * time.Hour: "3d4h", -time.Second: "-1s"} {
		if got := Span(d); got != want {
			t.Errorf("%v is %s, want %s", d, got, want)
		}
	}
}
