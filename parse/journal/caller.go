package journal

// callers are the callers of recent klog headers: a kubelet has a few dozen
// that write nearly all of its lines.
type callers [1 << callerBits]callerText

const callerBits = 6

// callerText is what a klog header says behind its time: its pid and the caller,
// with the bracket that closes it.
type callerText struct {
	head
	pid  int
	from int // where in a header the caller begins
}

// of returns where a caller that begins with these two words belongs.
func (c *callers) of(v, w uint64) *callerText {
	return &c[(v^w*3)*0x9E3779B97F4A7C15>>(64-callerBits)]
}

// learn remembers the header of a klog line of that pid: its caller stands from i
// to end, where the bracket is.
func (c *callers) learn(msg []byte, i, end, pid int) {
	if len(msg) >= i+16 {
		t := c.of(eight(msg[i:]), eight(msg[i+8:]))
		t.pid, t.from = pid, i
		t.set(msg[klogTime : end+1])
	}
}
