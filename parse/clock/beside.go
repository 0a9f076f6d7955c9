package clock

// Of a file with very many events several stretches are looked at beside each
// other, if the caller brings a runner for it: each as if it stood alone, and then
// put together in order, with the same result.
const (
	leastBeside = 16 << 10 // events of a stretch
	mostBeside  = 4        // stretches
)

// beside calls do with the bounds of stretches of n things, side by side, and
// returns when all are done. of is the number of the stretch, of as many as
// parts says.
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

// parts is how many stretches of n things are looked at beside each other.
func (o *Options) parts(n int) int {
	if o.Parallel == nil {
		return 1
	}
	if o.stretch > 0 {
		return max(1, n/o.stretch)
	}
	return max(1, min(n/leastBeside, mostBeside))
}
