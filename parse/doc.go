// Package parse is the vocabulary for the content of a bundle: where a fact is
// (Pos), when it happened and how we know (Clock, Basis), and the kinds of records
// that the decoders produce.
//
// It contains no decoder and does no I/O. The decoders live in the packages below
// it (parse/journal, parse/logs, parse/metrics, parse/cri) and produce these types;
// parse/bundle opens inputs and runs the decoders; replay and rules consume the
// types. Nothing inferred is ever stored in a type of this package: inferences live
// in package replay and refer to these records.
// inferences live in package replay and point back here.
package parse
