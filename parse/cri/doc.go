// Package cri decodes what container tools print about containers and pod
// sandboxes: crictl ps, pods, inspect and inspectp, docker ps and inspect, podman
// ps and inspect, and the kubelet's /pods, as JSON or as tables.
//
// Decode takes the content of one file and returns parse.Container records, each
// with its position. It recognizes the format by content. What a format does not
// state stays empty: a table with "2 days ago" gives no time. A failure of the tool
// ("FATA[0010] … DeadlineExceeded") becomes a fact with the key Failed. The package
// opens no files and draws no conclusions; package replay combines listings and
// history.
package cri
