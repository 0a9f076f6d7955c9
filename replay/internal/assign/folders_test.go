package assign

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// TestFolders: what lies beside kubelets' logs belongs to the only node with logs in the closest
// folder that has any.
func TestFolders(t *testing.T) {
	nodes := map[string]*unit{"a": {}, "b": {}}
	s := &splitter{}
	for _, l := range []struct {
		input      int
		path, node string
	}{
		{0, "x/1/kubelet.log", "a"}, {0, "x/2/kubelet.log", "b"}, {0, "x/2/more/kubelet.log", "b"}, {0, "x.tar!y/kubelet.log", "a"},
		{0, "x-1/kubelet.log", "a"}, {1, "/k/kubelet.log", "b"}, {1, "/k.log", "b"},
	} {
		s.units = append(s.units, &unit{file: &parse.File{Input: l.input, Path: l.path}, kubelet: true, up: nodes[l.node]})
	}
	s.units = append(s.units, &unit{file: &parse.File{Path: "x/2/dmesg"}})
	m := s.folders()
	for _, tt := range []struct {
		input      int
		path, want string
	}{
		{0, "x/1/dmesg", "a"}, {0, "x/1/z/dmesg", "a"}, {0, "x/2/dmesg", "b"}, {0, "x/2/more/dmesg", "b"}, {0, "x/2/kubelet.log", "b"},
		{0, "x/3/dmesg", ""}, {0, "x/dmesg", ""}, {0, "x.tar!dmesg", "a"}, {0, "x.tar!y/dmesg", "a"}, {0, "x-1", ""}, {0, "y/dmesg", ""},
		{1, "dmesg", "b"}, {1, "/dmesg", "b"}, {1, "/k/z", "b"}, {2, "x/1/dmesg", ""},
	} {
		if got := m.of(&parse.File{Input: tt.input, Path: tt.path}); got != nodes[tt.want] {
			t.Errorf("%d %s: not %q", tt.input, tt.path, tt.want)
		}
	}
}

// TestLongPaths: the cost of a path is not quadratic in its length.
func TestLongPaths(t *testing.T) {
	s, long := &splitter{}, strings.Repeat(strings.Repeat("x", 50)+"/", 4000)
	for i := range 300 {
		s.units = append(s.units, &unit{file: &parse.File{Path: fmt.Sprintf("d%d/%skubelet.log", i, long)}, kubelet: true})
	}
	start := time.Now()
	m := s.folders()
	for _, u := range s.units {
		if m.of(&parse.File{Path: u.file.Path + ".1"}) != u {
			t.Fatal("not the only node of the folder")
		}
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}
