package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// TestRulesOfNewerVersions: for a kubelet newer or older than any known, every format says which
// version's rules were applied; for a known one none does.
func TestRulesOfNewerVersions(t *testing.T) {
	all := map[string][]Format{"analyze": Formats, "timeline": TimelineFormats}
	for _, f := range EventFormats {
		if f.Name != "csv" { // it has rows for events only
			all["events"] = append(all["events"], f)
		}
	}
	for version, want := range map[string]string{"v1.38.0": "newest known rules (v1.37) used", "v1.99.0": "newest known rules (v1.37) used",
		"v1.10.9": "oldest known rules (v1.11) used", "v1.37.2": ""} {
		a := fixture("worker-1", 3)
		a.Nodes[0].Kubelet.Version = version
		r := fill(a)
		for command, formats := range all {
			for _, f := range formats {
				if got := told(t, f, r); want == "" && strings.Contains(got, "known rules") || !strings.Contains(got, want) {
					t.Errorf("%s -o %s of %s does not say %q", command, f.Name, version, want)
				}
			}
		}
	}
}

func told(t *testing.T, f Format, r *model.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := f.Write(&b, r, Options{}); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(b.String(), "&#43;", "+")), " ")
}
