// Package kubelet reads what one node's kubelet logged: its processes, the lines of its relist goroutine and
// sync loop, the ages it reports, the calls that failed, its version and settings. It also determines where the
// log is complete, so that a missing line proves something. It does not date relists.
package kubelet
