package main

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// TestHeapPercent holds the pace of the collector to what it is for: a small heap
// has room, a large one does not grow by half.
func TestHeapPercent(t *testing.T) {
	for _, c := range []struct {
		live        uint64
		least, most uint64 // heap at the next collection
	}{{0, 16 << 20, 64 << 20}, {4 << 20, 18 << 20, 40 << 20}, {100 << 20, 130 << 20, 150 << 20}, {200 << 20, 245 << 20, 270 << 20}} {
		next := c.live + max(c.live, 1<<20)*uint64(heapPercent(c.live, heapRoom))/100
		if next < c.least || next > c.most {
			t.Errorf("%d MiB in use: next collection at %d MiB", c.live>>20, next>>20)
		}
	}
}

// TestRestPercent wants the heap to have its room from what it holds, whatever of
// it the collection before has seen.
func TestRestPercent(t *testing.T) {
	for _, c := range []struct{ live, held, room uint64 }{{50 << 20, 64 << 20, wholeRest}, {64 << 20, 64 << 20, wholeRest}, {70 << 20, 64 << 20, wholeRest},
		{60 << 20, 72 << 20, restRoom}, {72 << 20, 72 << 20, restRoom}, {400 << 20, 470 << 20, restRoom}} {
		next := c.live + c.live*uint64(restPercent(c.live, c.held))/100
		if want := max(c.held, c.live) + c.room; next > want || next < want-8<<20 {
			t.Errorf("%d of %d MiB in use: next collection at %d MiB", c.live>>20, c.held>>20, next>>20)
		}
	}
}

// TestGovernHeap wants the pace to follow the heap.
func TestGovernHeap(t *testing.T) {
	t.Setenv("GOGC", "")
	old := debug.SetGCPercent(100)
	defer debug.SetGCPercent(old)
	governHeap()
	held := make([]byte, 200<<20)
	for range 100 {
		runtime.GC()
		time.Sleep(10 * time.Millisecond) // the cleanup runs on its own
		now := debug.SetGCPercent(heapPercent(200<<20, heapRoom))
		debug.SetGCPercent(now)
		if now < heapPercent(100<<20, heapRoom) {
			runtime.KeepAlive(held)
			return
		}
	}
	t.Error("the pace did not change while 200 MiB were in use")
}
