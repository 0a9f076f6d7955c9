package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// How far the heap may grow between two collections: by room, and by a part of
// what is in use. What is kept of a log lives to the end of the run, so that a
// collection of a large heap frees little of it; and one of a small heap, while
// the signatures are compiled, frees what would do no harm.
const (
	heapRoom = 18 << 20 // bytes
	heapPart = 18       // percent
)

// What is made of the records afterwards is smaller than they are, and made
// once: one collection meanwhile, of what reading the inputs and the rebuild took,
// makes room for what follows. More would look at all records to find little. Where
// the records leave room for all of it there is none.
const (
	restRoom   = 16 << 20
	wholeRest  = 32 << 20
	mostBeside = 64 << 20 // bytes of records that leave room for the whole rest
)

// What is read of a series takes some 350 bytes, most of it pointers: to look through
// them costs more than through the texts of as many lines. So the heap may grow by
// loadRoom more for each. What PromQL makes of a series, its labels in one piece, where
// it is found, and a value, takes as much again, and lives as long.
const (
	loadRoom   = 120
	seriesRoom = 320
)

// room is by how many bytes the heap may grow now.
var room atomic.Int64

// governHeap chooses the pace of the collector after each collection, unless
// the user did.
func governHeap() {
	room.Store(heapRoom)
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapPercent(4<<20, heapRoom)) // which is where Go begins
		afterCollection()
	}
}

// collected is garbage as soon as it is made: its cleanup runs after the next
// collection.
type collected struct{ _ [16]byte }

func afterCollection() {
	runtime.AddCleanup(new(collected), func(live []metrics.Sample) {
		metrics.Read(live)
		debug.SetGCPercent(heapPercent(live[0].Value.Uint64(), int(room.Load())))
		afterCollection()
	}, []metrics.Sample{{Name: "/gc/heap/live:bytes"}})
}

// roomForRest lets the heap grow from where it is when the inputs were read.
func roomForRest(held uint64) {
	room.Store(restRoom)
	if os.Getenv("GOGC") != "" {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetGCPercent(restPercent(live[0].Value.Uint64(), held))
}

// roomForSeries lets the heap grow by what a query makes of so many series. To look
// through all of them meanwhile, again and again, would find little.
func roomForSeries(n int) {
	more := int64(n) * seriesRoom
	if more < restRoom || os.Getenv("GOGC") != "" {
		return
	}
	room.Add(more)
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetGCPercent(heapPercent(live[0].Value.Uint64(), int(room.Load())))
}

// restPercent is the growth from so many live bytes at which the heap is as much
// beyond what it holds as the rest may take.
func restPercent(live, held uint64) int {
	room := uint64(restRoom)
	if held <= mostBeside {
		room = wholeRest
	}
	return int((held + room - min(live, held)) * 100 / max(live, 1<<20))
}

// heapPercent is the growth that so many live bytes may have, in percent.
func heapPercent(live uint64, room int) int {
	return heapPart + int(uint64(room)*100/max(live, 1<<20))
}
