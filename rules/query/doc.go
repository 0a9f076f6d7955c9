// Package query runs PromQL over a bundle: over the metric series in its files and over series
// derived from its logs. It uses the Prometheus engine.
//
// Snapshots lack the labels that a Prometheus server attaches to a target. For existing expressions
// and rule files to match, the store attaches job, metrics_path, instance and node as common
// configurations do, unless the series has such a label. A series that is missing from a later
// snapshot of its exporter becomes stale there, and each exporter gets an "up" series.
package query
