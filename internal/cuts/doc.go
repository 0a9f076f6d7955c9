// Package cuts is a test: it holds what is claimed of evidence that was cut down at
// random against what kubelets really did, and against what is claimed of all of it.
package cuts
