package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/internal/fixtures"
)

var update = flag.Bool("update", false, "rewrite golden files")

type inspected struct {
	Inputs []struct{ Kind string }
	Nodes  []struct {
		Name, Start, End string
		Version          *string `json:"kubelet_version"`
		Zone             *string `json:"timezone"`
	}
	Files []struct {
		Path, Role string
		Node       *string
		Used       bool
		Why        *string `json:"why_not"`
		Zone       *string `json:"timezone"`
		End        *string
		Reversed   bool
	}
	Lost []struct{ What, File string }
}

type analyzed struct {
	Nodes []struct {
		Name     string
		Episodes []struct {
			Last string `json:"last_relist_start"`
		}
	}
}

// TestLayouts reads a bundle of every collector, as a directory and packed, and compares the result
// with the known incident in it. The golden file lists layout, nodes and files of each.
func TestLayouts(t *testing.T) {
	var golden strings.Builder
	for _, tree := range fixtures.Trees() {
		dir := t.TempDir()
		path, err := tree.Write(dir)
		if err != nil {
			t.Fatal(err)
		}
		summary := look(t, tree, path)
		fmt.Fprintf(&golden, "%s\n%s\n", tree.Name, summary)
		if tree.Packed == "" {
			continue
		}
		packed, err := tree.Pack(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		look(t, tree, packed)
	}
	const name = "testdata/layouts.golden"
	if *update {
		if err := os.WriteFile(name, []byte(golden.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if golden.String() != string(want) {
		t.Errorf("%s differs; run with -update and review:\n%s", name, diffLines(string(want), golden.String()))
	}
}

// look inspects and analyzes a bundle, and returns what inspect says.
func look(t *testing.T, tree fixtures.Tree, path string) string {
	t.Helper()
	name := tree.Kind + " at " + filepath.Base(path)
	var flags []string
	if tree.NoYear {
		flags = []string{"--year", fmt.Sprint(fixtures.Collected)}
	}
	var x inspected
	runJSON(t, &x, "inspect", path, flags...)
	if len(x.Inputs) != 1 || x.Inputs[0].Kind != tree.Kind && !(tree.Kind == "log" && x.Inputs[0].Kind == "kubelet-log") {
		// A collector's directory is recognized by its content even if it was renamed or its
		// members are at the top level.
		if !(tree.Kind == "sos-collect" && x.Inputs[0].Kind == "sosreport") {
			t.Errorf("%s: kind %+v, want %s", name, x.Inputs, tree.Kind)
		}
	}
	var a analyzed
	if filepath.Ext(path) == "" || tree.Packed == "" { // packed bundles contain the same lines
		runJSON(t, &a, "analyze", path, flags...)
	}
	for _, i := range tree.Nodes {
		truth(t, name, i, x, a)
	}
	return summary(x)
}

// truth compares node, version and the derived start of the last successful relist with the
// incident.
func truth(t *testing.T, name string, i fixtures.Incident, x inspected, a analyzed) {
	t.Helper()
	found := false
	for _, n := range x.Nodes {
		if n.Name == i.Node {
			found = true
			if n.Version == nil || *n.Version != i.Version {
				t.Errorf("%s: %s: version %v, want %s", name, i.Node, n.Version, i.Version)
			}
		}
	}
	if !found {
		t.Errorf("%s: no node %s among %+v", name, i.Node, x.Nodes)
	}
	for _, n := range a.Nodes {
		if n.Name != i.Node {
			continue
		}
		if len(n.Episodes) != 1 {
			t.Errorf("%s: %s: %d episodes, want 1", name, i.Node, len(n.Episodes))
			return
		}
		got, err := time.Parse(time.RFC3339Nano, n.Episodes[0].Last)
		if d := got.Sub(i.LastRelist()).Abs(); err != nil || d > 5*time.Millisecond {
			t.Errorf("%s: %s: last relist at %s, want %s", name, i.Node, n.Episodes[0].Last, i.LastRelist().Format(time.RFC3339Nano))
		}
	}
}

func summary(x inspected) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  kind %s\n", x.Inputs[0].Kind)
	for _, n := range x.Nodes {
		fmt.Fprintf(&b, "  node %s %s %s to %s zone %s\n", n.Name, word(n.Version), n.Start, n.End, word(n.Zone))
	}
	for _, f := range x.Files {
		fmt.Fprintf(&b, "  %-12s %s", f.Role, f.Path)
		if f.Node != nil {
			fmt.Fprintf(&b, " on %s", *f.Node)
		}
		if f.Reversed {
			b.WriteString(", reversed")
		}
		if !f.Used {
			fmt.Fprintf(&b, ", not used: %s", word(f.Why))
		}
		b.WriteString("\n")
	}
	for _, l := range x.Lost {
		fmt.Fprintf(&b, "  lost: %s: %s\n", l.What, l.File)
	}
	return b.String()
}

func word(s *string) string {
	if s == nil {
		return "unknown"
	}
	return *s
}

func runJSON(t *testing.T, v any, command, path string, flags ...string) {
	t.Helper()
	var out, errs bytes.Buffer
	args := append([]string{"plegforensics", command, "-o", "json", "--quiet", path}, flags...)
	if code := run(context.Background(), args, strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("%v: exit %d: %s", args, code, errs.String())
	}
	if err := json.Unmarshal(out.Bytes(), v); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
}

// diffLines returns the lines that only one of two texts contains.
func diffLines(want, got string) string {
	count := map[string]int{}
	for _, l := range strings.Split(want, "\n") {
		count[l]++
	}
	var b strings.Builder
	for _, l := range strings.Split(got, "\n") {
		if count[l]--; count[l] < 0 {
			b.WriteString("+" + l + "\n")
		}
	}
	for _, l := range strings.Split(want, "\n") {
		if count[l] > 0 {
			count[l]--
			b.WriteString("-" + l + "\n")
		}
	}
	return b.String()
}
