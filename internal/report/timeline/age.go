package timeline

import "github.com/plegforensics/plegforensics/internal/report/model"

// Point is the age of the last relist that listed pods at a moment, in seconds;
// nil breaks the line: what comes next is not joined to what was.
type Point struct {
	At  model.Time
	Age *float64
}

// Age is the curve of that age: straight lines between the relists of the
// history, broken where it holds none.
func Age(n *model.Node) []Point {
	a := ager{n: n, threshold: -1}
	if t := n.Kubelet.Threshold; t != nil {
		a.threshold = *t
	}
	for i := range n.History.Relists {
		a.relist(&n.History.Relists[i])
	}
	a.episodes()
	return a.out
}

type ager struct {
	n         *model.Node
	threshold float64
	out       []Point
	last      model.Time // start of the last relist that listed pods
}

func (a *ager) add(at model.Time, age *float64) { a.out = append(a.out, Point{at, age}) }

func (a *ager) since(at model.Time) *float64 { return number(model.Seconds(at.Sub(a.last))) }

func (a *ager) relist(r *model.Relist) {
	if r.Listed == nil || !*r.Listed || r.Start == 0 {
		return
	}
	seen := r.Start
	if r.ListEnd != 0 {
		seen = r.ListEnd
	}
	if a.last != 0 {
		switch end := a.recovered(a.last, seen); {
		case end != 0: // a relist that no line dates ended the episode
			a.add(end, a.since(end))
			a.add(end, nil)
		case *a.since(seen) > a.threshold/4 && !a.inEpisode(a.last, seen):
			a.add(a.last, nil) // nothing proves that no relist ran in between
		default:
			a.add(seen, a.since(seen))
		}
	}
	a.add(seen, number(max(model.Seconds(seen.Sub(r.Start)), 0)))
	a.last = r.Start
}

// episodes draws what came after the last relist.
func (a *ager) episodes() {
	last := a.last
	for i := range a.n.Episodes {
		e := &a.n.Episodes[i]
		if e.LastRelistStart == 0 || e.LastRelistStart < last || e.LastReport <= last {
			continue
		}
		a.last = e.LastRelistStart
		end := max(e.LastReport, e.Recovered)
		a.add(end, a.since(end))
		if e.Recovered != 0 {
			a.add(end, number(0))
		}
	}
}

const second = model.Time(1e9)

// recovered is when the episode that began with the relist at from was over, if
// that was clearly before the next relist that the history holds.
func (a *ager) recovered(from, to model.Time) model.Time {
	for i := range a.n.Episodes {
		e := &a.n.Episodes[i]
		if at := e.Recovered; at > from && at+model.Time(model.Duration(e.RecoveredSlack))+second < to && e.LastRelistStart >= from-second && e.LastRelistStart < to {
			return max(at, e.LastReport)
		}
	}
	return 0
}

func (a *ager) inEpisode(from, to model.Time) bool {
	for i := range a.n.Episodes {
		e := &a.n.Episodes[i]
		if e.LastRelistStart >= from-second && e.LastRelistStart < to || e.Breach > from && e.Breach < to {
			return true
		}
	}
	return false
}
