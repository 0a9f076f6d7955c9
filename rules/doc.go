// Package rules says why: it turns what replay rebuilt about a node into
// threshold breaches and ranked probable causes.
//
// It is pure. Causes are data (rules/causes/*.yaml), run by one small engine;
// what data cannot say well is a named Go condition that the data refers to.
package rules
