// Package journal strips the framing of log lines: journald in all its text and
// JSON forms and its export format, syslog, CRI and docker container logs,
// collectors' prefixes, pasted excerpts. The result is an Entry: who wrote the
// line, the clock of the framing, the clock of the message's own header, and the
// message.
//
// A file may mix framings, so each line is recognized by its own content. Only
// forms whose records span lines (export, verbose, json-pretty) and those whose
// lines make no sense by themselves (CSV) are determined once per file, from its
// head.
//
// The package is pure: bytes in, values out. It infers nothing: years and zones
// that a timestamp does not state remain open (parse.Clock).
package journal
