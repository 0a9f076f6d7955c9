// Package metrics says what metric files say: Prometheus exposition text,
// OpenMetrics, protobuf, the JSON of the Prometheus API, promtool and
// VictoriaMetrics dumps, and (package metrics/tsdb) the blocks and the
// write-ahead log of a Prometheus server.
//
// Decode reads one file into a Part; a Set joins the Parts of a bundle into
// series and scrapes. The grammar of the formats is that of Prometheus' own
// parsers: this package adds what they lack on files found in the field:
// line numbers, going on after a damaged line, wrappings (markdown fences,
// HTTP headers, shell prompts, date lines), several snapshots in one file,
// error pages, and the time at which a snapshot was taken.
package metrics
