package blame

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/table"
)

// Blame divides the time of one long relist.
type Blame struct {
	Relist      int // index into Node.Relists
	Total       time.Duration
	List        time.Duration // -1 unknown
	Inspect     time.Duration // -1 unknown
	ByOperation []Share
	ByPod       []Share
	Unexplained time.Duration
	Notes       []string
}

// Share is a part of a relist and what it is attributed to.
type Share struct {
	What     string // operation, or pod ns/name
	ID       string // pod UID or container ID, if known
	Took     time.Duration
	AtMost   bool // Took is an upper bound, because others make such calls too
	Calls    int  // calls, or inspections of a pod
	TimedOut int  // how many of Calls timed out
	Evidence []replay.Evidence
}

// maxBlamed bounds the number of relists that are divided, the longest first.
const maxBlamed = 200

// Of divides the long relists of a node, longest first.
func Of(n *replay.Node) []Blame {
	var out []Blame
	var b *blamer
	for _, i := range longRelists(n) {
		if b == nil {
			b = newBlamer(n)
		}
		out = append(out, b.relist(i))
	}
	return out
}

// Kept returns the entries of bs for the relists that remain in a clipped node. kept
// maps old to new indexes, as returned by replay.Node.Clip.
func Kept(bs []Blame, kept map[int]int) []Blame {
	var out []Blame
	for _, b := range bs {
		if i, ok := kept[b.Relist]; ok {
			b.Relist = i
			out = append(out, b)
		}
	}
	return out
}

// ByRelist returns the entries of bs by the index of their relist.
func ByRelist(bs []Blame) map[int]*Blame {
	out := make(map[int]*Blame, len(bs))
	for i := range bs {
		out[bs[i].Relist] = &bs[i]
	}
	return out
}

// longRelists returns the indexes of the relists to divide, longest first.
func longRelists(n *replay.Node) []int {
	var idx []int
	for i := range n.Relists {
		if d, _ := n.Lasted(i); d >= replay.LongRelist {
			idx = append(idx, i)
		}
	}
	slices.SortStableFunc(idx, func(a, b int) int {
		x, _ := n.Lasted(a)
		y, _ := n.Lasted(b)
		return cmp.Compare(y, x)
	})
	return idx[:min(len(idx), maxBlamed)]
}

// segment is an interval of a relist that a line explains.
type segment struct {
	from, to int64
	pod, uid string
	op       string
	err      bool
	timeout  bool
	ev       []replay.Evidence
}

// goLine is a line of the relist goroutine.
type goLine struct {
	at  int64
	ev  *parse.Event
	pod bool // ends the inspection of a pod
}

// blamer holds what is needed to divide any relist of a node.
type blamer struct {
	n       *replay.Node
	lines   []goLine
	calls   []int                      // indexes of failures that may be the relist goroutine's, by end
	owned   bool                       // owner and uids are filled
	owner   table.ByString[host.PodID] // pod of a container or sandbox, by ID
	uids    host.ByPod[parse.StringID] // UID by pod
	timeout time.Duration              // 0: unknown
	// podLists reports whether an inspection lists by pod UID again. If not, such a
	// list belongs to an on-demand relist of one pod, not to a relist of the node.
	podLists bool
}

func newBlamer(n *replay.Node) *blamer {
	b := &blamer{n: n, lines: goLines(n), timeout: n.Kubelet.CallTimeout()}
	p, err := pleg.New(n.Kubelet.Version)
	b.podLists = err != nil || p.Has(pleg.InspectRelists)
	for i := range n.Failures {
		if f := &n.Failures[i]; f.End != 0 && b.relistCall(f) {
			b.calls = append(b.calls, i)
		}
	}
	host.Arrange(b.calls, func(x, y int) int { return cmp.Compare(n.Failures[x].End, n.Failures[y].End) })
	return b
}

// goLines returns the lines that only the relist goroutine writes. "Retrieved pods from
// runtime" is not one of them: garbage collection lists all pods too.
func goLines(n *replay.Node) []goLine {
	index := n.Index()
	lines := make([]goLine, 0, index.Count(host.KindGoroutine))
	index.Each(host.KindGoroutine, func(_ int, e *parse.Event, k host.Kinds) {
		if e.Basis != parse.NoTime && (k&host.KindRetrieved == 0 || k&host.KindRelisting != 0) {
			lines = append(lines, goLine{e.At, e, e.Is(parse.SigWriteStatus)})
		}
	})
	host.Arrange(lines, func(x, y goLine) int { return cmp.Compare(x.at, y.at) })
	return lines
}

// relistCall reports whether the relist goroutine makes such calls: unfiltered lists,
// and list and status calls about one pod.
func (b *blamer) relistCall(f *replay.Failure) bool {
	switch f.Call {
	case "ListPodSandbox", "ListContainers":
		return f.Scope == "all" || f.Scope == "pod" && b.podLists
	case "PodSandboxStatus", "ContainerStatus":
		return true
	}
	return false
}

// owners maps IDs to pods, from events and history. Only the first call does work.
func (b *blamer) owners() {
	if b.owned {
		return
	}
	b.owned = true
	interned, events := b.n.Interned, b.n.Observed.Len()
	b.owner, b.uids = table.NewByString[host.PodID](interned, events+b.n.History.Len()), host.NewByPod[parse.StringID](interned, events)
	seen := func(yield func(of host.EventPod, data parse.StringID)) {
		table := host.EventTableOf(b.n.Observed)
		for i := 0; table != nil && i < events; i++ {
			e := &table.Rows[b.n.Observed.Row(i)]
			if of := table.Pod(e); of.Pod != (host.PodID{}) {
				yield(of, e.Data)
			}
		}
	}
	seen(func(e host.EventPod, data parse.StringID) { *b.owner.At(data), *b.uids.At(e.Pod) = e.Pod, e.UID })
	pods := table.NewByString[host.PodID](interned, events) // by the UID that the pod had last
	seen(func(e host.EventPod, _ parse.StringID) { *pods.At(b.uids.Get(e.Pod)) = e.Pod })
	h, ok := b.n.History.Source().(*host.HistoryTable)
	if !ok {
		return
	}
	for i := range h.Moves {
		o := h.Objects.At(h.Moves[i].Object)
		owner := b.owner.At(o.ID)
		if *owner != (host.PodID{}) {
			continue
		}
		if pod := cmp.Or(o.Pod(), pods.Get(o.PodUID), host.PodID{Name: o.PodUID}); pod != (host.PodID{}) {
			*owner = pod
			if uid := b.uids.At(pod); *uid == 0 {
				*uid = o.PodUID
			}
		}
	}
}

// ownerOf returns the pod of a container or sandbox, "" if unknown.
func (b *blamer) ownerOf(id string) string {
	if id == "" {
		return ""
	}
	b.owners()
	return b.owner.Get(b.n.Interned.OfString(id)).Text(b.n.Interned)
}

// uidOf returns the UID of a pod, "" if unknown.
func (b *blamer) uidOf(pod string) string {
	if pod == "" {
		return ""
	}
	b.owners()
	return b.n.Interned.Text(b.uids.Get(host.PodOfText(b.n.Interned, pod)))
}

// relist divides one relist.
func (b *blamer) relist(i int) Blame {
	r := &b.n.Relists[i]
	total, ended := b.n.Lasted(i)
	out := Blame{Relist: i, Total: total, List: -1, Inspect: -1}
	from, to := r.Start.At, r.Start.At+int64(total)
	switch {
	case ended:
	case r.Outcome == replay.OutcomeHung:
		out.Notes = append(out.Notes, "nothing shows that the relist ended: its length is a lower bound")
	default:
		out.Notes = append(out.Notes, "start and end are known roughly: the length is a lower bound")
	}
	listEnd := from
	switch {
	case r.FailedToList():
		out.List, listEnd = total, to
	case r.ListEnd.Known():
		listEnd = min(r.ListEnd.At, to)
		out.List = time.Duration(listEnd - from)
		out.Inspect = total - out.List
	}
	calls := b.failed(from, to)
	pods := b.inspections(listEnd, to, calls)
	out.ByPod = shares(pods, func(s *segment) (string, string) { return s.pod, s.uid })
	out.ByOperation = b.operations(&out, calls, pods, from, listEnd)
	covered := slices.Concat(calls, pods)
	if out.List > 0 {
		covered = append(covered, segment{from: from, to: listEnd})
	}
	out.Unexplained = max(total-union(covered), 0)
	b.byHistogram(&out)
	out.Notes = append(out.Notes, b.notes(&out, pods)...)
	return out
}

// failed returns the failed calls of the relist goroutine within an interval. The
// goroutine makes one call at a time, so a call that would overlap the one before is
// somebody else's.
func (b *blamer) failed(from, to int64) []segment {
	slack := int64(2 * time.Millisecond)
	i := sort.Search(len(b.calls), func(i int) bool { return b.n.Failures[b.calls[i]].End > from })
	var out []segment
	busy := from - int64(time.Second)
	for ; i < len(b.calls) && b.n.Failures[b.calls[i]].End <= to+slack; i++ {
		f := &b.n.Failures[b.calls[i]]
		if !f.Start.Known() || f.Start.At < busy-int64(f.Start.Slack)-int64(50*time.Millisecond) {
			continue
		}
		s := segment{from: max(f.Start.At, from), to: min(f.End, to), op: replay.OperationType(f.Call), err: true, timeout: true, ev: f.Evidence}
		s.pod = cmp.Or(f.Pod, b.ownerOf(f.ObjectID()))
		s.uid = cmp.Or(f.PodUID(), b.uidOf(s.pod))
		s.pod = cmp.Or(s.pod, f.PodUID())
		out = append(out, s)
		busy = s.to
	}
	return out
}

// inspections returns the intervals in which pods were inspected: each ends with a
// "Write status" line and begins with the line before it. If the log shows only
// failures, a failure that timed out began one timeout earlier, and calls that name
// their pod count as its inspection.
func (b *blamer) inspections(from, to int64, calls []segment) []segment {
	var out []segment
	i := sort.Search(len(b.lines), func(i int) bool { return b.lines[i].at > from-int64(time.Millisecond) })
	prev, chatty := from, b.n.Kubelet.Verbosity >= 4
	for ; i < len(b.lines) && b.lines[i].at <= to+int64(5*time.Millisecond); i++ {
		l := &b.lines[i]
		chatty = chatty || l.ev.Is(parse.SigTransition)
		if l.pod {
			if s, ok := b.inspection(l, prev, chatty); ok {
				out = append(out, s)
			}
		}
		prev = max(prev, l.at)
	}
	for _, c := range calls {
		if c.pod != "" && !overlaps(out, &c) {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(x, y segment) int { return cmp.Compare(x.from, y.from) })
	return out
}

func (b *blamer) inspection(l *goLine, prev int64, chatty bool) (segment, bool) {
	f := host.Fields(l.ev.Fields())
	s := segment{from: prev, to: l.at, pod: host.PodName(f.Get("pod_ns"), f.Get("pod_name")), err: f.Get("err") != "", ev: []replay.Evidence{{Record: l.ev}}}
	s.uid = cmp.Or(f.Get("pod_uid"), b.uidOf(s.pod))
	s.timeout = s.err && replay.TimedOut(f.Get("err"))
	if s.timeout && b.timeout > 0 {
		s.from = max(s.from, l.at-int64(b.timeout)-int64(time.Second))
	} else if !chatty {
		return s, false // the line before may be arbitrarily old
	}
	return s, s.to > s.from
}

func overlaps(in []segment, c *segment) bool {
	return slices.ContainsFunc(in, func(s segment) bool { return s.from < c.to && c.from < s.to })
}

// operations attributes the list phase, the failed calls, and the rest of the
// inspections to runtime operations.
func (b *blamer) operations(out *Blame, calls, pods []segment, from, listEnd int64) []Share {
	segs := slices.Clone(calls)
	if out.List > 0 && !overlaps(calls, &segment{from: from, to: listEnd}) {
		segs = append(segs, segment{from: from, to: listEnd, op: listCalls, ev: b.n.Relists[out.Relist].Evidence})
	}
	for _, p := range pods {
		if !overlaps(calls, &p) {
			p.op = "status calls of one pod each"
			segs = append(segs, p)
		}
	}
	return shares(segs, func(s *segment) (string, string) { return s.op, "" })
}

// maxShareEvidence bounds the records quoted by one share.
const maxShareEvidence = 5

// shares sums segments by name, longest first.
func shares(segs []segment, name func(*segment) (what, id string)) []Share {
	at := make(map[string]int)
	var out []Share
	for i := range segs {
		s := &segs[i]
		what, id := name(s)
		if what == "" {
			continue
		}
		k, ok := at[what]
		if !ok {
			k = len(out)
			at[what] = k
			out = append(out, Share{What: what, ID: id})
		}
		out[k].Took += time.Duration(s.to - s.from)
		out[k].Calls++
		if s.timeout {
			out[k].TimedOut++
		}
		if len(out[k].Evidence) < maxShareEvidence {
			out[k].Evidence = append(out[k].Evidence, s.ev...)
		}
	}
	slices.SortStableFunc(out, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Took, a.Took), cmp.Compare(a.What, b.What))
	})
	return out
}

// union returns the total length of the segments, counting overlaps once.
func union(segs []segment) time.Duration {
	slices.SortFunc(segs, func(a, b segment) int { return cmp.Compare(a.from, b.from) })
	var sum, end int64
	for _, s := range segs {
		if s.to > max(end, s.from) {
			sum += s.to - max(end, s.from)
			end = s.to
		}
	}
	return time.Duration(sum)
}

// notes explains the figures.
func (b *blamer) notes(out *Blame, pods []segment) []string {
	var notes []string
	for _, s := range out.ByPod {
		if s.TimedOut == 0 {
			continue
		}
		after := ""
		if b.timeout > 0 {
			after = " after " + parse.Short(b.timeout)
		}
		notes = append(notes, fmt.Sprintf("inspecting %s timed out%s %s", s.What, after, timesWord(s.TimedOut)))
		if k := &b.n.Kubelet; s.TimedOut > 1 {
			switch pleg.Deadlines(cmp.Or(k.Version, k.VersionMin), cmp.Or(k.Version, k.VersionMax)) {
			case 1:
				notes = append(notes, "this kubelet inspects a pod whose inspection failed once in each later relist: N stuck pods hold it N timeouts")
			case 2:
				notes = append(notes, "this kubelet inspects a pod whose inspection failed twice in each later relist: N stuck pods hold it 2·N timeouts")
			}
		}
	}
	if n := len(pods); n >= 10 && out.ByPod[0].TimedOut == 0 {
		notes = append(notes, fmt.Sprintf("%d inspections ran serially, %s each on average: no single pod explains the relist",
			n, parse.Short(union(slices.Clone(pods))/time.Duration(n))))
	}
	if out.Unexplained > out.Total/10 {
		notes = append(notes, "the log's verbosity does not show what the unexplained part went into; -v=4 names each inspected pod")
	}
	return notes
}

func timesWord(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}
