package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// story is what one output tells of a node, in seconds since 1970. What an output
// does not tell is nil, or -1.
type story struct {
	health   []strip // by state
	episodes []strip // from breach to recovery, 0 open
	relists  []strip // of 10 s and more, by their start; to is how long
	events   int     // that the sync loop got
	dropped  int
}

type strip struct {
	from, to float64
	state    string
}

// long adds a relist of 10 s or more.
func (s *story) long(start, took float64) {
	if took >= 10 {
		s.relists = append(s.relists, strip{from: start, to: took})
	}
}

// TestOneStory: every command and format tells the same of a node.
func TestOneStory(t *testing.T) {
	inputs, _ := filepath.Glob("../../samples/*/kubelet.log")
	captures, _ := filepath.Glob("../../../shared/data/kubelets/*/kubelet.log*")
	if testing.Short() {
		captures = nil
	}
	inputs = append(inputs, captures...)
	if len(inputs) == 0 {
		t.Fatal("no samples")
	}
	for _, log := range inputs {
		in := []string{log}
		if more, _ := filepath.Glob(filepath.Dir(log) + "/metrics.tar*"); len(more) > 0 {
			in = append(in, more[0])
		}
		t.Run(filepath.Base(filepath.Dir(log)), func(t *testing.T) { oneStory(t, in) })
	}
}

func oneStory(t *testing.T, in []string) {
	dir := t.TempDir()
	args := []string{"analyze", "--quiet", "--tz", "UTC", "--year", "2026"}
	files := map[string]string{}
	for _, f := range []string{"json", "ndjson", "csv", "intervals", "perfetto", "html"} {
		files[f] = filepath.Join(dir, f)
		args = append(args, "-o", f+"="+files[f])
	}
	must(t, append(args, in...)...)
	read := func(format string) []byte {
		b, err := os.ReadFile(files[format])
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	command := func(args ...string) []byte {
		args = append(args, "-o", "json", "--quiet", "--tz", "UTC", "--year", "2026")
		return []byte(must(t, append(args, in...)...))
	}
	base := timelineStory(t, command("timeline"))
	views := map[string]story{
		"analyze": analyzeStory(t, read("json")), "events": eventsStory(t, command("events")), "ndjson": ndjsonStory(t, read("ndjson")),
		"csv": csvStory(t, read("csv")), "intervals": intervalsStory(t, read("intervals")), "perfetto": perfettoStory(t, read("perfetto")), "html": htmlStory(t, read("html")),
		"replay": replayStory(t, command("replay")),
	}
	base.episodes, base.events, base.dropped = views["analyze"].episodes, views["analyze"].events, views["analyze"].dropped
	for name, v := range views {
		same(t, name+": health", v.health, base.health)
		same(t, name+": episodes", v.episodes, base.episodes)
		same(t, name+": relists of 10 s and more", v.relists, base.relists)
		if v.events >= 0 && v.events != base.events {
			t.Errorf("%s: %d events, want %d", name, v.events, base.events)
		}
		if v.dropped >= 0 && v.dropped != base.dropped {
			t.Errorf("%s: %d events discarded, want %d", name, v.dropped, base.dropped)
		}
	}
	derived(t, in, base.health)
	longestSlice(t, read("json"), read("perfetto"))
	viewed(t, read("intervals"))
}

// longestSlice: the longest relist of a trace is the longest of the history; one
// that hangs at the end of the input lasts until then.
func longestSlice(t *testing.T, report, trace []byte) {
	t.Helper()
	n := parsed(t, report).list("nodes")[0]
	want, got := n.sub("relists").num("max_seconds"), 0.0
	for _, r := range n.sub("relists").list("longest") {
		if open, _ := r["open"].(bool); open && r["start"] != nil {
			want = max(want, n.sub("window").when("end")-r.when("start"))
		}
	}
	for _, e := range parsed(t, trace).list("traceEvents") {
		if e.text("ph") == "X" && e.text("cat") == "relist" {
			got = max(got, e.num("dur")/1e6)
		}
	}
	if math.Abs(got-want) > 1e-3 {
		t.Errorf("the longest slice of a relist is %gs, the longest relist %gs", got, want)
	}
}

// viewed: no interval lies outside of the window on which the viewer opens, from
// the begin of the first to the end of the last.
func viewed(t *testing.T, b []byte) {
	t.Helper()
	items := parsed(t, b).list("items")
	if len(items) == 0 {
		t.Fatal("no intervals")
	}
	start, end := items[0].when("from"), items[len(items)-1].when("to")
	for _, i := range items {
		if i.when("to") < start || i.when("from") > end {
			t.Fatalf("outside of the window: %v", i)
		}
	}
}

// same compares what two outputs tell, to the microseconds that some of them cut.
func same(t *testing.T, what string, got, want []strip) {
	t.Helper()
	if got == nil {
		return
	}
	near := func(a, b float64) bool { return math.Abs(a-b) < 0.002 }
	if !slices.EqualFunc(got, want, func(a, b strip) bool { return near(a.from, b.from) && near(a.to, b.to) && a.state == b.state }) {
		t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}

// derived asks the derived series in the middle of each stretch of health.
func derived(t *testing.T, in []string, health []strip) {
	value := map[string]string{"healthy": "0", "unhealthy": "1", "never-relisted": "1"}
	for _, h := range health {
		if h.state == "never-relisted" && h.to-h.from < 16 {
			continue // the start of a kubelet, which the series leaves out
		}
		if want, ok := value[h.state]; ok && h.to-h.from > 2 {
			at := time.Unix(0, int64((h.from+h.to)/2*1e9)).UTC().Format(time.RFC3339Nano)
			args := []string{"query", "-o", "json", "--quiet", "--tz", "UTC", "--year", "2026", "--time", at, "--expr", "plegforensics_pleg_unhealthy"}
			if out := must(t, append(args, in...)...); !strings.Contains(out, `"`+want+`"]`) {
				t.Errorf("derived series at %s, %s: %s", at, h.state, out)
			}
		}
	}
}

// doc is one JSON document, and ways into it.
type doc map[string]any

func parsed(t *testing.T, b []byte) doc {
	t.Helper()
	d := doc{}
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatalf("%v: %.200s", err, b)
	}
	return d
}

func (d doc) list(key string) (out []doc) {
	l, _ := d[key].([]any)
	for _, x := range l {
		if m, ok := x.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func (d doc) num(key string) float64 { v, _ := d[key].(float64); return v }

func (d doc) text(key string) string { v, _ := d[key].(string); return v }

func (d doc) sub(key string) doc { v, _ := d[key].(map[string]any); return v }

// when reads a time, 0 for none.
func (d doc) when(key string) float64 { return unix(d.text(key)) }

func unix(s string) float64 {
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return 0
	}
	return float64(at.UnixNano()) / 1e9
}

func spans(l []doc) []strip {
	out := []strip{}
	for _, h := range l {
		out = append(out, strip{h.when("from"), h.when("to"), h.text("state")})
	}
	return out
}

func episodes(l []doc) []strip {
	out := []strip{}
	for _, e := range l {
		out = append(out, strip{from: e.when("breach"), to: e.when("recovered")})
	}
	return out
}

// byStart orders relists and drops an order of the output's own.
func byStart(l []strip) []strip {
	slices.SortFunc(l, func(a, b strip) int { return int(math.Copysign(1, a.from-b.from)) })
	return l
}

func timelineStory(t *testing.T, b []byte) story {
	n := parsed(t, b).list("nodes")[0]
	s := story{health: spans(n.list("health")), relists: []strip{}}
	for _, r := range n.list("relists") {
		s.long(r.when("start"), r.num("duration_seconds"))
	}
	return s
}

func analyzeStory(t *testing.T, b []byte) story {
	n := parsed(t, b).list("nodes")[0]
	s := story{episodes: episodes(n.list("episodes")), events: int(n.sub("events").num("observed")), dropped: int(n.sub("events").num("discarded"))}
	longest := n.sub("relists").list("longest")
	for _, r := range longest {
		s.long(r.when("start"), r.num("duration_seconds"))
	}
	if len(s.relists) == len(longest) && len(longest) > 0 {
		s.relists = nil // it may not show them all
	} else {
		s.relists = byStart(append([]strip{}, s.relists...))
	}
	return s
}

func eventsStory(t *testing.T, b []byte) story {
	s := story{}
	for _, e := range parsed(t, b).list("nodes")[0].list("events") {
		switch e.text("status") {
		case "discarded":
			s.dropped++
		case "missing":
		default:
			s.events++
		}
	}
	return s
}

func replayStory(t *testing.T, b []byte) story {
	d := parsed(t, b)
	s := story{health: spans(d.list("health")), episodes: episodes(d.list("episodes")), relists: []strip{}, dropped: int(d.sub("metrics").num("discarded_events"))}
	for _, r := range d.list("relists") {
		if r.when("end") != 0 {
			s.long(r.when("start"), r.when("end")-r.when("start"))
		}
		for _, e := range r.list("events") {
			if typ := e.text("type"); typ != "ContainerRemoved" && e["delivered"] == true {
				s.events++
			}
		}
	}
	return s
}

func ndjsonStory(t *testing.T, b []byte) story {
	s := story{health: []strip{}, episodes: []strip{}, relists: []strip{}}
	for line := range strings.Lines(string(b)) {
		r := parsed(t, []byte(line))
		s.row(r.text("kind"), r.text("state"), r.when("start"), r.when("end"), r.num("seconds"))
	}
	s.relists = byStart(s.relists)
	return s
}

// row is a row of CSV and NDJSON.
func (s *story) row(kind, state string, start, end, seconds float64) {
	switch kind {
	case "health":
		s.health = append(s.health, strip{start, end, state})
	case "episode":
		s.episodes = append(s.episodes, strip{from: start, to: end})
	case "relist":
		s.long(start, seconds)
	case "event":
		switch state {
		case "discarded":
			s.dropped++
		case "missing":
		default:
			s.events++
		}
	}
}

func csvStory(t *testing.T, b []byte) story {
	r := csv.NewReader(bytes.NewReader(b))
	r.FieldsPerRecord, r.Comment = -1, '#'
	rows, err := r.ReadAll()
	if err != nil || len(rows) == 0 {
		t.Fatal(err)
	}
	s := story{health: []strip{}, episodes: []strip{}, relists: []strip{}}
	column := func(row []string, name string) string {
		if i := slices.Index(rows[0], name); i >= 0 && i < len(row) {
			return row[i]
		}
		return ""
	}
	for _, row := range rows[1:] {
		seconds, _ := strconv.ParseFloat(column(row, "seconds"), 64)
		s.row(column(row, "kind"), column(row, "state"), unix(column(row, "start")), unix(column(row, "end")), seconds)
	}
	s.relists = byStart(s.relists)
	return s
}

func intervalsStory(t *testing.T, b []byte) story {
	s := story{health: []strip{}, events: -1, dropped: -1}
	for _, x := range parsed(t, b).list("items") {
		m := x.sub("message")
		if m.sub("annotations").text("plegforensics") == "health" {
			s.health = append(s.health, strip{x.when("from"), x.when("to"), m.text("cause")})
		}
	}
	return s
}

func perfettoStory(t *testing.T, b []byte) story {
	s := story{health: []strip{}, relists: []strip{}, events: -1, dropped: -1}
	for _, e := range parsed(t, b).list("traceEvents") {
		from, took := e.num("ts")/1e6, e.num("dur")/1e6
		switch {
		case e.text("ph") != "X":
		case e.text("cat") == "health":
			s.health = append(s.health, strip{from, from + took, e.text("name")})
		case e.text("cat") == "relist" && strings.HasPrefix(e.text("name"), "relist "):
			s.long(from, took)
		}
	}
	return s
}

var pageData = regexp.MustCompile(`id="data">\s*([^<]+)<`)

func htmlStory(t *testing.T, b []byte) story {
	m := pageData.FindSubmatch(b)
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
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	n := parsed(t, plain).list("nodes")[0]
	at := func(ms float64) float64 { return (n.num("base") + ms) / 1e3 }
	s := story{health: []strip{}, episodes: []strip{}, events: -1, dropped: -1}
	for _, h := range n.list("health") {
		s.health = append(s.health, strip{at(h.num("f")), at(h.num("t")), h.text("s")})
	}
	for _, e := range n.list("episodes") {
		x := strip{}
		if e["f"] != nil {
			x.from = at(e.num("f"))
		}
		if e["t"] != nil {
			x.to = at(e.num("t"))
		}
		s.episodes = append(s.episodes, x)
	}
	return s
}

// String shows a stretch in a failure.
func (x strip) String() string { return fmt.Sprintf("%.3f+%.3f %s", x.from, x.to, x.state) }
