package rules

import (
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/age"
	"github.com/plegforensics/plegforensics/replay/audit"
	"github.com/plegforensics/plegforensics/replay/waits"
)

// lookBack is how long before the last good relist evidence may count.
const lookBack = 10 * minute

const (
	second = int64(1e9)
	minute = 60 * second
)

// view is a node prepared for the rules, with its records indexed by content. A view is not
// safe for concurrent use; see fork.
type view struct {
	n     *replay.Node
	pack  *Pack         // for its thresholds; nil means the defaults
	audit *audit.Result // audit of its pod events; nil if not audited
	index
	failures
	byFact   map[string][]*parse.Fact
	facts    []string // keys present, sorted
	series   map[string][]*parse.Series
	told     map[*parse.Event][]parse.Field // cache of parsed fields of cited events
	texts    lineTests
	matching *matching
	unread   map[string]*parse.Event // by signature with too many lines: the first line that a clause did not read
	found    []outcome               // scratch space for the outcomes of one cause
	rt       string                  // docker, containerd, crio; "" if unknown
	os       string                  // linux, windows; "" if unknown
	kernel   *parse.Fact
	t        int64           // CRI request timeout, ns
	peaks    []time.Duration // peak age of the last relist, by episode
	worked   []replay.Span   // see worked
	waits    []waits.Wait    // see waiting
	folded   map[string]int  // see fewOf
	stalls   []replay.Span   // see inEpisode
	// toExplain is set if the node has an episode or anything that failed.
	toExplain bool
	// keepsErrors is set if a line shows that the kubelet's log was not stripped of its errors:
	// an error, or a line whose form has no severity to select by.
	keepsErrors bool
}

func newView(n *replay.Node) *view {
	v := &view{n: n, peaks: age.Peaks(n, func() []age.Span { return age.Of(n) }), index: newIndex(n), byFact: map[string][]*parse.Fact{}, series: map[string][]*parse.Series{}, told: map[*parse.Event][]parse.Field{}, unread: map[string]*parse.Event{}, matching: &matching{clauses: map[*Clause]*matched{}}, folded: map[string]int{}}
	v.failures = newFailures(n, v.sig(parse.SigListFail))
	for _, f := range n.Facts {
		if len(v.byFact[f.Key]) == 0 {
			v.facts = append(v.facts, f.Key)
		}
		v.byFact[f.Key] = append(v.byFact[f.Key], f)
	}
	sort.Strings(v.facts)
	for _, s := range n.Series {
		v.series[s.Name] = append(v.series[s.Name], s)
	}
	if v.t = int64(n.Kubelet.RPCTimeout); v.t <= 0 {
		v.t = 2 * minute
	}
	v.rt, v.os = runtimeOf(v), n.Kubelet.OS
	v.toExplain = len(n.Episodes) > 0
	v.keepsErrors = slices.ContainsFunc(n.Events, func(e *parse.Event) bool {
		return e.Origin.Source == parse.SrcKubelet && e.Severity != 'I' && e.Severity != 'W'
	})
	v.worked = worked(n)
	if k := v.byFact["kernel.version"]; len(k) > 0 {
		v.kernel = k[len(k)-1]
	}
	return v
}

// listAll indexes the events of every signature that causes use.
func (v *view) listAll(causes []*Def) {
	var ids []string
	for c := range clausesOf(causes...) {
		ids = append(ids, c.Sigs...)
	}
	v.listTogether(ids)
}

// fork returns a view of the same node with caches of its own, so that it may be used
// concurrently with v.
func (v *view) fork() *view {
	w := *v
	w.listed, w.holders, w.failures = maps.Clone(v.listed), maps.Clone(v.holders), v.failures.fork()
	w.found = nil
	w.told, w.unread = map[*parse.Event][]parse.Field{}, map[string]*parse.Event{}
	return &w
}

// runtimeOf returns the kind of the container runtime: from an explicit statement,
// otherwise from which runtime writes lines.
func runtimeOf(v *view) string {
	stated := strings.ToLower(v.n.Kubelet.Runtime)
	for _, f := range v.byFact["runtime.name"] {
		stated += " " + strings.ToLower(f.Value)
	}
	kinds := []struct{ word, kind string }{{"docker", "docker"}, {"containerd", "containerd"}, {"cri-o", "crio"}, {"crio", "crio"}}
	for _, k := range kinds {
		if strings.Contains(stated, k.word) {
			return k.kind
		}
	}
	switch {
	case v.have[parse.SrcDockerd], len(v.sig("rt.docker")) > 0:
		return "docker"
	case v.have[parse.SrcCRIO], len(v.sig("rt.crio")) > 0, len(v.sig("crio.load")) > 0:
		return "crio"
	case v.have[parse.SrcContainerd], len(v.sig("rt.containerd")) > 0:
		return "containerd"
	}
	return ""
}

// subject is what a cause must explain: one episode, or the node.
type subject struct {
	*view
	ep       *replay.Episode      // nil: the node as a whole
	from, to int64                // window in which evidence counts
	end      int64                // what happened later explains nothing; a line about it may be logged until to
	breach   int64                // 0 if there is no episode
	byObject map[string][]failure // failed status calls by object; filled on first use
	objects  []string
	spans    []replay.Span // for a node without an episode: when something failed; nil means everything counts
}

// nodeSubject returns the whole node as a subject.
func nodeSubject(v *view) *subject { return &subject{view: v} }

// episodeSubject returns one episode as a subject. Its window runs from 10 minutes before
// the last good relist to the last sign of the stall.
func episodeSubject(v *view, e *replay.Episode) *subject {
	s := &subject{view: v, ep: e, breach: e.Breach}
	start := e.LastStart.At
	if start == 0 {
		start = e.FirstReport - int64(e.PeakAge)
	}
	if s.from = start - lookBack; e.FirstReport != 0 && e.Never {
		s.from = e.FirstReport - lookBack
	}
	s.end = max(e.LastReport, e.Recovered.At, e.Breach)
	s.to = s.end + v.t
	if !e.Recovered.Known() {
		s.to = max(s.to, v.openUntil(e))
		s.end = s.to
	}
	if s.breach == 0 {
		s.breach = e.FirstReport
	}
	return s
}

// openUntil returns how far an episode without proof of recovery may reach: to the next
// episode or the end of the input.
func (v *view) openUntil(e *replay.Episode) int64 {
	later := v.n.Episodes[min(e.ID, len(v.n.Episodes)):] // IDs start at 1
	for i := range later {
		if later[i].Breach > e.Breach {
			return later[i].LastStart.At
		}
	}
	return v.n.Window.End
}

// timing classifies a time relative to the subject.
type timing uint8

const (
	undated timing = iota // no usable time
	before                // before the breach: may be the cause
	during                // after the breach: may be a consequence
	outside               // too early or too late
)

// timing classifies the time of a record that was logged late ns after its event.
func (s *subject) timing(r parse.Record, late int64) timing {
	st := r.When()
	if s.ep == nil && s.spans == nil || r.From() == parse.SrcFacts || r.From() == parse.SrcStack {
		return undated
	}
	if st.Basis <= parse.FileTime {
		return undated
	}
	at := st.At - late
	switch {
	case s.ep == nil && s.inIncident(at):
		return before
	case s.ep == nil && s.oneClock:
		return outside
	case s.ep == nil:
		return undated
	case at >= s.from && at <= s.breach:
		return before
	case at > s.breach && at <= s.end:
		return during
	case s.otherClock(r):
		return undated
	}
	return outside
}

// reach narrows events, which are in time order, to those that can fall into the window.
// late is how long after its subject a line is logged, and noMore says that it is never
// longer; only then is the result exact. If the clocks of several files cannot be compared,
// nothing is cut.
func (s *subject) reach(es []*parse.Event, late int64, noMore bool) (out []*parse.Event, exact bool) {
	if s.ep == nil || !s.oneClock || len(es) < 64 {
		return es, false
	}
	lo := sort.Search(len(es), func(i int) bool { return es[i].At >= s.from+late })
	if !noMore {
		return es[lo:], false
	}
	hi := sort.Search(len(es), func(i int) bool { return es[i].At > s.to+late })
	return es[lo:max(lo, hi):max(lo, hi)], true
}

// otherClock reports whether the record's clock cannot be compared with that of the
// episode, or with the kubelet's if there is none: it comes from another file, and a year
// or zone is guessed.
func (s *subject) otherClock(r parse.Record) bool {
	guessed := func(b parse.Basis) bool { return b <= parse.YearGuessed || b == parse.ZoneGuessed }
	if s.ep == nil {
		return !s.oneClock && (!s.dated || guessed(r.When().Basis))
	}
	if len(s.ep.Evidence) == 0 {
		return true
	}
	w := s.ep.Evidence[0]
	if w.Where().File == r.Where().File {
		return false
	}
	return guessed(w.When().Basis) || guessed(r.When().Basis)
}

// looked reports whether the input holds any of the sources, so that an absence is
// meaningful.
func (v *view) looked(sources []parse.Source) bool {
	return slices.ContainsFunc(sources, func(s parse.Source) bool { return v.have[s] })
}

// has reports whether the input holds a source, fact key, fact family, signature or metric
// of that name.
func (v *view) has(name string) bool {
	return v.have[parse.Source(name)] || len(v.byFact[name]) > 0 || len(v.sig(name)) > 0 || len(v.series[name]) > 0 ||
		slices.ContainsFunc(v.facts, func(k string) bool { return familyHas(name, k) || strings.HasPrefix(k, name+".") })
}
