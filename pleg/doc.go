// Package pleg models the kubelet's Pod Lifecycle Event Generator: what it would
// do, given what the container runtime listed.
//
// The core is pure: Transition is the table of state changes, Diff compares two
// sightings of a pod, and Machine carries pod records, reinspection, the pod status
// cache and the event channel from one relist to the next. A Machine is given only
// the changes since the previous listing, so that its cost depends on the number of
// changes and not on that of pods. Evented models the event-driven generator in the
// same way. Profile holds the differences between kubelet versions as data: the
// table rules, with the source of each entry.
//
// The package reads no clock, starts no goroutines and logs nothing. Times are Unix
// nanoseconds provided by the caller. It knows nothing about logs or bundles:
// package replay drives it and interprets the results.
package pleg
