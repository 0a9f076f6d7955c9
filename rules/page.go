package rules

import (
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
)

// Page is the runbook page of a cause or of a breach rule, as plain text for a
// terminal of the given width.
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

// IDs lists everything that has a page, causes and breach rules, sorted.
func (p *Pack) IDs() []string {
	out := p.CauseIDs()
	for i := range breachRules {
		out = append(out, breachRules[i].ID)
	}
	sort.Strings(out)
	return out
}

// CauseIDs are the ids of the causes and look-alikes, sorted.
func (p *Pack) CauseIDs() (out []string) {
	for _, d := range p.Causes {
		out = append(out, d.ID)
	}
	sort.Strings(out)
	return out
}

// Suggest returns the id that a writer of id most probably meant.
func (p *Pack) Suggest(id string) string { return nearest(id, p.IDs()) }

type pager struct {
	b     strings.Builder
	width int
}

func (w *pager) cause(d *Def, p *Pack) {
	w.title(d.ID, d.Title)
	w.para("", kindWords[d.Kind])
	w.section("Meaning", d.Mechanism)
	w.section("Impact", d.Impact)
	w.section("Affected relist phase", phaseWords(d))
	w.section("Affected", d.Affects.words())
	w.clauses("Evidence for", d.For)
	w.clauses("Evidence against", d.Against)
	w.neighbours(d, p)
	w.items("Diagnosis", d.Diagnosis)
	w.items("Remediation", plain(d.Remediation))
	w.asks(d.Missing)
	w.items("References", d.References)
	w.section("Grade", strings.TrimSpace(gradeWords[d.Grade]+" "+d.supportWords()))
}

func (w *pager) breach(r *BreachRule, p *Pack) {
	w.title(r.ID, r.Title)
	w.para("", "A threshold that the evidence crosses; severity "+string(r.Severity)+".")
	w.section("Meaning and impact", r.Doc)
	var items []string
	for _, l := range p.LimitsOf(r.ID) {
		items = append(items, l.words())
	}
	w.items("Thresholds", items)
	w.items("Remediation", r.Remediation)
	w.items("References", r.References)
}

// words are the name, value and source of a limit.
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
	if text == "" {
		return
	}
	w.heading(head)
	w.para("  ", text)
}

func (w *pager) items(head string, items []string) {
	if len(items) == 0 {
		return
	}
	w.heading(head)
	for _, it := range items {
		w.hang("  - ", it)
	}
}

func (w *pager) asks(ms []Missing) {
	if len(ms) == 0 {
		return
	}
	w.heading("What to collect next")
	for _, m := range ms {
		w.hang("  - ", m.Text)
		if m.Run != "" {
			w.b.WriteString("      " + m.Run + "\n")
		}
	}
}

func (w *pager) clauses(head string, cs []*Clause) {
	if len(cs) == 0 {
		return
	}
	w.heading(head)
	for _, c := range cs {
		w.hang("  - ", c.Word+": "+c.words()+" ["+c.target()+"]")
	}
}

func (w *pager) neighbours(d *Def, p *Pack) {
	var by []string
	for _, o := range p.Causes {
		if slices.Contains(o.Explains, d.ID) {
			by = append(by, o.ID)
		}
	}
	if len(by)+len(d.Explains) == 0 {
		return
	}
	w.heading("Related causes")
	if len(d.Explains) > 0 {
		w.hang("  - ", "explains and outranks: "+strings.Join(d.Explains, ", "))
	}
	if len(by) > 0 {
		w.hang("  - ", "may itself be explained by: "+strings.Join(by, ", "))
	}
}

// para writes text wrapped to the width.
func (w *pager) para(indent, text string) { w.wrap(indent, indent, text) }

// hang writes an item whose further lines stand under its first word.
func (w *pager) hang(bullet, text string) {
	w.wrap(bullet, strings.Repeat(" ", len(bullet)), text)
}

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

// plain are the sentences as a page has them: without the values that only a case
// has, and without those that stand in for another.
func plain(sentences []string) (out []string) {
	for _, s := range sentences {
		if !strings.HasPrefix(s, orElse) {
			out = append(out, placeholder().ReplaceAllString(s, "…"))
		}
	}
	return out
}

// words is the clause's sentence without the values that only a case has.
func (c *Clause) words() string { return placeholder().ReplaceAllString(c.Say, "…") }

// target names what the clause looks at.
func (c *Clause) target() string {
	out := ""
	switch {
	case c.Cond != "":
		out = "condition " + c.Cond
		keys := make([]string, 0, len(c.Args))
		for k := range c.Args {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		for _, k := range keys {
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
		out += sprintf(" %s %g", c.Num.Op, c.Num.V)
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
	var out []string
	if a.Text != "" {
		out = append(out, a.Text)
	}
	if a.Kubelet != "" {
		out = append(out, "Kubelet "+a.Kubelet+".")
	}
	if a.Kernel != "" {
		out = append(out, "Kernel "+a.Kernel+".")
	}
	if len(a.Runtimes) > 0 {
		out = append(out, "Runtime: "+strings.Join(a.Runtimes, ", ")+".")
	}
	if a.OS != "" {
		out = append(out, "Nodes: "+a.OS+".")
	}
	return strings.Join(out, " ")
}

var kindWords = map[Kind]string{
	KindLookAlike: "A look-alike: it resembles PLEG trouble but is not.",
	KindSymptom:   "A symptom: it says what failed, not why. A mechanism that explains it outranks it.",
	KindMechanism: "A mechanism: it says why something failed, and is likely only with its own evidence besides what failed.",
}

// supportWords says how many public cases stand behind a definition, and what
// follows if they are too few.
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
