// Package metrics decodes metric files: Prometheus exposition text, OpenMetrics,
// protobuf, the JSON of the Prometheus API, promtool and VictoriaMetrics dumps, and
// (package metrics/tsdb) the blocks and the write-ahead log of a Prometheus server.
//
// Decode reads one file into a Part; a Set merges the Parts of a bundle into series
// and scrapes. Prometheus' own parsers define the formats. This package adds what
// files found in the field need: line numbers, recovery after damaged lines,
// wrapping text (markdown fences, HTTP headers, shell prompts, date lines), several
// snapshots in one file, error pages, and the time at which a snapshot was taken.
package metrics
