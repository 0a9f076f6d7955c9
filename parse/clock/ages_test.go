package clock

import (
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// TestAges: if a line with a zone and one without give the start of the same
// relist, the latter gets that zone, in one file or two, unless two zones are
// possible.
func TestAges(t *testing.T) {
	kind := func(f *parse.File, age string) *parse.EventKind {
		sig := &parse.SigSet{Sigs: []*parse.Sig{{ID: parse.SigAge, Extract: func(_ string, dst []parse.Field) []parse.Field {
			return append(dst, parse.Field{Name: "age", Value: age})
		}}}}
		return &parse.EventKind{File: f, Origin: &parse.Origin{}, Sigs: sig}
	}
	type told struct{ stamp, age string }
	for _, c := range []struct {
		name      string
		row, line told
		other     told // a second line
		want      string
	}{
		{"the same relist", told{"2023-03-17T10:05:10+01:00", "5m0.1s"}, told{"03-17T15:35:05", "4m55.1s"}, told{}, "2023-03-17T09:05:05"},
		{"another", told{"2023-03-17T10:05:10+01:00", "5m0.1s"}, told{"03-17T10:05:05", "4m50.1s"}, told{}, "2023-03-17T10:05:05"},
		{"in UTC", told{"2023-03-17T10:05:10+01:00", "5m0.1s"}, told{"03-17T09:05:05", "4m55.1s"}, told{}, "2023-03-17T09:05:05"},
		{"two that fit", told{"2023-03-17T10:05:10+01:00", "5m0.1s"}, told{"03-17T15:35:05", "4m55.1s"}, told{"03-17T16:05:05", "4m55.1s"}, "2023-03-17T15:35:05"},
		{"farther than a zone goes", told{"2023-03-17T10:05:10+01:00", "5m0.1s"}, told{"03-18T09:05:05", "4m55.1s"}, told{}, "2023-03-18T09:05:05"},
	} {
		for _, two := range []bool{false, true} {
			of, in := &parse.File{Path: "log"}, &parse.File{Path: "log"}
			if two {
				of = &parse.File{Path: "describe"}
			}
			b := lines(t, in, [2]string{c.row.stamp, ""}, [2]string{"", c.line.stamp})
			b.Events[0].Batch, b.Events[1].Batch = parse.NewBatch(kind(of, c.row.age), b.Events[0].Text()), parse.NewBatch(kind(in, c.line.age), b.Events[1].Text())
			if c.other.stamp != "" {
				more := lines(t, in, [2]string{"", c.other.stamp}).Events[0]
				more.Batch, more.Offset = parse.NewBatch(kind(in, c.other.age), more.Text()), 2
				b.Events = append(b.Events, more)
			}
			Resolve(b, Options{Year: 2023})
			if at, _ := times(b); at[1] != c.want {
				t.Errorf("%s, two files %v: %v, want %s", c.name, two, at, c.want)
			}
		}
	}
}
