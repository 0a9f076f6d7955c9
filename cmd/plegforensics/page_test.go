package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mikelolasagasti/xz"
)

// drawn is what the HTML page draws of a node, according to its data.
type drawn struct {
	Base      float64
	Threshold float64
	Age       struct{ F, T, L0, L1, H0, H1 []float64 }
	Marks     struct {
		Relist struct {
			F []float64
			T []*float64
		}
	}
	Bounded []struct {
		F, T float64
		N    int
		S    *float64
	}
	Sources []struct {
		Name  string
		Total int
		N     []int
	}
}

func drawnIn(t *testing.T, page []byte) []drawn {
	t.Helper()
	m := pageData.FindSubmatch(page)
	if m == nil {
		t.Fatal("the page holds no data")
	}
	packed, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(m[1])))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	var v struct{ Nodes []drawn }
	if err := json.NewDecoder(z).Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v.Nodes
}

// trueRelist is a relist recorded by a hook in the kubelet. Times are ms since 1970.
type trueRelist struct {
	begin, end float64 // end is 0 if the process ended first
	listed     bool
}

func readTrace(t *testing.T, path string) []trueRelist {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := xz.NewReader(f, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []trueRelist
	failed := false
	for d := json.NewDecoder(r); ; {
		var x struct {
			TS time.Time
			Ev string
		}
		if err := d.Decode(&x); err == io.EOF {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		at := float64(x.TS.UnixMicro()) / 1e3
		switch {
		case x.Ev == "relist_begin":
			out = append(out, trueRelist{begin: at})
			failed = false
		case strings.Contains(x.Ev, "err") || strings.Contains(x.Ev, "fail"):
			failed = true
		case x.Ev == "relist_end" && len(out) > 0:
			out[len(out)-1].end, out[len(out)-1].listed = at, !failed
		}
	}
}

// TestPageAge compares the drawn age of the last relist and the bars of the relists with recordings
// of real kubelets: at every second the band contains the true age, and each relist of 10 s or more
// is covered for at least half of its length.
func TestPageAge(t *testing.T) {
	traces, _ := filepath.Glob("../../../shared/data/kubelets/*/relist_trace.jsonl.xz")
	if len(traces) == 0 {
		t.Skip("no captures here")
	}
	if testing.Short() {
		traces = traces[:3]
	}
	for _, trace := range traces {
		dir := filepath.Dir(trace)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			truth := readTrace(t, trace)
			logs, _ := filepath.Glob(dir + "/kubelet.log*")
			metrics, _ := filepath.Glob(dir + "/metrics.tar*")
			for _, in := range [][]string{append(logs, metrics...), logs, metrics} {
				if len(in) == 0 {
					continue
				}
				page := filepath.Join(t.TempDir(), "page.html")
				if code, _, errs := status(t, append([]string{"analyze", "--quiet", "--tz", "UTC", "--year", "2026", "-o", "html=" + page}, in...)...); code > 1 {
					t.Fatalf("exit %d: %s", code, errs)
				}
				b, err := os.ReadFile(page)
				if err != nil {
					t.Fatal(err)
				}
				n := drawnIn(t, b)[0]
				ageHolds(t, filepath.Base(in[0]), &n, truth)
				if len(in) > 1 {
					barsCover(t, &n, truth)
				}
			}
		})
	}
}

// ageHolds checks every second. The recording does not say whether the list of a running relist has
// returned, so both its own age and that of the previous one are possible.
func ageHolds(t *testing.T, what string, n *drawn, truth []trueRelist) {
	a := &n.Age
	wrong, width, seconds := 0, 0.0, 0
	for i := range a.F {
		for at := math.Ceil((n.Base+a.F[i])/1e3) * 1e3; at < n.Base+a.T[i]; at += 1e3 {
			ages, known := trueAges(truth, at)
			if !known {
				continue
			}
			k := (at - n.Base - a.F[i]) / (a.T[i] - a.F[i])
			low, high := a.L0[i]+(a.L1[i]-a.L0[i])*k, a.H0[i]+(a.H1[i]-a.H0[i])*k
			if a.H0[i] < 0 {
				high = math.Inf(1)
			} else {
				width += high - low
				seconds++
			}
			holds := false
			for _, age := range ages {
				holds = holds || age >= low-0.02 && age <= high+0.02
			}
			if !holds {
				if wrong++; wrong <= 3 {
					t.Errorf("%s: at %s the age is %.2f s, drawn between %.2f and %.2f", what, time.UnixMilli(int64(at)).UTC().Format("15:04:05.000"), ages, low, high)
				}
			}
		}
	}
	if wrong > 3 {
		t.Errorf("%s: %d seconds in all", what, wrong)
	}
	if seconds > 0 {
		t.Logf("%s: %d seconds bounded, %.1f s wide on average", what, seconds, width/float64(seconds))
	}
}

func trueAges(truth []trueRelist, at float64) (ages []float64, known bool) {
	last := -1
	for i, r := range truth {
		if r.begin > at {
			break
		}
		if r.end != 0 && r.end <= at && r.listed {
			last = i
		}
		if r.end == 0 && i+1 < len(truth) && truth[i+1].begin <= at {
			last = -1 // the process ended: the next one has no age yet
		}
		if r.end == 0 || r.end > at {
			ages = append(ages, (at-r.begin)/1e3)
		}
	}
	if last < 0 {
		return nil, false
	}
	return append(ages, (at-truth[last].begin)/1e3), true
}

func barsCover(t *testing.T, n *drawn, truth []trueRelist) {
	for _, r := range truth {
		if r.end == 0 || r.end-r.begin < 10_000 {
			continue
		}
		covered := 0.0
		cover := func(from, to float64) {
			covered = max(covered, min(to+n.Base, r.end)-max(from+n.Base, r.begin))
		}
		for i, from := range n.Marks.Relist.F {
			if to := n.Marks.Relist.T[i]; to != nil {
				cover(from, *to)
			}
		}
		for _, b := range n.Bounded {
			if b.N > 0 {
				cover(b.F, b.T)
			}
		}
		if covered < (r.end-r.begin)/2 {
			t.Errorf("the relist of %.1f s at %s is covered for %.1f s", (r.end-r.begin)/1e3, time.UnixMilli(int64(r.begin)).UTC().Format("15:04:05.000"), covered/1e3)
		}
	}
}

// TestPageCounts: the bins of a source add up to its total.
func TestPageCounts(t *testing.T) {
	for _, log := range []string{"../../samples/hang-list/kubelet.log", "../../samples/stuck-pods/kubelet.log"} {
		dir := t.TempDir()
		must(t, "analyze", "--quiet", "--year", "2026", "-o", "html="+dir+"/page.html", "-o", "json="+dir+"/report.json", log)
		page, err := os.ReadFile(dir + "/page.html")
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(dir + "/report.json")
		if err != nil {
			t.Fatal(err)
		}
		_ = text
		for _, s := range drawnIn(t, page)[0].Sources {
			sum := 0
			for _, k := range s.N {
				sum += k
			}
			if sum != s.Total || sum == 0 {
				t.Errorf("%s: the bins of %s hold %d messages of %d", log, s.Name, sum, s.Total)
			}
		}
	}
}
