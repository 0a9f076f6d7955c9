// Package query runs PromQL over a bundle: over the metric series that its
// files hold and over series derived from its logs, with the engine of
// Prometheus itself.
//
// Snapshots come without the labels that a Prometheus server attaches to a
// target. So that expressions and rule files written for one match, the store
// attaches job, metrics_path, instance and node as the common configurations
// do, unless the series has a label of that name; a series that misses from a
// later snapshot of its exporter becomes stale there; and each exporter gets
// an "up" series.
package query
