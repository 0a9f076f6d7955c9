package nodes_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/plegforensics/plegforensics/internal/nodes"
	"github.com/plegforensics/plegforensics/parse/logs/signatures"
	"github.com/plegforensics/plegforensics/rules/causes"
)

// TestPacked: the packed files are up to date.
func TestPacked(t *testing.T) {
	for _, c := range []struct {
		dir    string
		files  nodes.FS
		packed string
	}{
		{"parse/logs/signatures", signatures.Files, signatures.Packed},
		{"rules/causes", causes.Files, causes.Packed},
	} {
		want, err := nodes.Pack(c.files)
		if err != nil {
			t.Fatal(err)
		}
		if want != c.packed {
			t.Errorf("%s/packed.bin is not of the files beside it: run go generate ./%s", c.dir, c.dir)
		}
		packed, err1 := nodes.Load(c.files, want)
		scanned, err2 := nodes.Load(c.files, "")
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if tree(packed) != tree(scanned) {
			t.Errorf("%s: what was packed is not what stands in the files", c.dir)
		}
	}
}

func tree(files []nodes.File) string {
	var b strings.Builder
	var show func(n *nodes.Node)
	show = func(n *nodes.Node) {
		fmt.Fprintf(&b, "%d %d %q(", n.Kind, n.Line, n.Value)
		for i := range n.Content {
			show(&n.Content[i])
		}
		b.WriteByte(')')
	}
	for _, f := range files {
		fmt.Fprintln(&b, f.Name, len(f.Docs), f.Err)
		for i := range f.Docs {
			show(&f.Docs[i])
		}
	}
	return b.String()
}

// TestStale: files are scanned if the packed trees are of other files or damaged.
func TestStale(t *testing.T) {
	fsys := fstest.MapFS{"a.yaml": {Data: []byte("x: 1\n---\ny: [2, three]\n")}, "b.yaml": {Data: []byte("- z\n")}}
	packed, err := nodes.Pack(fsys)
	if err != nil {
		t.Fatal(err)
	}
	files, err := nodes.Load(fsys, packed)
	if err != nil {
		t.Fatal(err)
	}
	want := tree(files)
	if len(files) != 2 || len(files[0].Docs) != 2 {
		t.Fatalf("got %s", want)
	}
	for n := range packed {
		for _, bad := range []string{packed[:n], packed[:n] + "\xFF" + packed[n+1:], packed[:n] + "\x00" + packed[n:]} {
			if _, err := nodes.Load(fsys, bad); err != nil {
				t.Fatal(err)
			}
		}
	}
	fsys["b.yaml"] = &fstest.MapFile{Data: []byte("- w\n")}
	if files, _ = nodes.Load(fsys, packed); tree(files) == want {
		t.Error("a changed file went unnoticed")
	}
	fsys["c.yaml"] = &fstest.MapFile{Data: []byte("a: &x 1\nb: *x\n")}
	if _, err := nodes.Pack(fsys); err == nil {
		t.Error("an anchor was packed")
	}
}
