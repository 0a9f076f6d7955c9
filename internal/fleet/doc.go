// Package fleet finds what many bundles have in common. Reduce makes a small record of a bundle's
// report as soon as it is done, so that memory use does not grow with the size of the bundles.
// Partials carry records from shard to shard. Merge joins them in any order, any number of times,
// with the same result. A View is computed from records alone, and the writers render it. The
// package does no I/O of its own.
package fleet
