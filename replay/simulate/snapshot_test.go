package simulate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
)

var snapFile = &parse.File{Path: "s.jsonl"}

// decodeAll feeds lines to a decoder and formats the result of each.
func decodeAll(lines ...string) (string, []parse.Warning) {
	var d SnapshotDecoder
	var b strings.Builder
	for i, l := range lines {
		s := d.Decode([]byte(l), parse.Pos{File: snapFile, Line: uint32(i + 1)})
		if s == nil {
			fmt.Fprintf(&b, "%d -\n", i+1)
			continue
		}
		fmt.Fprintf(&b, "%d", i+1)
		for _, p := range s.Changed {
			fmt.Fprintf(&b, " %s%v%v", p.UID, brief(p.Containers), brief(p.Sandboxes))
		}
		for _, uid := range s.Gone {
			fmt.Fprintf(&b, " -%s", uid)
		}
		if s.ListErr != "" {
			fmt.Fprintf(&b, " failed: %s", s.ListErr)
		}
		b.WriteString("\n")
	}
	return b.String(), d.Warnings
}

func brief(items []pleg.Item) string {
	var parts []string
	for _, it := range items {
		parts = append(parts, it.ID+"="+it.State.String())
	}
	return "[" + strings.Join(parts, " ") + "]"
}

func snapLine(sec int, pods string) string {
	return fmt.Sprintf(`{"time":"2026-01-02T03:04:%02dZ","pods":[%s]}`, sec, pods)
}

func snapPod(uid, state string) string {
	return fmt.Sprintf(`{"uid":%q,"name":"n","namespace":"ns","sandboxes":[],"containers":[{"id":"c-%s","state":%q}]}`, uid, uid, state)
}

func TestSnapshotChanges(t *testing.T) {
	a, b, c := snapPod("a", "running"), snapPod("b", "running"), snapPod("c", "running")
	got, warnings := decodeAll(
		snapLine(1, a+","+b+","+c),
		snapLine(2, a+","+b+","+c),                              // the same
		snapLine(3, a+","+snapPod("b", "exited")+","+c),         // one differs
		snapLine(4, a+","+c),                                    // one is gone from the middle
		snapLine(5, a+","+snapPod("x", "created")+","+c),        // one comes in the middle
		snapLine(6, c+","+a+","+snapPod("x", "created")),        // only the order differs
		`{"time":"2026-01-02T03:04:07Z","list_error":"broken"}`, // the listing remains
		snapLine(8, c+","+a),
		snapLine(9, ""),
	)
	want := `1 a[c-a=running][] b[c-b=running][] c[c-c=running][]
2
3 b[c-b=exited][]
4 -b
5 x[c-x=created][]
6
7 failed: broken
8 -x
9 -a -c
`
	if got != want || len(warnings) > 0 {
		t.Errorf("got\n%s\nwant\n%s\nwarnings %v", got, want, warnings)
	}
}

func TestSnapshotBadInput(t *testing.T) {
	good := snapPod("a", "running")
	for _, c := range []struct{ name, line, want string }{
		{"out of order", `{"time":"2026-01-02T03:03:59Z","pods":[]}`, "lies before"},
		{"half a line", `{"time":"2026-01-02T03:04:06Z","pods":[{"uid":"a","containers":[{"id":"c`, "cut off at byte"},
		{"half a string", `{"time":"2026-01-02T03:04`, "cut off"},
		{"not JSON", `hello`, "not a JSON object"},
		{"garbage between", `{"time":"2026-01-02T03:04:06Z" "pods":[]}`, "not valid JSON at byte 31"},
		{"trailing text", `{"time":"2026-01-02T03:04:06Z","pods":[]} x`, "text after"},
		{"no time", `{"pods":[]}`, "no time"},
		{"bad time", `{"time":"yesterday","pods":[]}`, "not RFC 3339"},
		{"neither pods nor error", `{"time":"2026-01-02T03:04:06Z"}`, "neither pods nor list_error"},
		{"pods of another type", `{"time":"2026-01-02T03:04:06Z","pods":{}}`, "not an array"},
		{"unknown state", snapLine(6, snapPod("b", "zombie")), `state "zombie" is not known`},
		{"missing uid", snapLine(6, `{"name":"x","namespace":"y"},`+good), "has no uid"},
		{"missing id", snapLine(6, `{"uid":"b","containers":[{"state":"running"}]}`), "has no id"},
		{"duplicate id", snapLine(6, `{"uid":"b","containers":[{"id":"x","state":"running"},{"id":"x","state":"exited"}]}`), "listed twice"},
		{"duplicate pod", snapLine(6, good+","+good), "listed twice"},
		{"id in two pods", snapLine(6, `{"uid":"b","containers":[{"id":"x","state":"running"}]},{"uid":"c","containers":[{"id":"x","state":"running"}]}`), `listed by pods "b" and "c"`},
		{"pod of another type", snapLine(6, `7`), "cannot be read"},
		{"list_seconds", `{"time":"2026-01-02T03:04:06Z","list_seconds":-1,"pods":[]}`, "not a number of seconds"},
		{"drained", `{"time":"2026-01-02T03:04:06Z","drained":"no","pods":[]}`, "not true or false"},
	} {
		got, warnings := decodeAll(snapLine(5, good), c.line, snapLine(7, good+","+snapPod("z", "running")))
		if len(warnings) != 1 || !strings.Contains(warnings[0].Msg, c.want) || warnings[0].Line != 2 {
			t.Errorf("%s: warnings %v, want one of line 2 with %q", c.name, warnings, c.want)
		}
		if !strings.Contains(got, "3 ") || !strings.Contains(got[strings.Index(got, "\n3 "):], "z[c-z=running]") {
			t.Errorf("%s: the line after it is not replayed:\n%s", c.name, got)
		}
	}
}

// TestSnapshotMergeProperty checks that decoding lines relative to each other gives the
// listing that each line states.
func TestSnapshotMergeProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d SnapshotDecoder
		now := make(map[string]string)
		for i := range rapid.IntRange(1, 10).Draw(t, "lines") {
			uids := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-h]`), 0, 8, rapid.ID[string]).Draw(t, "uids")
			want := make(map[string]string)
			var pods []string
			for _, uid := range uids {
				state := rapid.SampledFrom([]string{"running", "running", "exited"}).Draw(t, "state")
				want[uid] = state
				pods = append(pods, snapPod(uid, state))
			}
			text := []byte(snapLine(i, strings.Join(pods, rapid.SampledFrom([]string{",", " , "}).Draw(t, "comma"))))
			s := d.Decode(text, parse.Pos{File: snapFile, Line: uint32(i + 1)})
			clear(text) // the decoder must not retain the line
			if s == nil || len(d.Warnings) > 0 {
				t.Fatalf("line %d: %v", i, d.Warnings)
			}
			for _, p := range s.Changed {
				if now[p.UID] == p.Containers[0].State.String() {
					t.Fatalf("line %d: %s is said to change and does not", i, p.UID)
				}
				now[p.UID] = p.Containers[0].State.String()
			}
			for _, uid := range s.Gone {
				delete(now, uid)
			}
			if fmt.Sprint(now) != fmt.Sprint(want) {
				t.Fatalf("line %d: %v, want %v", i, now, want)
			}
		}
	})
}

// TestExportRoundTrip checks that exported snapshots replay to the same events.
func TestExportRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, err := pleg.New(rapid.SampledFrom([]string{"v1.15.0", "v1.28.0", "v1.36.0"}).Draw(t, "version"))
		if err != nil {
			t.Fatal(err)
		}
		var first, again SnapshotDecoder
		var x Exporter
		one, two := NewSim(p), NewSim(p)
		for i := range rapid.IntRange(1, 8).Draw(t, "lines") {
			var pods []string
			for _, uid := range []string{"b", "a", "c"} {
				if st := rapid.SampledFrom([]string{"", "running", "exited", "created", "unknown"}).Draw(t, "state"); st != "" {
					pods = append(pods, snapPod(uid, st))
				}
			}
			line := snapLine(i, strings.Join(pods, ","))
			if rapid.IntRange(0, 4).Draw(t, "failing") == 0 {
				line = strings.TrimSuffix(line, "}") + `,"list_seconds":0.25,"drained":false,"inspect":{"a":{"seconds":1.5,"error":"x"}}}`
			}
			s := first.Decode([]byte(line), parse.Pos{})
			exported, err := x.Line(s)
			if err != nil {
				t.Fatal(err)
			}
			u := again.Decode(exported, parse.Pos{})
			if u == nil {
				t.Fatalf("exported line cannot be read: %s %v", exported, again.Warnings)
			}
			if a, b := fmt.Sprint(events(one.Step(s))), fmt.Sprint(events(two.Step(u))); a != b {
				t.Fatalf("line %d: %s, then %s", i, a, b)
			}
		}
		if a, b := one.Finish(), two.Finish(); fmt.Sprint(a) != fmt.Sprint(b) {
			t.Fatalf("sums differ: %+v, %+v", a, b)
		}
	})
}

func events(r *Relist) []string {
	var out []string
	for _, e := range r.Events {
		out = append(out, fmt.Sprint(e.Pod, " ", e.Type, " ", e.Data, " ", e.Delivered))
	}
	return append(out, fmt.Sprint(r.Start, r.End, r.Healthy, r.Reinspect))
}

// FuzzSnapshots checks that no text causes a panic, neither in the decoder nor in the
// simulation of what it returns.
func FuzzSnapshots(f *testing.F) {
	f.Add([]byte(snapLine(1, snapPod("a", "running")) + "\n" + snapLine(2, snapPod("a", "exited"))))
	f.Add([]byte(`{"time":"2026-01-02T03:04:05Z","list_error":"x"}`))
	f.Add([]byte(`{"time":"2026-01-02T03:04:05Z","pods":[{"uid":"a","containers":[{"id":"c","state":"running","exit_code":1}]}],"inspect":{"a":{"seconds":1}},"drained":false}`))
	f.Add([]byte(`{"pods":[[[{"a":"\""}]]],"time":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := pleg.New("v1.31.0")
		if err != nil {
			t.Fatal(err)
		}
		sim := NewSim(p)
		var d SnapshotDecoder
		for i, l := range strings.Split(string(data), "\n") {
			s := d.Decode([]byte(l), parse.Pos{File: snapFile, Line: uint32(i + 1)})
			if s == nil {
				continue
			}
			if s.At < d.last {
				t.Errorf("time goes back")
			}
			sim.Step(s)
		}
		sim.Finish()
	})
}

// BenchmarkReplay replays 100,000 containers over 1,000 relists with ten changed pods
// each, from the text of the snapshots, about 8 GB.
func BenchmarkReplay(b *testing.B) {
	const pods, relists = 10_000, 1000
	line, at := bigLine(pods)
	p, err := pleg.New("v1.31.0")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(line)) * relists)
	for b.Loop() {
		text := slices.Clone(line)
		var feed Feed
		sim, err := NewSimulation(p, WhatIf{})
		if err != nil {
			b.Fatal(err)
		}
		sent := 0
		step := func(s *Snapshot) {
			for _, r := range sim.Step(s) {
				sent += r.Sent
			}
		}
		for n := range relists {
			copy(text[len(`{"time":"2026-01-02T`):], fmt.Sprintf("%02d:%02d:%02d", n/3600, n/60%60, n%60))
			for k := range 10 {
				i := at[(n*10+k)%pods]
				if text[i] == 'r' {
					copy(text[i:], "exited\" ")
				} else {
					copy(text[i:], "running\"")
				}
			}
			feed.Line(text, parse.Pos{}, step)
		}
		feed.End(step)
		if _, totals, _ := sim.Finish(); totals.Duration.Count != relists || totals.Events+totals.Discarded < 10*(relists-1) || sent != totals.Events {
			b.Fatalf("%d relists, %d events", totals.Duration.Count, totals.Events)
		}
	}
}

// bigLine returns a snapshot of many pods with ten containers each, and the offset of
// the state of each pod's first container.
func bigLine(pods int) ([]byte, []int) {
	var b strings.Builder
	var at []int
	b.WriteString(`{"time":"2026-01-02T00:00:00Z","pods":[`)
	for i := range pods {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"uid":"%08d","name":"pod-%d","namespace":"ns","sandboxes":[{"id":"s%08d","state":"ready"}],"containers":[`, i, i, i)
		for c := range 10 {
			if c > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"id":"c%08d-%d","name":"c","state":"`, i, c)
			if c == 0 {
				at = append(at, b.Len())
			}
			b.WriteString(`running"}`)
		}
		b.WriteString("]}")
	}
	b.WriteString("]}")
	if !json.Valid([]byte(b.String())) {
		panic("bigLine makes bad JSON")
	}
	return []byte(b.String()), at
}
