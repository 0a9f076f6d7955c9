// Package simulate runs the reference PLEG over what a runtime held: listings
// that were recorded, or that the history of a node implies. It answers what
// would have happened under another kubelet, another runtime, or without a pod,
// and writes and reads the snapshots that it runs on.
package simulate
