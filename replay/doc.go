// Package replay says what happened: it rebuilds, per node, the runs of the
// kubelet, the relist ledger, the episodes of unhealthiness, the history of
// containers and the audit of pod lifecycle events from the records of a bundle.
//
// What a log holds most of, pod events and what happened to containers, is kept
// as rows of numbers, texts as Syms and lines as indexes, and read as Lists.
//
// It is pure: it reads no clock and does no I/O, and imports only parse and
// pleg. Every inferred time carries its uncertainty and the records that it
// follows from.
package replay
