// Package snapshots derives what snapshots of the kubelet's metrics prove: how many
// relists and runtime calls ended between two of them and how long they took, which
// single relist that was, and how late relists began. From the log it uses only the
// failed calls, which the counters may already include.
package snapshots
