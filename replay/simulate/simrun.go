package simulate

import "github.com/plegforensics/plegforensics/pleg"

// Simulation replays recorded relists, as they were or changed.
type Simulation struct {
	Was, Is pleg.Profile
	what    WhatIf
	free    *Free
	plain   *Sim // the same schedule under the changed profile
	base    *Sim // the history as it was, where plain is not it
}

// NewSimulation returns a simulation of the kubelet with profile was, changed
// by what.
func NewSimulation(was pleg.Profile, what WhatIf) (*Simulation, error) {
	is, err := what.Profile(was)
	if err != nil {
		return nil, err
	}
	s := &Simulation{Was: was, Is: is, what: what}
	if what.reschedules() {
		s.free, err = NewFree(was, what)
		return s, err
	}
	s.plain = NewSim(is)
	if !what.Empty() {
		s.base = NewSim(was)
	}
	return s, nil
}

// Step takes a recorded relist and returns the simulated ones that follow
// from it, oldest first.
func (s *Simulation) Step(in *Snapshot) []*Relist {
	if s.free != nil {
		return s.free.Step(in)
	}
	if s.base != nil {
		s.base.Step(in)
	}
	if r := s.plain.Step(in); r != nil {
		return []*Relist{r}
	}
	return nil
}

// Finish returns the relists left, the sums, and what the changes mean: nil
// when nothing was changed.
func (s *Simulation) Finish() ([]*Relist, Totals, *Answer) {
	var rest []*Relist
	var is, was Totals
	switch {
	case s.free != nil:
		rest, is = s.free.Finish()
		was = s.free.Was()
	default:
		is = s.plain.Finish()
		if s.base == nil {
			return nil, is, nil
		}
		was = s.base.Finish()
	}
	return rest, is, answer(&s.what, s.Was, s.Is, was, is, assume(&s.what, s.Was))
}

// Machine is the simulated generator, for its gauges.
func (s *Simulation) Machine() *pleg.Machine {
	if s.free != nil {
		return s.free.sim.Machine
	}
	return s.plain.Machine
}

// Assumptions lists what the replay takes for granted.
func (s *Simulation) Assumptions() []string { return assume(&s.what, s.Was) }
