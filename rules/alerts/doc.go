// Package alerts evaluates Prometheus rule files over a bundle: which alerts would have fired,
// when, and which could not have, because their metrics are missing, saturated or silent just when
// it matters.
//
// Groups are evaluated as by a Prometheus server: each at its own interval and all in order of
// time, with recording rules, staleness markers, "for", "keep_firing_for", ALERTS and templates.
// The same stepper runs the unit tests of package promtest. A rule whose inputs are complete before
// it is evaluated is computed by a single range query, which gives the same values. A property test
// compares the results with those of Prometheus' rule manager.
//
// The built-in rules that a server can run can be exported, with their tests.
package alerts
