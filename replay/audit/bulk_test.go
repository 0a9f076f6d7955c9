package audit

import (
	"fmt"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// rowStore keeps the fields of lines as a decoder extracts them, and no text.
type rowStore struct {
	interned *parse.StringTable
	rows     parse.Rows
}

func (s *rowStore) Slice(off, n uint32) string                   { return "" }
func (s *rowStore) Row(n uint32) (parse.Row, *parse.StringTable) { return s.rows.At(n), s.interned }

// keep stores fields, given as alternating names and values, and returns their row.
func (s *rowStore) keep(fields ...string) uint32 {
	var names []string
	values := []parse.StringID{0}
	for i := 0; i < len(fields); i += 2 {
		names, values = append(names, fields[i]), append(values, s.interned.OfString(fields[i+1]))
	}
	values[0] = s.interned.Shape(names)
	return s.rows.Add(values)
}

// churn makes the lines of n containers that come and go, one per second: four lines of
// the runtime and two pod events each.
func churn(n int) *parse.Bundle {
	f := &parse.File{Path: "node.log", Role: parse.RoleLog}
	store := &rowStore{interned: parse.NewStringTable()}
	b := &parse.Bundle{Files: []*parse.File{f}, Interned: store.interned}
	kind := func(src parse.Source, sig string) *parse.EventKind {
		return &parse.EventKind{File: f, Origin: &parse.Origin{Source: src, Host: "node", PID: 812}, Headed: true, Severity: 'I',
			Sigs: &parse.SigSet{Sigs: []*parse.Sig{{ID: sig, Bulk: true}}}}
	}
	event, life := kind(parse.SrcKubelet, parse.SigEvent), kind(parse.SrcContainerd, parse.SigCtrLife)
	at := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC).UnixNano()
	add := func(kind *parse.EventKind, fields ...string) {
		at += int64(time.Second) / 6
		if len(b.Events)%4096 == 4095 { // stores are small, as each part of a log has its own
			store = &rowStore{interned: store.interned}
		}
		e := parse.NewEvent(kind, parse.NewText(&parse.Arena{Store: store}, 0, 0), parse.Event{Line: uint32(len(b.Events) + 1), Stamp: parse.Stamp{At: at, Res: parse.ResolutionOf(time.Microsecond), Basis: parse.Stated}})
		e.SetFields(store.keep(fields...))
		b.Events = append(b.Events, e)
	}
	for i := range n {
		id, name, uid := fmt.Sprintf("%064x", i), fmt.Sprintf("web-%d", i/4), fmt.Sprintf("%032x", i/4)
		tell := func(op string) { add(life, "id", id, "op", op, "kind", "container") }
		seen := func(what string) {
			add(event, "pod_ns", "shop", "pod_name", name, "pod_uid", uid, "type", what, "data", id)
		}
		tell("created")
		tell("started")
		seen("ContainerStarted")
		tell("exited")
		seen("ContainerDied")
		tell("removed")
	}
	return b
}

// BenchmarkBuildBulk rebuilds a node from the lines of 75,000 containers, the most
// frequent kind of lines in a log.
func BenchmarkBuildBulk(b *testing.B) {
	in := churn(75_000)
	b.ReportAllocs()
	for b.Loop() {
		Of(replay.Build(in, replay.Options{})[0])
	}
	b.ReportMetric(float64(len(in.Events))*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// TestBulkCosts limits the bytes that the rebuild allocates for a pod event or
// container line. It needs packed rows and tables by interned string, without strings
// or maps.
func TestBulkCosts(t *testing.T) {
	const lines, most = 6 * 20_000, 200 // bytes per line
	in := churn(lines / 6)
	r := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			Of(replay.Build(in, replay.Options{})[0])
		}
	})
	if got := r.AllocedBytesPerOp() / lines; got > most {
		t.Errorf("%d bytes a line, want no more than %d", got, most)
	}
	if got := r.AllocsPerOp(); got > lines/100 {
		t.Errorf("%d allocations for %d lines, want no more than one in a hundred", got, lines)
	}
}

// TestBulk checks that stored fields give the same result as extracted ones.
func TestBulk(t *testing.T) {
	n := replay.Build(churn(40), replay.Options{})[0]
	a := Of(n)
	if n.Observed.Len() != 80 || n.History.Len() != 160 || n.Requests.Len() != 120 || a.Late+a.Unexpected+a.Missing != 0 {
		t.Errorf("%d events, %d transitions, %d requests, audit %+v", n.Observed.Len(), n.History.Len(), n.Requests.Len(), a)
	}
	e := a.Events.Item(1)
	if e.Status != replay.StatusMatched || e.Pod != "shop/web-0" || e.Type != "ContainerDied" || e.Lag != time.Second/6 || len(e.Evidence()) != 2 {
		t.Errorf("%+v", e)
	}
}
