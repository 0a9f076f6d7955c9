// Package facts decodes files that describe a system: command output, files of
// /proc and /sys, configuration, goroutine dumps, Kubernetes objects, and the
// manifests of collectors. It turns bytes into parse.Fact and parse.Object values,
// each with the line that states it.
//
// It does not decode logs (package logs), container listings (package cri) or
// metrics (package metrics). It opens no files and draws no conclusions: a fact is
// what one place in one file states. Package bundle calls it for files with the
// roles facts, stacks, objects and manifest; rules select facts by the keys listed
// in keys.go.
package facts
