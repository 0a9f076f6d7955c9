package main

import "runtime/metrics"

// manyRecords is how much memory the records of the inputs must take for the
// pages of the program to matter beside them.
const manyRecords = 32 << 20 // bytes

// trimProgram gives back the pages of the program that nobody needs any more
// once the inputs are read: most of what hundreds of packages touch as they
// start is not touched again. What is, the system maps again as it is used.
func trimProgram() {
	held := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	if metrics.Read(held); held[0].Value.Uint64() >= manyRecords {
		roomForRest(held[0].Value.Uint64())
		go dropProgramPages()
	}
}
