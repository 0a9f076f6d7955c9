// Package promtest runs unit tests of Prometheus rules: test files in the
// format of "promtool test rules", with the engine and the rule files that
// package alerts reads. It gives the verdicts that promtool gives.
//
// Other than over a bundle, where one range query per rule is enough, groups
// are evaluated step by step, each rule seeing what the ones before it wrote:
// a test may be about just that.
//
// The package reads no file: the caller finds the rule files that a test file
// names. The command "rules test" calls it.
package promtest
