// Package tsdb reads the database of a Prometheus server from its files: blocks,
// write-ahead log, out-of-order log and head chunks.
//
// It is pure: files are passed as random-access views; nothing is opened, locked,
// mapped or written. Chunks stay packed, so that ten million samples take some tens
// of megabytes; only the series from which relists are rebuilt are unpacked.
//
// Blocks are read with Prometheus' own index reader. The framing of the log is read
// here: the server stops at the first damage, this package continues at the next
// page.
package tsdb
