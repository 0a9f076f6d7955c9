package journal

// callers caches the callers of recent klog headers: nearly all lines of a kubelet
// come from a few dozen.
type callers [1 << callerBits]callerText

const callerBits = 6

// callerText is the part of a klog header after the time: the PID and the caller,
// with the closing bracket.
type callerText struct {
	head
	pid  int
	from int // start of the caller in a header
}

// of returns the slot for a caller that begins with these two words.
func (c *callers) of(v, w uint64) *callerText {
	return &c[(v^w*3)*0x9E3779B97F4A7C15>>(64-callerBits)]
}

// learn caches the header of a klog line with that PID. Its caller is msg[i:end],
// and the bracket is at end.
func (c *callers) learn(msg []byte, i, end, pid int) {
	if len(msg) >= i+16 {
		t := c.of(eight(msg[i:]), eight(msg[i+8:]))
		t.pid, t.from = pid, i
		t.set(msg[klogTime : end+1])
	}
}
