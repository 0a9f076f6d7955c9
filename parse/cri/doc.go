// Package cri reads what container tools print about containers and pod
// sandboxes: crictl ps, pods, inspect and inspectp, docker ps and inspect,
// podman ps and inspect, and the kubelet's /pods, as JSON or as tables.
//
// Decode takes the bytes of one file and returns parse.Container records, each
// with the place that states it. It recognises the form by its content. What a
// form does not state stays empty: a table with "2 days ago" gives no time.
// A tool's own failure ("FATA[0010] … DeadlineExceeded") is a record too: a
// fact with the key Failed. The package opens nothing and infers nothing;
// package replay joins listings and history.
package cri
