// Package pleg is a model of the kubelet's Pod Lifecycle Event Generator: what
// it would do, given what the container runtime listed.
//
// The heart is pure: Transition is the table of state changes, Diff compares
// two sightings of a pod, and Machine threads records, reinspection, the pod
// status cache and the event channel from one relist to the next. A Machine
// is fed only what changed since the listing before, so that its cost follows
// changes and not pods times relists. Evented models the event-driven
// generator in the same way. Profile holds what differs between kubelet
// versions as data: the table rules, with the source of each line.
//
// The package reads no clock, starts nothing and logs nothing. Times are Unix
// nanoseconds that the caller states. It says nothing about logs or bundles:
// package replay feeds it and interprets what comes out.
package pleg
