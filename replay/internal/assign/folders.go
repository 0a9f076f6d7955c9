package assign

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// folders finds the kubelets' logs that are in the same folder as a file. They are in
// the order of their inputs and paths, so that the logs below a folder, or in an
// archive, are next to each other. Paths can be long: none is looked at folder by folder.
type folders []kubeletLog

type kubeletLog struct {
	input int
	path  string
	node  *unit
	more  int // number of logs of the same node that follow
}

func (s *splitter) folders() folders {
	var m folders
	for _, u := range s.units {
		if u.kubelet {
			m = append(m, kubeletLog{input: u.file.Input, path: u.file.Path, node: u.root()})
		}
	}
	slices.SortStableFunc(m, func(a, b kubeletLog) int { return a.compare(b.input, b.path) })
	for i := len(m) - 2; i >= 0; i-- {
		if m[i].node == m[i+1].node {
			m[i].more = m[i+1].more + 1
		}
	}
	return m
}

func (k kubeletLog) compare(input int, path string) int {
	return cmp.Or(cmp.Compare(k.input, input), strings.Compare(k.path, path))
}

// of returns the only node with logs in the closest folder above f that has kubelets'
// logs in it, nil if there are several.
func (m folders) of(f *parse.File) *unit {
	from, _ := slices.BinarySearchFunc(m, f.Path, func(k kubeletLog, path string) int { return k.compare(f.Input, path) })
	shared, found := 0, false // length of the closest folder's path
	for i := max(from-1, 0); i < min(from+1, len(m)); i++ {
		if m[i].input == f.Input {
			shared, found = max(shared, sharedFolder(m[i].path, f.Path)), true
		}
	}
	if !found {
		return nil
	}
	below := func(k kubeletLog) bool { return k.input == f.Input && strings.HasPrefix(k.path, f.Path[:shared]) }
	first, _ := slices.BinarySearchFunc(m, f.Path[:shared], func(k kubeletLog, path string) int { return k.compare(f.Input, path) })
	if next := first + m[first].more + 1; next < len(m) && below(m[next]) {
		return nil
	}
	return m[first].node
}

// sharedFolder returns the length of the path, with its last separator, of the closest
// folder or archive that holds both files, 0 at the top.
func sharedFolder(a, b string) int {
	end, n := 0, min(len(a), len(b))
	for i := 0; i < n && a[i] == b[i]; i++ {
		if i > 0 && (a[i] == '/' || a[i] == '!') {
			end = i + 1
		}
	}
	return end
}
