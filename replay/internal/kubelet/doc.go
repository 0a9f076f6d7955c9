// Package kubelet reads what the lines of one node's kubelet tell: its processes,
// the lines of its relist goroutine and of its sync loop, the ages that it states,
// the calls that failed, its version and settings; and where its log is complete, so
// that a missing line proves something. It dates no relist.
package kubelet
