package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestStatusProven checks for all samples, whole and in parts, that the status is "unhealthy" if and only if the history
// has an episode or a stretch in which PLEG is proven unhealthy, and that analyze, timeline, replay and batch agree. A
// stretch that the metrics prove but do not date is told as a breach of the threshold.
func TestStatusProven(t *testing.T) {
	for _, name := range sampleNames(t) {
		all := inputsOf(t, name)
		logs := slices.DeleteFunc(slices.Clone(all), func(f string) bool { return filepath.Base(f) != "kubelet.log" })
		rest := slices.DeleteFunc(slices.Clone(all), func(f string) bool { return filepath.Base(f) == "kubelet.log" })
		parts := map[string][]string{"all": all, "log": logs, "rest": rest, "late": append([]string{"--since", "-2m"}, all...), "early": append([]string{"--until", "3m"}, all...)}
		for _, f := range logs {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			lines := slices.DeleteFunc(strings.SplitAfter(string(text), "\n"), func(l string) bool { return !strings.Contains(l, "PLEG") })
			picked := filepath.Join(t.TempDir(), "picked.log")
			if err := os.WriteFile(picked, []byte(strings.Join(lines, "")), 0o600); err != nil {
				t.Fatal(err)
			}
			parts["picked lines"] = []string{picked}
		}
		for part, in := range parts {
			ask := func(command string) (doc, bool) {
				code, out, errs := status(t, append([]string{command, "--quiet", "-o", "json", "--tz", "UTC", "--year", "2026"}, in...)...)
				if code != exitOK && code != exitNothing {
					t.Fatalf("%s of %s, %s: exit %d: %s", command, name, part, code, errs)
				}
				if code != exitOK {
					return nil, false
				}
				return parsed(t, []byte(out)), true
			}
			if len(in) == 0 {
				continue
			}
			report, ok := ask("analyze")
			if !ok {
				continue
			}
			timeline, _ := ask("timeline")
			n := report.list("nodes")[0]
			dated := statedIll(timeline.list("nodes")[0]) || len(n.list("episodes")) > 0
			undated := slices.ContainsFunc(n.list("breaches"), func(b doc) bool { return b.text("rule") == "relist-threshold-exceeded" })
			if got := n.text("status") == "unhealthy"; got != (dated || undated) {
				t.Errorf("%s, %s: status %s, though an episode or unhealthy stretch is there: %v, %v: %s", name, part, n.text("status"), dated, undated, n.text("summary"))
			}
			if len(timeline.list("nodes")[0].list("episodes")) != len(n.list("episodes")) {
				t.Errorf("%s, %s: timeline has other episodes", name, part)
			}
			if strings.HasPrefix(in[0], "-") {
				continue // batch and replay tell of whole inputs
			}
			if fleet, ok := ask("batch"); ok && fleet.list("nodes")[0].text("status") != n.text("status") {
				t.Errorf("%s, %s: status %s, of batch %s", name, part, n.text("status"), fleet.list("nodes")[0].text("status"))
			}
			if part != "log" {
				continue
			}
			if run, ok := ask("replay"); ok && (statedIll(run) || len(run.list("episodes")) > 0) != dated {
				t.Errorf("%s, %s: unhealthy stretch or episode %v, replay tells otherwise", name, part, dated)
			}
		}
	}
}

// statedIll reports whether a history has an unhealthy stretch.
func statedIll(n doc) bool {
	return slices.ContainsFunc(n.list("health"), func(h doc) bool { return h.text("state") == "unhealthy" })
}
