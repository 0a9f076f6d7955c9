// Package relist tells what the kubelet did: from the estimators of single relists
// (lines of the relist goroutine, ages, errors, pod events, metrics) one merger makes
// the ledger; episodes and recovery follow from it and from the lines. Each result is a
// function of those before it.
package relist
