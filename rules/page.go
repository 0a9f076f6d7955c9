package rules

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
)

// Page returns the runbook page of a cause, a breach rule or a threshold as plain text
// wrapped to width (at least 40) columns, and reports whether the ID exists.
func (p *Pack) Page(id string, width int) (string, bool) {
	w := &pager{width: max(width, 40)}
	if d := p.Cause(id); d != nil {
		w.cause(d, p)
		return w.b.String(), true
	}
	rule, _, _ := strings.Cut(id, ".")
	if r := LookupBreach(rule); r != nil && (rule == id || slices.Contains(LimitNames(), id)) {
		w.breach(r, p)
		return w.b.String(), true
	}
	return "", false
}

// IDs returns the sorted IDs of all causes and breach rules.
func (p *Pack) IDs() []string {
	out := p.CauseIDs()
	for i := range breachRules {
		out = append(out, breachRules[i].ID)
	}
	sort.Strings(out)
	return out
}

// CauseIDs returns the sorted IDs of the causes and look-alikes.
func (p *Pack) CauseIDs() (out []string) {
	out = namesOf(p.Causes, func(d *Def) string { return d.ID })
	sort.Strings(out)
	return out
}

type pager struct {
	b     strings.Builder
	width int
}

func (w *pager) cause(d *Def, p *Pack) {
	w.title(d.ID, d.Title)
	w.wrap("", "", kindWords[d.Kind])
	w.section("Meaning", d.Mechanism)
	w.section("Impact", d.Impact)
	w.section("Affected relist phase", phaseWords(d))
	w.section("Affected", d.Affects.words())
	w.items("Evidence for", clauseWords(d.For))
	w.items("Evidence against", clauseWords(d.Against))
	w.items("Related causes", neighbours(d, p))
	w.items("Diagnosis", d.Diagnosis)
	w.items("Remediation", plain(d.Remediation))
	w.asks(d.Missing)
	w.items("References", d.References)
	w.section("Grade", strings.TrimSpace(gradeWords[d.Grade]+" "+d.supportWords()))
}

func (w *pager) breach(r *BreachRule, p *Pack) {
	w.title(r.ID, r.Title)
	w.wrap("", "", "A threshold that the evidence crosses; severity "+string(r.Severity)+".")
	w.section("Meaning and impact", r.Doc)
	var items []string
	for _, l := range p.LimitsOf(r.ID) {
		items = append(items, l.words())
	}
	w.items("Thresholds", items)
	w.items("Remediation", r.Remediation)
	w.items("References", r.References)
}

// words returns the name, value and source of a limit.
func (l *Limit) words() string {
	s := l.Name + " = " + l.String()
	if l.Set != "" {
		s += " (set by " + l.Set + "; default " + l.Default() + ")"
	}
	return s + ". " + l.Source
}

func (w *pager) title(id, title string) {
	w.b.WriteString(id + ": " + title + "\n" + strings.Repeat("=", min(len(id)+2+len(title), w.width)) + "\n")
}

func (w *pager) heading(s string) { w.b.WriteString("\n" + s + "\n") }

func (w *pager) section(head, text string) {
	if text != "" {
		w.heading(head)
		w.wrap("  ", "  ", text)
	}
}

func (w *pager) items(head string, items []string) {
	if len(items) > 0 {
		w.heading(head)
	}
	for _, it := range items {
		w.wrap("  - ", "    ", it)
	}
}

func (w *pager) asks(ms []Missing) {
	if len(ms) > 0 {
		w.heading("What to collect next")
	}
	for _, m := range ms {
		if w.wrap("  - ", "    ", m.Text); m.Run != "" {
			w.b.WriteString("      " + m.Run + "\n")
		}
	}
}

func clauseWords(cs []*Clause) (out []string) {
	for _, c := range cs {
		out = append(out, c.Word+": "+placeholder().ReplaceAllString(c.Say, "…")+" ["+c.target()+"]")
	}
	return out
}

func neighbours(d *Def, p *Pack) (out []string) {
	var by []string
	for _, o := range p.Causes {
		if slices.Contains(o.Explains, d.ID) {
			by = append(by, o.ID)
		}
	}
	if len(d.Explains) > 0 {
		out = append(out, "explains and outranks: "+strings.Join(d.Explains, ", "))
	}
	if len(by) > 0 {
		out = append(out, "may itself be explained by: "+strings.Join(by, ", "))
	}
	return out
}

// wrap writes text wrapped to the width, prefixing its first line with first and the others
// with rest.
func (w *pager) wrap(first, rest, text string) {
	line, lead := "", first
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case len([]rune(lead))+len([]rune(line))+1+len([]rune(word)) <= w.width:
			line += " " + word
		default:
			w.b.WriteString(lead + line + "\n")
			line, lead = word, rest
		}
	}
	w.b.WriteString(lead + line + "\n")
}

var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{\w+\}`) })

// plain returns the sentences for a page: values known only for a case are elided,
// alternative sentences are omitted.
func plain(sentences []string) (out []string) {
	for _, s := range sentences {
		if !strings.HasPrefix(s, orElse) {
			out = append(out, placeholder().ReplaceAllString(s, "…"))
		}
	}
	return out
}

// target describes what the clause evaluates.
func (c *Clause) target() string {
	out := ""
	switch {
	case c.Cond != "":
		out = "condition " + c.Cond
		for _, k := range slices.Sorted(maps.Keys(c.Args)) {
			out += " " + k + "=" + c.Args[k]
		}
	case c.Fact != "":
		out = "fact " + c.Fact
	case c.Metric != "":
		out = c.Reduce + " of metric " + c.Metric
	default:
		out = "signature " + strings.Join(c.Sigs, " or ")
	}
	if c.Num != nil {
		out += fmt.Sprintf(" %s %g", c.Num.Op, c.Num.V)
	}
	if c.Absent {
		out += ", absent"
	}
	return strings.TrimSpace(out)
}

func phaseWords(d *Def) string {
	if d.Kind == KindLookAlike {
		return ""
	}
	if len(d.Phase) == 0 {
		return "Outside the relist: PLEG stays healthy."
	}
	names := map[string]string{"list": "while listing pods", "inspect": "while inspecting changed pods", "deliver": "while delivering events"}
	var out []string
	for _, p := range d.Phase {
		out = append(out, names[p])
	}
	return "The relist gets stuck " + strings.Join(out, " or ") + "."
}

func (a Affects) words() string {
	out := a.Text
	for _, x := range [...]struct{ what, is string }{{"Kubelet ", a.Kubelet}, {"Kernel ", a.Kernel}, {"Runtime: ", strings.Join(a.Runtimes, ", ")}, {"Nodes: ", a.OS}} {
		if x.is != "" {
			out += " " + x.what + x.is + "."
		}
	}
	return strings.TrimSpace(out)
}

var kindWords = map[Kind]string{
	KindLookAlike: "A look-alike: it resembles PLEG trouble but is not.",
	KindSymptom:   "A symptom: it says what failed, not why. A mechanism that explains it outranks it.",
	KindMechanism: "A mechanism: it says why something failed, and is likely only with its own evidence besides what failed.",
}

// supportWords says what follows for a mechanism that too few public cases support.
func (d *Def) supportWords() string {
	if d.Kind != KindMechanism || d.Supported() {
		return ""
	}
	return "Fewer than two independent public incidents and no source support it, so without a self-explaining line it is never more than possible."
}

var gradeWords = map[string]string{
	"A": "A: seen in public cases with evidence, and the cause was agreed or fixed.",
	"B": "B: stated by maintainers, by a fix, or by the source code.",
	"C": "C: stated by single reporters or a vendor.",
	"D": "D: plausible from the source; no public PLEG case is known.",
}
