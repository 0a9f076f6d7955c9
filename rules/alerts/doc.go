// Package alerts evaluates Prometheus rule files over a bundle: which alerts
// would have fired, when, and which could not have, because what they look at
// is missing, saturated or silent just when it matters.
//
// Groups are evaluated as a server does, each at its own interval and all in
// order of time, with recording rules, stale marks, "for", "keep_firing_for",
// ALERTS and templates. The same stepper runs the unit tests of package
// promtest. Rules whose inputs are complete when they are reached are worked out
// by one range query, which gives the same values. A property test holds all of
// it against the rule manager of Prometheus.
//
// The built-in rules that a server can run are exported, with their tests.
package alerts
