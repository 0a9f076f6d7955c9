package report

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/plegforensics/plegforensics/internal/report/model"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"

	"github.com/plegforensics/plegforensics/internal/schemas"
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules"
)

func written(t *testing.T, f func(io.Writer, *model.Report, Options) error, r *Report) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := f(&out, fill(r), Options{Width: 100}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// breaches returns the fixture with n breaches of one severity on its only node.
func breaches(n int, sev rules.Severity) *Report {
	r := fixture("node-1", 3)
	b := r.Nodes[0].Breaches[0]
	r.Nodes[0].Breaches, r.Nodes[0].Causes = nil, nil
	for i := range n {
		b.Rule, b.Severity, b.Start = fmt.Sprintf("rule-%05d", i), sev, b.Start+1
		r.Nodes[0].Breaches = append(r.Nodes[0].Breaches, b)
	}
	return r
}

// TestJUnitSchema: the document is valid for any report.
func TestJUnitSchema(t *testing.T) {
	unknown := breaches(0, rules.Info)
	unknown.Nodes[0].Status = "unknown"
	for name, r := range map[string]*Report{"empty": {}, "full": fixture("node.example", 3), "many": breaches(100, rules.Critical),
		"unknown": unknown, "hostile": fixture("a<b>&\x00\x1b[31m\u202e\xff]]>", 2)} {
		if err := schemas.JUnit(written(t, writeJUnit, r)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestJUnit(t *testing.T) {
	var doc junitSuites
	if err := xml.Unmarshal(written(t, writeJUnit, fixture("node.example", 3)), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Suites) != 1 || doc.Failures != 1 || doc.Tests != len(rules.BreachRules()) {
		t.Fatalf("%d suites, %d failures, %d tests", len(doc.Suites), doc.Failures, doc.Tests)
	}
	if _, err := time.Parse("2006-01-02T15:04:05", doc.Suites[0].Timestamp); err != nil {
		t.Error(err)
	}
	for _, c := range doc.Suites[0].Cases {
		if (c.Failure != nil) != (c.Name == "relist-threshold-exceeded") {
			t.Errorf("case %s: failure %v", c.Name, c.Failure)
		}
		if c.Failure != nil && (!strings.Contains(c.Failure.Text, "node.example/kubelet.log:") || strings.Count(c.Failure.Text, "\n") < 4 || c.Failure.Type != "critical") {
			t.Errorf("failure %+v", c.Failure)
		}
		if c.Failure != nil && !strings.Contains(c.Failure.Text, "confidence 0.87") {
			t.Errorf("no cause in %s", c.Failure.Text)
		}
	}
}

// TestJUnitSkips: a rule that could not be checked is skipped, not passed.
func TestJUnitSkips(t *testing.T) {
	r := breaches(0, rules.Info)
	r.Nodes[0].Status = "unknown"
	var doc junitSuites
	if err := xml.Unmarshal(written(t, writeJUnit, r), &doc); err != nil {
		t.Fatal(err)
	}
	if s := doc.Suites[0]; s.Skipped != s.Tests || s.Failures != 0 {
		t.Errorf("%d of %d skipped, %d failed", s.Skipped, s.Tests, s.Failures)
	}
}

// TestUndecidedIsNoPass: no machine format takes a rule that the input cannot decide for one that holds.
func TestUndecidedIsNoPass(t *testing.T) {
	r := breaches(0, rules.Info)
	n := &r.Nodes[0]
	n.Episodes, n.Status, n.Health = nil, "degraded", []replay.HealthSpan{{Span: replay.Span{From: 1, To: 1 + 90e9}, State: replay.HealthUnknown}}
	n.Undecided = []rules.Undecided{{Rule: "relist-threshold-exceeded", Reason: "dark"}, {Rule: "slow-relist", Reason: "no lengths"}, {Rule: "relist-never-succeeded", Reason: "dark"}}
	var doc junitSuites
	if err := xml.Unmarshal(written(t, writeJUnit, r), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Suites[0].Skipped != 3 {
		t.Errorf("%d skipped", doc.Suites[0].Skipped)
	}
	for _, c := range doc.Suites[0].Cases {
		if c.Name == "slow-relist" && (c.Skipped == nil || c.Skipped.Text != "no lengths") {
			t.Errorf("%+v", c)
		}
	}
	prom := string(written(t, writeTextfile, r))
	for sample, want := range map[string]bool{"plegforensics_episodes{": false, "plegforensics_unhealthy_seconds{": false, `rule="slow-relist"`: false,
		`rule="journal-lag"`: true, "plegforensics_health_unknown_seconds{": true} {
		if strings.Contains(prom, sample) != want {
			t.Errorf("%s in the textfile: want %v", sample, want)
		}
	}
	if got := string(written(t, writeGitHub, r)); !strings.Contains(got, "::notice title=relist-threshold-exceeded") || !strings.Contains(got, "not decided: dark") {
		t.Error(got)
	}
	var notes []string
	for _, x := range sarifOf(t, r).Invocations[0].Notifications {
		if x.Level == "note" {
			notes = append(notes, x.Message.Text)
		}
	}
	if len(notes) != 2 || !strings.Contains(notes[0], "relist-threshold-exceeded, relist-never-succeeded: dark") {
		t.Error(notes)
	}
}

func sarifOf(t *testing.T, r *Report) sarifRun {
	t.Helper()
	var doc sarifLog
	out := written(t, writeSARIF, r)
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Version != "2.1.0" || doc.Schema == "" || len(doc.Runs) != 1 {
		t.Fatalf("version %s, %d runs", doc.Version, len(doc.Runs))
	}
	return doc.Runs[0]
}

// TestSARIFSchema: the log is valid for any report.
func TestSARIFSchema(t *testing.T) {
	warned := fixture("a<b>:&\x00\x1b[31m\u202e\xff", 2)
	warned.Warnings = append(warned.Warnings, parse.Warning{Msg: "cut"})
	for name, r := range map[string]*Report{"empty": {}, "full": fixture("node.example", 3), "many": breaches(sarifResults+1, rules.Critical), "hostile": warned} {
		if err := schemas.SARIF(written(t, writeSARIF, r)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSARIF checks what the schema cannot say: references between objects,
// order in time, relative URIs.
func TestSARIF(t *testing.T) {
	run := sarifOf(t, fixture("node 1:a", 3))
	if run.Tool.Driver.Name == "" || len(run.Invocations) != 1 || !run.Invocations[0].Successful {
		t.Errorf("tool %+v", run.Tool.Driver.Name)
	}
	ids := map[string]bool{}
	for _, r := range run.Tool.Driver.Rules {
		if ids[r.ID] || r.Short.Text == "" || !sarifLevels[r.Default["level"]] {
			t.Errorf("rule %+v", r)
		}
		ids[r.ID] = true
	}
	if len(run.Results) != 2 {
		t.Fatalf("%d results", len(run.Results))
	}
	for _, x := range run.Results {
		if run.Tool.Driver.Rules[x.RuleIndex].ID != x.RuleID || !sarifLevels[x.Level] || x.Message.Text == "" {
			t.Errorf("result %+v", x)
		}
		if fp := x.Fingerprints["plegforensics/v1"]; len(fp) != 32 {
			t.Errorf("fingerprint %q", fp)
		}
		for _, l := range x.Locations {
			sarifCheck(t, l)
		}
		if len(x.Flows) != 1 || len(x.Flows[0].ThreadFlows) != 1 || len(x.Flows[0].ThreadFlows[0]["locations"]) < 5 {
			t.Fatalf("flows %+v", x.Flows)
		}
		last := ""
		for _, s := range x.Flows[0].ThreadFlows[0]["locations"] {
			if _, err := time.Parse(time.RFC3339Nano, s.ExecutionTime); err != nil || s.Location.Message == nil {
				t.Errorf("step %+v: %v", s, err)
			}
			last = max(last, s.ExecutionTime[:19])
			if s.ExecutionTime[:19] < last {
				t.Errorf("step at %s after %s", s.ExecutionTime, last)
			}
		}
	}
}

var sarifLevels = map[string]bool{"none": true, "note": true, "warning": true, "error": true}

func sarifCheck(t *testing.T, l sarifLocation) {
	t.Helper()
	if l.Physical == nil {
		t.Error("location without a place")
		return
	}
	u, err := url.Parse(l.Physical.Artifact["uri"])
	if err != nil || u.IsAbs() || strings.HasPrefix(u.Path, "/") {
		t.Errorf("uri %q: %v", l.Physical.Artifact["uri"], err)
	}
	if r := l.Physical.Region; r != nil && r.StartLine < 1 && r.ByteOffset == nil {
		t.Errorf("region %+v", r)
	}
}

// TestSARIFLimits checks both sides of every limit.
func TestSARIFLimits(t *testing.T) {
	for n, notes := range map[int]int{sarifResults: 1, sarifResults + 1: 2} {
		run := sarifOf(t, breaches(n, rules.Critical))
		if len(run.Results) != sarifResults || len(run.Invocations[0].Notifications) != notes {
			t.Errorf("%d breaches: %d results, %d notes", n, len(run.Results), len(run.Invocations[0].Notifications))
		}
	}
	r := breaches(1, rules.Critical)
	b := &r.Nodes[0].Breaches[0]
	b.Evidence = slices.Repeat(b.Evidence, sarifLocations+1)
	if got := len(sarifOf(t, r).Results[0].Locations); got != sarifLocations {
		t.Errorf("%d locations", got)
	}
	n := fixture("n", 1).Nodes[0]
	for i := range sarifFlowSteps + 50 {
		n.Relists = append(n.Relists, replay.Relist{Start: replay.Instant{At: n.Episodes[0].Breach + int64(i)}})
	}
	whole := fill(&Report{Nodes: []Node{n}}).Nodes[0]
	for _, room := range []int{sarifFlowSteps, 7, 1, 0} {
		got := 0
		for _, f := range flows(whole, []int{whole.Episodes[0].ID}, room) {
			got += len(f.Steps)
		}
		if got != room {
			t.Errorf("%d steps where there is room for %d", got, room)
		}
	}
}

// TestSARIFSteps: all flows of one result share the limit on steps.
func TestSARIFSteps(t *testing.T) {
	r := fixture("n", 1)
	n := &r.Nodes[0]
	for i := range sarifFlowSteps {
		n.Relists = append(n.Relists, replay.Relist{Start: replay.Instant{At: n.Episodes[0].Breach + int64(i)}})
	}
	for i := range 2 {
		e := n.Episodes[0]
		e.ID = i + 2
		n.Episodes = append(n.Episodes, e)
		n.Causes[0].Episodes = append(n.Causes[0].Episodes, e.ID)
	}
	steps := 0
	for _, x := range sarifOf(t, r).Results {
		for _, f := range x.Flows {
			if x.RuleID == n.Causes[0].ID {
				steps += len(f.ThreadFlows[0]["locations"])
			}
		}
	}
	if steps != sarifFlowSteps {
		t.Errorf("%d steps of one result", steps)
	}
}

func compressed(data []byte) int { return len(packed(data, gzip.DefaultCompression)) }

// TestSARIFBytes: a log of exactly the limit stays whole. Below it, the least severe results lose
// their flows first and then are dropped, and a notification says so.
func TestSARIFBytes(t *testing.T) {
	items := make([]Item, 64)
	for i := range items {
		items[i] = Item{Node: "n", Rule: "r", Title: "t", Severity: rules.Critical, Message: fmt.Sprint("m", i), Fingerprint: fmt.Sprint(i),
			Flows: func(int) []Flow {
				return []Flow{{"t", []Step{{At: model.Time(i + 1), What: strings.Repeat("x", 200)}}}}
			}}
	}
	write := func(most int) ([]byte, sarifRun) {
		var b bytes.Buffer
		run := newSARIF("v1", items, "input")
		if err := run.write(&b, most); err != nil {
			t.Fatal(err)
		}
		if err := schemas.SARIF(b.Bytes()); err != nil {
			t.Error(err)
		}
		var doc sarifLog
		if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		return b.Bytes(), doc.Runs[0]
	}
	whole, run := write(1 << 30)
	if len(run.Results) != 64 || run.Results[63].Flows == nil || len(run.Invocations[0].Notifications) != 0 {
		t.Fatalf("%d results, notes %v", len(run.Results), run.Invocations[0].Notifications)
	}
	most := 0 // the smallest limit under which the log stays whole
	for size := compressed(whole); most-most/10 < size; {
		most++
	}
	if data, _ := write(most); !bytes.Equal(data, whole) {
		t.Error("a log of exactly the limit was cut")
	}
	_, run = write(most - 2)
	if len(run.Results) != 64 || run.Results[31].Flows == nil || run.Results[32].Flows != nil || len(run.Invocations[0].Notifications) != 1 {
		t.Errorf("%d results, notes %v", len(run.Results), run.Invocations[0].Notifications)
	}
	data, run := write(compressed(whole) * 8 / 10)
	if len(run.Results) == 64 || len(run.Results) == 0 || run.Results[0].Flows != nil || compressed(data) > compressed(whole)*8/10 {
		t.Errorf("%d results, %d bytes, notes %v", len(run.Results), compressed(data), run.Invocations[0].Notifications)
	}
}

// TestFingerprints: a fingerprint depends on node, rule and time, not on the order, the name of the
// bundle or other findings.
func TestFingerprints(t *testing.T) {
	a := breaches(3, rules.Critical)
	b := breaches(3, rules.Critical)
	b.Inputs[0].Path = "elsewhere"
	b.Nodes[0].Breaches = b.Nodes[0].Breaches[2:]
	fa, fb := items(fill(a)), items(fill(b))
	if fa[2].Fingerprint != fb[0].Fingerprint {
		t.Error("the fingerprint depends on other findings")
	}
	a.Nodes[0].Breaches[0].Subject = "list_podsandbox"
	if items(fill(a))[0].Fingerprint == fa[0].Fingerprint {
		t.Error("the subject does not count")
	}
	seen := map[string]bool{}
	for _, f := range fa {
		seen[f.Fingerprint] = true
	}
	if len(seen) != 3 {
		t.Errorf("%d fingerprints of 3 findings", len(seen))
	}
}

var command = regexp.MustCompile(`^::(error|warning|notice) title=[^:,]+,file=[^:,]+,line=\d+::[^\r\n]+$`)

func TestGitHubLimits(t *testing.T) {
	for n, left := range map[int]bool{githubPerLevel: false, githubPerLevel + 1: true} {
		r := breaches(0, rules.Info)
		for _, sev := range []rules.Severity{rules.Critical, rules.Warning, rules.Info} {
			r.Nodes[0].Breaches = append(r.Nodes[0].Breaches, breaches(n, sev).Nodes[0].Breaches...)
		}
		for i := range r.Nodes[0].Breaches {
			r.Nodes[0].Breaches[i].Rule += string(r.Nodes[0].Breaches[i].Severity)
		}
		lines := strings.Split(strings.TrimSpace(string(written(t, writeGitHub, r))), "\n")
		count := map[string]int{}
		for _, l := range lines {
			if m := command.FindStringSubmatch(l); m != nil {
				count[m[1]]++
			} else if !left || !strings.HasPrefix(l, "plegforensics: 3 findings more") {
				t.Errorf("line %q", l)
			}
		}
		for _, level := range []string{"error", "warning", "notice"} {
			if count[level] != githubPerLevel {
				t.Errorf("%d of a level: %v", n, count)
			}
		}
	}
}

// TestGitHubMessage checks both sides of the length limit, and a character that the cut would
// split.
func TestGitHubMessage(t *testing.T) {
	for _, x := range []struct {
		message string
		cut     bool
	}{{strings.Repeat("x", githubMessage), false}, {strings.Repeat("x", githubMessage+1), true}, {strings.Repeat("é", githubMessage), true}} {
		_, got, _ := strings.Cut(annotation("error", &Item{Rule: "r", Message: x.message})[2:], "::")
		if len(got) > githubMessage || !utf8.ValidString(got) || strings.HasSuffix(got, "…") != x.cut {
			t.Errorf("%d bytes of %d, cut: %v", len(got), len(x.message), !x.cut)
		}
	}
}

// TestHealthyIsNoFinding: a healthy node yields no finding for a CI system.
func TestHealthyIsNoFinding(t *testing.T) {
	r := fixture("n", 1)
	r.Nodes[0].Status, r.Nodes[0].Breaches = "healthy", nil
	if fs := items(fill(r)); len(fs) != 0 {
		t.Errorf("%d findings of a node that is well", len(fs))
	}
}

func TestGitHubEscapes(t *testing.T) {
	out := string(written(t, writeGitHub, fixture("a:b,c%d\r\n::error::x", 1)))
	for _, l := range strings.Split(strings.TrimSpace(out), "\n") {
		if !command.MatchString(l) {
			t.Errorf("line %q", l)
		}
	}
}

func TestCutLines(t *testing.T) {
	line := strings.Repeat("x", 63) + "\n"
	text := strings.Repeat(line, SummaryBytes/64)
	if got := CutLines([]byte(text), SummaryBytes); string(got) != text {
		t.Errorf("text of %d bytes was cut to %d", len(text), len(got))
	}
	got := CutLines([]byte(text+"y"), SummaryBytes)
	if len(got) > SummaryBytes || len(got) < SummaryBytes-200 || !strings.Contains(string(got), "Cut here") {
		t.Errorf("cut to %d bytes", len(got))
	}
}

func TestGitLab(t *testing.T) {
	r := fixture("node", 1)
	r.Nodes[0].Breaches[0].Evidence[0].Where().File.Path = "./a/kubelet.log"
	var issues []gitlabIssue
	if err := json.Unmarshal(written(t, writeGitLab, r), &issues); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, i := range issues {
		if i.Description == "" || i.CheckName == "" || i.Location.Path != "a/kubelet.log" || i.Location.Lines["begin"] < 1 || seen[i.Fingerprint] {
			t.Errorf("issue %+v", i)
		}
		if !slices.Contains([]string{"info", "minor", "major", "critical", "blocker"}, i.Severity) {
			t.Errorf("severity %s", i.Severity)
		}
		seen[i.Fingerprint] = true
	}
	if len(issues) != 2 {
		t.Errorf("%d issues", len(issues))
	}
	if got := string(written(t, writeGitLab, &Report{})); got != "[]\n" {
		t.Errorf("nothing found: %q", got)
	}
}

// TestTextfile parses the metrics with the Prometheus parser: no timestamps, and no duplicate
// series even if two nodes have the same name.
func TestTextfile(t *testing.T) {
	r := fixture("node\"\\\n", 1)
	r.Nodes = append(r.Nodes, r.Nodes[0])
	p := textparse.NewPromParser(written(t, writeTextfile, r), labels.NewSymbolTable(), false)
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
		_, at, v := p.Series()
		var ls labels.Labels
		p.Labels(&ls)
		if _, twice := seen[ls.String()]; twice || at != nil {
			t.Errorf("%s twice or with a time", ls)
		}
		seen[ls.String()] = v
	}
	sum := 0.0
	for k, v := range seen {
		if strings.Contains(k, `__name__="plegforensics_episodes"`) {
			sum += v
		}
	}
	if sum != 2 {
		t.Errorf("episodes %g in %d series", sum, len(seen))
	}
}

// TestOpenEpisodeIsTold checks that the textfile shows an episode that had not recovered, with the time that is
// proven of it.
func TestOpenEpisodeIsTold(t *testing.T) {
	r := breaches(0, rules.Info)
	n := &r.Nodes[0]
	n.Episodes = []replay.Episode{{Breach: 1, FirstReport: 1, LastReport: 1 + 90e9}}
	n.Health = []replay.HealthSpan{{Span: replay.Span{From: 1, To: 1 + 90e9}, State: replay.Unhealthy}}
	prom := string(written(t, writeTextfile, r))
	for _, sample := range []string{"plegforensics_episodes_open{", "plegforensics_unhealthy_proven_seconds{"} {
		_, rest, ok := strings.Cut(prom, "\n"+sample)
		line, _, _ := strings.Cut(rest, "\n")
		if want := map[bool]string{true: "} 1", false: "} 90"}[strings.Contains(sample, "open")]; !ok || !strings.HasSuffix(line, want) {
			t.Errorf("%s%s, want %s", sample, line, want)
		}
	}
}
