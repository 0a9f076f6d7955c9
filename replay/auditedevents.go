package replay

import (
	"cmp"
)

// auditedEvents are the observed events and those that the audit added, by time,
// events of one moment by what they are about. They are sorted when they are
// first asked for: most reports only count them.
type auditedEvents struct {
	t        *eventTable
	observed PodEvents
	order    []int32 // rows, nil until they are sorted
}

func newAuditedEvents(t *eventTable, observed PodEvents) PodEvents {
	return PodEvents{from: &auditedEvents{t: t, observed: observed}, n: observed.Len() + len(t.rows) - t.observed}
}

func (a *auditedEvents) item(i int) PodEvent {
	a.sort()
	return a.t.item(int(a.order[i]))
}

func (a *auditedEvents) whole() []*PodEvent {
	a.sort()
	whole := a.t.whole()
	out := make([]*PodEvent, len(a.order))
	for i, row := range a.order {
		out[i] = whole[row]
	}
	return out
}

func (a *auditedEvents) sort() {
	if a.order != nil {
		return
	}
	rows := a.t.rows
	a.order = make([]int32, 0, a.observed.Len()+len(rows)-a.t.observed)
	for i := range a.observed.Len() {
		a.order = append(a.order, int32(a.observed.row(i)))
	}
	for i := a.t.observed; i < len(rows); i++ {
		a.order = append(a.order, int32(i))
	}
	byTime := func(x, y int32) int { return cmp.Compare(a.t.at(&rows[x]), a.t.at(&rows[y])) }
	arrange(a.order, byTime)
	for i := 0; i < len(a.order); {
		j := i + 1
		for j < len(a.order) && byTime(a.order[j], a.order[i]) == 0 {
			j++
		}
		arrange(a.order[i:j], func(x, y int32) int {
			return a.t.syms.Compare(rows[x].data, rows[y].data)
		})
		i = j
	}
}
