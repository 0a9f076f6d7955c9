package main

import (
	"bytes"
	"cmp"
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

// story is what one output says about a node. Times are seconds since 1970. A field is nil if the
// output does not say it; untold says why.
type story struct {
	health   []strip // by state
	episodes []strip // from breach to recovery, 0 if open
	relists  []strip // of 10 s and more, by start; to is the duration, 0 if open
	events   []strip // events delivered to the sync loop, by type
	dropped  []strip // events that the kubelet says it dropped
	bounds   []strip // of episodes, by breach: to is how much earlier they may have ended, 0 if open
	ready    []strip // by state; outputs that draw it to the end of the input state no end
	counted  []strip // intervals of undated relists, with their number
	thinned  bool    // marks represent others that are left out; only numbers are compared
}

type strip struct {
	from, to float64
	state    string
}

// untold lists what an output does not say, and why.
var untold = map[string]string{
	"analyze: relists":  "it shows the ten longest", // if there are fewer, they are compared
	"analyze: events":   "it counts them: TestOneStory compares the counts",
	"analyze: dropped":  "the same",
	"timeline: events":  "it counts them: the command events lists them",
	"timeline: dropped": "the same",
	"events: health":    "it lists events, as its name says",
	"events: episodes":  "the same",
	"events: relists":   "the same",
	"events: bounds":    "the same",
	"events: ready":     "the same",
	"events: counted":   "the same",
	"analyze: ready":    "it tells it of each episode",
	"analyze: counted":  "it counts them together",
	"intervals: bounds": "its annotations are few: the other formats tell them",
	"replay: ready":     "it tells of the kubelet's own health",
	"replay: counted":   "it runs them: none is undated",
	"replay: dropped":   "a line that says so names no event: it counts them",
}

// long adds a relist of 10 s or more, or without a known end.
func (s *story) long(start, took float64, open bool) {
	switch {
	case open:
		s.relists = append(s.relists, strip{from: start, state: "open"})
	case took >= 10:
		s.relists = append(s.relists, strip{from: start, to: took})
	}
}

// event adds an event according to its audit status.
func (s *story) event(at float64, typ, status string) {
	switch status {
	case "discarded":
		s.dropped = append(s.dropped, strip{from: at})
	case "missing":
	default:
		s.events = append(s.events, strip{from: at, state: typ})
	}
}

// empty returns the story of an output that says everything.
func empty() story {
	none := []strip{}
	return story{none, none, none, none, none, none, none, none, false}
}

// TestOneStory: all commands and formats agree about a node.
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
	timeline, report := command("timeline"), read("json")
	views := map[string]story{
		"analyze": analyzeStory(t, report), "timeline": timelineStory(t, timeline), "events": eventsStory(t, command("events")),
		"ndjson": ndjsonStory(t, read("ndjson")), "csv": csvStory(t, read("csv")), "intervals": intervalsStory(t, read("intervals")),
		"perfetto": perfettoStory(t, read("perfetto")), "html": htmlStory(t, read("html")),
	}
	replayed := command("replay")
	views["replay"] = replayStory(t, replayed)
	base := views["csv"]
	for name, v := range views {
		for what, told := range map[string][]strip{"health": v.health, "episodes": v.episodes, "relists": v.relists, "events": v.events, "dropped": v.dropped, "bounds": v.bounds, "ready": v.ready, "counted": v.counted} {
			if why := untold[name+": "+what]; told == nil && why == "" {
				t.Errorf("%s: %s: it tells nothing, and nothing says why", name, what)
			}
		}
		same(t, name+": health", v.health, base.health)
		same(t, name+": episodes", v.episodes, base.episodes)
		same(t, name+": relists", v.relists, base.relists)
		same(t, name+": bounds", v.bounds, base.bounds)
		same(t, name+": ready", v.ready, base.ready)
		same(t, name+": counted", v.counted, base.counted)
		if name == "replay" || v.thinned { // replay has events at the start of their relist
			if len(v.events) != len(base.events) || v.dropped != nil && len(v.dropped) != len(base.dropped) {
				t.Errorf("%s: %d events and %d discarded, want %d and %d", name, len(v.events), len(v.dropped), len(base.events), len(base.dropped))
			}
			continue
		}
		same(t, name+": events", v.events, base.events)
		same(t, name+": dropped", v.dropped, base.dropped)
	}
	for name, d := range map[string]doc{"analyze": parsed(t, report).list("nodes")[0].sub("events"), "timeline": parsed(t, timeline).list("nodes")[0].sub("events")} {
		if n, lost := int(d.num("observed")), int(d.num("discarded")); n != len(base.events) || lost != len(base.dropped) {
			t.Errorf("%s: %d events and %d discarded, want %d and %d", name, n, lost, len(base.events), len(base.dropped))
		}
	}
	if lost := int(parsed(t, replayed).sub("metrics").num("discarded_events")); lost != len(base.dropped) {
		t.Errorf("replay: %d events discarded, want %d", lost, len(base.dropped))
	}
	toldWithin(t, report, timeline, &base)
	sameBounds(t, report, timeline, replayed)
	derived(t, in, &base)
	longestSlice(t, report, read("perfetto"))
	viewed(t, read("intervals"))
}

// toldWithin: no health and no episode lies after the window, and the number of relists listed as
// certainly distinct equals the number proven.
func toldWithin(t *testing.T, report, timeline []byte, base *story) {
	t.Helper()
	n := parsed(t, report).list("nodes")[0]
	end := n.sub("window").when("end")
	for _, s := range slices.Concat(base.health, base.episodes) {
		if s.from > end+0.002 || s.to > end+0.002 && s.state != "" {
			t.Errorf("%v lies after the window, which ends at %f", s, end)
		}
	}
	sole := 0
	for _, r := range parsed(t, timeline).list("nodes")[0].list("relists") {
		if may, _ := r["may_be_another"].(bool); !may {
			sole++
		}
	}
	if proven := int(n.sub("relists").num("proven")); sole != proven {
		t.Errorf("%d relists are told without doubt, %d are proven", sole, proven)
	}
}

// sameBounds: where episodes, breaches and unhealthy spans end is told with the same bounds everywhere, and nothing is proven
// unhealthy after the earliest of them.
func sameBounds(t *testing.T, report, timeline, replayed []byte) {
	t.Helper()
	type bound struct{ from, to, fromEarliest, toEarliest, toLatest any }
	n, r := parsed(t, report).list("nodes")[0], parsed(t, replayed)
	told := map[any]bound{}
	for _, e := range n.list("episodes") {
		b := bound{e["breach"], e["recovered"], e["breach_earliest"], e["recovered_earliest"], e["recovered_latest"]}
		if told[b.from] = b; e["recovered"] == nil {
			continue
		}
		if got, want := e.when("recovered")-e.num("recovered_uncertainty_seconds"), e.when("recovered_earliest"); math.Abs(got-want) > 1e-3 && e.num("recovered_uncertainty_seconds") > 0 {
			t.Errorf("episode at %v: recovered - ± is %f, recovered_earliest %f", b.from, got, want)
		}
		for _, x := range n.list("breaches") {
			if x.text("rule") == "relist-threshold-exceeded" && x["start"] == b.from && x.num("end_uncertainty_seconds") != e.num("recovered_uncertainty_seconds") {
				t.Errorf("breach at %v: end ± %v, of the episode %v", b.from, x["end_uncertainty_seconds"], e["recovered_uncertainty_seconds"])
			}
		}
	}
	for name, l := range map[string][]doc{"timeline": parsed(t, timeline).list("nodes")[0].list("episodes"), "replay": r.list("episodes")} {
		for _, e := range l {
			if got := (bound{e["breach"], e["recovered"], e["breach_earliest"], e["recovered_earliest"], e["recovered_latest"]}); got != told[got.from] {
				t.Errorf("%s: episode %v, want %v", name, got, told[got.from])
			}
		}
	}
	for _, u := range r.list("unhealthy") {
		e, ok := told[u["from"]]
		if got := (bound{u["from"], e.to, u["from_earliest"], u["to_earliest"], u["to_latest"]}); ok && got != e {
			t.Errorf("replay: unhealthy %v, want %v", got, e)
		}
		for _, h := range r.list("health") {
			switch state := h.text("state"); {
			case h.when("from") >= u.when("to_earliest") || h.when("to") <= u.when("from"):
			case state == "healthy":
				t.Errorf("replay: healthy from %v on, proven unhealthy from %v to %v", h["from"], u["from"], u["to_earliest"])
			case state == "unhealthy" && h.when("to") > u.when("to_earliest")+0.002:
				t.Errorf("replay: health is unhealthy until %v, to_earliest is %v", h["to"], u["to_earliest"])
			}
		}
	}
}

// longestSlice: the longest relist of a trace is that of the history; one that hangs at the end of
// the input lasts until then.
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

// viewed: no interval lies outside of the viewer's window, from the start of the first to the end
// of the last one, and only single pod events lack the display flag.
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
		if shown, _ := i["display"].(bool); !shown && i.text("source") != "PLEGEvent" {
			t.Fatalf("hidden: %v", i)
		}
	}
}

// same compares what two outputs say, with the microsecond precision of the less exact ones.
func same(t *testing.T, what string, got, want []strip) {
	t.Helper()
	if got == nil {
		return
	}
	sorted := func(l []strip) []strip {
		return slices.SortedStableFunc(slices.Values(l), func(a, b strip) int {
			return cmp.Or(cmp.Compare(a.state, b.state), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
		})
	}
	near := func(a, b float64) bool { return math.Abs(a-b) < 0.002 }
	got, want = sorted(got), sorted(want)
	if !slices.EqualFunc(got, want, func(a, b strip) bool { return near(a.from, b.from) && near(a.to, b.to) && a.state == b.state }) {
		t.Errorf("%s:\n got %d %.2000v\nwant %d %.2000v", what, len(got), fmt.Sprint(got), len(want), fmt.Sprint(want))
	}
}

// derived queries the derived series in the middle of each health span and each long relist, and at
// the end for the delivered and discarded events. Episodes and their recovery are steps of
// plegforensics_pleg_unhealthy, as is health.
func derived(t *testing.T, in []string, base *story) {
	ask := func(at float64, expr, want string) {
		t.Helper()
		when := time.Unix(0, int64(at*1e9)).UTC().Format(time.RFC3339Nano)
		args := []string{"query", "-o", "json", "--quiet", "--tz", "UTC", "--year", "2026", "--time", when, "--expr", expr}
		if out := must(t, append(args, in...)...); !strings.Contains(out, `"`+want+`"]`) {
			t.Errorf("derived series %s at %s, want %s: %s", expr, when, want, out)
		}
	}
	value := map[string]string{"healthy": "0", "unhealthy": "1", "never-relisted": "1"}
	end := 0.0
	for _, h := range base.health {
		end = max(end, h.to)
		if h.state == "never-relisted" && h.to-h.from < 16 {
			continue // the start of a kubelet, which the series leaves out
		}
		if want, ok := value[h.state]; ok && h.to-h.from > 2 {
			ask((h.from+h.to)/2, "plegforensics_pleg_unhealthy", want)
		}
	}
	for _, r := range base.relists {
		ask(r.from+max(r.to, 2)/2, "plegforensics_relist_running", "1")
	}
	if end == 0 {
		return
	}
	count := func(l []strip) string { return strconv.Itoa(len(l)) }
	ask(end, "sum(plegforensics_pleg_events_total) or vector(0)", count(base.events))
	ask(end, "sum(plegforensics_discarded_events_total) or vector(0)", count(base.dropped))
}

// doc is a JSON document with accessors.
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

func (d doc) column(key string) []any { l, _ := d[key].([]any); return l }

func (d doc) num(key string) float64 { v, _ := d[key].(float64); return v }

func (d doc) text(key string) string { v, _ := d[key].(string); return v }

func (d doc) sub(key string) doc { v, _ := d[key].(map[string]any); return v }

// when returns a time in seconds since 1970, 0 for none.
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

// bounds returns the uncertainties of the ends of episodes.
func bounds(l []doc) []strip {
	out := []strip{}
	for _, e := range l {
		out = append(out, strip{from: e.when("breach"), to: e.num("recovered_uncertainty_seconds")})
	}
	return out
}

func timelineStory(t *testing.T, b []byte) story {
	n := parsed(t, b).list("nodes")[0]
	s := story{health: spans(n.list("health")), episodes: episodes(n.list("episodes")), bounds: bounds(n.list("episodes")), relists: []strip{}, ready: []strip{}, counted: []strip{}}
	for _, r := range n.list("node_ready") {
		s.ready = append(s.ready, strip{from: r.when("time"), state: fmt.Sprint(r["ready"] == true)})
	}
	for _, r := range n.list("relists_bounded") {
		s.counted = append(s.counted, strip{r.when("from"), r.when("to"), counts(r.num("count_min"), r.num("count_max"))})
	}
	for _, r := range n.list("relists") {
		s.long(r.when("start"), r.num("duration_seconds"), r["open"] == true)
	}
	return s
}

func analyzeStory(t *testing.T, b []byte) story {
	n := parsed(t, b).list("nodes")[0]
	s := story{health: spans(n.list("health")), episodes: episodes(n.list("episodes")), bounds: bounds(n.list("episodes")), relists: []strip{}}
	longest := n.sub("relists").list("longest")
	for _, r := range longest {
		s.long(r.when("start"), r.num("duration_seconds"), r["open"] == true)
	}
	if len(s.relists) == len(longest) && len(longest) > 0 {
		s.relists = nil // it may not show all
	}
	return s
}

func eventsStory(t *testing.T, b []byte) story {
	s := story{events: []strip{}, dropped: []strip{}}
	for _, e := range parsed(t, b).list("nodes")[0].list("events") {
		s.event(e.when("time"), e.text("type"), e.text("status"))
	}
	return s
}

func replayStory(t *testing.T, b []byte) story {
	d := parsed(t, b)
	s := story{health: spans(d.list("health")), episodes: episodes(d.list("episodes")), bounds: bounds(d.list("episodes")), relists: []strip{}, events: []strip{}}
	for _, r := range d.list("relists") {
		if r.when("end") != 0 {
			s.long(r.when("start"), r.when("end")-r.when("start"), r["open"] == true)
		}
		for _, e := range r.list("events") {
			if typ := e.text("type"); typ != "ContainerRemoved" && e["delivered"] == true {
				s.event(r.when("start"), typ, "")
			}
		}
	}
	return s
}

func ndjsonStory(t *testing.T, b []byte) story {
	s := empty()
	for line := range strings.Lines(string(b)) {
		r := parsed(t, []byte(line))
		s.row(r.text("kind"), r.text("state"), r.text("detail"), r.when("start"), r.when("end"), r.num("seconds"), r["open"] == true)
		s.bound(r.text("kind"), r.when("start"), r.when("end"), r.num("end_uncertainty_seconds"), r.num("count_min"), r.num("count_max"))
	}
	return s
}

// bound adds the bounds in a row of CSV, NDJSON or a trace.
func (s *story) bound(kind string, start, end, slack, least, most float64) {
	switch kind {
	case "episode":
		s.bounds = append(s.bounds, strip{from: start, to: slack})
	case "relist-count":
		s.counted = append(s.counted, strip{start, end, counts(least, most)})
	}
}

func counts(least, most float64) string {
	if least == most {
		return fmt.Sprint(least)
	}
	return fmt.Sprintf("%g-%g", least, most)
}

// row adds a row of CSV or NDJSON.
func (s *story) row(kind, state, detail string, start, end, seconds float64, open bool) {
	switch kind {
	case "health":
		s.health = append(s.health, strip{start, end, state})
	case "episode":
		s.episodes = append(s.episodes, strip{from: start, to: end})
	case "relist":
		s.long(start, seconds, open)
	case "event":
		s.event(start, kindOf(detail), state)
	case "ready":
		s.ready = append(s.ready, strip{from: start, state: state})
	}
}

// kindOf returns the type of an event without what rows append to it.
func kindOf(detail string) string {
	typ, _, _ := strings.Cut(detail, " ")
	return typ
}

func csvStory(t *testing.T, b []byte) story {
	r := csv.NewReader(bytes.NewReader(b))
	r.FieldsPerRecord, r.Comment = -1, '#'
	rows, err := r.ReadAll()
	if err != nil || len(rows) == 0 {
		t.Fatal(err)
	}
	s := empty()
	column := func(row []string, name string) string {
		if i := slices.Index(rows[0], name); i >= 0 && i < len(row) {
			return row[i]
		}
		return ""
	}
	for _, row := range rows[1:] {
		num := func(name string) float64 { v, _ := strconv.ParseFloat(column(row, name), 64); return v }
		start, end := unix(column(row, "start")), unix(column(row, "end"))
		s.row(column(row, "kind"), column(row, "state"), column(row, "detail"), start, end, num("seconds"), column(row, "open") == "true")
		s.bound(column(row, "kind"), start, end, num("end_uncertainty_seconds"), num("count_min"), num("count_max"))
	}
	return s
}

func intervalsStory(t *testing.T, b []byte) story {
	s := empty()
	for _, x := range parsed(t, b).list("items") {
		m, notes, to := x.sub("message"), x.sub("message").sub("annotations"), x.when("to")
		open := notes.text("open") == "true"
		if open {
			to = 0
		}
		seconds, _ := strconv.ParseFloat(notes.text("seconds"), 64)
		kind, _, _ := strings.Cut(m.text("humanMessage"), " ")
		s.row(notes.text("plegforensics"), m.text("cause"), kind, x.when("from"), to, seconds, open)
		if name, ok := strings.CutPrefix(m.text("reason"), "relist-count "); ok {
			s.counted = append(s.counted, strip{x.when("from"), to, name})
		}
	}
	s.bounds = nil
	return s
}

func perfettoStory(t *testing.T, b []byte) story {
	s := empty()
	for _, e := range parsed(t, b).list("traceEvents") {
		args, from, to := e.sub("args"), e.num("ts")/1e6, 0.0
		if e.text("ph") == "X" && args["open"] != true {
			to = from + e.num("dur")/1e6
		}
		left := int(args.num("left_out"))
		for range 1 + left {
			s.row(e.text("cat"), args.text("state"), kindOf(args.text("detail")), from, to, args.num("seconds"), args["open"] == true)
		}
		s.bound(e.text("cat"), from, to, args.num("end_uncertainty_seconds"), args.num("count_min"), args.num("count_max"))
		s.thinned = s.thinned || left > 0
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
	d := parsed(t, plain)
	n := d.list("nodes")[0]
	at := func(ms float64) float64 { return (n.num("base") + ms) / 1e3 }
	s := empty()
	health := n.sub("marks").sub("health")
	for i, from := range health.column("f") {
		s.health = append(s.health, strip{at(from.(float64)), at(health.column("t")[i].(float64)), health.column("s")[i].(string)})
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
	ends := n.sub("marks").sub("episode")
	for i, from := range ends.column("f") {
		slack, _ := ends.column("d")[i].(float64)
		s.bounds = append(s.bounds, strip{from: at(from.(float64)), to: slack})
	}
	for i, from := range n.sub("marks").sub("ready").column("f") {
		s.ready = append(s.ready, strip{from: at(from.(float64)), state: n.sub("marks").sub("ready").column("s")[i].(string)})
	}
	for i, from := range n.sub("marks").sub("relist-count").column("f") {
		c := n.sub("marks").sub("relist-count")
		s.counted = append(s.counted, strip{at(from.(float64)), at(c.column("t")[i].(float64)), c.column("i")[i].(string)})
	}
	r := n.sub("marks").sub("relist")
	for i, start := range r.column("f") {
		hung, drawn := r.column("s")[i] == "hung", r.column("t")[i] != nil // a hanging one is drawn if it lasts to the end
		took, _ := r.column("k")[i].(float64)
		s.long(at(start.(float64)), took, hung && drawn)
	}
	for _, p := range n.list("pods") {
		es := p.sub("marks")
		for i, t := range es.column("f") {
			s.event(at(t.(float64)), es.column("w")[i].(string), es.column("s")[i].(string))
		}
	}
	return s
}

// String formats a strip for test failures.
func (x strip) String() string { return fmt.Sprintf("%.3f+%.3f %s", x.from, x.to, x.state) }
