// Package facts reads what the files of a system say about it: command output,
// /proc and /sys files, configuration, goroutine dumps, Kubernetes objects,
// the collector's own manifest. It turns bytes into parse.Fact and
// parse.Object, each with the line that says so.
//
// It does not read logs (package logs), container listings (package cri) or
// metrics (package metrics), opens no file, and infers nothing: a fact is what
// one place of one file states. Package bundle calls it for files with the
// roles facts, stacks, objects and manifest; rules select facts by the keys
// listed in keys.go.
package facts
