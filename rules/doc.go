// Package rules says why: it turns what replay rebuilt about a node into threshold breaches
// and ranked probable causes.
//
// It does no I/O. Causes are data (rules/causes/*.yaml) evaluated by one small engine; what
// data cannot express well is a named Go condition that the data refers to.
package rules
