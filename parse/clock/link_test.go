package clock

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// words are signatures whose fields are the words of the text, "name=value".
func words(id string) *parse.SigSet {
	return &parse.SigSet{Sigs: []*parse.Sig{{ID: id, Extract: func(msg string, dst []parse.Field) []parse.Field {
		for _, w := range strings.Fields(msg) {
			name, value, _ := strings.Cut(w, "=")
			dst = append(dst, parse.Field{Name: name, Value: value})
		}
		return dst
	}}}}
}

var (
	linkLife  = words(parse.SigCtrLife)
	linkEvent = words(parse.SigEvent)
)

// logOf adds lines to a bundle: at their times in UTC, shown in a zone east of it by that
// much, which the lines state or not.
type logOf struct {
	b      *parse.Bundle
	kind   parse.EventKind
	east   time.Duration
	stated bool
}

func newLog(b *parse.Bundle, path string, src parse.Source, sigs *parse.SigSet, east time.Duration, stated bool) *logOf {
	f := &parse.File{Path: path, ModTime: linkStart.Add(24 * time.Hour).UnixNano()}
	b.Files = append(b.Files, f)
	return &logOf{b, parse.EventKind{File: f, Origin: &parse.Origin{Source: src}, Sigs: sigs, Caller: "kubelet.go:1", Headed: true}, east, stated}
}

var linkStart = time.Date(2026, 11, 20, 23, 30, 0, 123456000, time.UTC)

func (l *logOf) line(after time.Duration, text string) *parse.Event {
	c := parse.Clock{NS: linkStart.Add(after).UnixNano(), Res: time.Microsecond, Set: true}
	if !l.stated {
		at := time.Unix(0, c.NS).UTC().Add(l.east)
		c.NS, c.Lack = time.Date(parse.YearUnknown, at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), time.UTC).UnixNano(), parse.LackYear|parse.LackZone
	}
	e := parse.NewEvent(&l.kind, parse.PlainText(text), parse.Event{Offset: int64(len(l.b.Events)), Line: uint32(len(l.b.Events))})
	e.SetRaw(parse.RawClocks{Header: c})
	l.b.Events = append(l.b.Events, e)
	return e
}

const zoneUnknown = "assumed: no zone recognized for lines without one"

// TestLinkCopies: a log without a zone gets that of another form of it.
func TestLinkCopies(t *testing.T) {
	for _, c := range []struct {
		name  string
		east  time.Duration
		other string // text of the other lines
		want  string
		off   time.Duration
	}{
		{"east", 8 * time.Hour, "line", "from the same lines in a", 8 * time.Hour},
		{"half an hour", 5*time.Hour + 30*time.Minute, "line", "from the same lines in a", 5*time.Hour + 30*time.Minute},
		{"west, over midnight", -5 * time.Hour, "line", "from the same lines in a", -5 * time.Hour},
		{"UTC", 0, "line", "from the same lines in a", 0},
		{"another log", 8 * time.Hour, "text", zoneUnknown, 0},
	} {
		b := &parse.Bundle{}
		stated, bare := newLog(b, "a", parse.SrcKubelet, sigs, 0, true), newLog(b, "b", parse.SrcKubelet, sigs, c.east, false)
		for i := range 20 {
			stated.line(time.Duration(i)*time.Minute, fmt.Sprint(c.other, i))
		}
		var lines []*parse.Event
		for i := range 20 {
			lines = append(lines, bare.line(time.Duration(i)*time.Minute, fmt.Sprint("line", i)))
		}
		Resolve(b, Options{})
		got := b.Clocks[1].Header
		if got.Basis != c.want || got.Offset != int(c.off.Seconds()) || c.want != zoneUnknown && !lines[7].Time().Equal(linkStart.Add(7*time.Minute)) {
			t.Errorf("%s: got %+v, line at %v", c.name, got, lines[7].Time())
		}
	}
}

// TestLinkChanges: the kubelet's events follow the runtime's changes by what the zones
// differ, unless all of them waited for one relist.
func TestLinkChanges(t *testing.T) {
	for _, c := range []struct {
		name    string
		east    time.Duration
		every   time.Duration             // between changes
		n       int                       // changes
		late    func(i int) time.Duration // of an event
		kubelet bool                      // the kubelet's log states no zone, else the runtime's
		known   bool
	}{
		{"in time", 8 * time.Hour, 10 * time.Second, 6, func(int) time.Duration { return time.Second / 2 }, true, true},
		{"in time, west", -5 * time.Hour, 10 * time.Second, 6, func(int) time.Duration { return time.Second / 2 }, true, true},
		{"the runtime's", 2 * time.Hour, 10 * time.Second, 6, func(int) time.Duration { return time.Second / 2 }, false, true},
		{"too few", 8 * time.Hour, 10 * time.Second, 2, func(int) time.Duration { return time.Second / 2 }, true, false},
		{"one relist reports all", 0, time.Second, 6, func(i int) time.Duration { return 15*time.Minute + time.Duration(6-i)*time.Second }, true, false},
		{"always late", 0, 10 * time.Second, 6, func(i int) time.Duration { return time.Minute }, true, false},
	} {
		b := &parse.Bundle{}
		east := map[bool]time.Duration{c.kubelet: c.east}
		runtime, kubelet := newLog(b, "a", parse.SrcContainerd, linkLife, east[false], c.kubelet), newLog(b, "b", parse.SrcKubelet, linkEvent, east[true], !c.kubelet)
		at := map[string]time.Duration{}
		for i := range c.n {
			id := fmt.Sprintf("%064d", i)
			at[id] = time.Duration(i) * c.every
			runtime.line(at[id], "op=started id="+id)
		}
		for i := range c.n {
			id := fmt.Sprintf("%064d", i)
			kubelet.line(at[id]+c.late(i), "type=ContainerStarted data="+id)
		}
		Resolve(b, Options{})
		z := b.Clocks[map[bool]int{false: 0, true: 1}[c.kubelet]].Header
		if known := !strings.HasPrefix(z.Basis, "assumed"); known != c.known || known && z.Offset != int(c.east.Seconds()) {
			t.Errorf("%s: got %+v", c.name, z)
		}
	}
}
