package pleg

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// A vector holds recorded listings and the results of a generator compiled from the
// kubelet's own sources, for one version of each family.
type vector struct {
	Name     string     `json:"name"`
	Capacity int        `json:"channel_capacity"`
	Relists  []vecInput `json:"relists"`
	Expect   []struct {
		Versions []string    `json:"kubelet_versions"`
		Relists  []vecOutput `json:"relists"`
	} `json:"expect"`
}

type vecInput struct {
	ListErr string   `json:"list_error"`
	Pods    []vecPod `json:"pods"`
	Inspect map[string]struct {
		Error string `json:"error"`
	} `json:"inspect"`
	Drained *bool `json:"drained"`
}

type vecPod struct {
	UID, Name, Namespace  string
	Sandboxes, Containers []struct {
		ID, Name, State string
		ExitCode        *int `json:"exit_code"`
	}
}

type vecOutput struct {
	Events    [][3]*string `json:"events"`
	Inspected []string     `json:"inspected"`
	Reinspect []string     `json:"reinspect"`
	Discarded int          `json:"discarded"` // value of the counter after this relist; it never resets
}

func (p vecPod) pod() *Pod {
	out := &Pod{UID: p.UID, Name: p.Name, Namespace: p.Namespace}
	for _, c := range p.Containers {
		st, _ := RawState(c.State)
		out.Containers = append(out.Containers, Item{ID: c.ID, Name: c.Name, State: st, ExitCode: c.ExitCode})
	}
	for _, s := range p.Sandboxes {
		st, _ := RawState(s.State)
		out.Sandboxes = append(out.Sandboxes, Item{ID: s.ID, State: st})
	}
	return out
}

// listing converts a full listing into changes relative to the pods known so far.
func listing(known map[string]bool, in vecInput, start int64) Listing {
	l := Listing{Start: start, Err: in.ListErr, Inspect: func(uid string) Inspection {
		return Inspection{Err: in.Inspect[uid].Error}
	}}
	if l.Err != "" {
		return l
	}
	now := make(map[string]bool)
	for _, p := range in.Pods {
		l.Changed = append(l.Changed, p.pod())
		now[p.UID] = true
	}
	for uid := range known {
		if !now[uid] {
			l.Gone = append(l.Gone, uid)
			delete(known, uid)
		}
	}
	for uid := range now {
		known[uid] = true
	}
	return l
}

// TestVectors replays every vector of testdata, or of the directory in
// PLEG_VECTORS, with each version's profile.
func TestVectors(t *testing.T) {
	dir := cmp.Or(os.Getenv("PLEG_VECTORS"), "testdata")
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors in %s: %v", dir, err)
	}
	runs := 0
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		sc := bufio.NewScanner(f)
		sc.Buffer(nil, 1<<24)
		for sc.Scan() {
			var v vector
			if err := json.Unmarshal(sc.Bytes(), &v); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, g := range v.Expect {
				for _, version := range g.Versions {
					runs++
					checkVector(t, v, version, g.Relists)
				}
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d runs", runs)
}

func checkVector(t *testing.T, v vector, version string, want []vecOutput) {
	t.Helper()
	p, err := New(version)
	if err != nil {
		t.Fatal(err)
	}
	p.Capacity = v.Capacity
	m, known := NewMachine(p), make(map[string]bool)
	var drained []string
	discarded := 0
	for i, in := range v.Relists {
		got := m.Relist(listing(known, in, int64(i+1)*1e9))
		for _, e := range got.Events {
			if e.Delivered {
				drained = append(drained, fmt.Sprintf("%s %s %s", e.Pod, e.Type, e.Data))
			}
		}
		var events []string
		if in.Drained == nil || *in.Drained {
			m.Drain()
			events, drained = drained, nil
		}
		where := fmt.Sprintf("%s @%s relist %d", v.Name, version, i)
		if w := wantEvents(want[i]); v.Capacity >= 1000 && !reflect.DeepEqual(byPod(events), w) ||
			v.Capacity < 1000 && len(events) != len(w) {
			t.Errorf("%s: events\n got %q\nwant %q", where, byPod(events), w)
		}
		if !slices.Equal(slices.Sorted(slices.Values(got.Inspected)), slices.Sorted(slices.Values(want[i].Inspected))) {
			t.Errorf("%s: inspected\n got %q\nwant %q", where, got.Inspected, want[i].Inspected)
		}
		if !slices.Equal(got.Reinspect, slices.Sorted(slices.Values(want[i].Reinspect))) {
			t.Errorf("%s: reinspect\n got %q\nwant %q", where, got.Reinspect, want[i].Reinspect)
		}
		if discarded += got.Discarded; discarded != want[i].Discarded {
			t.Errorf("%s: %d discarded so far, want %d", where, discarded, want[i].Discarded)
		}
	}
}

func wantEvents(o vecOutput) []string {
	var out []string
	for _, e := range o.Events {
		data := ""
		if e[2] != nil {
			data = *e[2]
		}
		out = append(out, fmt.Sprintf("%s %s %s", *e[0], *e[1], data))
	}
	return byPod(out)
}

// byPod sorts events by pod, stably.
func byPod(events []string) []string {
	slices.SortStableFunc(events, func(a, b string) int {
		x, _, _ := strings.Cut(a, " ")
		y, _, _ := strings.Cut(b, " ")
		return strings.Compare(x, y)
	})
	return events
}
