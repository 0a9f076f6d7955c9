// Package journal takes the framing off log lines: journald in all its text
// and JSON forms and its export format, syslog, CRI and docker container logs,
// collectors' prefixes, pasted excerpts. What is left is an Entry: who wrote
// the line, the clock of the framing, the clock of the message's own header,
// and the message.
//
// A file may mix framings, so each line is recognised by its own content; only
// forms whose records span lines (export, verbose, json-pretty) and those whose
// lines make no sense alone (CSV) are settled once per file, from its head.
//
// The package is pure: bytes in, values out. Nothing is inferred here: years
// and zones that a stamp does not tell stay open (parse.Clock).
package journal
