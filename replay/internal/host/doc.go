// Package host assigns the records of a bundle to nodes and puts the bulk of a node's
// log lines into packed tables: groups of lines, pod events reported by the kubelet,
// container history, and calls logged by the runtime. It draws no conclusions about
// relists.
package host
