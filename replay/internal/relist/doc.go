// Package relist reconstructs relists, episodes and recovery. Several estimators date single relists (lines of
// the relist goroutine, last-seen ages, errors, pod events, metrics); one ledger merges them. Episodes and
// recovery follow from the ledger and the lines. Each result depends only on earlier ones.
package relist
