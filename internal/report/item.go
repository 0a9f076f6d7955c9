package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/internal/report/timeline"
	"github.com/plegforensics/plegforensics/rules"
)

// Item is a finding for CI systems, of a report or of a fleet: a breach, a cause, or something that
// nodes share.
type Item struct {
	Node        string // "" if it concerns no single node
	Rule        string // ID of a rule or cause, or the kind of what nodes share
	Subject     string // what the rule was applied to, "" if that is the node
	Title       string
	Severity    rules.Severity
	Start       model.Time
	Seconds     float64 // duration, 0 if unknown
	Message     string
	Fingerprint string
	Times       int // number of occurrences; 0 means 1
	Proof       model.Proof
	Episodes    []int    // IDs of the episodes that it describes or explains
	Level       string   // of a cause, else ""
	Confidence  *float64 // of a cause, else nil
	Do          []string
	References  []string
	// Flows returns the course of events in at most room steps; nil if there is none.
	Flows func(room int) []Flow
}

// Flow is a sequence of steps, oldest first.
type Flow struct {
	Title string
	Steps []Step
}

// Step is one moment of a Flow.
type Step struct {
	At    model.Time
	What  string
	Proof model.Proof
}

// Fingerprint identifies a finding across runs of the tool: the same rule on the same node and
// subject at the same time has the same one, whatever the bundle is called and whatever else was
// found.
func Fingerprint(node, rule, subject string, start int64) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{node, rule, subject, strconv.FormatInt(start, 10)}, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// SortItems sorts by severity, most severe first, then by node, time, rule and subject: a format
// with a limit keeps the front of the list.
func SortItems(items []Item) {
	slices.SortStableFunc(items, func(a, b Item) int {
		return cmp.Or(b.Severity.Rank()-a.Severity.Rank(), strings.Compare(a.Node, b.Node), cmp.Compare(a.Start, b.Start),
			strings.Compare(a.Rule, b.Rule), strings.Compare(a.Subject, b.Subject))
	})
}

// told returns the message, with the number of occurrences if there are several.
func (x *Item) told() string {
	if x.Times > 1 {
		return fmt.Sprintf("%s (the worst or first of %d)", x.Message, x.Times)
	}
	return x.Message
}

// proof quotes up to most pieces of evidence.
func (x *Item) proof(most int) string {
	var b strings.Builder
	for _, e := range x.Proof.First(most) {
		b.WriteString(e.Where())
		if e.Note != "" {
			b.WriteString(" (" + e.Note + ")")
		}
		b.WriteString("\n  " + e.Text + "\n")
	}
	if more := x.Proof.Len() - most; more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	return b.String()
}

// items returns the breaches and causes of a report, most severe first.
func items(r *model.Report) []Item {
	var out []Item
	for _, n := range r.Nodes {
		out = append(out, nodeItems(n)...)
	}
	SortItems(out)
	return out
}

// Open says which rules the input cannot decide for a node, one sentence a reason.
func Open(node string, undecided []model.Undecided) (out []string) {
	for i, u := range undecided {
		if slices.ContainsFunc(undecided[:i], func(x model.Undecided) bool { return x.Reason == u.Reason }) {
			continue
		}
		var ids []string
		for _, x := range undecided[i:] {
			if x.Reason == u.Reason {
				ids = append(ids, x.Rule)
			}
		}
		out = append(out, orNode(node)+": not decided: "+strings.Join(ids, ", ")+": "+u.Reason)
	}
	return out
}

// OpenHealth returns an item that says that it is not decided whether PLEG was unhealthy, nil if it is.
func OpenHealth(node string, undecided []model.Undecided) *Item {
	i := slices.IndexFunc(undecided, func(u model.Undecided) bool { return u.Rule == "relist-threshold-exceeded" })
	if i < 0 {
		return nil
	}
	return &Item{Node: node, Rule: undecided[i].Rule, Severity: rules.Info, Message: "not decided: " + undecided[i].Reason}
}

// nodeItems returns the breaches and causes of one node. Causes of a healthy node are omitted: a CI
// system would show them as issues though there is nothing to explain.
func nodeItems(n *model.Node) []Item {
	var out []Item
	for i := range n.Breaches {
		out = append(out, breachItem(n, &n.Breaches[i]))
	}
	for i := range n.Causes {
		if n.Status != "healthy" {
			out = append(out, causeItem(n, &n.Causes[i]))
		}
	}
	if k := &n.Kubelet; k.Rules != "" {
		out = append(out, RulesItem(orNode(n.Name), k.Note(), k.Evidence))
	}
	for i := range out {
		x := &out[i]
		x.Node, x.Fingerprint = n.Name, Fingerprint(n.Name, x.Rule, x.Subject, int64(x.Start))
		x.Flows = func(room int) []Flow { return flows(n, x.Episodes, room) }
	}
	return out
}

func breachItem(n *model.Node, b *model.Breach) Item {
	x := Item{Rule: b.Rule, Subject: b.Subject, Title: b.Title(), Severity: rules.Severity(b.Severity), Start: b.Start, Proof: b.Evidence}
	x.Message = orNode(n.Name) + ": " + x.Title
	if m := measured(b); m != "" {
		x.Message += ": " + m
	}
	if b.Start != 0 {
		x.Message += ", from " + Date(int64(b.Start)) + " UTC" + about(b.Start, &b.StartSlack, time.Second)
	}
	if b.End != 0 {
		x.Message += " to " + untilWords(b.Start, b.End) + about(b.End, &b.EndSlack, time.Second)
	}
	if b.Start != 0 && b.End > b.Start {
		x.Seconds = model.Seconds(b.End.Sub(b.Start))
	}
	for i := range n.Episodes {
		if e := &n.Episodes[i]; e.Breach == b.Start {
			x.Episodes = append(x.Episodes, e.ID)
		}
	}
	return x
}

// levels are the names of a severity in different CI systems.
type levels struct{ sarif, github, gitlab string }

func levelsOf(s rules.Severity) levels {
	byRank := []levels{{"note", "notice", "info"}, {"warning", "warning", "major"}, {"error", "error", "critical"}}
	return byRank[max(s.Rank()-1, 0)]
}

// causeItem converts a cause; its severity depends on its confidence level.
func causeItem(n *model.Node, c *model.Cause) Item {
	x := Item{Rule: c.ID, Title: c.Title, Severity: CauseSeverity(c.Level), Proof: c.For, Episodes: c.Episodes, Level: c.Level, Confidence: &c.Confidence,
		Do: c.Remediation, References: c.References}
	for i := range n.Episodes {
		if e := &n.Episodes[i]; x.Start == 0 && slices.Contains(c.Episodes, e.ID) {
			x.Start = e.Breach
		}
	}
	x.Message = CauseMessage(orNode(n.Name), c.Title, c.Level, c.Confidence)
	if c.Explanation != "" {
		x.Message += ": " + c.Explanation
	}
	return x
}

// RulesItem says which version's rules were applied to the kubelet of a node, because its own
// version is newer or older than any known.
func RulesItem(node, note string, proof model.Proof) Item {
	return Item{Rule: "kubelet-version-unknown", Title: "The version of the kubelet is newer or older than any known", Severity: rules.Info,
		Message: node + ": " + note, Proof: proof}
}

// CauseMessage names the cause on a node and its confidence.
func CauseMessage(node, title, level string, confidence float64) string {
	return fmt.Sprintf("%s: %s (%s, confidence %.2f)", node, title, level, confidence)
}

// CauseSeverity returns the severity of a cause of a level: a possible one is Info, any other is a
// Warning.
func CauseSeverity(level string) rules.Severity {
	if level == string(rules.Possible) {
		return rules.Info
	}
	return rules.Warning
}

// flows describes the episodes with the given IDs, in at most room steps altogether: the key
// moments and relists of each, oldest first.
func flows(n *model.Node, ids []int, room int) []Flow {
	var out []Flow
	for i := range n.Episodes {
		e := &n.Episodes[i]
		if !slices.Contains(ids, e.ID) {
			continue
		}
		from, to := cmp.Or(e.LastRelistStart, e.FirstReport), cmp.Or(e.Recovered, n.LatestEnd(i), max(n.Window.End, e.LastReport))
		steps := slices.DeleteFunc(moments(n, true), func(s Step) bool { return s.At < from || s.At > to })
		if len(steps) > room { // the ends say more than the middle
			steps = slices.Delete(steps, room-room/2, len(steps)-room/2)
		}
		if len(steps) > 0 {
			room -= len(steps)
			out = append(out, Flow{fmt.Sprintf("timeline of episode %d on %s", e.ID, orNode(n.Name)), steps})
		}
	}
	return out
}

// moments returns the turning points of a node, oldest first, as in the timeline of a post-mortem;
// with its relists if relists is set.
func moments(n *model.Node, relists bool) []Step {
	var out []Step
	add := func(at model.Time, what string, proof model.Proof) {
		if at != 0 {
			out = append(out, Step{at, strings.TrimSpace(what), proof})
		}
	}
	for i := range n.Episodes {
		e := &n.Episodes[i]
		add(e.LastRelistStart, fmt.Sprintf("last relist to list pods before episode %d begins%s", e.ID, about(e.LastRelistStart, e.Uncertainty, time.Millisecond)), e.Evidence)
		add(e.Breach, fmt.Sprintf("PLEG becomes unhealthy%s: episode %d", atLatest(e), e.ID), model.Proof{})
		add(e.FirstReport, fmt.Sprintf("first line that reports episode %d", e.ID), model.Proof{})
		add(e.Recovered, fmt.Sprintf("PLEG healthy again: %s", e.RecoveredBasis), model.Proof{})
	}
	n.History.Failed.Each(func(f model.FailedCall) {
		if f.Scope == "all" || f.Code == "DeadlineExceeded" {
			add(f.End, fmt.Sprintf("%s fails: %s %s", f.Call, f.Code, f.Pod), f.Evidence)
		}
	})
	for _, m := range timeline.Collect(timeline.Readies, n) {
		add(m.Start, map[string]string{"true": "node Ready", "false": "node NotReady"}[m.State], m.Proof)
	}
	for i := range n.History.Runs {
		r := &n.History.Runs[i]
		add(r.Start, fmt.Sprintf("kubelet starts, pid %d", r.PID), r.Evidence)
	}
	for _, m := range timeline.Collect(timeline.Relists, n) {
		if relists && m.Kind == timeline.Relist {
			add(m.Start, "relist starts"+about(m.Start, m.StartSlack, time.Millisecond)+": "+m.State+", length "+m.Length, m.Proof)
		}
	}
	slices.SortStableFunc(out, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	return out
}
