// Package promtest runs unit tests of Prometheus rules: test files in the
// format of "promtool test rules", with the engine and the rule files that
// package alerts reads. It gives the verdicts that promtool gives.
//
// The rules are evaluated by the stepper that package alerts runs over a bundle;
// here all groups are evaluated at every step, whatever their intervals, which
// is how the format has it.
//
// The package reads no file: the caller finds the rule files that a test file
// names. The command "rules test" calls it.
package promtest
