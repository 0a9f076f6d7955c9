package facts

import (
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// TestTableMoment: ages that count from the youngest process of a table are those of
// the moment when it started, whenever the bundle was made.
func TestTableMoment(t *testing.T) {
	table := `    PID    PPID STAT                  STARTED COMMAND
      1       0 Ss   Wed Mar  4 09:00:00 2026 /sbin/init
    800       1 Ssl  Wed Mar  4 09:00:10 2026 /usr/bin/dockerd
    900     800 S    Wed Mar  4 10:00:00 2026 /opt/cni/bin/bridge
    990       1 R    Wed Mar  4 10:08:52 2026 ps -eo pid
`
	for _, f := range Decode(&parse.File{Path: "ps.txt"}, []byte(table)).Facts {
		if f.Key == KeyCNIProcess {
			if want := time.Date(2026, 3, 4, 10, 8, 52, 0, time.UTC).UnixNano(); f.Attr("age") != "8m52s" || f.Raw.NS != want || f.Raw.Lack != parse.LackZone {
				t.Errorf("%s, as of %+v", f.Attr("age"), f.Raw)
			}
			return
		}
	}
	t.Error("no plug-in")
}
