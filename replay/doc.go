// Package replay says what happened: from the records of a bundle it rebuilds, per node, the runs of the
// kubelet, the relist ledger, the episodes of unhealthiness and the history of containers. Its subpackages,
// such as audit, blame and simulate, are functions of a node.
//
// The most numerous items, pod events and container history, are stored as rows of numbers, with interned
// strings and line indexes, and read through Lists.
//
// The package is pure: it reads no clock and does no I/O, and imports only parse, parse/facts, pleg and its own
// internal packages. Every inferred time carries its uncertainty and the records that it follows from.
package replay
