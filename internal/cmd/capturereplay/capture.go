package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mikelolasagasti/xz"
)

// capture is the recording of one kubelet.
type capture struct {
	version string
	relists []relist
	changes []change
	starts  []int64 // starts of kubelet processes
	calls   []call
	stream  int               // number of events from the runtime's event stream, outside any relist
	owner   map[string]string // object ID to pod UID, from the trace
}

// relist is one relist as recorded by a hook in the kubelet.
type relist struct {
	begin, end int64
	err        string
	events     []event
}

type event struct {
	pod, kind, id string
	sent          bool
}

// change is a state change in the runtime.
type change struct {
	at        int64
	id, uid   string
	pod, name string
	state     string // "" if removed
	sandbox   bool
	exit      *int
}

// call is a CRI call served by the runtime.
type call struct {
	start, end  int64
	rpc, target string
	err         string
}

func readCapture(dir string) (*capture, error) {
	c := &capture{version: "v1.28.0", owner: make(map[string]string)}
	if name := filepath.Base(dir); strings.HasPrefix(name, "v1.") {
		c.version, _, _ = strings.Cut(name, "-")
	}
	for _, step := range []func(string) error{c.readTrace, c.readTransitions, c.readCalls, c.readActions} {
		if err := step(dir); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// lines calls do for each line of a file, which may be compressed with xz.
func lines(dir, name string, do func([]byte) error) error {
	f, err := os.Open(filepath.Join(dir, name))
	var r io.Reader = f
	if errors.Is(err, fs.ErrNotExist) {
		if f, err = os.Open(filepath.Join(dir, name+".xz")); err == nil {
			r, err = xz.NewReader(f, 0)
		}
	}
	if err != nil {
		return err
	}
	defer f.Close()
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<24)
	for n := 1; sc.Scan(); n++ {
		if err := do(sc.Bytes()); err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	return sc.Err()
}

func stamp(s string) int64 {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return 0
	}
	return t.UnixNano()
}

func (c *capture) readTrace(dir string) error {
	return lines(dir, "relist_trace.jsonl", func(b []byte) error {
		var t struct {
			TS, Ev, Type, Pod, ID, Err string
			Sent                       bool
		}
		if err := json.Unmarshal(b, &t); err != nil {
			return err
		}
		if t.Ev == "relist_begin" {
			c.relists = append(c.relists, relist{begin: stamp(t.TS)})
			return nil
		}
		if len(c.relists) == 0 {
			return nil
		}
		r := &c.relists[len(c.relists)-1]
		switch t.Ev {
		case "relist_end":
			r.end = stamp(t.TS)
		case "relist_getpods_error":
			r.err = t.Err
		case "event":
			c.owner[t.ID] = t.Pod
			if r.end != 0 {
				c.stream++
				return nil
			}
			r.events = append(r.events, event{t.Pod, t.Type, t.ID, t.Sent})
		}
		return nil
	})
}

func (c *capture) readTransitions(dir string) error {
	uids := make(map[string]string)
	return lines(dir, "transitions.jsonl", func(b []byte) error {
		var t struct {
			TS, ID, UID, Kind, Pod, Container, To string
			Exit                                  *int
		}
		if err := json.Unmarshal(b, &t); err != nil {
			return err
		}
		if t.UID != "" {
			uids[t.ID] = t.UID
		}
		x := change{at: stamp(t.TS), id: t.ID, uid: uids[t.ID], pod: t.Pod, name: t.Container, state: t.To, sandbox: t.Kind == "sandbox", exit: t.Exit}
		if t.To == "removed" {
			x.state = ""
		}
		if x.uid == "" { // pods known only to the runtime are recorded without a UID
			x.uid = c.owner[t.ID]
		}
		c.changes = append(c.changes, x)
		return nil
	})
}

func (c *capture) readCalls(dir string) error {
	err := lines(dir, "rpc.jsonl", func(b []byte) error {
		var t struct{ Start, End, RPC, Target, Err string }
		if err := json.Unmarshal(b, &t); err != nil {
			return err
		}
		if t.End != "" {
			c.calls = append(c.calls, call{stamp(t.Start), stamp(t.End), t.RPC, t.Target, t.Err})
		}
		return nil
	})
	slices.SortStableFunc(c.calls, func(a, b call) int { return int(a.start - b.start) })
	return err
}

func (c *capture) readActions(dir string) error {
	return lines(dir, "actions.jsonl", func(b []byte) error {
		var t struct{ TS, Do string }
		if err := json.Unmarshal(b, &t); err != nil {
			return err
		}
		if t.Do == "kubelet_start" {
			c.starts = append(c.starts, stamp(t.TS))
		}
		return nil
	})
}
