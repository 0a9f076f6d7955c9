package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// How far the heap may grow between two garbage collections: by room, and by a percentage of the
// live heap. What is kept of a log lives until the end of the run, so collecting a large heap frees
// little; collecting a small one, while signatures are compiled, frees what would do no harm.
const (
	heapRoom = 18 << 20 // bytes
	heapPart = 18       // percent
	heapMost = 48 << 20 // bytes that heapPart is at most: beyond, memory is scarcer than time
)

// What is made of the records after reading is smaller than they are, and made once. One collection
// in between, of the garbage of reading and rebuilding, makes room for the rest; more would scan
// all records to free little. If the records leave room for all of it, there is none.
const (
	restRoom   = 16 << 20
	wholeRest  = 32 << 20
	mostBeside = 64 << 20 // bytes of records up to which the whole rest fits
)

// A series takes some 350 bytes, mostly pointers, so scanning it costs more than scanning the text
// of a line. Therefore the heap may grow by loadRoom more per series. What PromQL makes of a series
// (its labels in one piece, where it is found, and a value) takes as much again and lives as long.
const (
	loadRoom   = 120
	seriesRoom = 320
)

// Names are learned of all records, and many of them are a large part of the heap.
const (
	namesRoom   = 56 << 20
	manyToLearn = 20_000
)

// Most runs end after a dozen collections. One that does not keeps many records, and each more
// collection would scan them all. So from then on each lets the heap grow by a little more than the
// one before, up to a size at which memory is scarcer than time.
const (
	usual     = 16      // collections
	laterStep = 4 << 20 // bytes of growth for each collection beyond
	laterMost = 160 << 20
	laterHeap = 400 << 20 // bytes of the heap up to which it grows by that
)

var (
	room    atomic.Int64  // bytes by which the heap may grow now
	next    atomic.Uint64 // bytes of the heap at which the next collection begins
	largest atomic.Uint64 // bytes of the largest heap that was collected
)

// governHeap sets the pace of the garbage collector after each collection, unless GOGC is set.
func governHeap() {
	room.Store(heapRoom)
	if os.Getenv("GOGC") == "" {
		setPace(4<<20, heapPercent(4<<20, heapRoom)) // where Go starts
		afterCollection(1)
	}
}

// collected is garbage as soon as it is allocated: its cleanup runs after the next collection.
type collected struct{ _ [16]byte }

// afterCollection sets the pace after the nth collection and all later ones.
func afterCollection(n int) {
	runtime.AddCleanup(new(collected), func(struct{}) {
		live := liveHeap()
		largest.Store(max(largest.Load(), next.Load()))
		setPace(live, max(heapPercent(live, int(room.Load())), againPercent(live, largest.Load()), laterPercent(live, n)))
		afterCollection(n + 1)
	}, struct{}{})
}

// liveHeap returns the bytes that the last collection has kept.
func liveHeap() uint64 {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return live[0].Value.Uint64()
}

// setPace lets the heap grow from live bytes by a percentage of them until the next collection.
func setPace(live uint64, percent int) {
	next.Store(live + live*uint64(percent)/100)
	debug.SetGCPercent(percent)
}

// roomForRest is called when the inputs are read; it lets the heap grow by what the rest of the run
// needs. held is the size of the heap in bytes.
func roomForRest(held uint64) {
	room.Store(restRoom)
	if os.Getenv("GOGC") != "" {
		return
	}
	live := liveHeap()
	setPace(live, restPercent(live, held))
}

// roomForSeries lets the heap grow by what a query allocates for n series. Scanning all of them
// again and again meanwhile would free little.
func roomForSeries(n int) {
	more := int64(n) * seriesRoom
	if more < restRoom || os.Getenv("GOGC") != "" {
		return
	}
	room.Add(more)
	live := liveHeap()
	setPace(live, heapPercent(live, int(room.Load())))
}

// roomForNames lets the heap grow by what is made of many records to learn the names in them. It is
// garbage right away, but the names are not.
func roomForNames(a *model.Analysis) {
	n := 0
	for i := range a.Nodes {
		n += len(a.Nodes[i].Events)
	}
	if n >= manyToLearn {
		room.Store(max(room.Load(), namesRoom))
	}
}

// restPercent returns the growth in percent, relative to live bytes, at which the heap exceeds the
// held bytes by what the rest of the run may need.
func restPercent(live, held uint64) int {
	room := uint64(restRoom)
	if held <= mostBeside {
		room = wholeRest
	}
	return int((held + room - min(live, held)) * 100 / max(live, 1<<20))
}

// againPercent returns the growth in percent, relative to live bytes, at which the heap is three
// quarters as large as it was at most. Its pages are still there, so that costs no memory.
func againPercent(live, largest uint64) int {
	most := largest / 4 * 3
	return int((most - min(live, most)) * 100 / max(live, 1<<20))
}

// laterPercent returns the growth in percent that live bytes may have after the nth collection
// because there were many.
func laterPercent(live uint64, n int) int {
	more := uint64(min(max(n-usual, 0)*laterStep, laterMost))
	return int(min(more, laterHeap-min(live, laterHeap)) * 100 / max(live, 1<<20))
}

// heapPercent returns the growth in percent that live bytes may have.
func heapPercent(live uint64, room int) int {
	return int((min(live*heapPart/100, heapMost) + uint64(room)) * 100 / max(live, 1<<20))
}
