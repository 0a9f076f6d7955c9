package pleg

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// genPod draws a pod whose ids overlap with those of its other sightings, and
// between containers and sandboxes.
func genPod(t *rapid.T, uid string) *Pod {
	p := &Pod{UID: uid}
	items := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Item {
		return Item{ID: rapid.StringMatching(`[a-e]`).Draw(t, "id"), State: Raw(rapid.IntRange(0, numRaw-1).Draw(t, "state"))}
	}), 0, 4)
	p.Containers = unique(items.Draw(t, "containers"))
	p.Sandboxes = unique(items.Draw(t, "sandboxes"))
	return p
}

func unique(items []Item) []Item {
	var out []Item
	for _, it := range items {
		if !slices.ContainsFunc(out, func(o Item) bool { return o.ID == it.ID }) {
			out = append(out, it)
		}
	}
	return out
}

// TestDiffProperties checks properties that follow from the transition table for
// any two sightings.
func TestDiffProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, cur := genPod(t, "p"), genPod(t, "p")
		if ev := Diff(old, old); ev != nil {
			t.Fatalf("a listing differs from itself: %v", ev)
		}
		events := Diff(old, cur)
		if got := diffLarge("p", old, cur, old.size()+cur.size()); fmt.Sprint(got) != fmt.Sprint(events) {
			t.Fatalf("large and small diff differ: %v, %v", got, events)
		}
		per := make(map[string][]EventType)
		for _, e := range events {
			per[e.Data] = append(per[e.Data], e.Type)
		}
		for id, types := range per {
			if want := Transition(old.state(id), cur.state(id)); !slices.Equal(types, want) {
				t.Fatalf("%s: %v, want %v", id, types, want)
			}
		}
		if gone := Diff(old, nil); len(gone) > 0 && gone[len(gone)-1].Type != ContainerRemoved {
			t.Fatalf("a pod that is gone: %v", gone)
		}
	})
}

// TestIncremental: a Machine given only the changes behaves like one given every
// pod each time.
func TestIncremental(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, err := New(rapid.SampledFrom(versions).Draw(t, "version"))
		if err != nil {
			t.Fatal(err)
		}
		p.Capacity = rapid.SampledFrom([]int{1, 3, 1000}).Draw(t, "capacity")
		some, all := NewMachine(p), NewMachine(p)
		world := make(map[string]*Pod)
		for i := range rapid.IntRange(1, 12).Draw(t, "relists") {
			l, full := Listing{Start: int64(i+1) * 1e9}, Listing{Start: int64(i+1) * 1e9}
			failing := rapid.SliceOf(rapid.SampledFrom([]string{"p", "q", "r"})).Draw(t, "failing")
			l.Inspect = func(uid string) Inspection {
				if slices.Contains(failing, uid) {
					return Inspection{Err: "x"}
				}
				return Inspection{}
			}
			full.Inspect = l.Inspect
			if rapid.IntRange(0, 5).Draw(t, "list fails") == 0 {
				l.Err, full.Err = "x", "x"
			}
			for _, uid := range []string{"p", "q", "r"} {
				if l.Err != "" {
					break
				}
				switch rapid.SampledFrom([]string{"same", "same", "changed", "gone"}).Draw(t, "what") {
				case "changed":
					world[uid] = genPod(t, uid)
					l.Changed = append(l.Changed, world[uid])
				case "gone":
					if world[uid] != nil {
						delete(world, uid)
						l.Gone, full.Gone = append(l.Gone, uid), append(full.Gone, uid)
					}
				}
				if world[uid] != nil {
					full.Changed = append(full.Changed, world[uid])
				}
			}
			a, b := some.Relist(l), all.Relist(full)
			if fmt.Sprint(a) != fmt.Sprint(b) {
				t.Fatalf("1.%d relist %d:\nchanges only %+v\nwhole listing %+v", p.Minor, i, a, b)
			}
			if some.Gauges != all.Gauges || a.Sent > p.Capacity && !p.Has(BlockingSend) {
				t.Fatalf("gauges %v, %v; sent %d", some.Gauges, all.Gauges, a.Sent)
			}
			if rapid.Bool().Draw(t, "drained") {
				some.Drain()
				all.Drain()
			}
		}
	})
}

// TestNothingLost checks the promise of the generator: if the channel has room and
// inspections succeed, the events give the state of every container.
func TestNothingLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, err := New(rapid.SampledFrom(versions).Draw(t, "version"))
		if err != nil {
			t.Fatal(err)
		}
		m := NewMachine(p)
		told := make(map[string]State)
		for i := range rapid.IntRange(1, 8).Draw(t, "relists") {
			pod := genPod(t, "p")
			for _, e := range m.Relist(Listing{Start: int64(i+1) * 1e9, Changed: []*Pod{pod}}).Events {
				switch e.Type {
				case ContainerStarted:
					told[e.Data] = Running
				case ContainerDied:
					told[e.Data] = Exited
				case ContainerRemoved:
					told[e.Data] = NonExistent
				case ContainerChanged:
					told[e.Data] = Unknown
				}
			}
			m.Drain()
			for _, id := range []string{"a", "b", "c", "d", "e"} {
				if got, want := told[id], pod.state(id); got != want {
					t.Fatalf("relist %d: events tell %s is %v, it is %v", i, id, got, want)
				}
			}
		}
	})
}

// BenchmarkRelist shows that the cost of a relist depends on the changes: of up to
// 100,000 pods with 10 containers each, 10 pods change.
func BenchmarkRelist(b *testing.B) {
	for _, pods := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("pods=%d", pods), func(b *testing.B) {
			p, err := New("v1.31.0")
			if err != nil {
				b.Fatal(err)
			}
			m := NewMachine(p)
			m.Capacity = 1 << 30
			all := make([]*Pod, pods)
			for i := range all {
				all[i] = &Pod{UID: fmt.Sprint(i)}
				for c := range 10 {
					all[i].Containers = append(all[i].Containers, Item{ID: fmt.Sprintf("%d-%d", i, c), State: RawRunning})
				}
			}
			m.Relist(Listing{Start: 1, Changed: all})
			n := 0
			for b.Loop() {
				l := Listing{Start: int64(n + 2)}
				for k := range 10 {
					old := all[(n*10+k)%pods]
					next := *old
					next.Containers = slices.Clone(old.Containers)
					st := RawExited
					if next.Containers[0].State == RawExited {
						st = RawRunning
					}
					next.Containers[0].State = st
					all[(n*10+k)%pods] = &next
					l.Changed = append(l.Changed, &next)
				}
				if r := m.Relist(l); len(r.Events) != 10 {
					b.Fatal(len(r.Events))
				}
				m.Drain()
				n++
			}
		})
	}
}
