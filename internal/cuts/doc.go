// Package cuts finds what is claimed about a part of the evidence but not about the whole. Its test
// reduces evidence at random and checks the claims against the whole and against what kubelets
// really did.
package cuts
