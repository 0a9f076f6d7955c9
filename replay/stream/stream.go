// Package stream replays recorded container events of a runtime through the evented
// PLEG of the reference model. The events are lines of plegforensics/snapshots/v1 with
// one message each.
package stream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay/simulate"
)

// line is one recorded message, or a break of the stream.
type line struct {
	Time   time.Time `json:"time"`
	Error  *string   `json:"stream_error"`
	Stream *struct {
		Type      string   `json:"type"`
		Container string   `json:"container"`
		Pod       *podLine `json:"pod"`
		IPs       []string `json:"ips"`
	} `json:"stream"`
}

type podLine struct {
	UID, Name, Namespace  string
	Sandboxes, Containers []struct {
		ID, Name, State string
	}
}

// Is reports whether a line is a stream line, judging by its keys.
func Is(text []byte) bool {
	return bytes.Contains(text, []byte(`"stream":`)) || bytes.Contains(text, []byte(`"stream_error":`))
}

// Player passes messages to the evented PLEG of a simulation.
type Player struct {
	evented *pleg.Evented
	sim     *simulate.Simulation
	// Sent and Discarded count the events caused by messages; Messages and Errors count
	// the messages and stream breaks read.
	Sent, Discarded  int
	Messages, Errors int
}

// NewPlayer returns a player for the simulation in which the generic relists run too.
func NewPlayer(sim *simulate.Simulation) *Player {
	return &Player{evented: &pleg.Evented{Generic: sim.Machine()}, sim: sim}
}

// Play handles one line. It returns what the generator did at that moment, nil if
// nothing. It returns an error for an invalid line.
func (p *Player) Play(text []byte) (*simulate.Relist, error) {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, fmt.Errorf("stream line: %w", err)
	}
	m, at := p.evented.Generic, l.Time.UnixNano()
	if l.Time.IsZero() || at <= 0 {
		return nil, fmt.Errorf("stream line without a time")
	}
	if l.Error != nil {
		p.Errors++
		p.evented.StreamError()
		p.sim.Judge(at) // a fallback changes to the generic threshold
		return nil, nil
	}
	if l.Stream == nil {
		return nil, fmt.Errorf("stream line without a message")
	}
	s := pleg.StreamEvent{At: at, Type: pleg.StreamType(l.Stream.Type), Container: l.Stream.Container, IPs: l.Stream.IPs}
	if !slices.Contains([]pleg.StreamType{pleg.StreamCreated, pleg.StreamStarted, pleg.StreamStopped, pleg.StreamDeleted}, s.Type) {
		return nil, fmt.Errorf("stream line: unknown type %q", l.Stream.Type)
	}
	if pod := l.Stream.Pod; pod != nil {
		s.UID, s.Pod = pod.UID, pod.sighting()
	}
	p.Messages++
	x := &simulate.Relist{Start: at, End: at, Stream: true, LastSeen: m.LastSeen, Pods: -1}
	x.Events = p.evented.Receive(s)
	// From 1.37 on, the requested relist finds the pod as the message shows it.
	for _, r := range p.evented.RelistPods(at, func(string) (*pleg.Pod, pleg.Inspection) { return s.Pod, pleg.Inspection{} }) {
		x.Events = append(x.Events, r.Events...)
		x.Inspected = append(x.Inspected, r.Inspected...)
	}
	for _, e := range x.Events {
		switch {
		case e.Delivered:
			x.Sent++
		case !e.Filtered():
			x.Discarded++
		}
	}
	p.Sent += x.Sent
	p.Discarded += x.Discarded
	_, x.Healthy = m.Healthy(at)
	if len(x.Events) == 0 {
		return nil, nil
	}
	return x, nil
}

// Notes describes what became of the stream.
func (p *Player) Notes() []string {
	e := p.evented
	out := []string{fmt.Sprintf("%d messages of the runtime's event stream were recorded, %d breaks of it", p.Messages, p.Errors)}
	switch sends := e.Generic.Has(pleg.EventedSends); {
	case e.FellBack && sends:
		out = append(out, "the stream broke five times: the kubelet fell back to the generic PLEG, and later messages make no events; from then on its threshold of "+e.Generic.Threshold.String()+" counts")
	case e.FellBack:
		out = append(out, "the stream broke five times: later messages bring no relists; the generic PLEG went on as before")
	}
	if e.Ignored > 0 {
		out = append(out, fmt.Sprintf("%d messages without a sandbox status were ignored, as the kubelet does", e.Ignored))
	}
	if e.HintsLost > 0 {
		out = append(out, fmt.Sprintf("%d relists asked for found the queue full", e.HintsLost))
	}
	if !e.Generic.Has(pleg.EventedSends) {
		out = append(out, "a relist that a message asks for finds the pod as the message shows it")
	}
	return out
}

func (p *podLine) sighting() *pleg.Pod {
	out := &pleg.Pod{UID: p.UID, Name: p.Name, Namespace: p.Namespace}
	for _, c := range p.Containers {
		st, _ := pleg.RawState(c.State)
		out.Containers = append(out.Containers, pleg.Item{ID: c.ID, Name: c.Name, State: st})
	}
	for _, s := range p.Sandboxes {
		st, _ := pleg.RawState(s.State)
		out.Sandboxes = append(out.Sandboxes, pleg.Item{ID: s.ID, State: st})
	}
	return out
}
