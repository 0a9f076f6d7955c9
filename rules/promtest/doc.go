// Package promtest runs unit tests of Prometheus rules: test files in the format of "promtool test
// rules", with the engine and the rule files of package alerts. Its verdicts are those of promtool.
//
// The rules are evaluated by the stepper of package alerts. As the format requires, all groups are
// evaluated at every step, whatever their intervals.
//
// The package reads no files: the caller finds the rule files that a test file names. It is used by
// the command "rules test".
package promtest
