// Package tsdb reads the database of a Prometheus server as it lies on disk:
// blocks, write-ahead log, out-of-order log and head chunks.
//
// It is pure: the files come as views that can be read anywhere, and nothing
// is opened, locked, mapped or written. Series keep their chunks packed, so
// that ten million samples take some tens of megabytes; the series from which
// relists are rebuilt are unpacked.
//
// Blocks are read with Prometheus' own index reader. The framing of the log is
// read here: unlike the server, which stops at the first damage, a forensic
// reader goes on at the next page.
package tsdb
