// Package model holds what is said about the inputs: the v1 documents as Go
// structs with their JSON names, filled once from the history of the nodes and
// the findings of the rules. Every string from an input is made visible and,
// where asked for, redacted on the way in: nothing that writers see can act on
// a terminal or a viewer, and no writer needs to escape but for the syntax of
// its own format.
//
// Lists that can be long are filled when they are asked for: see Proof and Seq.
// Schemas of the documents are derived from the structs: see Schema.
package model
