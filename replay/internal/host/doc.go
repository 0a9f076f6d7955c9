// Package host holds the records of one node and puts the bulk of its log lines into
// packed tables: groups of lines, pod events reported by the kubelet, container history,
// and calls logged by the runtime. It draws no conclusions about relists.
package host
