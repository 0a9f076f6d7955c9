package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/internal/compare"
	"github.com/plegforensics/plegforensics/internal/redact"
	"github.com/plegforensics/plegforensics/internal/report"
)

// TestRedact: no replaced name remains in any format. The lines of the sample are real kubelet
// lines.
func TestRedact(t *testing.T) {
	in := filepath.Join(samples, "hang-list", "kubelet.log")
	mapping := filepath.Join(t.TempDir(), "map.json")
	printed(t, "analyze", "-o", "html", "--verbose", "--redact", "--redact-map", mapping, in) // this output shows the most
	data, err := os.ReadFile(mapping)
	if err != nil {
		t.Fatal(err)
	}
	var replaced []redact.Replacement
	if err := json.Unmarshal(data, &replaced); err != nil {
		t.Fatal(err)
	}
	if len(replaced) < 5 {
		t.Errorf("only %d names replaced", len(replaced))
	}
	for _, f := range report.Formats {
		out := printed(t, "analyze", "-o", f.Name, "--verbose", "--redact", in)
		text := string(out) + islandOf(t, out)
		for _, r := range replaced {
			if left := regexp.MustCompile(`(^|[^A-Za-z0-9.-])` + regexp.QuoteMeta(r.Name) + `($|[^A-Za-z0-9.-])`).FindString(text); left != "" {
				t.Errorf("%s: %s %q is left", f.Name, r.Kind, r.Name)
			}
		}
		if strings.Contains(text, "ip-10-0-12-34") {
			t.Errorf("%s names the node", f.Name)
		}
	}
}

// tokens match what a log reveals about its cluster, independent of the redactor: pods and
// namespaces, nodes, UIDs, addresses.
var tokens = []*regexp.Regexp{
	regexp.MustCompile(`pod="([a-z0-9-]+)/([a-z0-9.-]+)"`),
	regexp.MustCompile(`"([a-z0-9.-]+)_([a-z0-9-]+)\([0-9a-f-]{8,36}\)"`),
	regexp.MustCompile(`node="([A-Za-z0-9-]+[-.][A-Za-z0-9.-]+)"`),
	regexp.MustCompile(`--hostname-override="([A-Za-z0-9.-]+)"`),
	regexp.MustCompile(`\b([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b`),
	regexp.MustCompile(`\b((?:10|172|192)\.\d+\.\d+\.\d+)\b`),
}

// TestRedactEverywhere: no token of a sample appears in the output of any command in any format.
func TestRedactEverywhere(t *testing.T) {
	for _, sample := range []string{"hang-list", "stuck-pods", "frozen-kubelet"} {
		in := filepath.Join(samples, sample, "kubelet.log")
		log, err := os.ReadFile(in)
		if err != nil {
			t.Fatal(err)
		}
		secret := map[string]bool{}
		for _, re := range tokens {
			for _, m := range re.FindAllStringSubmatch(string(log), -1) {
				for _, name := range m[1:] {
					if len(name) > 2 && !strings.HasPrefix(name, "kube-") && name != "default" {
						secret[name] = true
					}
				}
			}
		}
		if len(secret) < 10 {
			t.Fatalf("%s holds only %d names", sample, len(secret))
		}
		word := regexp.MustCompile(`[A-Za-z0-9][A-Za-z0-9.-]*`)
		check := func(what string, out []byte) {
			for _, w := range word.FindAllString(string(out)+islandOf(t, out), -1) {
				if secret[strings.TrimRight(w, ".-")] {
					t.Errorf("%s of %s holds %q", what, sample, w)
				}
			}
		}
		for _, f := range report.Formats {
			check("analyze "+f.Name, printed(t, "analyze", "--quiet", "--verbose", "-o", f.Name, "--redact", in))
		}
		for _, f := range report.TimelineFormats {
			check("timeline "+f.Name, printed(t, "timeline", "--quiet", "-o", f.Name, "--redact", in))
		}
		for _, command := range []string{"events", "inspect", "replay"} {
			for _, f := range []string{"text", "json"} {
				check(command+" "+f, printed(t, command, "--quiet", "--redact", "-o", f, in))
			}
		}
		check("query", printed(t, "query", "--quiet", "--redact", "-o", "json", "--expr", "plegforensics_node_ready", in))
		for _, f := range compare.Formats {
			check("compare "+f.Name, printed(t, "compare", "--quiet", "--verbose", "-o", f.Name, "--redact", filepath.Join(samples, "healthy", "kubelet.log"), in))
		}
	}
}

// TestRedactReadable: words of kubelets and of the tool are kept. In the samples, only what is a
// name by its position is replaced.
func TestRedactReadable(t *testing.T) {
	for _, sample := range []string{"hang-list", "stuck-pods", "frozen-kubelet", "healthy", "restart-in-hang"} {
		mapping := filepath.Join(t.TempDir(), "map.json")
		printed(t, "analyze", "-o", "html", "--verbose", "--redact-map", mapping, filepath.Join(samples, sample))
		data, err := os.ReadFile(mapping)
		if err != nil {
			t.Fatal(err)
		}
		var replaced []redact.Replacement
		if err := json.Unmarshal(data, &replaced); err != nil {
			t.Fatal(err)
		}
		for _, r := range replaced {
			if r.Kind == redact.Word {
				t.Errorf("%s: %q is taken for a name", sample, r.Name)
			}
		}
	}
}

// TestRedactOrdinaryNames: if the names of a cluster are words of the reports, reports remain
// readable and the names are still replaced.
func TestRedactOrdinaryNames(t *testing.T) {
	log, err := os.ReadFile(filepath.Join(samples, "stuck-pods", "kubelet.log"))
	if err != nil {
		t.Fatal(err)
	}
	odd := strings.NewReplacer("prod/", "critical/", "_prod(", "_critical(", "api-2-worker-10", "list", "worker-10", "worker").Replace(string(log))
	in := filepath.Join(t.TempDir(), "kubelet.log")
	if err := os.WriteFile(in, []byte(odd), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"analyze", "--quiet", "--tz", "UTC", "--year", "2026", "-o"}
	var plain, hidden any
	for out, more := range map[*any][]string{&plain: {"json"}, &hidden: {"json", "--redact"}} {
		if err := json.Unmarshal(printed(t, append(append(append([]string{}, args...), more...), in)...), out); err != nil {
			t.Fatal(err)
		}
	}
	sameWords(t, "report", plain, hidden)
	for _, f := range []string{"text", "json", "html", "markdown", "csv", "perfetto"} {
		out := printed(t, append(append(append([]string{}, args...), f, "--verbose", "--redact"), in)...)
		text := string(out) + islandOf(t, out)
		for _, bad := range []string{"critical/", "/list", "list_critical", "/worker", "worker: "} {
			if strings.Contains(text, bad) {
				t.Errorf("%s holds %q", f, bad)
			}
		}
	}
}

// sameWords compares two documents: words chosen by the tool are the same in both.
func sameWords(t *testing.T, at string, a, b any) {
	switch a := a.(type) {
	case map[string]any:
		m, _ := b.(map[string]any)
		for k, v := range a {
			sameWords(t, at+"."+k, v, m[k])
		}
	case []any:
		l, _ := b.([]any)
		if len(l) != len(a) {
			t.Errorf("%s: %d elements became %d", at, len(a), len(l))
			return
		}
		for i := range a {
			sameWords(t, at, a[i], l[i])
		}
	case string:
		switch key := at[strings.LastIndexByte(at, '.')+1:]; key {
		case "status", "outcome", "stuck_step", "level", "severity", "rule", "code", "why", "source", "pleg", "title", "remediation", "measure", "unit":
			if a != b {
				t.Errorf("%s: %q became %q", at, a, b)
			}
		}
	}
}

// islandOf decodes the data of an HTML report.
func islandOf(t *testing.T, page []byte) string {
	t.Helper()
	m := regexp.MustCompile(`(?s)id="data">(.*?)</script>`).FindSubmatch(page)
	if m == nil {
		return ""
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(m[1])))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestMergeRedacted: with redaction, a partial that contains names is not merged, however redaction
// is requested; a redacted one is.
func TestMergeRedacted(t *testing.T) {
	dir := t.TempDir()
	open, redacted := filepath.Join(dir, "open.plegp"), filepath.Join(dir, "redacted.plegp")
	bundles := fleetOf(t, 1)
	must(t, "batch", bundles, "--quiet", "--partial", open)
	must(t, "batch", bundles, "--quiet", "--partial", redacted, "--redact-key", "k")
	refused := func(args ...string) {
		t.Helper()
		if code, out, errs := status(t, append(args, open)...); code != exitUsage || out != "" || !strings.Contains(errs, "the partials were not redacted") {
			t.Errorf("%v: exit %d, %.100s %s", args, code, out, errs)
		}
		must(t, append(args, redacted)...)
	}
	must(t, "batch", "merge", open)
	refused("batch", "--redact", "merge")
	for _, env := range []string{"PLEGFORENSICS_REDACT", "PLEGFORENSICS_REDACT_KEY"} {
		t.Run(env, func(t *testing.T) {
			t.Setenv(env, "1")
			refused("batch", "merge")
		})
	}
}

// TestRedactNodeHints: errors that list nodes name none of them, even if the name is an ordinary
// word of reports.
func TestRedactNodeHints(t *testing.T) {
	log, err := os.ReadFile(filepath.Join(samples, "stuck-pods", "kubelet.log"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	names := []string{"account-archive", "storage-billing", "critical"}
	var inputs []string
	for i, name := range names {
		path := filepath.Join(dir, strconv.Itoa(i)+".log")
		if err := os.WriteFile(path, bytes.ReplaceAll(log, []byte("worker-10"), []byte(name)), 0o644); err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, path)
	}
	for _, args := range [][]string{{"replay"}, {"analyze", "--node", "other"}, {"analyze", "--node", "storage-biling"}, {"events", "--node", "no"}} {
		open := append(append([]string{}, args...), inputs...)
		if _, _, errs := status(t, open...); !strings.Contains(errs, names[1]) {
			t.Errorf("%v without --redact: %s", args, errs)
		}
		_, _, errs := status(t, append(open, "--redact")...)
		for _, name := range names {
			if strings.Contains(errs, name) || strings.Contains(errs, "biling") {
				t.Errorf("%v: %s", args, errs)
			}
		}
		if !strings.Contains(errs, "node-") {
			t.Errorf("%v names no pseudonym: %s", args, errs)
		}
	}
}
