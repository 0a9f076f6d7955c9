package promcheck

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/mikelolasagasti/xz"

	"github.com/plegforensics/plegforensics/parse/bundle"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules/alerts"
	"github.com/plegforensics/plegforensics/rules/query"
	"github.com/prometheus/prometheus/promql"
)

// trueRelist is a relist recorded by a hook in the kubelet; to is zero if the recording ends first.
type trueRelist struct{ from, to time.Time }

func trueRelists(t *testing.T, path string) (out []trueRelist) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	z, err := xz.NewReader(f, 0)
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(z); ; {
		var x struct {
			TS time.Time
			Ev string
		}
		switch err := d.Decode(&x); {
		case err == io.EOF:
			return out
		case err != nil:
			t.Fatal(path, err)
		case x.Ev == "relist_begin":
			if n := len(out); n > 0 && out[n-1].to.IsZero() {
				out[n-1].to = x.TS // the process had ended by then
			}
			out = append(out, trueRelist{from: x.TS})
		case x.Ev == "relist_end" && len(out) > 0:
			out[len(out)-1].to = x.TS
		}
	}
}

// TestRelistRunningOverCaptures checks, second by second, that the derived series says that a
// relist is running only while one was, and that none is only while none of more than a second was;
// and that the log reports trouble with PLEG only if there was some.
func TestRelistRunningOverCaptures(t *testing.T) {
	traces, _ := filepath.Glob("../../../shared/data/kubelets/*/relist_trace.jsonl.xz")
	if len(traces) == 0 {
		t.Skip("no captures")
	}
	const near = 1100 * time.Millisecond // log timestamps have seconds precision before 1.19
	ones, zeros := 0, 0
	for _, name := range traces {
		capture, truth := filepath.Dir(name), trueRelists(t, name)
		logs, _ := filepath.Glob(filepath.Join(capture, "kubelet.log*"))
		b, err := bundle.Load(context.Background(), logs, bundle.Options{})
		if err != nil {
			t.Fatal(capture, err)
		}
		ns := replay.Build(b, replay.Options{})
		db := query.Open(query.NewStore(ns))
		from, to, ok := db.Span()
		if !ok {
			continue
		}
		r, err := db.Range(context.Background(), "plegforensics_relist_running", time.UnixMilli(from), time.UnixMilli(to), time.Second)
		if err != nil {
			t.Fatal(err)
		}
		wrong := 0
		for _, s := range r.Value.(promql.Matrix) {
			for _, p := range s.Floats {
				at := time.UnixMilli(p.T)
				runs := slices.ContainsFunc(truth, func(x trueRelist) bool {
					return !x.from.After(at.Add(near)) && (x.to.IsZero() || !x.to.Before(at.Add(-near)))
				})
				long := slices.ContainsFunc(truth, func(x trueRelist) bool {
					return !x.from.After(at.Add(-near)) && (x.to.IsZero() || x.to.After(at.Add(near)))
				})
				switch {
				case p.F == 1 && !runs, p.F == 0 && long:
					if wrong++; wrong == 1 {
						t.Errorf("%s: %v at %s", filepath.Base(capture), p.F, at.UTC())
					}
				case p.F == 1:
					ones++
				default:
					zeros++
				}
			}
		}
		holdStory(t, capture, db)
	}
	t.Logf("%d seconds in which a relist ran, %d in which none did", ones, zeros)
	if ones < 100 {
		t.Error("hardly a relist is told of")
	}
}

// holdStory checks that PlegUnhealthyInLog does not fire before the true breach.
func holdStory(t *testing.T, capture string, db *query.DB) {
	t.Helper()
	var truth struct {
		Episodes []struct{ Breach time.Time }
	}
	data, err := os.ReadFile(filepath.Join(capture, "truth.json"))
	if err == nil {
		err = json.Unmarshal(data, &truth)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range alerts.Evaluate(context.Background(), db, alerts.Builtin(), nil) {
		for _, f := range a.Firings {
			if a.Alert == "PlegUnhealthyInLog" && !slices.ContainsFunc(truth.Episodes, func(e struct{ Breach time.Time }) bool { return !f.From.Before(e.Breach.Add(-2 * time.Second)) }) {
				t.Errorf("%s: %s fires at %s", filepath.Base(capture), a.Alert, f.From)
			}
		}
	}
}

// TestDashboardOverCaptures: each query of the exported dashboard returns data for some capture.
func TestDashboardOverCaptures(t *testing.T) {
	captures, _ := filepath.Glob("../../../shared/data/kubelets/*-02-*/metrics.tar.xz")
	if len(captures) == 0 {
		t.Skip("no captures")
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	files := alerts.Export(alerts.ExportOptions{})
	i := slices.IndexFunc(files, func(f alerts.Exported) bool { return f.Kind == "dashboard" })
	if err := json.Unmarshal(files[i].Data, &dashboard); err != nil {
		t.Fatal(err)
	}
	// The last group reads ALERTS, so that the states of alerts are written, as by a server.
	groups, errs := alerts.Parse("reads", []byte("groups:\n- name: reads\n  rules:\n  - alert: Reads\n    expr: ALERTS > 1\n"))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	groups = append(alerts.Builtin(), groups...)
	gave := map[string]bool{}
	for _, name := range captures {
		logs, _ := filepath.Glob(filepath.Join(filepath.Dir(name), "kubelet.log*"))
		b, err := bundle.Load(context.Background(), append(logs, name), bundle.Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		db := query.Open(query.NewStore(replay.Build(b, replay.Options{})))
		alerts.Evaluate(context.Background(), db, groups, nil)
		from, to, _ := db.Span()
		for _, p := range dashboard.Panels {
			for _, q := range p.Targets {
				r, err := db.Range(context.Background(), q.Expr, time.UnixMilli(from), time.UnixMilli(to), 15*time.Second)
				if err != nil {
					t.Fatal(p.Title, err)
				}
				gave[q.Expr] = gave[q.Expr] || len(r.Value.(promql.Matrix)) > 0
			}
		}
	}
	for _, p := range dashboard.Panels {
		for _, q := range p.Targets {
			if !gave[q.Expr] {
				t.Errorf("%s: no capture has data of %s", p.Title, q.Expr)
			}
		}
	}
	t.Logf("%d queries of %d panels", len(gave), len(dashboard.Panels))
}
