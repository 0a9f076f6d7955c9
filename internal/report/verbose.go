package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/rules"
)

// writeVerbose writes everything: verdict, episodes, causes with all evidence, then the numbers,
// then the text for the ticket.
func writeVerbose(w io.Writer, r *model.Report, opt Options) error {
	p := newPrinter(w, opt)
	p.inputs(r)
	for _, n := range r.Nodes {
		p.node(n)
	}
	p.section(across(r))
	p.section(alertsTold(r, true))
	p.heading("For the ticket")
	if err := writeTicket(p, r, opt); err != nil {
		return err
	}
	p.section(problems(r, len(r.Warnings)))
	return p.Flush()
}

func (p *printer) inputs(r *model.Report) {
	s := Section{Columns: []string{"input", "kind", "size", "files used"}}
	for _, in := range r.Inputs {
		s.Row(in.Path, in.Kind, Bytes(in.Bytes), fmt.Sprintf("%d of %d%s", in.FilesUsed, in.Files, map[bool]string{true: ", partially read: see Input problems"}[in.Partial && in.FilesUsed > 0]))
	}
	p.render(&s)
}

func (p *printer) node(n *model.Node) {
	p.setDay(n.Window)
	p.status(orNode(n.Name), n.Status)
	p.para("  ", sentenceCase(plainSummary(n)))
	p.para("  ", kubeletLine(n.Kubelet))
	p.para("  ", windowLine(n.Window, true))
	p.timeline(n)
	s := p.episodes(n)
	for i := range n.Episodes {
		e := &n.Episodes[i]
		if e.RecoveredBasis != "" {
			s.Notes = append(s.Notes, fmt.Sprintf("%d: recovery: %s", e.ID, e.RecoveredBasis))
		}
		if e.StuckStepBasis != "" {
			s.Notes = append(s.Notes, fmt.Sprintf("%d: %s: %s", e.ID, stuckIn(e.StuckStep), e.StuckStepBasis))
		}
		s.Parts = append(s.Parts, Part{Label: fmt.Sprintf("%d:", e.ID), Quotes: e.Evidence.All()})
	}
	for _, s := range quotedOnce(slices.Concat([]Section{s}, causes(causesHeading(n), rules.Legend, n.Causes, whole),
		causes(lookAlikes, "what looks like trouble of PLEG, and is none", n.LookAlikes, whole), []Section{unjudged(n.Unjudged)}, p.sections(n))) {
		p.section(s)
	}
}

// lookAlikes is the heading of the look-alikes.
const lookAlikes = "Look-alikes (not PLEG)"

// unjudged lists the causes that could not be evaluated, grouped by the missing input.
func unjudged(us []model.Unjudged) Section {
	s := Section{Title: "Not judged, as these were not recognized in the input"}
	by := map[string][]string{}
	for _, u := range us {
		needs := strings.Join(u.Needs, " or ")
		by[needs] = append(by[needs], u.ID)
	}
	for _, needs := range slices.Sorted(maps.Keys(by)) {
		s.Lead = append(s.Lead, needs+": "+strings.Join(by[needs], ", "))
	}
	return s
}

// plainSummary returns the summary without the name of the node, which precedes it.
func plainSummary(n *model.Node) string {
	return strings.TrimPrefix(strings.TrimPrefix(n.Summary, n.Name+": "), "the node: ")
}

// kubeletShort names the version, runtime and PLEG of a node. What was not recognized may still stand in the input,
// in words that no rule knows.
func kubeletShort(k *model.Kubelet) string {
	said := func(form, value, what string) string {
		if value == "" || value == "unknown" {
			return what + " not recognized"
		}
		return fmt.Sprintf(form, value)
	}
	return said("kubelet %s", k.Known(), "kubelet version") + ", " + said("%s", model.Known(k.Runtime), "runtime") + ", " + said("%s PLEG", k.PLEG, "kind of PLEG")
}

// kubeletLine is kubeletShort with the settings and their source.
func kubeletLine(k model.Kubelet) string {
	c := clauses{kubeletShort(&k)}
	c.add(k.Threshold != nil, "relist every %s, threshold %s", span(k.Period), span(k.Threshold))
	c.add(k.RPCTimeout != nil, "CRI timeout %s", span(k.RPCTimeout))
	return c.String() + model.InBrackets(k.Basis)
}

// windowLine says what time the records cover and how their timestamps were interpreted; unless all
// is set, only what was assumed.
func windowLine(w model.Window, all bool) string {
	if w.Start == 0 {
		return "no time was recognized in log lines of this node"
	}
	from := layout(w.Start, time.DateTime)
	several := layout(w.End, time.DateTime) != from
	var c clauses
	length := ", " + Span(w.End.Sub(w.Start))
	coarse := w.Start%1e9 == 0 || w.End%1e9 == 0 // fractions of a second are not stated
	if w.Step != nil && math.Abs(*w.Step) > model.Seconds(w.End.Sub(w.Start))/100 {
		length = " by times that step by " + span(w.Step)
	} else if d := w.End.Sub(w.Start); coarse && d < time.Hour { // a longer one is told to the minute
		if d >= time.Minute {
			d = time.Duration(w.End/1e9-w.Start/1e9) * time.Second // by the ends that are printed
		}
		length = ", " + Span(d) + " ±1s"
	}
	c.add(several, "%s to %s UTC%s", from, untilWords(w.Start, w.End), length)
	c.add(!several, "%s UTC", from)
	lines := cmp.Or(w.Lines, &model.Span{From: w.Start, To: w.End})
	c.add(w.End.Sub(w.Start)-lines.To.Sub(lines.From) > time.Minute, "%s of it by the log", Span(lines.To.Sub(lines.From)))
	zone, guess := strings.CutPrefix(w.TimezoneBasis, "assumed: ")
	c.add(guess, "timestamps assumed %s (%s)", w.Timezone, zone)
	c.add(all && w.Timezone == "stated", "every timestamp states its zone")
	c.add(all && !guess && w.Timezone != "stated" && zone != "", "timestamps in %s (%s)", cmp.Or(w.Timezone, "unknown"), zone)
	year, guess := strings.CutPrefix(w.YearBasis, "assumed: ")
	c.add(guess, "year assumed (%s)", year)
	c.add(!guess && (all || year == "unknown") && year != "", "year: %s", year)
	return strings.Join(c, "; ")
}

// causesHeading returns the heading of the causes. On a healthy node they are not causes: they
// prove the health or are other findings.
func causesHeading(n *model.Node) string {
	switch c, sure := leading(n); {
	case n.Status == "healthy" && len(n.Causes) > 0 && c == &n.Causes[0]:
		return "Proof"
	case n.Status == "healthy":
		return "Other findings, though PLEG was well"
	case sure && c.Kind == string(rules.KindSymptom):
		return "What failed, and what may be why"
	case sure:
		return "Probable causes"
	}
	return "Cause unknown; these are possible"
}

// doLabel maps the level of a cause to the label of its remediation.
var doLabel = map[string]string{string(rules.Confirmed): "do", string(rules.Likely): "do", string(rules.Possible): "if so"}

// causes returns a section for each cause, with at most most quotes per list, after one with the
// legend.
func causes(title, legend string, cs []model.Cause, most int) []Section {
	if len(cs) == 0 {
		return nil
	}
	out := []Section{{Title: title, Lead: []string{legend}}}
	for i := range cs {
		c := &cs[i]
		level := fmt.Sprintf("%s %s, confidence %.0f%%", c.Level, c.Kind, 100*c.Confidence)
		if len(c.Episodes) > 0 {
			level += ", explains " + episodesWords(c.Episodes)
		}
		out = append(out, Section{Title: fmt.Sprintf("%d. %s (%s)", i+1, c.Title, c.ID), Lead: []string{level, c.Explanation}, Parts: []Part{
			{Label: "for", Quotes: c.For.First(most)},
			{Label: "against", Quotes: c.Against.First(most)},
			{Label: doLabel[c.Level], Items: c.Remediation},
			{Label: "run", Commands: c.Commands},
			{Label: "collect", Items: c.Missing},
		}})
	}
	return out
}

// quotedOnce removes the text of lines that were quoted before.
func quotedOnce(all []Section) []Section {
	seen := map[string]bool{}
	for _, s := range all {
		for _, x := range s.Parts {
			for i := range x.Quotes {
				e := &x.Quotes[i]
				if seen[e.Where()] {
					e.Text = ""
				}
				seen[e.Where()] = true
			}
		}
	}
	return all
}
