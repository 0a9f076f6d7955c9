package metrics

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/histogram"
	dto "github.com/prometheus/prometheus/prompb/io/prometheus/client"

	"github.com/plegforensics/plegforensics/parse"
)

// delimited encodes metric families as an endpoint does: each preceded by its size.
func delimited(t *testing.T, fs ...*dto.MetricFamily) string {
	t.Helper()
	var b []byte
	for _, f := range fs {
		m, err := f.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		b = append(binary.AppendUvarint(b, uint64(len(m))), m...)
	}
	return string(b)
}

func labelPairs(kv ...string) []dto.LabelPair {
	var out []dto.LabelPair
	for i := 0; i < len(kv); i += 2 {
		out = append(out, dto.LabelPair{Name: kv[i], Value: kv[i+1]})
	}
	return out
}

func TestProtobuf(t *testing.T) {
	counter := &dto.MetricFamily{Name: "a_total", Type: dto.MetricType_COUNTER, Metric: []dto.Metric{
		{Label: labelPairs("l", "v"), Counter: &dto.Counter{Value: 1}}, {Label: labelPairs("l", "w\"\n"), Counter: &dto.Counter{Value: 2.5}}}}
	gauge := &dto.MetricFamily{Name: "b_x", Type: dto.MetricType_GAUGE, Metric: []dto.Metric{{Gauge: &dto.Gauge{Value: -3}, TimestampMs: 1795217475123}}}
	untyped := &dto.MetricFamily{Name: "c_x", Type: dto.MetricType_UNTYPED, Metric: []dto.Metric{{Untyped: &dto.Untyped{Value: 7}}}}
	summary := &dto.MetricFamily{Name: "s_x", Type: dto.MetricType_SUMMARY, Metric: []dto.Metric{{Summary: &dto.Summary{
		SampleCount: 4, SampleSum: 9, Quantile: []dto.Quantile{{Quantile: 0.5, Value: 2}}}}}}
	classic := &dto.MetricFamily{Name: "h_seconds", Type: dto.MetricType_HISTOGRAM, Metric: []dto.Metric{{Histogram: &dto.Histogram{
		SampleCount: 3, SampleSum: 12.5, Bucket: []dto.Bucket{{CumulativeCount: 2, UpperBound: 10}}}}}}
	native := &dto.MetricFamily{Name: "n_seconds", Type: dto.MetricType_HISTOGRAM, Metric: []dto.Metric{{Histogram: &dto.Histogram{
		SampleCount: 3, SampleSum: 6, Schema: 0, ZeroThreshold: 1e-128, PositiveSpan: []dto.BucketSpan{{Offset: 0, Length: 2}}, PositiveDelta: []int64{1, 1}}}}}
	broken := string(binary.AppendUvarint(nil, 4)) + "\x0a\x7fab"
	tests := []struct{ name, in, want string }{
		{"counter with labels", delimited(t, counter), "a_total{l=\"v\"} 1 @23:31:00 :0\na_total{l=\"w\\\"\\n\"} 2.5 @23:31:00 :0\n"},
		{"gauge with a time of its own", delimited(t, gauge), "b_x -3 @23:31:15.123 :0\n"},
		{"untyped", delimited(t, untyped), "c_x 7 @23:31:00 :0\n"},
		{"summary", delimited(t, summary), "s_x{quantile=\"0.5\"} 2 @23:31:00 :0\ns_x_count 4 @23:31:00 :0\ns_x_sum 9 @23:31:00 :0\n"},
		{"histogram", delimited(t, classic), "h_seconds_bucket{le=\"+Inf\"} 3 @23:31:00 :0\nh_seconds_bucket{le=\"10.0\"} 2 @23:31:00 :0\nh_seconds_count 3 @23:31:00 :0\nh_seconds_sum 12.5 @23:31:00 :0\n"},
		{"native histogram", delimited(t, native), "native n_seconds 3 6\n"},
		{"a damaged family costs itself", delimited(t, gauge) + broken + delimited(t, untyped), "b_x -3 @23:31:15.123 :0\nc_x 7 @23:31:15.123 :0\nwarning :0 damaged metric family skipped: "},
		{"cut off", delimited(t, untyped) + delimited(t, counter)[:10], "c_x 7 @23:31:00 :0\nwarning :0 protobuf cut off: "},
		{"the same snapshot twice in one file", delimited(t, untyped, untyped), "c_x 7 @- :0\nc_x 7 @- :0\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := decodeAll("m/20261120T233100Z.pb", tt.in)
			got := natives(p) + lines(p)
			if !strings.HasPrefix(got, tt.want) || !strings.Contains(tt.want, "warning") && got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
	if Sniff([]byte(delimited(t, counter))) != FormatProto {
		t.Error("not recognised")
	}
}

// TestProtobufOfAnyLength uses first messages whose length byte is a blank or a
// letter, with which text may begin too.
func TestProtobufOfAnyLength(t *testing.T) {
	for n := 1; n < 200; n++ {
		in := delimited(t, &dto.MetricFamily{Name: strings.Repeat("a", n)}, &dto.MetricFamily{Name: "b_x", Type: dto.MetricType_GAUGE, Metric: []dto.Metric{{Gauge: &dto.Gauge{Value: 1}}}})
		if Sniff([]byte(in)) != FormatProto {
			t.Errorf("first message of %d bytes not recognized", in[0])
		}
		if got := lines(decodeAll("m/20261120T233100Z.pb", in)); got != "b_x 1 @23:31:00 :0\n" {
			t.Errorf("first message of %d bytes: %s", in[0], got)
		}
	}
	for _, text := range []string{"\n\n# HELP a b\n", "\n\n\ta_x 1\n", "a_x 1\n", "", "\n"} {
		if Sniff([]byte(text)) == FormatProto {
			t.Errorf("%q taken for protobuf", text)
		}
	}
}

// natives formats native histograms.
func natives(p parse.Part) string {
	var b strings.Builder
	for _, s := range p.Series {
		for _, h := range s.Histograms {
			fh := h.H.(*histogram.FloatHistogram)
			fmt.Fprintf(&b, "native %s %v %v\n", s, fh.Count, fh.Sum)
		}
	}
	return b.String()
}
