package clock

import (
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// TestSeparators: the separator between two boots is dated by the line after it and
// gets the ID of the boot that begins; with sos since 4.9 the separator names the
// boot that ended.
func TestSeparators(t *testing.T) {
	const a, b, now = "aa", "bb", "cc"
	for _, c := range []struct {
		name, version string
		reversed      bool
		want          [2]string
	}{
		{"journalctl", "4.8.2", false, [2]string{a, b}},
		{"sos turns round", "4.12.0", false, [2]string{b, now}},
		{"sos turns round, next major", "5.0", false, [2]string{b, now}},
		{"newest first", "4.8.2", true, [2]string{b, now}},
	} {
		f := &parse.File{Path: "r.tar!r/sos_commands/kubernetes/journalctl_--no-pager_--unit_kubelet", Layout: "sosreport"}
		x := lines(t, f, [2]string{"2024-03-01T10:00:00Z"}, [2]string{"2024-03-01T11:00:00Z"}, [2]string{"2024-03-01T12:00:00Z"})
		marker := func(line uint32, boot string) *parse.Marker {
			return &parse.Marker{Pos: parse.Pos{File: f, Offset: int64(line), Line: line}, Kind: parse.MarkReboot, Boot: boot}
		}
		for i, e := range x.Events { // leave room for separators
			e.Offset = int64(4 * i)
		}
		x.Markers = []*parse.Marker{marker(2, a), marker(6, b)}
		if c.reversed {
			x.Events[0].Offset, x.Events[2].Offset = 8, 0
			x.Markers = []*parse.Marker{marker(2, b), marker(6, a)}
			x.Coverage = []*parse.Coverage{{File: f, Origin: x.Events[0].Origin, Reversed: true}}
		}
		x.Facts = []*parse.Fact{{Pos: parse.Pos{File: &parse.File{Layout: "sosreport"}}, Key: keyCollectorVersion, Value: c.version},
			{Pos: parse.Pos{File: &parse.File{Layout: "sosreport"}}, Key: keyBootID, Value: now}}
		Resolve(x, Options{})
		first, second := x.Markers[0], x.Markers[1]
		if c.reversed {
			first, second = second, first
		}
		if first.Boot != c.want[0] || second.Boot != c.want[1] {
			t.Errorf("%s: boots %s and %s, want %v", c.name, first.Boot, second.Boot, c.want)
		}
		if first.Time().Hour() != 11 || second.Time().Hour() != 12 {
			t.Errorf("%s: dated %v and %v", c.name, first.Time(), second.Time())
		}
	}
}
