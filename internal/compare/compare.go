package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay"
)

// Verdict is the result for one row.
type Verdict string

// Verdicts.
const (
	Worse   Verdict = "worse"
	Better  Verdict = "better"
	Same    Verdict = "same"
	Noise   Verdict = "noise" // a difference explained by chance
	Changed Verdict = "changed"
	New     Verdict = "new"
	Gone    Verdict = "gone"
	Unknown Verdict = "unknown" // one side could not be examined
)

// Row compares one property.
type Row struct {
	Group    string // health, relists, CRI errors, events, signals, configuration, causes
	What     string
	Baseline string
	Incident string
	Verdict  Verdict
	Why      string // basis of the verdict
	Evidence []replay.Evidence
}

// Pair compares a node of the baseline with its counterpart in the incident.
type Pair struct {
	Baseline, Incident string // names of the nodes
	Rows               []Row
	Charts             []model.CompareChart
}

// Result is the result of a comparison.
type Result struct {
	BaselineLabel, IncidentLabel string
	Summary                      string
	Pairs                        []Pair
	Notes                        []string // nodes without a counterpart; which version's rules were applied to unknown kubelets
}

// Reports compares two reports. Nodes are paired by name; if each report has a single node, those
// two are paired.
func Reports(baseLabel string, base *model.Analysis, incLabel string, inc *model.Analysis) Result {
	res := Result{BaselineLabel: baseLabel, IncidentLabel: incLabel}
	for _, p := range pairs(base, inc, &res) {
		res.Notes = append(res.Notes, rulesNotes(p[0], p[1])...)
		res.Pairs = append(res.Pairs, Pair{p[0].Name, p[1].Name, rows(p[0], p[1]), charts(p[0].Node, p[1].Node)})
	}
	res.Summary = summary(res)
	return res
}

func pairs(base, inc *model.Analysis, res *Result) [][2]*model.Analyzed {
	if len(base.Nodes) == 1 && len(inc.Nodes) == 1 {
		return [][2]*model.Analyzed{{&base.Nodes[0], &inc.Nodes[0]}}
	}
	var out [][2]*model.Analyzed
	byName := map[string]*model.Analyzed{}
	for i := range base.Nodes {
		byName[base.Nodes[i].Name] = &base.Nodes[i]
	}
	for i := range inc.Nodes {
		n := &inc.Nodes[i]
		if b := byName[n.Name]; b != nil {
			out = append(out, [2]*model.Analyzed{b, n})
			delete(byName, n.Name)
			continue
		}
		res.Notes = append(res.Notes, "only in the incident: "+n.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		res.Notes = append(res.Notes, "only in the baseline: "+name)
	}
	return out
}

// rulesNotes say which version's rules were applied to kubelets newer or older than any known.
func rulesNotes(sides ...*model.Analyzed) []string {
	var out []string
	for _, n := range sides {
		if rules := pleg.Beyond(n.Kubelet.Version); rules != "" {
			out = append(out, fmt.Sprintf("%s: kubelet %s: %s", n.Name, n.Kubelet.Version, rules))
		}
	}
	return slices.Compact(out)
}

func rows(a, b *model.Analyzed) []Row {
	var out []Row
	out = append(out, health(a, b)...)
	out = append(out, relists(a, b)...)
	out = append(out, counts("CRI errors", failureCounts(a), failureCounts(b), span(a), span(b))...)
	out = append(out, operations(a, b)...)
	out = append(out, counts("events", eventCounts(a), eventCounts(b), span(a), span(b))...)
	out = append(out, counts("signals", signalCounts(a), signalCounts(b), span(a), span(b))...)
	out = append(out, configuration(a, b)...)
	out = append(out, causes(a, b)...)
	return out
}

// span returns the duration of the node's window.
func span(n *model.Analyzed) time.Duration { return time.Duration(n.Window.End - n.Window.Start) }

func health(a, b *model.Analyzed) []Row {
	rows := []Row{
		within("health", "time PLEG was unhealthy", unhealthy(a), unhealthy(b)),
		within("health", "episodes", episodes(a), episodes(b)),
	}
	for i := range rows {
		if rows[i].Verdict == Unknown {
			rows[i].Why = untold(a, b)
		}
	}
	if len(b.Episodes) > 0 {
		rows[1].Evidence = b.Episodes[0].Evidence
	}
	return rows
}

// untold names the sides of which the health is not known throughout, and for how long.
func untold(a, b *model.Analyzed) string {
	var sides []string
	for i, n := range []*model.Analyzed{a, b} {
		if d := unknown(n); d > 0 {
			sides = append(sides, parse.Short(d)+" of the "+[]string{"baseline", "incident"}[i])
		} else if len(n.Health) == 0 {
			sides = append(sides, "the "+[]string{"baseline", "incident"}[i])
		}
	}
	if sides == nil {
		return ""
	}
	return "nothing tells of " + strings.Join(sides, " and ")
}

// bounds are what the input proves of a value. most is negative if nothing bounds it.
type bounds[T int | time.Duration] struct{ least, most T }

func (x bounds[T]) exact() bool { return x.least == x.most }

// unhealthy returns for how long PLEG was unhealthy.
func unhealthy(n *model.Analyzed) bounds[time.Duration] {
	d := n.ProvenUnhealthy()
	if len(n.Health) == 0 { // nothing is dated
		return bounds[time.Duration]{d, -1}
	}
	return bounds[time.Duration]{d, d + unknown(n)}
}

// unknown returns for how long it is not known whether PLEG was healthy.
func unknown(n *model.Analyzed) (sum time.Duration) {
	for _, x := range n.Untold() {
		sum += time.Duration(x.To - x.From)
	}
	return sum
}

// episodes returns how often PLEG became unhealthy. Right before or after an episode there is no room for another
// one within a threshold.
func episodes(n *model.Analyzed) bounds[int] {
	out := bounds[int]{len(n.Episodes), len(n.Episodes)}
	if len(n.Health) == 0 {
		out.most = -1
	}
	for _, x := range n.Untold() {
		if x.To-x.From > int64(n.Kubelet.Threshold) || !slices.ContainsFunc(n.Health, func(h replay.HealthSpan) bool {
			return h.State == replay.Unhealthy && (h.To == x.From || h.From == x.To)
		}) {
			out.most = -1
		}
	}
	return out
}

// within compares two values by what is proven of each.
func within[T int | time.Duration](group, what string, a, b bounds[T]) Row {
	r := Row{Group: group, What: what, Baseline: a.String(), Incident: b.String(), Verdict: Unknown}
	switch {
	case a.most >= 0 && b.least > a.most:
		r.Verdict = Worse
	case b.most >= 0 && b.most < a.least:
		r.Verdict = Better
	case a.exact() && b.exact():
		r.Verdict = Same
	}
	return r
}

func (x bounds[T]) String() string {
	if x.least == 0 && !x.exact() {
		return "unknown"
	}
	least := ""
	if !x.exact() {
		least = "at least "
	}
	if d, ok := any(x.least).(time.Duration); ok {
		return least + report.Span(d)
	}
	return least + fmt.Sprint(x.least)
}

func valued(group, what string, a, b time.Duration) Row {
	return Row{Group: group, What: what, Baseline: report.Span(a), Incident: report.Span(b), Verdict: order(a, b)}
}

func order[T cmp.Ordered](a, b T) Verdict {
	switch {
	case b > a:
		return Worse
	case b < a:
		return Better
	}
	return Same
}

// relists compares durations: the longest by value, the rest as two samples.
func relists(a, b *model.Analyzed) []Row {
	sa, sb := lengths(a), lengths(b)
	if len(sa) == 0 || len(sb) == 0 {
		return []Row{{Group: "relists", What: "duration", Baseline: known(sa), Incident: known(sb), Verdict: Unknown,
			Why: "one side has no relist of known length"}}
	}
	v, why := shifted(sa, sb)
	rows := []Row{
		{Group: "relists", What: "median duration", Baseline: known(sa), Incident: known(sb), Verdict: v, Why: why},
		within("relists", "longest", longest(a), longest(b)),
	}
	if rows[1].Verdict == Unknown {
		rows[1].Why = "others, whose length is not known, may have taken longer"
	}
	for i := range b.Relists {
		if d, ok := b.Relists[i].Duration(); ok && d == sb[len(sb)-1] {
			rows[1].Evidence = b.Relists[i].Evidence
			break
		}
	}
	return rows
}

func longest(n *model.Analyzed) bounds[time.Duration] {
	least, most := n.LongestRelist()
	return bounds[time.Duration]{least, most}
}

// lengths returns the known durations of relists in ascending order.
func lengths(n *model.Analyzed) []time.Duration {
	var out []time.Duration
	for i := range n.Relists {
		if d, ok := n.Relists[i].Duration(); ok {
			out = append(out, d)
		}
	}
	slices.Sort(out)
	return out
}

// known formats the median of ascending durations.
func known(ds []time.Duration) string {
	if len(ds) == 0 {
		return "unknown"
	}
	return report.Span(ds[(len(ds)*50+99)/100-1])
}

// operations compares the mean duration of CRI operations, if metrics have it.
func operations(a, b *model.Analyzed) []Row {
	byName := map[string]replay.Operation{}
	for _, o := range a.Ops {
		byName[o.Name] = o
	}
	var out []Row
	for _, o := range b.Ops {
		p, ok := byName[o.Name]
		if !ok || o.Calls <= 0 || p.Calls <= 0 || o.Total < 0 || p.Total < 0 {
			continue
		}
		ma, mb := p.Total/time.Duration(p.Calls), o.Total/time.Duration(o.Calls)
		r := valued("CRI operations", o.Name+", mean", ma, mb)
		r.Why = fmt.Sprintf("%d and %d calls", p.Calls, o.Calls)
		if mb < 2*ma && ma < 2*mb {
			r.Verdict, r.Why = Noise, r.Why+", less than a factor of two"
		}
		r.Evidence = o.Evidence
		out = append(out, r)
	}
	return out
}

// counted is the number of occurrences of something, with the first evidence.
type counted struct {
	n     int
	first []replay.Evidence
}

func failureCounts(n *model.Analyzed) map[string]counted {
	out := map[string]counted{}
	for _, f := range n.Failures {
		bump(out, f.Call+" "+f.Code, f.Evidence)
	}
	return out
}

func eventCounts(n *model.Analyzed) map[string]counted {
	out := map[string]counted{}
	for _, e := range n.Audit.Events.All() {
		if e.Status != replay.StatusMissing && e.Status != replay.StatusDiscarded {
			bump(out, e.Type, e.Evidence())
		}
	}
	if d := n.Audit.Discarded; d > 0 {
		out["discarded"] = counted{n: d}
	}
	return out
}

// signalCounts counts lines by signature, without bulk messages.
func signalCounts(n *model.Analyzed) map[string]counted {
	out := map[string]counted{}
	for _, e := range n.Events {
		for _, s := range e.Sigs.Sigs {
			if !s.Bulk {
				bump(out, s.ID, []replay.Evidence{{Record: e}})
			}
		}
	}
	return out
}

func bump(m map[string]counted, key string, ev []replay.Evidence) {
	c := m[key]
	c.n++
	if c.first == nil {
		c.first = ev[:min(len(ev), 1)]
	}
	m[key] = c
}

// counts compares the rates of occurrences.
func counts(group string, a, b map[string]counted, ta, tb time.Duration) []Row {
	keys := map[string]bool{}
	for k := range a {
		keys[k] = true
	}
	for k := range b {
		keys[k] = true
	}
	var out []Row
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		r := Row{Group: group, What: k, Baseline: rate(a[k].n, ta), Incident: rate(b[k].n, tb), Evidence: b[k].first}
		r.Verdict, r.Why = rates(a[k].n, ta, b[k].n, tb)
		if group == "events" && (r.Verdict == Worse || r.Verdict == Better) {
			r.Verdict = Changed // more pod events are neither better nor worse
		}
		out = append(out, r)
	}
	return out
}

func rate(n int, d time.Duration) string {
	if d <= 0 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d, %.3g/h", n, float64(n)/d.Hours())
}

// configuration lists settings and versions that differ.
func configuration(a, b *model.Analyzed) []Row {
	fa, fb := settings(a), settings(b)
	var out []Row
	keys := map[string]bool{}
	for k := range fa {
		keys[k] = true
	}
	for k := range fb {
		keys[k] = true
	}
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		x, inA := fa[k]
		y, inB := fb[k]
		if !inA || !inB || x.value == y.value {
			continue // a setting stated by only one side is not a difference
		}
		out = append(out, Row{Group: "configuration", What: k, Baseline: x.value, Incident: y.value, Verdict: Changed, Evidence: y.ev})
	}
	return out
}

type setting struct {
	value string
	ev    []replay.Evidence
}

// settingKeys are the facts that are settings: versions and limits, not measurements.
var settingKeys = []string{"os.name", "kernel.version", "kernel.cmdline", "runtime.name", "runtime.version", "runc.version", "systemd.version",
	"cpu.count", "mem.total", "pid.max", "kubelet.config", "kubelet.flag", "kubelet.max_pods", "kubelet.cgroup_driver", "kubelet.evented_pleg",
	"kubelet.node_status_update_frequency", "kubelet.pod_pids_limit"}

func settings(n *model.Analyzed) map[string]setting {
	out := map[string]setting{}
	k := n.Kubelet
	for name, v := range map[string]string{"kubelet version": k.Version, "runtime": k.Runtime, "PLEG": k.PLEG} {
		if v != "" && v != "unknown" {
			out[name] = setting{v, k.Evidence}
		}
	}
	for name, d := range map[string]time.Duration{"relist threshold": k.Threshold, "relist period": k.Period, "runtimeRequestTimeout": k.RPCTimeout} {
		if d > 0 {
			out[name] = setting{d.String(), k.Evidence}
		}
	}
	for _, f := range n.Facts {
		if slices.Contains(settingKeys, f.Key) {
			name := f.Key
			if sub := f.Attr("name"); sub != "" {
				name += " " + sub
			}
			out[name] = setting{f.Value, []replay.Evidence{{Record: parse.Record(f)}}}
		}
	}
	return out
}

func causes(a, b *model.Analyzed) []Row {
	was := map[string]string{}
	for _, c := range a.Causes {
		was[c.ID] = fmt.Sprintf("%s, %.0f%%", c.Level, 100*c.Confidence)
	}
	// An input that never tells whether PLEG was healthy denies no cause.
	absent := func(n *model.Analyzed, v Verdict) (Verdict, string) {
		if len(n.Episodes) > 0 || slices.ContainsFunc(n.Health, func(h replay.HealthSpan) bool { return h.State == replay.Healthy }) {
			return v, ""
		}
		return Unknown, untold(a, b)
	}
	var out []Row
	for _, c := range b.Causes {
		r := Row{Group: "causes", What: c.ID, Baseline: was[c.ID], Incident: fmt.Sprintf("%s, %.0f%%", c.Level, 100*c.Confidence), Verdict: Same, Evidence: c.For}
		if r.Baseline == "" {
			r.Verdict, r.Why = absent(a, New)
		}
		delete(was, c.ID)
		out = append(out, r)
	}
	for _, id := range slices.Sorted(maps.Keys(was)) {
		r := Row{Group: "causes", What: id, Baseline: was[id]}
		r.Verdict, r.Why = absent(b, Gone)
		out = append(out, r)
	}
	return out
}

func summary(res Result) string {
	worse, changed := 0, 0
	lead, open := "", ""
	for _, p := range res.Pairs {
		for _, r := range p.Rows {
			switch r.Verdict {
			case Worse, New:
				worse++
				if lead == "" && r.Group == "health" {
					lead = fmt.Sprintf("%s went from %s to %s", r.What, r.Baseline, r.Incident)
				}
			case Unknown:
				if open == "" && r.Group == "health" {
					open = fmt.Sprintf("%s cannot be compared, %s", r.What, r.Why)
				}
			case Changed:
				if r.Group == "configuration" {
					changed++
				}
			}
		}
	}
	if len(res.Pairs) == 0 {
		return "No node stands in both."
	}
	s := fmt.Sprintf("%s in %s than in %s", number(worse, "thing is worse or new", "things are worse or new"), res.IncidentLabel, res.BaselineLabel)
	if changed > 0 {
		s += ", " + number(changed, "setting or version differs", "settings or versions differ")
	}
	for _, more := range []string{lead, open} {
		if more != "" {
			s += "; " + more
		}
	}
	return s + "."
}

func number(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Document returns the result as plegforensics/compare/v1, cleaned by c.
func (res *Result) Document(c *model.Cleaner) *model.Comparison {
	out := &model.Comparison{Schema: model.SchemaName("compare"), Baseline: res.BaselineLabel, Incident: res.IncidentLabel,
		Summary: res.Summary, Nodes: []model.Pair{}, Notes: res.Notes}
	for _, p := range res.Pairs {
		pair := model.Pair{Baseline: p.Baseline, Incident: p.Incident, Rows: []model.Compare{}, Charts: p.Charts}
		for _, r := range p.Rows {
			x := model.Compare{Group: r.Group, What: r.What, Baseline: r.Baseline, Incident: r.Incident, Verdict: string(r.Verdict), Why: r.Why}
			if p := c.Proof(r.Evidence); p.Len() > 0 {
				e := p.At(0)
				x.File, x.Line, x.Text, x.Where = e.File, e.Line, e.Text, e.Where()
			}
			pair.Rows = append(pair.Rows, x)
		}
		out.Nodes = append(out.Nodes, pair)
	}
	return c.Comparison(out)
}
