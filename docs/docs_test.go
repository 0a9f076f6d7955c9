package docs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/pleg"
)

const screen = 40

// claim is how a paragraph ends: the versions for which it holds, and its sources.
var claim = regexp.MustCompile(`\[(≥ 1\.\d+|≤ 1\.\d+|1\.\d+(–1\.\d+)?);\s[^\[\]]*[\w.)#/][^\[\]]*\]$`)

// TestTopics: every section of the page is a topic, one screen of it, and each claim
// has a range of versions and a source.
func TestTopics(t *testing.T) {
	if got, want := strings.Count(howPLEGWorks, "\n## "), len(topics); got != want {
		t.Errorf("%d sections, %d topics", got, want)
	}
	for i := range topics {
		x := &topics[i]
		for _, columns := range []int{80, 100} {
			for _, version := range []string{"", "v1.11.0", "v1.25.0", "v1.31.0", "v1.32.0", "v1.36.0", "v1.37.0", "v1.99.0"} {
				lines := strings.Split(strings.TrimSuffix(x.Text(version, columns), "\n"), "\n")
				if len(lines) > screen {
					t.Errorf("%s of %q: %d lines", x.Name, version, len(lines))
				}
				for _, line := range lines {
					if strings.HasSuffix(line, "≥") || strings.HasSuffix(line, "≤") {
						t.Errorf("%s: a bound is torn: %s", x.Name, line)
					}
					if n := len([]rune(line)); n > columns {
						t.Errorf("%s of %q: %d columns: %s", x.Name, version, n, line)
					}
				}
			}
		}
		_, after, ok := strings.Cut(howPLEGWorks, "\n## "+x.Heading+"\n")
		if !ok {
			t.Errorf("no section %q", x.Heading)
		}
		section, _, _ := strings.Cut(after, "\n## ")
		n := 0
		for _, p := range strings.Split(strings.TrimSpace(section), "\n\n") {
			if strings.HasPrefix(p, "```") {
				continue
			}
			if n++; !claim.MatchString(strings.ReplaceAll(p, "\n", " ")) {
				t.Errorf("%s: a claim without versions and source: %.80s", x.Name, p)
			}
		}
		if n == 0 {
			t.Errorf("%s: nothing said", x.Name)
		}
	}
}

// TestTransitionTable: the table of the page is the one of the reference PLEG.
func TestTransitionTable(t *testing.T) {
	states := []pleg.State{pleg.NonExistent, pleg.Running, pleg.Exited, pleg.Unknown}
	for _, old := range states {
		line := fmt.Sprintf("%-14s", old)
		for i, cur := range states {
			var names []string
			for _, e := range pleg.Transition(old, cur) {
				names = append(names, strings.TrimPrefix(string(e), "Container"))
			}
			if names == nil {
				names = []string{"-"}
			}
			line += fmt.Sprintf("%-*s", []int{15, 9, 8, 0}[i], strings.Join(names, ", "))
		}
		if !strings.Contains(howPLEGWorks, "\n"+strings.TrimRight(line, " ")+"\n") {
			t.Errorf("the page has no line\n%s", line)
		}
	}
}

// TestEverySwitchHasATopic: what differs between versions can be read up.
func TestEverySwitchHasATopic(t *testing.T) {
	for _, r := range pleg.Rules() {
		if !slices.ContainsFunc(topics, func(x Topic) bool { return slices.Contains(x.Switches, r.Switch) }) {
			t.Errorf("%s stands in no topic", r.Switch)
		}
	}
}

// TestTextOfVersion: a topic asked for of one version tells of that version only.
func TestTextOfVersion(t *testing.T) {
	for _, c := range []struct{ topic, version, has, lacks string }{
		{"evented", "v1.37.0", "only asks for pod relists", "writes the cache and sends"},
		{"evented", "v1.28.0", "writes the cache and sends", "the stream is a hint"},
		{"evented", "v1.20.0", "has nothing of this", "KEP-3386"},
		{"events", "v1.13.0", "old \\ new", "nothing of this"},
		{"events", "v1.31.0", "old \\ new", "ConditionMet"},
		{"events", "v1.32.0", "ConditionMet", "PodSync"},
		{"events", "v1.36.0", "PodSync", "ConditionMet"},
		{"relist", "v1.31.0", "inspects it twice", "it takes two"},
		{"relist", "v1.32.0", "it takes two", "inspects it twice"},
		{"update-cache", "v1.31.0", "a second time in it", "inspected again, once"},
		{"update-cache", "v1.32.0", "inspected again, once", "a second time in it"},
		{"healthy", "v1.11.0", "2562047h47m16.854775807s", "yet to be successful"},
		{"healthy", "v1.13.0", "yet to be successful", "2562047h47m"},
		{"on-demand-relist", "v1.35.0", "has nothing of this", "SyncPod"},
		{"on-demand-relist", "v1.36.0", "After SyncPod", "cannot be switched off:"},
		{"channel", "v1.13.5", "waits for a place", "is dropped"},
		{"channel", "v1.31.0", "is dropped", "waits for a place"},
		{"events", "v1.99.0", "newest known rules (v1.37) used", "watch conditions"},
		{"healthy", "v1.28.0", "last seen active", "nothing of this"},
	} {
		text := strings.Join(strings.Fields(Find(c.topic).Text(c.version, 80)), " ")
		if !strings.Contains(text, c.has) || strings.Contains(text, c.lacks) {
			t.Errorf("%s of %s:\n%s", c.topic, c.version, text)
		}
	}
}

func TestFind(t *testing.T) {
	for name, want := range map[string]string{
		"generateEvents": "events", "generateevents()": "events", "ContainerDied": "events", "relist": "relist", "Healthy()": "healthy",
		"updateCache": "update-cache", "last-seen": "healthy", "PLEG": "pleg", "EventedPLEG": "evented", "PLEGOnDemandRelist": "on-demand-relist",
		"kubelet_pleg_relist_latency_microseconds": "metrics", "ReadyCondition": "ready-condition",
	} {
		if x := Find(name); x == nil || x.Name != want {
			t.Errorf("%s: %v", name, x)
		}
	}
	seen := map[string]bool{}
	for _, x := range topics {
		for _, n := range append([]string{x.Name}, x.Aliases...) {
			if seen[strings.ToLower(n)] {
				t.Errorf("%s names two topics", n)
			}
			seen[strings.ToLower(n)] = true
		}
		for _, n := range x.Topics {
			if y := Find(n); y == nil || y.Name != n || n == x.Name {
				t.Errorf("%s leads to %s", x.Name, n)
			}
		}
	}
	if Find("nosuch") != nil {
		t.Error("nosuch")
	}
}
