package report

import (
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// TestExcerpt: of a line that is too long, the message is shown.
func TestExcerpt(t *testing.T) {
	const framing = "Mar 13 16:02:43 worker-3 kubelet[812]: I0313 16:02:43.934000     812 kubelet.go:1826] "
	const msg = "skipping pod synchronization - [PLEG is not healthy: pleg was last seen active 3m5.3s ago; threshold is 3m0s]"
	e := parse.NewEvent(&parse.EventKind{File: &parse.File{Path: "k"}, Origin: &parse.Origin{}, Sigs: &parse.SigSet{}},
		parse.PlainText(framing+msg), parse.Event{Msg: uint16(len(framing))})
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
	e.Msg = 0 // as after redaction
	if got := excerpt(e, framing+msg, 40); got != "Mar 13 16:02:43 worker-3 kubelet[812]: …" {
		t.Errorf("without a known message: %q", got)
	}
	if got := excerpt(&parse.Fact{}, "0123456789", 5); got != "0123…" {
		t.Errorf("a record without a message: %q", got)
	}
}
