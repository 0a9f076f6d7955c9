// Package docs holds the page that the program prints itself: topics of how PLEG
// works, for "explain TOPIC". The page is the only place where their text stands;
// what differs between kubelet versions comes from the table of package pleg.
package docs

import (
	_ "embed"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/plegforensics/plegforensics/pleg"
)

//go:embed how-pleg-works.md
var howPLEGWorks string

// Topic is a section that can be asked for.
type Topic struct {
	Name, Heading string
	Aliases       []string      // names of code, events, gates and metrics that it is about
	Causes, Rules []string      // of which pages it is the background
	Topics        []string      // that it leads to
	Switches      []pleg.Switch // in which versions differ here
}

// topics are in the order of the page.
var topics = []Topic{
	{Name: "pleg", Heading: "What PLEG is", Topics: []string{"relist", "events", "healthy"}},
	{Name: "relist", Heading: "What a relist is", Aliases: []string{"GetPods", "GenericPLEG", "relisting"},
		Causes:   []string{"runtime-hang-global", "runtime-hang-single-container", "many-changes-serial-update", "pod-density"},
		Rules:    []string{"slow-relist", "relist-list-failed", "relist-interval-long"},
		Topics:   []string{"update-cache", "step"},
		Switches: []pleg.Switch{pleg.InspectTwice, pleg.InspectRelists, pleg.NotFoundSkipped}},
	{Name: "events", Heading: "Which events a change makes",
		Aliases: []string{"generateEvents", "ContainerStarted", "ContainerDied", "ContainerRemoved", "ContainerChanged", "PodSync", "ConditionMet", "PodLifecycleEvent"},
		Causes:  []string{"missed-short-lived-container", "lost-exit-event", "runtime-state-desync"}, Topics: []string{"audit", "channel"},
		Switches: []pleg.Switch{pleg.ExitCodeLine, pleg.WatchConditions, pleg.ReinspectRequests}},
	{Name: "update-cache", Heading: "What an inspection does: updateCache", Aliases: []string{"updateCache", "inspect", "inspection", "GetPodStatus", "podsToReinspect", "GetNewerThan"},
		Causes: []string{"runtime-hang-single-container", "many-changes-serial-update", "sandbox-teardown-stuck"},
		Topics: []string{"relist", "on-demand-relist"}, Switches: []pleg.Switch{pleg.InspectTwice, pleg.InspectRelists, pleg.NotFoundSkipped, pleg.RocketClause, pleg.ReinspectRequests}},
	{Name: "channel", Heading: "The event channel and its discards", Aliases: []string{"eventChannel", "discards", "kubelet_pleg_discard_events"},
		Causes: []string{"event-channel-full-discard", "relist-deadlock-channel-full"}, Rules: []string{"pleg-events-discarded"},
		Topics: []string{"events", "healthy"}, Switches: []pleg.Switch{pleg.BlockingSend, pleg.Discards}},
	{Name: "healthy", Heading: "What the health check says: Healthy()", Aliases: []string{"health-check", "health", "last-seen", "skipping pod synchronization"},
		Causes: []string{"startup-transient", "no-pleg-problem"}, Rules: []string{"relist-threshold-exceeded", "relist-never-succeeded", "sync-loop-stalled"},
		Topics: []string{"ready-condition", "proof"}, Switches: []pleg.Switch{pleg.NeverText, pleg.LastSeenMetric}},
	{Name: "ready-condition", Heading: "From PLEG to the node's Ready condition", Aliases: []string{"ReadyCondition", "NotReady", "NodeNotReady", "KubeletNotReady"},
		Causes: []string{"kubelet-stopped-posting", "network-not-ready", "node-shutdown", "runtime-status-only"}, Rules: []string{"node-not-ready"}, Topics: []string{"healthy"}},
	{Name: "evented", Heading: "What evented PLEG changes", Aliases: []string{"EventedPLEG", "evented-pleg", "GetContainerEvents"},
		Causes: []string{"evented-pleg-fallback", "evented-pleg-defect"}, Topics: []string{"on-demand-relist", "healthy"},
		Switches: []pleg.Switch{pleg.EventedAvailable, pleg.EventedSends, pleg.EventedHints}},
	{Name: "on-demand-relist", Heading: "What on-demand relists are", Aliases: []string{"PLEGOnDemandRelist", "pod-relist", "RequestRelist"},
		Topics: []string{"relist", "evented"}, Switches: []pleg.Switch{pleg.OnDemandRelist, pleg.OnDemandLocked, pleg.ReinspectRequests}},
	{Name: "metrics", Heading: "Which metrics tell of PLEG",
		Aliases: []string{"kubelet_pleg_relist_latency_microseconds", "kubelet_pleg_relist_interval_microseconds", "kubelet_pleg_relist_duration_seconds",
			"kubelet_pleg_relist_interval_seconds", "kubelet_pleg_last_seen_seconds", "kubelet_pleg_pod_relist_duration_seconds", "summaries"},
		Rules: []string{"slow-relist", "runtime-operation-slow", "metrics-gap"}, Topics: []string{"proof"},
		Switches: []pleg.Switch{pleg.Discards, pleg.RelistGauges, pleg.LastSeenMetric, pleg.RunningSandboxes, pleg.OnDemandRelist}},
	{Name: "step", Heading: "Which step a relist hangs in", Causes: []string{"runtime-hang-global", "runtime-hang-single-container", "relist-deadlock-channel-full"}, Topics: []string{"relist"}},
	{Name: "proof", Heading: "What proves that PLEG was healthy", Topics: []string{"times", "confidence"}},
	{Name: "times", Heading: "How times are reconstructed", Causes: []string{"clock-jump"}},
	{Name: "audit", Heading: "How events are audited", Topics: []string{"events"}},
	{Name: "confidence", Heading: "How to read confidence"},
}

// Topics are all of them.
func Topics() []Topic { return slices.Clone(topics) }

// Find is the topic of a name or alias, in whatever case, nil for none.
func Find(name string) *Topic {
	name = strings.TrimSuffix(name, "()")
	for i := range topics {
		t := &topics[i]
		if strings.EqualFold(t.Name, name) || slices.ContainsFunc(t.Aliases, func(a string) bool { return strings.EqualFold(a, name) }) {
			return t
		}
	}
	return nil
}

// About names the topics that are the background of a cause or breach rule.
func About(id string) []string {
	var out []string
	for _, t := range topics {
		if slices.Contains(t.Causes, id) || slices.Contains(t.Rules, id) {
			out = append(out, t.Name)
		}
	}
	return out
}

// Text is the topic as one screen of so many columns, 76 or more: its section of the
// page, what differs between versions, and where to go on. A version, "" for none,
// keeps the differences to those that it has.
func (t *Topic) Text(version string, width int) string {
	_, after, _ := strings.Cut(howPLEGWorks, "\n## "+t.Heading+"\n")
	text, _, _ := strings.Cut(after, "\n## ")
	var b strings.Builder
	b.WriteString(t.Heading + "\n")
	told := false
	for _, p := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if concerns(p, version) {
			told = true
			table, is := strings.CutPrefix(p, "```\n")
			if is {
				p = strings.TrimSuffix(table, "\n```") + "\n"
			} else {
				p = flow("", strings.ReplaceAll(p, "*", ""), width)
			}
			b.WriteString("\n" + p)
		}
	}
	if !told {
		return t.Heading + "\n\nKubelet " + version + " has nothing of this.\n" + t.links(width)
	}
	b.WriteString(t.versions(version, width))
	b.WriteString(t.links(width))
	return b.String()
}

// flow fills lines of a width with the words of a text after head; the lines after the
// first are indented by as much as head is wide.
func flow(head, text string, width int) string {
	indent := strings.Repeat(" ", utf8.RuneCountInString(head))
	var b strings.Builder
	line := head
	for _, w := range strings.Fields(together.ReplaceAllString(text, "$1\x00$2")) {
		sep := ""
		if line != head && line != indent {
			sep = " "
		}
		if sep != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(w) > width {
			b.WriteString(line + "\n")
			line, sep = indent, ""
		}
		line += sep + w
	}
	return strings.ReplaceAll(b.String()+line, "\x00", " ") + "\n"
}

// together are words between which no line ends: a bound and a number with its unit.
var together = regexp.MustCompile(`([≥≤]|\b\d+)\s+(\d|[smT]\b|%)`)

// claimed is the range of versions in the brackets that end a paragraph.
var claimed = regexp.MustCompile(`\[(≥ |≤ )?1\.(\d+)(?:–1\.(\d+))?;[^\[\]]*\]$`)

// concerns reports whether a paragraph holds for a version: always for none, and
// where it states no range.
func concerns(paragraph, version string) bool {
	m := claimed.FindStringSubmatch(paragraph)
	p, err := pleg.New(version)
	if m == nil || version == "" || err != nil {
		return true
	}
	lo, _ := strconv.Atoi(m[2])
	hi := lo
	switch {
	case m[1] == "≥ ":
		hi = math.MaxInt
	case m[1] == "≤ ":
		lo = 0
	case m[3] != "":
		hi, _ = strconv.Atoi(m[3])
	}
	return lo <= p.Minor && p.Minor <= hi
}

// versions are the lines of the table of rules that belong to the topic.
func (t *Topic) versions(version string, width int) string {
	var b strings.Builder
	p, err := pleg.New(version)
	known := version != "" && err == nil
	for _, r := range pleg.Rules() {
		if !slices.Contains(t.Switches, r.Switch) || known && !p.Has(r.Switch) {
			continue
		}
		b.WriteString(flow(fmt.Sprintf("  %-9s  ", r.Range()), string(r.Switch)+": "+r.Source, width))
		if r.Doubt != "" {
			b.WriteString(flow(fmt.Sprintf("  %-9s  ", ""), "not verified: "+r.Doubt, width))
		}
	}
	switch {
	case known && p.Beyond() != "":
		return "\nKubelet " + version + " (" + p.Beyond() + ")\n" + b.String()
	case known && b.Len() > 0:
		return "\nKubelet " + version + "\n" + b.String()
	case b.Len() == 0:
		return ""
	}
	return "\nBy version\n" + b.String()
}

func (t *Topic) links(width int) string {
	var b strings.Builder
	for _, l := range []struct {
		what string
		ids  []string
	}{{"Causes", t.Causes}, {"Rules", t.Rules}, {"Topics", t.Topics}} {
		if len(l.ids) > 0 {
			b.WriteString(flow(fmt.Sprintf("%-8s", l.what+":"), strings.Join(l.ids, ", "), width))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n" + b.String()
}
