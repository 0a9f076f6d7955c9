// Package exports lays out the exports of log services as one record a line.
//
// A log that was kept by a service comes back wrapped: Cloud Logging as YAML or
// as an array of objects, Loki as streams of pairs, Elasticsearch as hits,
// CloudWatch as events, others as CSV with columns of their own. What all of
// them hold is a message, the time, and who wrote it. NewReader finds these
// under the names that the services use and writes each record as a line of
// JSON under the names of journald, which package journal reads.
//
// Lines keep their numbers as far as they can: a record that spans lines in the
// export stands on the line of its message, among empty ones. Where several
// records share a line, as in JSON without line breaks, they are numbered on,
// and Line tells on which line of the export each stands.
//
// Memory is bounded: a record of more than maxRecord bytes is passed over.
package exports
