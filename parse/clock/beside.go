package clock

// A file with very many events is processed in several parts in parallel, if the
// caller provides a runner: each part independently, then merged in order, with the
// same result as sequentially.
const (
	leastBeside = 16 << 10 // events of a part at least
	mostBeside  = 4        // parts
)

// beside splits n things into parts, calls do for each part with its number and
// bounds, possibly in parallel, and returns when all calls have returned. The
// number of parts is o.parts(n).
func (o *Options) beside(n int, do func(of, from, to int)) {
	k := o.parts(n)
	if k == 1 {
		do(0, 0, n)
		return
	}
	tasks := make([]func(), k)
	for i := range tasks {
		tasks[i] = func() { do(i, i*n/k, (i+1)*n/k) }
	}
	o.Parallel(tasks...)
}

// parts returns into how many parts n things are split.
func (o *Options) parts(n int) int {
	if o.Parallel == nil {
		return 1
	}
	if o.stretch > 0 {
		return max(1, n/o.stretch)
	}
	return max(1, min(n/leastBeside, mostBeside))
}
