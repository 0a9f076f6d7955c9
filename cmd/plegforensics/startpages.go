package main

import "runtime/metrics"

// manyRecords is the size of the records from which on the program's own pages matter.
const manyRecords = 32 << 20 // bytes

// trimProgram releases pages of the executable once the inputs are read: most of what hundreds of
// packages touch during startup is not needed again. The system maps pages again when they are
// used.
func trimProgram() {
	held := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	if metrics.Read(held); held[0].Value.Uint64() >= manyRecords {
		roomForRest(held[0].Value.Uint64())
		go dropProgramPages()
	}
}
