// Package scenario models a made-up node: its pods, the latency of its runtime, and
// what changes and hangs. It runs the reference PLEG on it and reports how long relists
// take and whether PLEG stays healthy. The same specification always gives the same
// run.
package scenario
