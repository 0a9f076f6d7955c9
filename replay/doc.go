// Package replay says what happened: it rebuilds, per node, the runs of the
// kubelet, the relist ledger, the episodes of unhealthiness and the history of
// containers from the records of a bundle. What follows from a node is told by
// packages audit, blame and simulate.
//
// What a log holds most of, pod events and what happened to containers, is kept
// as rows of numbers, texts as interned strings and lines as indexes, and read as Lists.
//
// It is pure: it reads no clock and does no I/O, and imports only parse and
// pleg. Every inferred time carries its uncertainty and the records that it
// follows from.
package replay
