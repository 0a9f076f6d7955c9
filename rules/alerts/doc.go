// Package alerts evaluates Prometheus rule files over a bundle: which alerts
// would have fired, when, and which could not have, because what they look at
// is missing, saturated or silent just when it matters.
//
// Groups are evaluated as a server does, rule after rule at each interval,
// with recording rules, "for", "keep_firing_for" and templates. No server is
// needed: one range query per rule and a state machine per alert give the same
// answer.
package alerts
