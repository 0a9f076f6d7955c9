// Package host sorts the records of a bundle by node, and what a node's lines
// say most of into packed tables: the classes of its lines, the pod events that
// the kubelet reported, what happened to containers, the calls that the runtime
// logged. It concludes nothing about relists.
package host
