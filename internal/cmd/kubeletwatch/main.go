// Command kubeletwatch reads the source tree of a kubelet and lists which of the functions modeled
// by package pleg have changed since the newest known release, so that one knows where to look when
// a new one is out.
//
//	go mod download k8s.io/kubernetes@v1.38.0
//	go run ./internal/cmd/kubeletwatch "$(go env GOMODCACHE)/k8s.io/kubernetes@v1.38.0"
//
// -write prints the fingerprints of a tree: the new content of known.txt once the table of rules in
// package pleg is up to date with that release.
package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// known has a line "file function fingerprint" for each watched function of the newest known
// release, after a comment that names the release.
//
//go:embed known.txt
var known string

// watched lists the files and, if not all of a file matters, its functions.
var watched = []struct {
	file  string
	funcs []string // nil: all
}{
	{"pkg/kubelet/pleg/generic.go", nil},
	{"pkg/kubelet/pleg/evented.go", nil},
	{"pkg/kubelet/pleg/pleg.go", nil},
	{"pkg/kubelet/container/cache.go", nil},
	{"pkg/kubelet/runtime.go", nil},
	{"pkg/kubelet/kubelet.go", []string{"syncLoop", "syncLoopIteration", "consts", "isSyncPodWorthy", "RequestPodRelist"}},
	{"pkg/kubelet/kuberuntime/kuberuntime_manager.go", []string{"GetPods", "GetPod", "getPods", "GetPodStatus"}},
	{"pkg/kubelet/kuberuntime/kuberuntime_container.go", []string{"getPodContainerStatuses", "getKubeletContainers"}},
	{"pkg/kubelet/kuberuntime/kuberuntime_sandbox.go", []string{"getKubeletSandboxes", "getSandboxes"}},
	{"pkg/kubelet/nodestatus/setters.go", []string{"ReadyCondition"}},
}

func main() {
	write := flag.Bool("write", false, "print the fingerprints of the tree")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: kubeletwatch [-write] TREE")
		os.Exit(2)
	}
	now, err := fingerprints(flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, "kubeletwatch:", err)
		os.Exit(1)
	}
	if *write {
		for _, name := range sorted(now) {
			fmt.Printf("%s %s\n", name, now[name])
		}
		return
	}
	if compare(os.Stdout, parse(known), now) > 0 {
		os.Exit(1)
	}
}

// fingerprints maps "file function" of the watched functions in a tree to a checksum of the text
// without comments. Missing files are skipped.
func fingerprints(tree string) (map[string]string, error) {
	out := make(map[string]string)
	for _, w := range watched {
		src, err := os.ReadFile(filepath.Join(tree, filepath.FromSlash(w.file)))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, w.file, src, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			name := nameOf(d)
			if name == "" || w.funcs != nil && !slices.Contains(w.funcs, name[strings.LastIndexByte(name, '.')+1:]) {
				continue
			}
			var b bytes.Buffer
			if err := printer.Fprint(&b, set, d); err != nil {
				return nil, err
			}
			key := w.file + " " + name
			out[key] = sum(out[key] + dense(b.String())) // combine several const blocks
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s holds none of the watched files of a kubelet", tree)
	}
	return out, nil
}

func sum(text string) string { return fmt.Sprintf("%.8x", sha256.Sum256([]byte(text))) }

// dense removes blank lines and indentation from a text: the printer leaves blank lines in place of
// comments.
func dense(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// nameOf returns "Type.method", "function" or "consts", "" for what is not watched.
func nameOf(d ast.Decl) string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		d.Doc = nil
		if d.Recv == nil || len(d.Recv.List) == 0 {
			return d.Name.Name
		}
		t := d.Recv.List[0].Type
		if p, ok := t.(*ast.StarExpr); ok {
			t = p.X
		}
		if id, ok := t.(*ast.Ident); ok {
			return id.Name + "." + d.Name.Name
		}
	case *ast.GenDecl:
		if d.Tok == token.CONST {
			d.Doc = nil
			return "consts"
		}
	}
	return ""
}

// parse parses "file function sum" lines; # starts a comment.
func parse(text string) map[string]string {
	out := make(map[string]string)
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) == 3 && f[0] != "#" {
			out[f[0]+" "+f[1]] = f[2]
		}
	}
	return out
}

// compare prints the differences and returns their number.
func compare(w io.Writer, was, is map[string]string) int {
	n := 0
	say := func(what, name string) {
		n++
		fmt.Fprintf(w, "%-8s %s\n", what, name)
	}
	for _, name := range sorted(was) {
		switch sum, there := is[name]; {
		case !there:
			say("gone", name)
		case sum != was[name]:
			say("changed", name)
		}
	}
	for _, name := range sorted(is) {
		if _, there := was[name]; !there {
			say("new", name)
		}
	}
	fmt.Fprintf(w, "%d of %d watched functions differ\n", n, len(was))
	return n
}

func sorted(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
