package fleet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"

	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/internal/schemas"
)

func format(t *testing.T, name string, v *View) []byte {
	t.Helper()
	for _, f := range Formats {
		if f.Name == name {
			var b bytes.Buffer
			if err := f.Write(&b, v, report.Options{Width: 200}); err != nil {
				t.Fatal(err)
			}
			return b.Bytes()
		}
	}
	t.Fatalf("no format %s", name)
	return nil
}

// nfsView returns a fleet of four nodes that lose the same NFS server, a healthy node, a broken
// bundle and one read in part.
func nfsView(t *testing.T) *View {
	t.Helper()
	var rs []Record
	for i := range 4 {
		c := cause("storage-nfs-unresponsive", "likely", 0.8)
		c.Proof = []Quote{{Where: fmt.Sprintf("n%d/messages:7", i), Text: "kernel: nfs: server 10.0.0.9 not responding"}}
		n := sickNode(fmt.Sprintf("n%d", i), 100+int64(i), c)
		n.Objects = []Object{{"server", "10.0.0.9", 0}}
		n.Breaches = []Breach{{"relist-threshold-exceeded", "critical", 2, (100 + int64(i)) * minuteNs, []Quote{{Where: fmt.Sprintf("n%d/messages:9", i), Text: "PLEG is not healthy"}}},
			{"own-rule", "info", 1, 0, nil}}
		rs = append(rs, sampleRecord(n.Name, n))
	}
	rs = append(rs, sampleRecord("well", Node{Name: "well", Status: "healthy"}), sampleRecord("dim", Node{Name: "dim", Status: "unknown"}),
		Record{ID: "broken", Name: "broken<&\x01>.tar", Status: Failed, Error: "not an archive: 100%\n::error::x"}, Record{ID: "half", Name: "half.tar", Status: Partly, Warnings: 3})
	for i := range rs {
		rs[i].clean()
	}
	return viewOf(t, rs...)
}

// TestFleetJUnit: the document is valid; it says how far each bundle was analyzed and which rules
// each node breached, with evidence.
func TestFleetJUnit(t *testing.T) {
	for _, v := range []*View{viewOf(t), nfsView(t)} {
		if err := schemas.JUnit(format(t, "junit", v)); err != nil {
			t.Error(err)
		}
	}
	out := string(format(t, "junit", nfsView(t)))
	for _, want := range []string{
		`<testsuite name="bundles" tests="8" failures="0" errors="1" skipped="1"`,
		`<skipped>analysed in part, 3 warnings</skipped>`,
		`<failure message="PLEG was unhealthy, from `, `(the worst or first of 2)" type="critical"`,
		"n2/messages:9\n  PLEG is not healthy", "n2/messages:7\n  kernel: nfs",
		`<testcase name="own-rule" classname="plegforensics.n1"`,
		`<testsuite name="well" tests="`, `<skipped>` + report.Untold,
	} {
		if !strings.Contains(strings.ReplaceAll(out, "&#xA;", "\n"), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// TestFleetSARIF: the log is valid; correlations come first, with each node's breach as a step.
func TestFleetSARIF(t *testing.T) {
	if err := schemas.SARIF(format(t, "sarif", viewOf(t))); err != nil {
		t.Error(err)
	}
	data := format(t, "sarif", nfsView(t))
	if err := schemas.SARIF(data); err != nil {
		t.Error(err)
	}
	var log struct {
		Runs []struct {
			Results []struct {
				RuleID, Level string
				Message       struct{ Text string }
				CodeFlows     []struct {
					ThreadFlows []struct{ Locations []json.RawMessage }
				}
				Fingerprints map[string]string `json:"partialFingerprints"`
			}
		}
	}
	if err := json.Unmarshal(data, &log); err != nil {
		t.Fatal(err)
	}
	rs := log.Runs[0].Results
	if len(rs) == 0 || rs[0].RuleID != SharedObject || rs[0].Level != "error" || len(rs[0].CodeFlows) != 1 || len(rs[0].CodeFlows[0].ThreadFlows[0].Locations) != 4 {
		t.Fatalf("%s", data)
	}
	seen := map[string]bool{}
	for _, r := range rs {
		fp := r.Fingerprints["plegforensics/v1"]
		if len(fp) != 32 || seen[fp] {
			t.Errorf("fingerprint %q of %s", fp, r.Message.Text)
		}
		seen[fp] = true
	}
}

// TestFleetForges: annotations keep within limits and cannot be forged by a bundle, GitLab issues
// have a location, and the summary keeps within its size limit.
func TestFleetForges(t *testing.T) {
	out := string(format(t, "github", nfsView(t)))
	for _, l := range strings.Split(strings.TrimSpace(out), "\n") {
		if strings.HasPrefix(l, "::error::") || strings.Count(l, "::") < 2 && strings.HasPrefix(l, "::") {
			t.Errorf("line %q", l)
		}
	}
	if !strings.HasPrefix(out, "::error title=shared-object,file=n") {
		t.Errorf("%s", out)
	}
	var rs []Record
	for i := range 60 {
		n := sickNode(fmt.Sprintf("n%02d", i), int64(i)*1000)
		n.Breaches = []Breach{{"relist-threshold-exceeded", "critical", 1, 1, nil}, {"own", "warning", 1, 1, nil}, {"small", "info", 1, 1, nil}}
		rs = append(rs, sampleRecord(n.Name, n))
	}
	out = string(format(t, "github", viewOf(t, rs...)))
	for _, level := range []string{"error", "warning", "notice"} {
		if n := strings.Count(out, "::"+level+" "); n != 10 {
			t.Errorf("%d of %s", n, level)
		}
	}
	var issues []struct{ Location struct{ Path string } }
	if err := json.Unmarshal(format(t, "gitlab", nfsView(t)), &issues); err != nil || len(issues) == 0 || issues[0].Location.Path == "" {
		t.Errorf("%v %v", issues, err)
	}
	for i := range rs {
		rs[i].Name = strings.Repeat("x", 40_000) + rs[i].Name
	}
	if n := len(format(t, "github-summary", viewOf(t, rs...))); n > report.SummaryBytes || n < report.SummaryBytes/2 {
		t.Errorf("summary of %d bytes", n)
	}
}

// TestFleetTextfile parses the metrics: no duplicate series.
func TestFleetTextfile(t *testing.T) {
	p := textparse.NewPromParser(format(t, "prom", nfsView(t)), labels.NewSymbolTable(), false)
	seen := map[string]float64{}
	for {
		et, err := p.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if et != textparse.EntrySeries {
			continue
		}
		_, _, v := p.Series()
		var ls labels.Labels
		p.Labels(&ls)
		if _, twice := seen[ls.String()]; twice {
			t.Errorf("%s twice", ls)
		}
		seen[ls.String()] = v
	}
	for series, want := range map[string]float64{
		`{__name__="plegforensics_shared_nodes", cause="storage-nfs-unresponsive", kind="shared-object", object="server 10.0.0.9"}`: 4,
		`{__name__="plegforensics_bundles", status="failed"}`:                                                                       1,
		`{__name__="plegforensics_episodes", node="n3"}`:                                                                            1,
		`{__name__="plegforensics_unhealthy_seconds", node="n3"}`:                                                                   120,
	} {
		if seen[series] != want {
			t.Errorf("%s is %g, want %g", series, seen[series], want)
		}
	}
}

// TestPlaceIn: the position of a quote contains the bundle's name exactly once.
func TestPlaceIn(t *testing.T) {
	for _, x := range [][3]string{
		{"fleet/a.tar.gz", "a.tar.gz!a/kubelet.log:7", "fleet/a.tar.gz!a/kubelet.log:7"},
		{"fleet/node-1", "kubelet.log:7", "fleet/node-1/kubelet.log:7"},
		{"fleet/kubelet.log", "kubelet.log:7", "fleet/kubelet.log:7"},
		{"kubelet.log", "kubelet.log", "kubelet.log"},
		{"kubelet", "kubelet.log:7", "kubelet/kubelet.log:7"},
		{`C:\x\a.zip`, "a.zip!b:7", `C:\x\a.zip!b:7`},
		{"/", "a:7", "/a:7"},
	} {
		if got := placeIn(x[0], x[1]); got != x[2] {
			t.Errorf("%s in %s: %s, want %s", x[1], x[0], got, x[2])
		}
	}
}
