// Package snapshots reads what snapshots of the kubelet's metrics prove: how many
// relists and runtime calls ended between two of them and how long they took, which
// single relist that was, and how late relists began. It reads no line of a log but
// the failed calls that the counters may hold already.
package snapshots
