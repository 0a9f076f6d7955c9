package rules

import (
	"regexp"
	"slices"

	"github.com/plegforensics/plegforensics/parse"
)

// mostEnds is how many lines of a signature are looked at: in a loop they say the same.
const mostEnds = 64

// evalCrashed finds the lines with which a kubelet ends itself: a message of the Go
// runtime, a fatal line, or the stacks that klog prints after one. Stacks count for a kubelet
// that had begun its sync loop; before that they are a start that was given up. A kubelet
// that goes on writing has not ended: up to 1.20 the output of a container to a probe stands
// in its log line by line.
func evalCrashed(s *subject, _ map[string]string) outcome {
	var ends []*parse.Event
	for _, id := range []string{"go.crash", "kube.fatal", "go.fatal"} {
		for i, e := range s.inWindow(id) {
			if i == mostEnds {
				break
			}
			if e.From() != parse.SrcKubelet && !kubeletUnit().MatchString(e.Origin.Ident) {
				continue
			}
			if looped, ended := s.around(e); ended && (looped || id != "go.fatal") {
				ends = append(ends, e)
			}
		}
	}
	if len(ends) == 0 {
		return s.missed()
	}
	sortEvents(ends)
	o := found(events("", ends...)...).by(string(parse.SrcStack))
	o.count = len(ends)
	return o
}

// printedByContainer matches a line about the output of a container.
var printedByContainer = regexp.MustCompile(`[Pp]robe (?:for|failed|errored)|lifecycle [Hh]ook`)

// around reports whether the kubelet that wrote e had begun its sync loop, and whether e is
// among its last lines. Lines without a process ID belong to the process that wrote the one
// before.
func (s *subject) around(e *parse.Event) (looped, ended bool) {
	pid, at := e.Origin.PID, e.At
	var before *parse.Event
	var mine []*parse.Event
	for _, x := range s.n.Events {
		if x.File != e.File || x.From() != parse.SrcKubelet || !x.Headed {
			continue
		}
		if x.Line <= e.Line && (e.Origin.PID == 0 || x.Origin.PID == e.Origin.PID) {
			pid, at, before = x.Origin.PID, max(at, x.At), x
		}
		mine = append(mine, x)
	}
	ended = before == nil || e.At-before.At > second || !printedByContainer.MatchString(before.Quote())
	for _, x := range mine {
		if pid != 0 && x.Origin.PID != pid {
			continue
		}
		looped = looped || x.Line < e.Line && slices.ContainsFunc(loopSigs, x.Is)
		ended = ended && (x.Line < e.Line || x.At <= at+second)
	}
	return looped, ended
}

// evalStartedLater finds work of the sync loop after the last start that was given up. The
// container manager is started beside the sync loop, so a line of the same process within a
// second is none.
func evalStartedLater(s *subject, _ map[string]string) outcome {
	fails := s.sig("kube.startfail")
	if len(fails) == 0 {
		return notThere()
	}
	last := fails[len(fails)-1]
	for _, id := range loopSigs {
		es := s.sig(id)
		if len(es) == 0 {
			continue
		}
		if e := es[len(es)-1]; e.At > last.At+second || e.At >= last.At && e.Origin.PID != last.Origin.PID {
			return found(events("", e)...)
		}
	}
	return notThere()
}

// loopSigs are lines that the kubelet writes once its sync loop has begun.
var loopSigs = []string{parse.SigStarting, parse.SigEvent, parse.SigSkip}
