package assign

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// quotes finds lines in which another program repeats what a kubelet wrote, such as a log shipper, an alert or the
// record of a command. Beside the lines of a node's own kubelet they say nothing about the node: they may be of any
// kubelet, of any time, or made up. What a container prints says so beside the lines of any kubelet.
type quotes struct {
	own   map[*host.Records]map[string]bool // the identifiers under which the node's own kubelet writes
	files map[*parse.File]bool              // with lines of any kubelet
	asked map[quoteKey]bool
}

type quoteKey struct {
	node *host.Records
	kind *parse.EventKind
}

func newQuotes(a *assigner) *quotes {
	q := &quotes{map[*host.Records]map[string]bool{}, map[*parse.File]bool{}, map[quoteKey]bool{}}
	for _, c := range a.s.b.Coverage {
		if c.Origin.Source == parse.SrcKubelet && c.Origin.PID != 0 {
			n := a.ofLine(c.File, c.Origin)
			if q.own[n] == nil {
				q.own[n] = map[string]bool{}
			}
			q.own[n][c.Origin.Ident], q.files[c.File] = true, true
		}
	}
	return q
}

// unquoted returns the lines without those that only quote a kubelet. The bundle gets a note for each file that
// has such lines.
func (a *assigner) unquoted(events []*parse.Event) []*parse.Event {
	q := newQuotes(a)
	first, lines := map[*parse.File]*parse.Event{}, map[*parse.File]int{}
	quoted := func(e *parse.Event) bool {
		return e.Origin.Source != parse.SrcKubelet && a.moved[e] == nil && q.holds(a.ofLine(e.File, e.Origin), e)
	}
	if !slices.ContainsFunc(events, quoted) {
		return events
	}
	var files []*parse.File
	kept := slices.DeleteFunc(slices.Clone(events), func(e *parse.Event) bool {
		if !quoted(e) {
			return false
		}
		if e.Is(parse.SigQuoted) {
			return true // noted when it was read
		}
		if lines[e.File]++; lines[e.File] == 1 {
			files, first[e.File] = append(files, e.File), e
		}
		return true
	})
	for _, f := range files {
		a.s.b.Warnings = append(a.s.b.Warnings, parse.Warning{Pos: first[f].Where(), Note: true, Msg: fmt.Sprintf(
			"lines of other programs, or of no known time and writer, look like those of a kubelet, of whichever node, beside the log of this node's kubelet: left out: %s of this file, from this one on", parse.Plural(lines[f], "line"))})
	}
	return kept
}

// holds reports whether a line, which is not the kubelet's, only quotes one.
func (q *quotes) holds(n *host.Records, e *parse.Event) bool {
	if q.own[n] == nil && (e.File.Container == "" || len(q.own) == 0) {
		return false
	}
	k := quoteKey{n, e.EventKind}
	quote, known := q.asked[k]
	if !known {
		quote = q.other(n, e.EventKind) && repeats(e.EventKind)
		q.asked[k] = quote
	}
	// What the API holds about a node is repeated as it is.
	return quote && !(e.Is(parse.SigNodeEvent) && strings.HasPrefix(strings.TrimSpace(e.Message()), "Node "))
}

// other reports whether a line is of a program that is not part of the kubelet. Lines without any writer may be its own,
// but not those of another file; lines of dumps and of commands have no writer. The logs
// of k3s and its like are of one process with the kubelet, and cri-dockerd was one with it.
func (q *quotes) other(n *host.Records, k *parse.EventKind) bool {
	o := k.Origin
	switch o.Source {
	case parse.SrcKubeEvents, parse.SrcFacts, parse.SrcStack, parse.SrcMetrics:
		return false
	case parse.SrcUnknown:
		if o.Ident == "" && !k.Headed && (k.Sigs.Timeless() || q.files[k.File]) {
			return false
		}
	}
	return o.Ident != parse.IdentAbout && !(o.Ident != "" && q.own[n][o.Ident]) && !strings.HasPrefix(o.Ident, "cri-dockerd")
}

// repeats reports whether only a kubelet writes such lines itself. The node controller writes the same about events,
// with the source file as in all its lines.
func repeats(k *parse.EventKind) bool {
	return slices.ContainsFunc(k.Sigs.Sigs, func(g *parse.Sig) bool {
		if g.ID == parse.SigNodeEvent {
			return k.Caller == ""
		}
		return strings.HasPrefix(g.ID, "pleg.") || slices.Contains(g.Sources, parse.SrcKubelet) && !slices.Contains(g.Sources, k.Origin.Source)
	})
}
