package pause

import (
	"slices"
	"sort"
	"time"

	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
)

// StartUp is how long a kubelet may take for its first relist. Within it, "yet to be successful" is the normal
// transient of every start.
const StartUp = 60 * time.Second

// Never is a time, by one setting of the clock, over which lines of one process say that no relist had succeeded.
type Never struct {
	From  int64            // when its process started or the first line was written, Unix ns
	Lines []kubelet.Saying // oldest first
	Doubt time.Duration    // how much of it may never have passed, because the clock was set forward
	to    int64            // the time of the last line
	loop  int              // how many more lines follow each other as those of a skipping loop do than do not
}

// Ends returns the first and the last line.
func (n *Never) Ends() (first, last kubelet.Saying) { return n.Lines[0], n.Lines[len(n.Lines)-1] }

// Long reports whether it lasted longer than a start may take.
func (n *Never) Long() bool { return n.passed() > StartUp }

func (n *Never) passed() time.Duration { return time.Duration(n.to-n.From) - n.Doubt }

// add adds the next line.
func (n *Never) add(s *kubelet.Log, l kubelet.Saying) {
	n.loop++
	if d := s.Quiet(n.to, l.At); d > int64(kubelet.BackoffMax+kubelet.BackoffLate) {
		n.Doubt += time.Duration(d) - kubelet.BackoffMax
		n.loop -= 2
	}
	n.Lines, n.to = append(n.Lines, l), l.At
}

// Nevers divides lines by which no relist of a process had succeeded, oldest first, where the clock was set back. from is
// when the process started, 0 if unknown. The loop that writes them pauses for at most BackoffMax: in a longer silence of
// the whole log either lines were lost or the clock was set forward, as it often is soon after a machine has started.
func Nevers(s *kubelet.Log, lines []kubelet.Saying, from int64) (out []Never) {
	for _, l := range lines {
		k := slices.IndexFunc(out, func(n Never) bool { return s.SameClock(n.Lines[0].Line, l.Line) })
		if k < 0 {
			at := l.At
			if from != 0 {
				lo, _ := s.Shown(l.Line, from, at)
				at = min(lo, at)
			}
			k, out = len(out), append(out, Never{From: at, to: at})
		}
		out[k].add(s, l)
	}
	for k := range out {
		if out[k].loop <= 0 { // an excerpt: most of its silences are lines that were left out
			out[k].Doubt = 0
		}
	}
	return out
}

// LongestNever returns the longest of them. Lines of unknown processes are of one only up to the next break, in Unix ns.
func LongestNever(s *kubelet.Log, lines []kubelet.Saying, from int64, breaks []int64) (best Never, ok bool) {
	for len(lines) > 0 {
		n := len(lines)
		if i, _ := slices.BinarySearch(breaks, lines[0].At+1); i < len(breaks) {
			n = sort.Search(n, func(k int) bool { return lines[k].At >= breaks[i] })
		}
		for _, x := range Nevers(s, lines[:n], from) {
			if !ok || x.passed() > best.passed() {
				best, ok = x, true
			}
		}
		lines = lines[n:]
	}
	return best, ok
}
