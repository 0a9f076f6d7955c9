// Package scenario makes up a node: pods, how fast its runtime answers, what changes
// and what hangs. It runs the reference PLEG over it and tells how long relists last
// and whether PLEG stays healthy. The same text gives the same run.
package scenario
