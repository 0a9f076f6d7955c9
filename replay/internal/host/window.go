package host

import "time"

// Window is the time span that the node's records cover.
type Window struct {
	Start, End    int64 // Unix ns, 0 unknown
	Lines         Span  // of log lines only, within [Start, End]; zero if there are none
	Timezone      string
	TimezoneBasis string
	YearBasis     string        // how the year was determined; "" if every line states it
	Step          time.Duration // largest step of the clock within the window, which makes its length meaningless; 0 if none
}

// SawStep notes a step of the clock.
func (w *Window) SawStep(d time.Duration) {
	if d.Abs() > w.Step.Abs() {
		w.Step = d
	}
}
