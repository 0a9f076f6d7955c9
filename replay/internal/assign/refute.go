package assign

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/facts"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// Both times that are compared are in ns. The stamps of objects are in whole seconds.
const (
	second  = int64(time.Second)
	unsure  = 2 * second  // by this much the times of an object and of a line can be apart
	pause   = 5 * second  // longest pause of the sync loop before it looks again whether PLEG is healthy
	updated = 60 * second // within this time a kubelet has told that PLEG is unhealthy: it computes its status every 10 s
)

// statement is what lines of a kubelet, or the objects about a node, say about one kubelet. Two of them contradict
// each other if no kubelet can have caused both.
type statement struct {
	versions []string    // of the kubelet, as "1.28.0"
	runtimes []string    // as "containerd 1.7.2"
	stuck    []stuck     // in the order of their starts
	ready    []host.Span // the node was Ready from, and at
	turns    []int64     // work of the sync loop, in time order
	starts   []int64     // starts of the kubelet
}

// stuck is a stretch in which no relist began, by an age of the last one.
type stuck struct {
	host.Span       // from its start to the report
	sick      int64 // from here PLEG was unhealthy
}

// contradicts reports whether what the objects of the node name say cannot be of the kubelets of r.
func (s *splitter) contradicts(r *unit, name string) bool {
	s.stated()
	of := s.objects[strings.ToLower(name)]
	return of != nil && slices.ContainsFunc(s.nameless, func(u *unit) bool {
		if u.root() != r.root() {
			return false
		}
		return s.told[u].contradicts(of, u.pids)
	})
}

func (l *statement) contradicts(o *statement, pids map[int]host.Span) bool {
	if differ(l.versions, o.versions) || differ(l.runtimes, o.runtimes) {
		return true
	}
	for _, x := range o.stuck {
		if between(l.turns, x.sick+pause+unsure, x.To-unsure) || between(l.starts, x.From+unsure, x.To-unsure) {
			return true // no relist is older than its process
		}
		n, _ := slices.BinarySearchFunc(l.stuck, x.From+unsure, func(y stuck, at int64) int { return cmp.Compare(y.From, at) })
		if n < len(l.stuck) && l.stuck[n].From < x.To-unsure {
			return true
		}
		for n--; n >= 0 && l.stuck[n].From >= x.From-unsure; n-- {
		}
		if n >= 0 && x.From < l.stuck[n].To-unsure {
			return true
		}
	}
	for _, x := range o.ready {
		n, _ := slices.BinarySearchFunc(l.stuck, x.From, func(y stuck, at int64) int { return cmp.Compare(y.To, at) })
		for ; n < len(l.stuck) && l.stuck[n].sick < x.To; n++ {
			if y := l.stuck[n]; y.sick+unsure < x.To && x.To < y.To-unsure || min(x.To, y.To)-max(x.From, y.sick) >= updated {
				return true
			}
		}
	}
	for _, at := range o.starts {
		if n, _ := slices.BinarySearchFunc(l.stuck, at-unsure, func(y stuck, at int64) int { return cmp.Compare(y.From, at) }); n > 0 && at+unsure < l.stuck[n-1].To {
			return true
		}
		for pid, when := range pids {
			if pid > 1 && when.From < at-updated && at+updated < when.To {
				return true
			}
		}
	}
	return false
}

// differ reports whether both state something and agree on nothing.
func differ(a, b []string) bool {
	return len(a) > 0 && len(b) > 0 && !slices.ContainsFunc(a, func(x string) bool { return slices.Contains(b, x) })
}

// between reports whether any of the times in order lies in from..to.
func between(times []int64, from, to int64) bool {
	n, _ := slices.BinarySearch(times, from)
	return n < len(times) && times[n] <= to
}

// stated collects what the kubelets that name no node say, and what Kubernetes objects say about nodes.
func (s *splitter) stated() {
	if s.objects != nil {
		return
	}
	s.objects, s.told = map[string]*statement{}, map[*unit]*statement{}
	for _, o := range s.b.Objects {
		if name, itself := objectNode(o); itself && name != "" {
			name = strings.ToLower(name)
			if s.objects[name] == nil {
				s.objects[name] = new(statement)
			}
			s.objects[name].object(o)
		}
	}
	for _, u := range s.units {
		if u.kubelet && len(u.nodes()) == 0 {
			s.nameless, s.told[u] = append(s.nameless, u), new(statement)
		}
	}
	if len(s.objects) == 0 || len(s.nameless) == 0 {
		return
	}
	s.index.Each(host.KindAge|host.KindTurn|host.KindProfile|host.KindStart, func(i int, e *parse.Event, k host.Kinds) {
		if x := s.told[s.wrote[s.index.Of[i]].unit]; x != nil && e.Origin.Source == parse.SrcKubelet {
			x.line(e, k)
		}
	})
	for _, x := range s.objects {
		x.order()
	}
	for _, x := range s.told {
		x.order()
	}
}

// order sorts, and keeps one of each stretch of the same relist.
func (x *statement) order() {
	slices.Sort(x.turns)
	slices.SortFunc(x.stuck, func(a, b stuck) int { return cmp.Compare(a.From, b.From) })
	kept := x.stuck[:0]
	for _, y := range x.stuck {
		if n := len(kept); n > 0 && y.From-kept[n-1].From < second/2 {
			kept[n-1].To, kept[n-1].sick = max(kept[n-1].To, y.To), max(kept[n-1].sick, y.sick)
		} else {
			kept = append(kept, y)
		}
	}
	x.stuck = kept
	slices.SortFunc(x.ready, func(a, b host.Span) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	x.ready = slices.Compact(x.ready)
	slices.Sort(x.starts)
	x.starts = slices.Compact(x.starts)
}

func (x *statement) line(e *parse.Event, k host.Kinds) {
	if k&host.KindStart != 0 && e.Basis != parse.NoTime {
		x.starts = append(x.starts, e.At)
	}
	switch {
	case e.Is(parse.SigVersion):
		if host.StatesOwnVersion(e) {
			x.version(e.Field("version"))
		}
	case e.Is(parse.SigRuntime):
		x.runtime(e.Field("name"), e.Field("version"))
	case e.Basis == parse.NoTime:
	case k&host.KindAge != 0:
		x.age(e.At, e.Field("age"), e.Field("threshold"))
	case k&host.KindSkip == 0 && k&host.KindTurn != 0:
		x.turns = append(x.turns, e.At)
	}
}

func (x *statement) object(o *parse.Object) {
	at, dated := o.At, o.Basis != parse.NoTime
	switch o.Kind {
	case facts.ObjectNode:
		x.version(o.Field("kubelet_version"))
		x.runtime(cutRuntime(o.Field("runtime")))
		return
	case facts.ObjectCondition:
		if o.Field("type") != "Ready" {
			return
		}
		beat, ok := host.ParseStamp(o.Field("heartbeat"))
		if !ok {
			return
		}
		if o.Field("status") == "True" {
			if !dated || at > beat {
				at = beat
			}
			x.ready = append(x.ready, host.Span{From: at, To: beat})
			return
		}
		at = beat
	case facts.ObjectEvent:
		switch reason := o.Field("reason"); {
		case !dated:
			return
		case reason == "NodeReady":
			x.ready = append(x.ready, host.Span{From: at, To: at})
		case reason == "Starting" && o.Field("component") == "kubelet":
			x.starts = append(x.starts, at)
		}
	}
	_, text, _ := strings.Cut(o.Field("message"), "last seen active ")
	age, text, _ := strings.Cut(text, " ago")
	_, limit, _ := strings.Cut(text, "threshold is ")
	x.age(at, age, limit)
}

// age adds that the last relist had begun that long before a moment.
func (x *statement) age(at int64, text, limit string) {
	age, err := time.ParseDuration(text)
	if err != nil || age <= 0 || int64(age) > at {
		return
	}
	most, err := time.ParseDuration(limit)
	if err != nil || most <= 0 {
		most = pleg.Threshold
	}
	x.stuck = append(x.stuck, stuck{host.Span{From: at - int64(age), To: at}, at - int64(age-most)})
}

func (x *statement) version(text string) {
	if v := plainVersion(text); v != "" && !slices.Contains(x.versions, v) {
		x.versions = append(x.versions, v)
	}
}

func (x *statement) runtime(name, version string) {
	if v := plainVersion(version); name != "" && v != "" && !slices.Contains(x.runtimes, name+" "+v) {
		x.runtimes = append(x.runtimes, strings.ToLower(name)+" "+v)
	}
}

func cutRuntime(text string) (name, version string) {
	name, version, _ = strings.Cut(text, "://")
	return name, version
}

// plainVersion returns the three numbers of a version, without what a distribution adds, "" if there are fewer.
func plainVersion(text string) string {
	text = strings.TrimPrefix(strings.Trim(text, "\"' "), "v")
	if i := strings.IndexFunc(text, func(r rune) bool { return r != '.' && (r < '0' || r > '9') }); i >= 0 {
		text = text[:i]
	}
	if strings.Count(text, ".") != 2 {
		return ""
	}
	return text
}
