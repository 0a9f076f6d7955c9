// Package exports converts exports of log services to one record per line.
//
// Services wrap the lines of a log in their own formats: Cloud Logging in YAML or
// an array of objects, Loki in streams of pairs, Elasticsearch in hits, CloudWatch
// in events, others in CSV with columns of their own. All of them contain a
// message, the time, and the source. NewReader finds these by the names that the
// services use, and writes each record as a line of JSON with the field names of
// journald, which package journal reads.
//
// Line numbers are preserved as far as possible: a record that spans several lines
// of the export is written on the line of its message, among empty lines. If
// several records share a line, as in JSON without line breaks, they get
// consecutive lines; Line returns the line of the export for each.
//
// Memory is bounded: a record longer than maxRecord is skipped.
package exports
