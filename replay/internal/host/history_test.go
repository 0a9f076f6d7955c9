package host

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

var logFile = &parse.File{Path: "log"}

const lineStart = int64(1767323045e9) // 2026-01-02T03:04:05Z

// line returns an event of one signature with the given fields, sec seconds after
// lineStart.
func line(sec float64, src parse.Source, sig string, fields ...string) *parse.Event {
	var fs []parse.Field
	for i := 0; i+1 < len(fields); i += 2 {
		fs = append(fs, parse.Field{Name: fields[i], Value: fields[i+1]})
	}
	return parse.NewEvent(&parse.EventKind{File: logFile, Origin: &parse.Origin{Source: src},
		Sigs: &parse.SigSet{Sigs: []*parse.Sig{{ID: sig, Extract: func(_ string, dst []parse.Field) []parse.Field { return append(dst, fs...) }}}}}, parse.PlainText(fmt.Sprint(sig, " ", fields)), parse.Event{Line: uint32(sec*10) + 1, Stamp: parse.Stamp{At: lineStart + int64(sec*1e9), Res: parse.ResolutionOf(time.Microsecond), Basis: parse.Stated}})
}

// told is the result of ReadHistory.
type told struct {
	History  History
	Requests Requests
}

func read(events ...*parse.Event) (n told) {
	r := &Records{Events: events}
	n.History, n.Requests = ReadHistory(r, Look(r))
	return n
}

func TestHistory(t *testing.T) {
	n := read(
		line(1, parse.SrcContainerd, parse.SigCtrLife, "op", "start-begin", "kind", "sandbox", "pod_ns", "ns", "pod_name", "web", "pod_uid", "u"),
		line(1.5, parse.SrcContainerd, parse.SigCtrLife, "op", "started", "kind", "sandbox", "id", "sb", "pod_ns", "ns", "pod_name", "web", "pod_uid", "u"),
		line(2, parse.SrcContainerd, parse.SigCtrLife, "op", "create-begin", "kind", "container", "sandbox", "sb", "name", "app"),
		line(2.25, parse.SrcContainerd, parse.SigCtrLife, "op", "created", "kind", "container", "id", "c", "sandbox", "sb", "name", "app"),
		line(3, parse.SrcContainerd, parse.SigCtrLife, "op", "start-begin", "kind", "container", "id", "c", "req", "r-1"),
		line(3.5, parse.SrcContainerd, parse.SigCtrLife, "op", "started", "kind", "container", "id", "c", "req", "r-1"),
		line(9, parse.SrcContainerd, parse.SigCtrLife, "op", "exited", "id", "c", "exit_code", "137", "exited_at", "2026-01-02T03:04:13.5Z"),
		line(9.5, parse.SrcKubelet, parse.SigFinished, "pod_uid", "u", "id", "c", "exit_code", "137"),
		line(10, parse.SrcContainerd, parse.SigCtrLife, "op", "remove-begin", "kind", "container", "id", "c"),
		line(10.5, parse.SrcContainerd, parse.SigCtrLife, "op", "remove-failed", "kind", "container", "id", "c", "err", "busy"),
		line(11, parse.SrcContainerd, parse.SigCtrLife, "op", "removed", "kind", "container", "id", "c"),
	)
	var got []string
	for _, x := range n.History.All() {
		s := fmt.Sprintf("%.2f %s %s %s/%s", float64(x.At.At-lineStart)/1e9, x.ID, x.State, x.Namespace, x.PodName)
		if x.ExitCode != nil {
			s += fmt.Sprintf(" %d", *x.ExitCode)
		}
		got = append(got, s)
	}
	want := "1.50 sb running ns/web; 2.25 c created ns/web; 3.50 c running ns/web; 8.50 c exited ns/web 137; 11.00 c removed ns/web"
	if s := strings.Join(got, "; "); s != want {
		t.Errorf("transitions\n got %s\nwant %s", s, want)
	}
	got = nil
	for _, r := range n.Requests.All() {
		d := time.Duration(r.End - r.Start)
		if r.Start == 0 {
			d = 0
		}
		got = append(got, fmt.Sprintf("%s %s %v %v %s", r.Op, r.ID, d, d != 0, r.Err))
	}
	want = "start sb 500ms true ; create c 250ms true ; start c 500ms true ; remove c 500ms true busy; remove c 0s false "
	if s := strings.Join(got, "; "); s != want {
		t.Errorf("requests\n got %s\nwant %s", s, want)
	}
}
