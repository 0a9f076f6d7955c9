package promcheck

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/tsdb"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/bundle"
	"github.com/plegforensics/plegforensics/parse/metrics"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules/query"
)

// dirs returns the snapshot directories to compare: files whose names are UTC times, such as
// 20261120T233100.000Z.prom.
func dirs(t *testing.T) []string {
	v := os.Getenv("PROMCHECK_DIRS")
	if v == "" {
		t.Skip("PROMCHECK_DIRS is not set")
	}
	for _, tool := range []string{"promtool", "prometheus"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	return filepath.SplitList(v)
}

// samples maps "series @ms" to the value, with series in canonical notation.
type samples map[string]float64

func key(s *parse.Series, ms int64) string { return s.String() + " @" + strconv.FormatInt(ms, 10) }

func snapshotFiles(t *testing.T, dir string) []string {
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: no snapshots", dir)
	}
	sort.Strings(names)
	return names
}

// ours reads the snapshots with our parser.
func ours(t *testing.T, dir string) samples {
	set := metrics.NewSet()
	for _, name := range snapshotFiles(t, dir) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		set.Add(metrics.Decode(&parse.File{Path: "m/" + filepath.Base(name), Role: parse.RoleMetrics}, data, metrics.Want{}))
	}
	return collect(set.Finish().Series)
}

func collect(series []*parse.Series) samples {
	out := samples{}
	for _, s := range series {
		bare := *s
		for _, p := range s.Points {
			out[key(&bare, p.At/1e6)] = p.V
		}
	}
	return out
}

// blocks makes a database of the snapshots without using our parser: each sample line gets the time
// in its file's name.
func blocks(t *testing.T, dir string) (db string, lines int) {
	om := filepath.Join(t.TempDir(), "all.om")
	f, err := os.Create(om)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	for _, name := range snapshotFiles(t, dir) {
		stamp, err := time.Parse("20060102T150405Z", strings.TrimSuffix(filepath.Base(name), ".prom"))
		if err != nil {
			t.Fatal(err)
		}
		data, _ := os.ReadFile(name)
		if bytes.HasPrefix(data, []byte("An error has occurred")) {
			continue
		}
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			if len(line) > 0 && line[0] != '#' {
				fmt.Fprintf(w, "%s %d.%03d\n", line, stamp.Unix(), stamp.Nanosecond()/1e6)
				lines++
			}
		}
	}
	fmt.Fprintln(w, "# EOF")
	w.Flush()
	f.Close()
	db = filepath.Join(t.TempDir(), "db")
	if lines == 0 {
		return "", 0
	}
	if out, err := exec.Command("promtool", "tsdb", "create-blocks-from", "openmetrics", om, db).CombinedOutput(); err != nil {
		t.Fatalf("promtool: %v\n%s", err, out)
	}
	if err := os.Mkdir(filepath.Join(db, "wal"), 0o755); err != nil { // promtool requires one, even if empty
		t.Fatal(err)
	}
	return db, lines
}

// dump returns the database as printed by promtool.
func dump(t *testing.T, db string) samples {
	raw, err := exec.Command("promtool", "tsdb", "dump", db).Output()
	if err != nil {
		t.Fatal(err)
	}
	set := samples{}
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		i := strings.LastIndex(line, "} ")
		f := strings.Fields(line[i+2:])
		v, err1 := strconv.ParseFloat(f[0], 64)
		ms, err2 := strconv.ParseInt(f[1], 10, 64)
		name, rest, ok := strings.Cut(strings.TrimPrefix(line[:i], `{__name__="`), `"`)
		if err1 != nil || err2 != nil || !ok {
			t.Fatalf("promtool line %q", line)
		}
		// promtool quotes as Go does and writes a space after each comma.
		var b strings.Builder
		b.WriteString(name)
		if rest = strings.TrimPrefix(rest, ", "); rest != "" {
			b.WriteString("{" + relabel(t, rest) + "}")
		}
		set[b.String()+" @"+strconv.FormatInt(ms, 10)] = v
	}
	return set
}

// relabel removes the spaces between labels.
func relabel(t *testing.T, s string) string {
	var out []string
	for s != "" {
		i := strings.IndexByte(s, '=')
		q, err := strconv.QuotedPrefix(s[i+1:])
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s[:i+1]+q)
		s = strings.TrimPrefix(s[i+1+len(q):], ", ")
	}
	return strings.Join(out, ",")
}

func compare(t *testing.T, what string, got, want samples) {
	bad := 0
	for k, v := range want {
		g, ok := got[k]
		if !ok || math.Float64bits(g) != math.Float64bits(v) && !(math.IsNaN(g) && math.IsNaN(v)) {
			if bad++; bad < 5 {
				t.Errorf("%s: %s is %v (%v), want %v", what, k, g, ok, v)
			}
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d samples, want %d", what, len(got), len(want))
	}
}

func TestSamplesAgainstPromtool(t *testing.T) {
	total := 0
	for _, dir := range dirs(t) {
		db, lines := blocks(t, dir)
		if lines == 0 {
			continue // error pages only
		}
		want := dump(t, db)
		compare(t, dir+" snapshots", ours(t, dir), want)
		b, err := bundle.Load(context.Background(), []string{db}, bundle.Options{})
		if err != nil || len(b.Warnings) > 0 {
			t.Errorf("%s: %v %v", db, err, b.Warnings)
		}
		got := samples{}
		for _, s := range unpacked(t, b.Series) {
			for k, v := range s {
				got[k] = v
			}
		}
		compare(t, dir+" blocks", got, want)
		total += len(want)
	}
	t.Logf("%d samples equal, from snapshots and from blocks", total)
}

// unpacked reads series through the store, as queries do.
func unpacked(t *testing.T, series []*parse.Series) []samples {
	var out []samples
	for _, s := range series {
		m := collect([]*parse.Series{s})
		if len(s.Chunks) > 0 {
			db := query.Open(query.NewStore([]*replay.Node{{Records: replay.Records{Series: []*parse.Series{s}}}}))
			_, to, _ := db.Span()
			r, err := db.Instant(context.Background(), "{__name__="+strconv.Quote(s.Name)+"}[100y]", time.UnixMilli(to))
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range r.Value.(promql.Matrix) {
				for _, p := range x.Floats {
					m[key(s, p.T)] = p.F
				}
			}
		}
		out = append(out, m)
	}
	return out
}

// expressions are those of articles and alerts, and one for each part of the language.
var expressions = []string{
	`kubelet_pleg_last_seen_seconds`,
	`time() - kubelet_pleg_last_seen_seconds`,
	`time() - kubelet_pleg_last_seen_seconds > 120`,
	`histogram_quantile(.99, sum(rate(kubelet_pleg_relist_duration_seconds_bucket[5m])) by (le))`,
	`histogram_quantile(0.99, sum by (instance,le)(rate(kubelet_pleg_relist_duration_seconds_bucket[5m])))`,
	`histogram_quantile(0.9, sum(rate(kubelet_pleg_relist_interval_seconds_bucket[2m])) by (le))`,
	`histogram_quantile(0.5, rate(kubelet_runtime_operations_duration_seconds_bucket{operation_type="podsandbox_status"}[5m]))`,
	`rate(kubelet_pleg_relist_duration_seconds_sum[5m]) / rate(kubelet_pleg_relist_duration_seconds_count[5m])`,
	`rate(kubelet_pleg_relist_duration_seconds_count[1m]) == 0`,
	`increase(kubelet_pleg_discard_events[10m]) > 0`,
	`sum by (operation_type) (rate(kubelet_runtime_operations_total[5m]))`,
	`sum by (operation_type) (rate(kubelet_runtime_operations_errors_total[5m])) > 0`,
	`topk(3, sum by (operation_type) (increase(kubelet_runtime_operations_duration_seconds_sum[5m])))`,
	`kubelet_running_pods`,
	`kubelet_running_containers{container_state=~"running|exited"}`,
	`kubelet_pleg_relist_duration_seconds_count - kubelet_pleg_relist_interval_seconds_count`,
	`resets(kubelet_pleg_relist_duration_seconds_count[10m])`,
	`changes(kubelet_pleg_last_seen_seconds[10m])`,
	`delta(kubelet_pleg_last_seen_seconds[5m])`,
	`deriv(process_resident_memory_bytes[5m])`,
	`max_over_time(kubelet_pleg_relist_duration_seconds_sum[10m]) - min_over_time(kubelet_pleg_relist_duration_seconds_sum[10m])`,
	`avg_over_time(go_goroutines[5m])`,
	`quantile_over_time(0.9, go_goroutines[5m])`,
	`stddev_over_time(go_goroutines[5m])`,
	`count({__name__=~"kubelet_.*"})`,
	`count by (__name__) ({__name__=~"kubelet_pleg.*"})`,
	`absent(kubelet_pleg_nothing)`,
	`absent_over_time(kubelet_pleg_last_seen_seconds[20s])`,
	`label_replace(kubelet_node_name, "n", "$1", "node", "(.*)")`,
	`kubelet_node_name * on() group_left() kubelet_pleg_last_seen_seconds`,
	`sum(kubelet_runtime_operations_total) by (operation_type) and on (operation_type) kubelet_runtime_operations_duration_seconds_count`,
	`kubelet_runtime_operations_total unless on(operation_type) kubelet_runtime_operations_errors_total`,
	`go_goroutines offset 1m`,
	`max_over_time((time() - kubelet_pleg_last_seen_seconds)[5m:15s])`,
	`irate(kubelet_pleg_relist_duration_seconds_count[2m])`,
	`predict_linear(go_goroutines[5m], 600)`,
	`clamp_max(kubelet_pleg_relist_duration_seconds_sum, 10)`,
	`sort_desc(sum by (operation_type) (kubelet_runtime_operations_duration_seconds_sum))`,
	`sum(rate(kubelet_pleg_relist_duration_seconds_bucket{le="+Inf"}[5m])) - sum(rate(kubelet_pleg_relist_duration_seconds_bucket{le="10"}[5m]))`,
	`kubelet_pleg_relist_latency_microseconds{quantile="0.99"} / 1e6`,
	`rate(kubelet_pleg_relist_latency_microseconds_sum[5m]) / rate(kubelet_pleg_relist_latency_microseconds_count[5m]) / 1e6`,
	`timestamp(kubelet_pleg_relist_duration_seconds_count)`,
	`vector(1) + scalar(count(go_goroutines))`,
	`stdvar(kubelet_runtime_operations_total)`,
}

// server starts Prometheus on the database and returns its address.
func server(t *testing.T, db string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	config := filepath.Join(t.TempDir(), "p.yml")
	if err := os.WriteFile(config, []byte("scrape_configs: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("prometheus", "--config.file="+config, "--storage.tsdb.path="+db, "--web.listen-address="+addr, "--storage.tsdb.retention.time=100y", "--log.level=error")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	for range 100 {
		if r, err := http.Get("http://" + addr + "/-/ready"); err == nil {
			r.Body.Close()
			if r.StatusCode == 200 {
				return addr
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("prometheus does not become ready")
	return ""
}

// ask queries the server and returns "labels @time" to value.
func ask(t *testing.T, addr, path string, q url.Values) (samples, string) {
	r, err := http.PostForm("http://"+addr+"/api/v1/"+path, q)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var out struct {
		Error string
		Data  struct {
			ResultType string
			Result     []struct {
				Metric map[string]string
				Value  [2]any
				Values [][2]any
			}
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&out); err != nil {
		t.Fatal(err)
	}
	got := samples{}
	for _, s := range out.Data.Result {
		m, _ := json.Marshal(s.Metric)
		if s.Value[0] != nil {
			s.Values = append(s.Values, s.Value)
		}
		for _, v := range s.Values {
			f, _ := strconv.ParseFloat(v[1].(string), 64)
			got[fmt.Sprintf("%s @%d", m, int64(math.Round(v[0].(float64)*1000)))] = f
		}
	}
	return got, out.Error
}

func tableSamples(r query.Result) samples {
	got := samples{}
	for _, row := range r.Table().Rows {
		m := map[string]string{}
		for _, f := range row.Labels {
			m[f.Name] = f.Value
		}
		j, _ := json.Marshal(m)
		for _, s := range row.Samples {
			got[fmt.Sprintf("%s @%d", j, s.T)] = s.V
		}
	}
	return got
}

// near allows for a different order of summation in other versions.
func near(a, b float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b))
}

func TestQueriesAgainstPrometheus(t *testing.T) {
	for _, dir := range dirs(t) {
		db, lines := blocks(t, dir)
		if lines == 0 {
			continue
		}
		b, err := bundle.Load(context.Background(), []string{db}, bundle.Options{})
		if err != nil {
			t.Fatal(err)
		}
		mine := query.Open(query.NewStore([]*replay.Node{{Records: replay.Records{Series: b.Series}}}))
		from, to, _ := mine.Span()
		if to-from < 420_000 {
			continue // too short, see below
		}
		addr := server(t, db)
		// Versions differ in whether a sample at the very edge of a range counts, so times are off
		// the grid of samples. They also differ in how far rate extrapolates a counter near zero,
		// so the first minutes are left to TestQueriesAgainstEngine.
		young := min((to-from)*3/4, 330_000)
		at := time.UnixMilli(to - 7_137).UTC()
		start, end, step := time.UnixMilli(from+young+137).UTC(), time.UnixMilli(to+60_137).UTC(), 7*time.Second
		compared, values := 0, 0
		for _, e := range expressions {
			r1, err1 := mine.Instant(context.Background(), e, at)
			s1, msg1 := ask(t, addr, "query", url.Values{"query": {e}, "time": {seconds(at)}})
			r2, err2 := mine.Range(context.Background(), e, start, end, step)
			s2, msg2 := ask(t, addr, "query_range", url.Values{"query": {e}, "start": {seconds(start)}, "end": {seconds(end)}, "step": {"7"}})
			if (err1 != nil) != (msg1 != "") || (err2 != nil) != (msg2 != "") {
				t.Errorf("%s: errors %v %v, server %s %s", e, err1, err2, msg1, msg2)
				continue
			}
			if err1 == nil {
				values += agree(t, dir+" "+e, tableSamples(r1), s1)
			}
			if err2 == nil {
				values += agree(t, dir+" "+e+" (range)", tableSamples(r2), s2)
			}
			compared++
		}
		t.Logf("%s: %d expressions, %d values", dir, compared, values)
	}
}

func seconds(t time.Time) string { return strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', 3, 64) }

// extrapolated reports whether two values differ only by how far versions extrapolate a counter
// that has just started or been reset: a percent or two of a rate, at few times.
// TestQueriesAgainstEngine compares the same values bit by bit.
func extrapolated(what string, a, b float64) bool {
	return (strings.Contains(what, "rate(") || strings.Contains(what, "increase(")) && math.Abs(a-b) <= 0.02*math.Abs(b)
}

func agree(t *testing.T, what string, got, want samples) int {
	if len(got) != len(want) {
		t.Errorf("%s: %d values, server %d", what, len(got), len(want))
	}
	bad, odd := 0, 0
	defer func() {
		if odd*5 > len(want) {
			t.Errorf("%s: %d of %d values differ as versions extrapolate", what, odd, len(want))
		}
	}()
	for k, w := range want {
		g, ok := got[k]
		if ok && !near(g, w) && extrapolated(what, g, w) {
			odd++
			continue
		}
		if !ok || !near(g, w) {
			if bad++; bad < 4 {
				t.Errorf("%s: %s is %v (%v), server %v", what, k, g, ok, w)
			}
		}
	}
	return len(want)
}

// TestQueriesAgainstEngine compares with the engine over Prometheus' own storage, in the version
// that we link: all values of all expressions from before the first to after the last sample must
// be equal bit by bit.
func TestQueriesAgainstEngine(t *testing.T) {
	for _, dir := range dirs(t) {
		db, lines := blocks(t, dir)
		if lines == 0 {
			continue
		}
		b, err := bundle.Load(context.Background(), []string{db}, bundle.Options{})
		if err != nil {
			t.Fatal(err)
		}
		mine := query.Open(query.NewStore([]*replay.Node{{Records: replay.Records{Series: b.Series}}}))
		from, to, _ := mine.Span()
		real, err := tsdb.OpenDBReadOnly(db, t.TempDir(), promslog.NewNopLogger())
		if err != nil {
			t.Fatal(err)
		}
		engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 50e6, Timeout: time.Minute, LookbackDelta: 5 * time.Minute,
			EnableAtModifier: true, EnableNegativeOffset: true, Parser: query.Parser(), NoStepSubqueryIntervalFn: func(int64) int64 { return 60_000 }})
		start, end, values := time.UnixMilli(from).UTC(), time.UnixMilli(to+400_000).UTC(), 0
		for _, e := range expressions {
			q, err := engine.NewRangeQuery(context.Background(), real, nil, e, start, end, 5*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			want := q.Exec(context.Background())
			got, err := mine.Range(context.Background(), e, start, end, 5*time.Second)
			if (err != nil) != (want.Err != nil) {
				t.Errorf("%s %s: error %v, engine %v", dir, e, err, want.Err)
				continue
			}
			if err == nil {
				if g, w := fmt.Sprint(got.Value), fmt.Sprint(want.Value); g != w {
					t.Errorf("%s %s differs\n%.300s\n%.300s", dir, e, g, w)
				}
				for _, s := range want.Value.(promql.Matrix) {
					values += len(s.Floats)
				}
			}
			q.Close()
		}
		real.Close()
		t.Logf("%s: %d expressions, %d values the same", dir, len(expressions), values)
	}
}
