// Package cuts tells what is claimed of a part of the evidence and not of the whole. Its
// test cuts evidence down at random and holds the claims to that, and to what kubelets
// really did.
package cuts
