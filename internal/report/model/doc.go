// Package model holds the v1 documents as Go structs with their JSON names. They are filled once,
// from the history of the nodes and the findings of the rules. Every string from an input is
// escaped and, if requested, redacted on the way in: nothing in a document can act on a terminal or
// a viewer, and a writer escapes only what the syntax of its own format requires.
//
// Lists that can be long are produced on demand; see Proof and Seq. The JSON Schemas of the
// documents are derived from the structs; see Documents.Schema.
package model
