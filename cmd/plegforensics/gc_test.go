package main

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// TestHeapPercent: a small heap has room to grow, a large one does not grow by half.
func TestHeapPercent(t *testing.T) {
	for _, c := range []struct {
		live        uint64
		least, most uint64 // heap at the next collection
	}{{0, 16 << 20, 64 << 20}, {4 << 20, 18 << 20, 40 << 20}, {100 << 20, 130 << 20, 150 << 20}, {200 << 20, 245 << 20, 270 << 20}, {380 << 20, 430 << 20, 447 << 20}} {
		next := c.live + max(c.live, 1<<20)*uint64(heapPercent(c.live, heapRoom))/100
		if next < c.least || next > c.most {
			t.Errorf("%d MiB in use: next collection at %d MiB", c.live>>20, next>>20)
		}
	}
}

// TestAgainPercent: what was collected makes room for three quarters of it, and a heap that is as
// large as ever has no more room.
func TestAgainPercent(t *testing.T) {
	for _, c := range []struct{ live, largest, least, most uint64 }{{238 << 20, 448 << 20, 320 << 20, 392 << 20}, {10 << 20, 20 << 20, 13 << 20, 18 << 20},
		{400 << 20, 420 << 20, 400 << 20, 400 << 20}, {0, 0, 0, 0}} {
		if next := c.live + c.live*uint64(againPercent(c.live, c.largest))/100; next < c.least || next > c.most {
			t.Errorf("%d MiB in use after %d: next collection at %d MiB", c.live>>20, c.largest>>20, next>>20)
		}
	}
}

// TestRestPercent: the heap has its room beyond what it holds, however much of that the last
// collection has seen.
func TestRestPercent(t *testing.T) {
	for _, c := range []struct{ live, held, room uint64 }{{50 << 20, 64 << 20, wholeRest}, {64 << 20, 64 << 20, wholeRest}, {70 << 20, 64 << 20, wholeRest},
		{60 << 20, 72 << 20, restRoom}, {72 << 20, 72 << 20, restRoom}, {400 << 20, 470 << 20, restRoom}} {
		next := c.live + c.live*uint64(restPercent(c.live, c.held))/100
		if want := max(c.held, c.live) + c.room; next > want || next < want-8<<20 {
			t.Errorf("%d of %d MiB in use: next collection at %d MiB", c.live>>20, c.held>>20, next>>20)
		}
	}
}

// TestRoomForSeries adds up the bytes scanned by collections while series are read, and while a
// query allocates as much again: each byte is scanned 2.5 times at most, however many series there
// are, and not at all if there are few.
func TestRoomForSeries(t *testing.T) {
	const each = 350 // bytes per series, and of what a query makes of it
	for _, n := range []int{1000, 64_000, 256_000, 1_000_000, 4_000_000} {
		looks, live := 0.0, 8<<20
		grow := func(to int, room func() int) {
			for {
				next := live + live*heapPercent(uint64(live), room())/100
				if next > to {
					return
				}
				live = next
				looks += float64(live)
			}
		}
		grow(8<<20+n*each, func() int { return heapRoom + (live-8<<20)/each*loadRoom })
		grow(8<<20+2*n*each, func() int { return restRoom + n*seriesRoom })
		if looks /= 2 * float64(n) * each; looks > 2.5 {
			t.Errorf("%d series: each byte is looked at %.1f times", n, looks)
		}
	}
}

// TestLaterPercent: after many collections the heap grows by more at a time, and never beyond a size
// for that.
func TestLaterPercent(t *testing.T) {
	for _, c := range []struct {
		live        uint64
		n           int
		least, most uint64
	}{{100 << 20, usual, 100 << 20, 100 << 20}, {100 << 20, usual + 10, 138 << 20, 140 << 20}, {200 << 20, usual + 100, 355 << 20, 360 << 20},
		{300 << 20, usual + 100, 395 << 20, 400 << 20}, {450 << 20, usual + 100, 450 << 20, 450 << 20}, {0, usual + 1, 0, 0}} {
		if next := c.live + c.live*uint64(laterPercent(c.live, c.n))/100; next < c.least || next > c.most {
			t.Errorf("%d MiB in use after %d collections: next collection at %d MiB", c.live>>20, c.n, next>>20)
		}
	}
}

// TestGovernHeap: the pace follows the size of the heap.
func TestGovernHeap(t *testing.T) {
	t.Setenv("GOGC", "")
	old := debug.SetGCPercent(100)
	defer debug.SetGCPercent(old)
	governHeap()
	held := make([]byte, 200<<20)
	for range 100 {
		runtime.GC()
		time.Sleep(10 * time.Millisecond) // the cleanup runs in its own goroutine
		now := debug.SetGCPercent(heapPercent(200<<20, heapRoom))
		debug.SetGCPercent(now)
		if now < heapPercent(100<<20, heapRoom) {
			runtime.KeepAlive(held)
			return
		}
	}
	t.Error("the pace did not change while 200 MiB were in use")
}

// TestRoomForNames: the heap may grow by more while names of many records are learned, however often
// that is asked for, and not for few.
func TestRoomForNames(t *testing.T) {
	old := room.Load()
	defer room.Store(old)
	room.Store(restRoom)
	a := &model.Analysis{Nodes: []model.Analyzed{{Node: new(replay.Node)}}}
	roomForNames(a)
	if room.Load() != restRoom {
		t.Errorf("%d bytes of room without a record", room.Load())
	}
	a.Nodes[0].Events = make([]*parse.Event, manyToLearn)
	for range 2 {
		if roomForNames(a); room.Load() != namesRoom {
			t.Errorf("%d bytes of room for many records", room.Load())
		}
	}
}
