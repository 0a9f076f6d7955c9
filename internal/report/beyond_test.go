package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// TestRulesOfNewerVersions: a report about a kubelet newer than any known says whose
// rules were used. The other formats list findings or events one by one and name no
// version at all.
func TestRulesOfNewerVersions(t *testing.T) {
	lists := []string{"ndjson", "csv", "timesketch", "intervals", "perfetto", "sarif", "github", "gitlab", "prom"}
	for _, version := range []string{"v1.38.0", "v1.99.0", "v1.37.2"} {
		a := fixture("worker-1", 3)
		a.Nodes[0].Kubelet.Version = version
		r := fill(a)
		for _, f := range Formats {
			if slices.Contains(lists, f.Name) {
				continue
			}
			var b bytes.Buffer
			if err := f.Write(&b, r, Options{}); err != nil {
				t.Fatal(err)
			}
			said := strings.Contains(strings.ReplaceAll(b.String(), "&#43;", "+"), "newest known rules (v1.37) used")
			if want := version != "v1.37.2"; said != want {
				t.Errorf("%s of %s: says whose rules: %v", f.Name, version, said)
			}
		}
	}
}
