// Package parse is the vocabulary in which we say what a bundle says: where a
// fact stands (Pos), when it happened and how we know (Clock, Basis), and the
// kinds of record that the decoders produce.
//
// It holds no decoder and does no I/O. The decoders live in the packages below
// it (parse/journal, parse/logs, parse/metrics, parse/cri) and produce these
// types; parse/bundle opens inputs and runs the decoders; replay and rules
// consume the types. Nothing inferred is ever stored in a type of this package:
// inferences live in package replay and point back here.
package parse
