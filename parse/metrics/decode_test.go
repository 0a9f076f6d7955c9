package metrics

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

func metricsFile(path string) *parse.File {
	return &parse.File{Path: path, Role: parse.RoleMetrics}
}

// decodeAll decodes and merges files given as pairs of name and text.
func decodeAll(pairs ...string) parse.Part {
	set := NewSet()
	for i := 0; i < len(pairs); i += 2 {
		set.Add(Decode(metricsFile(pairs[i]), []byte(pairs[i+1]), Want{}))
	}
	return set.Finish()
}

// lines formats points, failures and warnings, one per line, for comparison.
func lines(p parse.Part) string {
	var b strings.Builder
	for _, s := range p.Series {
		for _, pt := range s.Points {
			at := "-"
			if pt.At != 0 {
				at = time.Unix(0, pt.At).UTC().Format("15:04:05.999")
			}
			fmt.Fprintf(&b, "%s %v @%s :%d\n", s, pt.V, at, pt.Line)
		}
	}
	for _, s := range p.Scrapes {
		if s.Failed != "" {
			fmt.Fprintf(&b, "failed :%d %s\n", s.Line, s.Failed)
		}
	}
	for _, w := range p.Warnings {
		fmt.Fprintf(&b, "warning :%d %s\n", w.Line, w.Msg)
	}
	return b.String()
}

// TestBoundsAreNumbers: a bucket bound written in several ways, by different
// kubelet versions or in different formats, is one series.
func TestBoundsAreNumbers(t *testing.T) {
	text := func(le string) string {
		return "# TYPE h_seconds histogram\nh_seconds_bucket{le=\"" + le + "\"} 1\n# TYPE s_x summary\ns_x{quantile=\"" + le + "\"} 1\n# TYPE g_x gauge\ng_x{le=\"" + le + "\"} 1\n"
	}
	for _, order := range [][]string{{"m/20261120T233100Z.prom", text("1"), "m/20261120T233115Z.prom", text("1.0"), "m/20261120T233130Z.prom", text("1e0")},
		{"m/20261120T233130Z.prom", text("1e0"), "m/20261120T233115Z.prom", text("1.0"), "m/20261120T233100Z.prom", text("1")}} {
		var got []string
		for _, s := range decodeAll(order...).Series {
			got = append(got, fmt.Sprint(s, " ", len(s.Points)))
		}
		if g, want := strings.Join(got, "\n"), "g_x{le=\"1\"} 1\ng_x{le=\"1.0\"} 1\ng_x{le=\"1e0\"} 1\nh_seconds_bucket{le=\"1.0\"} 3\ns_x{quantile=\"1.0\"} 3"; g != want {
			t.Errorf("got\n%s\nwant\n%s", g, want)
		}
	}
}

func TestText(t *testing.T) {
	const dated = "m/20261120T233100Z.prom"
	tests := []struct{ name, path, in, want string }{
		{"plain", dated, "# TYPE a_total counter\na_total 1\nb_x{l=\"v\"} 2.5\n",
			"a_total 1 @23:31:00 :2\nb_x{l=\"v\"} 2.5 @23:31:00 :3\n"},
		{"no final line feed", dated, "a_x 1", "a_x 1 @23:31:00 :1\n"},
		{"cut within a number", dated, "a_x 1\nb_x 12", "a_x 1 @23:31:00 :1\nwarning :2 data is cut short: the page ends within this line, which is not used\n"},
		{"cut within a comment", dated, "a_x 1\n# TYPE b_x ga", "a_x 1 @23:31:00 :1\nwarning :2 data is cut short: the page ends within this line, which is not used\n"},
		{"cut behind its end mark", dated, "a_x 1\n# EOF", "a_x 1 @23:31:00 :1\n"},
		{"cut behind a line of a histogram", dated, "# TYPE h_x histogram\nh_x_bucket{le=\"+Inf\"} 1\nh_x_sum 2\n",
			"h_x_bucket{le=\"+Inf\"} 1 @23:31:00 :2\nh_x_sum 2 @23:31:00 :3\nwarning :3 data is cut short: the page ends here, within h_x\n"},
		{"cut before the second series of a histogram", dated, "# TYPE h_x histogram\nh_x_bucket{le=\"+Inf\"} 1\nh_x_sum 2\nh_x_count 1\n",
			"h_x_bucket{le=\"+Inf\"} 1 @23:31:00 :2\nh_x_count 1 @23:31:00 :4\nh_x_sum 2 @23:31:00 :3\n"},
		{"the buckets of a histogram left out", dated, "# TYPE h_x histogram\nh_x_sum 2\nh_x_count 1\n", "h_x_count 1 @23:31:00 :3\nh_x_sum 2 @23:31:00 :2\n"},
		{"a histogram before another family", dated, "# TYPE h_x histogram\nh_x_bucket{le=\"+Inf\"} 1\n# TYPE a_x gauge\na_x 1\n",
			"a_x 1 @23:31:00 :4\nh_x_bucket{le=\"+Inf\"} 1 @23:31:00 :2\n"},
		{"zeros in a comment", dated, "# HELP a_x te\x00\x00t\na_x 1\n", "a_x 1 @23:31:00 :2\nwarning :1 zeros stand in place of what was written\n"},
		{"crlf and bom", dated, "\ufeffa_x 1\r\nb_x 2\r\n", "a_x 1 @23:31:00 :1\nb_x 2 @23:31:00 :2\n"},
		{"decimal value without labels is no time", dated, "a_x 1.5\nb_x 2.5\n\nc_x{l=\"}\"} 3.25\n",
			"a_x 1.5 @23:31:00 :1\nb_x 2.5 @23:31:00 :2\nc_x{l=\"}\"} 3.25 @23:31:00 :4\n"},
		{"blank lines in OpenMetrics", dated, "a_x 1\n\nb_x 2\n\n\nc_x 3\n# EOF\n",
			"a_x 1 @23:31:00 :1\nb_x 2 @23:31:00 :3\nc_x 3 @23:31:00 :6\n"},
		{"OpenMetrics without its end, by a later time", dated, "a_x 1\nb_x{l=\"v\"} 2 1795217461.5\n",
			"a_x 1 @23:31:00 :1\nb_x{l=\"v\"} 2 @23:31:01.5 :2\n"},
		{"OpenMetrics without its end, by an exemplar", dated, "a_total 1 # {trace=\"x\"} 0.5\nb_x 2\n",
			"a_total 1 @23:31:00 :1\nb_x 2 @23:31:00 :2\n"},
		{"OpenMetrics 2", dated, "# TYPE h histogram\n# UNIT h seconds\nh{l=\"v\"} {count:3,sum:1.5,bucket:[0.5:1,+Inf:3]} st@1795217000.5\n# TYPE q summary\nq {count:1,sum:2,quantile:[0.5:4]}\nc_total 7 # {id=\"x\"} 5 1795217000\nbroken {count\n# EOF\n",
			"c_total 7 @23:31:00 :6\nh_bucket{l=\"v\",le=\"+Inf\"} 3 @23:31:00 :3\nh_bucket{l=\"v\",le=\"0.5\"} 1 @23:31:00 :3\nh_count{l=\"v\"} 3 @23:31:00 :3\nh_sum{l=\"v\"} 1.5 @23:31:00 :3\nq{quantile=\"0.5\"} 4 @23:31:00 :5\nq_count 1 @23:31:00 :5\nq_sum 2 @23:31:00 :5\nwarning :7 no sample, skipped: broken {count\n"},
		{"bare array of promtool", dated, `[{"metric":{"__name__":"up","job":"a"},"value":[1795217460,"1"]},{"metric":{"__name__":"x"},"values":[[1795217460,"2"],[1795217475,"3"]]}]`,
			"up{job=\"a\"} 1 @23:31:00 :1\nx 2 @23:31:00 :1\nx 3 @23:31:15 :1\n"},
		{"damaged line in the middle", dated, "a_x 1\nb_x{l=\"v\" 2\nc_x 3\n",
			"a_x 1 @23:31:00 :1\nc_x 3 @23:31:00 :3\nwarning :2 no sample, skipped: b_x{l=\"v\" 2\n"},
		{"unclosed quote does not swallow lines", dated, "a_x{l=\"v} 1\nb_x{l=\"w\"} 2\nc_x 3\n",
			"b_x{l=\"w\"} 2 @23:31:00 :2\nc_x 3 @23:31:00 :3\nwarning :1 no sample, skipped: a_x{l=\"v} 1\n"},
		{"a number behind the value that is no time", dated, "a_x{l=\"v\"} 1 4\n", "a_x{l=\"v\"} 1 @23:31:00 :1\n"},
		{"truncated in the last line", dated, "a_x 1\nb_x{l=\"v", "a_x 1 @23:31:00 :1\nwarning :2 no sample, skipped: b_x{l=\"v\n"},
		{"nul byte", dated, "a_x 1\n\x00\x00\nb_x 2\n",
			"a_x 1 @23:31:00 :1\nb_x 2 @23:31:00 :3\nwarning :2 no sample, skipped: \x00\x00\n"},
		{"nan and inf", dated, "a_x NaN\nb_x +Inf\nc_x -Inf\n",
			"a_x NaN @23:31:00 :1\nb_x +Inf @23:31:00 :2\nc_x -Inf @23:31:00 :3\n"},
		{"indented", dated, "   a_x 1\n\tb_x{l=\"v\"} 2\n", "a_x 1 @23:31:00 :1\nb_x{l=\"v\"} 2 @23:31:00 :2\n"},
		{"markdown fence", dated, "Metrics of node 3 at noon 12\n```text\n# TYPE a_x gauge\na_x 1\n```\nthat_is all 5\n",
			"a_x 1 @23:31:00 :4\n"},
		{"shell prompt", dated, "$ kubectl get --raw /api/v1/nodes/n/proxy/metrics\na_x 1\n", "a_x 1 @23:31:00 :2\n"},
		{"http headers date the snapshot", "x.txt",
			"HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nDate: Fri, 20 Nov 2026 23:31:07 GMT\r\n\r\na_x 1\r\n",
			"a_x 1 @23:31:07 :5\n"},
		{"federation stamps", "x.txt", "# TYPE a_x untyped\na_x{instance=\"n\"} 1 1795217460123\n",
			"a_x{instance=\"n\"} 1 @23:31:00.123 :2\n"},
		{"openmetrics", "x.txt", "# TYPE a counter\na_total 1 1795217460.5\n# EOF\n", "a_total 1 @23:31:00.5 :2\n"},
		{"dump-openmetrics without EOF", "x.txt", "a_x{l=\"v\"} 1 1795217460.123\na_x{l=\"v\"} 2 1795217475.123\n",
			"a_x{l=\"v\"} 1 @23:31:00.123 :1\na_x{l=\"v\"} 2 @23:31:15.123 :2\n"},
		{"duplicate series", dated, "a_x 0\nb_x 1\nb_x 2\nc_x 3\n",
			"a_x 0 @23:31:00 :1\nb_x 1 @23:31:00 :2\nc_x 3 @23:31:00 :4\n" +
				"warning :3 1 samples repeat a series at the same time; the first is kept (b_x)\n"},
		{"time stamps out of order", "x.txt", "a_x 2 1795217475000\na_x 1 1795217460000\n",
			"a_x 1 @23:31:00 :2\na_x 2 @23:31:15 :1\nwarning :2 1 samples are older than the one before them; sorted by time (a_x)\n"},
		{"a label value of a megabyte", dated, "a_x{l=\"" + strings.Repeat("v", 1<<20) + "\"} 1\nb_x 2\n",
			"b_x 2 @23:31:00 :2\nwarning :1 skipped: series of 1048585 bytes (limit 65536)\n"},
		{"snapshots with date lines", "x.txt", "Fri Nov 20 23:31:00 UTC 2026\na_x 1\nb_x 1\nFri Nov 20 23:31:15 UTC 2026\na_x 2\nb_x 3\n",
			"a_x 1 @23:31:00 :2\na_x 2 @23:31:15 :5\nb_x 1 @23:31:00 :3\nb_x 3 @23:31:15 :6\n"},
		{"snapshots dated by their own gauges", "x.txt",
			"# HELP a_x h\n# TYPE a_x gauge\na_x 1\nkubelet_pleg_last_seen_seconds 1.79521746e+09\n" +
				"# HELP a_x h\n# TYPE a_x gauge\na_x 2\nkubelet_pleg_last_seen_seconds 1.795217475e+09\n",
			"a_x 1 @23:31:00 :3\na_x 2 @23:31:15 :7\n" +
				"kubelet_pleg_last_seen_seconds 1.79521746e+09 @23:31:00 :4\nkubelet_pleg_last_seen_seconds 1.795217475e+09 @23:31:15 :8\n"},
		{"html error page", dated, "<!DOCTYPE html>\n<html><body>502 Bad Gateway</body></html>\n", "failed :1 <!DOCTYPE html>\nwarning :1 1 snapshots failed and hold no metrics, the first here: <!DOCTYPE html>\n"},
		{"kubelet error page", dated,
			"An error has occurred while serving metrics:\n\ncollected metric \"x\" { label:{name:\"a\"}} was collected before with the same name and label values\n",
			"failed :1 An error has occurred while serving metrics:\nwarning :1 1 snapshots failed and hold no metrics, the first here: An error has occurred while serving metrics:\n"},
		{"empty file", dated, "", "failed :1 empty file\nwarning :1 1 snapshots failed and hold no metrics, the first here: empty file\n"},
		{"not metrics", dated, "{\n \"node\": {\n \"x\": 1}}\n", "warning :1 no metrics found: {\n"},
		{"error page between snapshots", "x.txt", "Fri Nov 20 23:31:00 UTC 2026\na_x 1\nFri Nov 20 23:31:15 UTC 2026\ncurl: (28) Operation timed out\nFri Nov 20 23:31:30 UTC 2026\na_x 2\n",
			"a_x 1 @23:31:00 :2\na_x 2 @23:31:30 :6\nfailed :4 curl: (28) Operation timed out\nwarning :4 1 snapshots failed and hold no metrics, the first here: curl: (28) Operation timed out\n"},
		{"promtool dump", "x.txt", "{__name__=\"a_x\", l=\"v\\\"\"} 1 1795217460123\n{__name__=\"a_x\", l=\"v\\\"\"} NaN 1795217475123\nbroken\n",
			"a_x{l=\"v\\\"\"} 1 @23:31:00.123 :1\na_x{l=\"v\\\"\"} NaN @23:31:15.123 :2\nwarning :3 no sample, skipped: broken\n"},
		{"api vector", "x.json", `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"a_x","l":"v"},"value":[1795217460.123,"1.5"]}]}}`,
			"a_x{l=\"v\"} 1.5 @23:31:00.123 :1\n"},
		{"api matrix, cut off", "x.json", "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[\n{\"metric\":{\"__name__\":\"a_x\"},\"values\":[[1795217460,\"1\"],[1795217475,\"2\"]]},\n{\"metric\":{\"__na",
			"a_x 1 @23:31:00 :2\na_x 2 @23:31:15 :2\nwarning :0 API response cut off or damaged: unexpected EOF\n"},
		{"api alerts", "x.json", `{"status":"success","data":{"alerts":[{"labels":{"alertname":"A"},"state":"firing","activeAt":"2026-11-20T23:31:00Z","value":"1"}]}}`,
			"ALERTS{alertname=\"A\",alertstate=\"firing\"} 1 @23:31:00 :1\n"},
		{"victoria", "x.jsonl", "{\"metric\":{\"__name__\":\"a_x\"},\"values\":[1,null],\"timestamps\":[1795217460000,1795217475000]}\n{\"metric\":\n",
			"a_x 1 @23:31:00 :1\na_x NaN @23:31:15 :1\nwarning :2 no sample, skipped: unexpected end of JSON input\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := lines(decodeAll(tt.path, tt.in)); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestLongLabelIsReported(t *testing.T) {
	got := decodeAll("x.prom", "a_x{l=\""+strings.Repeat("v", 1<<20)+"\"} 1\nb_x 2\n")
	if len(got.Series) != 1 || got.Series[0].Name != "b_x" {
		t.Errorf("series %v", got.Series)
	}
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0].Msg, "1048585 bytes") {
		t.Errorf("warnings %v", got.Warnings)
	}
}

// A file full of damage must not take quadratic time or flood the warnings.
func TestManyDamagedLines(t *testing.T) {
	text := strings.Repeat("x{a=} 1\n", 100_000) + strings.Repeat("x{\n", 100_000) + "a_x 1\n"
	begin := time.Now()
	got := decodeAll("x.prom", text)
	if d := time.Since(begin); d > 20*time.Second {
		t.Errorf("took %v", d)
	}
	if len(got.Series) != 1 || got.Series[0].Points[0].Line != 200_001 {
		t.Errorf("series %v", got.Series)
	}
	last := got.Warnings[len(got.Warnings)-1]
	if len(got.Warnings) != maxWarnings+1 || last.Msg != "skipped 199980 more damaged lines up to line 200000" {
		t.Errorf("%d warnings, last %v", len(got.Warnings), last)
	}
}

// Every sample's Quote is its line, whatever its format.
func TestQuoteIsTheLine(t *testing.T) {
	text := "a_x 1\nb_x{z=\"1\",a=\"2\"} 2.50\n  c_x{l=\"\\\"\"}   3e2\nd_x 4 1795217460123\ne_x 1e+09\nf_x NaN\ng_x -0\n"
	got := decodeAll("x.prom", text)
	want := strings.Split(text, "\n")
	for _, s := range got.Series {
		for i := range s.Points {
			m := s.Sample(i)
			if q := m.Quote(); q != want[m.Line-1] {
				t.Errorf("line %d: quote %q, want %q", m.Line, q, want[m.Line-1])
			}
		}
	}
}

func TestSnapshotTimes(t *testing.T) {
	const seen = "kubelet_pleg_last_seen_seconds 1.795217455e+09\n" // 23:30:55
	const gc = "go_memstats_last_gc_time_seconds 1.79521745e+09\n"  // 23:30:50
	day := func(h, m, s int) int64 { return time.Date(2026, 11, 20, h, m, s, 0, time.UTC).UnixNano() }
	tests := []struct {
		name, path, in string
		mtime          int64
		at             int64
		basis          parse.Basis
	}{
		{"sample stamps beat the name", "20200101T000000Z.prom", "a_x 1 1795217460000\n", 0, day(23, 31, 0), parse.Stated},
		{"name in UTC", "metrics/20261120T233100Z.prom", seen, 0, day(23, 31, 0), parse.Stated},
		{"name with dashes", "kubelet-2026-11-20T23-31-00Z.txt", seen, 0, day(23, 31, 0), parse.Stated},
		{"name in epoch seconds", "metrics.1795217460.txt", seen, 0, day(23, 31, 0), parse.Stated},
		{"name of the directory", "20261120T233100Z/metrics.txt", seen, 0, day(23, 30, 55), parse.LowerBound},
		{"name of the directory that agrees", "20261120T233100Z/metrics.txt", seen + gc, 0, day(23, 31, 0), parse.FileTime},
		{"name of the directory, too late", "bundle-20261120T235000Z/metrics.txt", seen + gc, 0, day(23, 30, 55), parse.LowerBound},
		{"name of the directory alone", "20261120T233100Z/metrics.txt", "a_x 1\n", 0, day(23, 31, 0), parse.FileTime},
		{"name of the archive", "bundle-20261120T235000Z.tar.gz!metrics.txt", seen + gc, 0, day(23, 30, 55), parse.LowerBound},
		{"name of the file in an archive", "bundle-20261120T235000Z.tar.gz!20261120T233100Z.prom", seen, 0, day(23, 31, 0), parse.Stated},
		{"one of two appended to one file", "metrics_20261120T235000Z.prom", seen + "kubelet_pleg_last_seen_seconds 1.795217515e+09\n", 0, day(23, 30, 55), parse.LowerBound},
		{"one of two appended, mtime that agrees", "metrics.prom", seen + gc + seen + gc, day(23, 31, 1), day(23, 30, 55), parse.LowerBound},
		{"name in local time, zone by the last collection", "m-20261121-010100.txt", seen + gc, 0, day(23, 31, 0), parse.ZoneInferred},
		{"name without zone nor other proof", "m-20261120-233100.txt", "a_x 1\n", 0, day(23, 31, 0), parse.ZoneGuessed},
		{"name before the gauges is not believed", "20261120T220000Z.txt", seen, 0, day(23, 30, 55), parse.LowerBound},
		{"last seen", "metrics.txt", seen, day(23, 59, 0), day(23, 30, 55), parse.LowerBound},
		{"mtime that agrees", "metrics.txt", seen + gc, day(23, 31, 1), day(23, 31, 1), parse.FileTime},
		{"mtime too late", "metrics.txt", seen + gc, day(23, 59, 1), day(23, 30, 55), parse.LowerBound},
		{"mtime alone", "metrics.txt", "a_x 1\n", day(23, 31, 1), day(23, 31, 1), parse.FileTime},
		{"nothing", "metrics.txt", "a_x 1\n", 0, 0, parse.NoTime},
		{"start of the process and its relists", "metrics.txt", "process_start_time_seconds 1.795217e+09\n" +
			"kubelet_pleg_relist_duration_seconds_sum 60\nkubelet_pleg_relist_duration_seconds_count 101\n", 0, day(23, 26, 0), parse.LowerBound},
		{"relists of who knows which process", "metrics.txt", "process_start_time_seconds{a=\"1\"} 1.795217e+09\n" +
			"kubelet_pleg_relist_duration_seconds_sum{a=\"2\"} 60\nkubelet_pleg_relist_duration_seconds_count{a=\"2\"} 101\n", 0, day(23, 23, 20), parse.LowerBound},
		{"exporter's clock", "metrics.txt", "node_time_seconds 1.79521746e+09\n", 0, day(23, 31, 0), parse.Stated},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := metricsFile(tt.path)
			f.ModTime = tt.mtime
			set := NewSet()
			set.Add(Decode(f, []byte(tt.in), Want{}))
			got := set.Finish().Scrapes[0]
			if got.At != tt.at || got.Basis != tt.basis {
				t.Errorf("got %v %v (%s), want %v %v", got.Time(), got.Basis, got.Why, time.Unix(0, tt.at).UTC(), tt.basis)
			}
		})
	}
}

func TestTypes(t *testing.T) {
	got := decodeAll("x.prom", "# TYPE h histogram\nh_bucket{le=\"1\"} 1\nh_sum 1\nh_count 1\nx_bucket{le=\"1\"} 1\ny_total 1\nz 1\n"+
		"# TYPE q summary\nq{quantile=\"0.5\"} 1\nq_sum 1\nkubelet_pleg_discard_events 1\n")
	want := map[string]string{"h_bucket": "histogram", "h_sum": "histogram", "h_count": "histogram", "x_bucket": "histogram",
		"y_total": "counter", "z": "unknown", "q": "summary", "q_sum": "summary", "kubelet_pleg_discard_events": "counter"}
	for _, s := range got.Series {
		if s.Type != want[s.Name] {
			t.Errorf("%s is %s, want %s", s.Name, s.Type, want[s.Name])
		}
	}
}

// TestAppendedSnapshots: none of several snapshots of one exporter in a file has the time in
// its name, and only the last may have been taken when the file was written.
func TestAppendedSnapshots(t *testing.T) {
	text := "go_memstats_last_gc_time_seconds 1.79521745e+09\nkubelet_pleg_last_seen_seconds 1.795217455e+09\n" +
		"go_memstats_last_gc_time_seconds 1.79521757e+09\nkubelet_pleg_last_seen_seconds 1.795217575e+09\n"
	f := metricsFile("metrics_20261120T233055Z.prom")
	f.ModTime = 1795217600e9
	set := NewSet()
	set.Add(Decode(f, []byte(text), Want{}))
	got := set.Finish().Scrapes
	if len(got) != 2 || got[0].At != 1795217455e9 || got[0].Basis != parse.LowerBound || got[1].At != f.ModTime || got[1].Basis != parse.FileTime {
		t.Errorf("got %v", got)
	}
}

// Two exporters of one node are not merged, error pages are assigned to their
// exporter, and nodes are kept apart.
func TestTargets(t *testing.T) {
	got := decodeAll(
		"a/kubelet-1795217460.prom", "kubelet_node_name{node=\"a\"} 1\nprocess_start_time_seconds 1.7e9\n",
		"a/kubelet-1795217475.prom", "An error has occurred while serving metrics:\n",
		"b/kubelet-1795217460.prom", "kubelet_node_name{node=\"b\"} 1\nprocess_start_time_seconds 1.7e9\n",
		"b/exporter-1795217460.prom", "node_load1 1\nprocess_start_time_seconds 1.6e9\n")
	var who []string
	for _, s := range got.Series {
		if s.Name == "process_start_time_seconds" {
			who = append(who, fmt.Sprintf("%s/%s=%v", s.Node, s.Job, s.Points[0].V))
		}
	}
	if w := strings.Join(who, " "); w != "a/kubelet=1.7e+09 b/kubelet=1.7e+09 b/node-exporter=1.6e+09" {
		t.Errorf("got %s", w)
	}
	for _, s := range got.Scrapes {
		if s.Failed != "" && (s.Node != "a" || s.Job != "kubelet") {
			t.Errorf("error page belongs to %q %q", s.Node, s.Job)
		}
	}
}

// The order in which parts are added does not matter.
func TestOrderOfParts(t *testing.T) {
	files := []string{"m/1795217460.prom", "a_x 1\nb_x 1\n", "m/1795217475.prom", "b_x 2\na_x 2\n", "m/1795217490.prom", "b_x{} 3\n"}
	forward := lines(decodeAll(files...))
	backward := lines(decodeAll(files[4], files[5], files[2], files[3], files[0], files[1]))
	if forward != backward {
		t.Errorf("forward\n%s\nbackward\n%s", forward, backward)
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		"# TYPE a counter\na_total{l=\"v\"} 1 1795217460.5\n# EOF\n", "a_x 1\n", "```\na_x 1\n```", "HTTP/1.1 500\r\n\r\nError", "{__name__=\"a\"} 1 2\n",
		`{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"1"]}]}}`, "{\"metric\":{\"__name__\":\"a\"},\"values\":[1],\"timestamps\":[1]}\n",
		"\x0c\x0a\x01a\x12\x00\x18\x00\x22\x02\x08\x01", "\xff\xfea\x00",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		part := Decode(metricsFile("x.prom"), data, Want{})
		n := part.Samples()
		set := NewSet()
		set.Add(part)
		got := set.Finish()
		if n == 0 && len(data) > 0 && len(got.Scrapes) == 0 && len(got.Warnings) == 0 && strings.TrimSpace(string(data)) != "" && onlyNoise(data) {
			t.Errorf("%q lost silently", data)
		}
		for _, s := range got.Series {
			for i, p := range s.Points {
				if i > 0 && p.At < s.Points[i-1].At {
					t.Errorf("%s out of order", s)
				}
				_ = s.Sample(i).Quote()
			}
		}
	})
}

// onlyNoise reports whether data begins with a damaged sample outside of a fence,
// about which there must be a warning.
func onlyNoise(data []byte) bool {
	return strings.HasPrefix(string(data), "x{") && !strings.Contains(string(data), "```")
}

func TestValueBits(t *testing.T) {
	got := decodeAll("x.prom", "a_x 0.1\nb_x 1e-320\nc_x 1.7976931348623157e308\n")
	for i, want := range []float64{0.1, 1e-320, math.MaxFloat64} {
		if v := got.Series[i].Points[0].V; math.Float64bits(v) != math.Float64bits(want) {
			t.Errorf("%s is %v, want %v", got.Series[i], v, want)
		}
	}
}
