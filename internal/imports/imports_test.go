package imports

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/plegforensics/plegforensics"

// layer says what a package, or a subtree ending in "/...", may import.
type layer struct {
	pkg    string
	own    []string // packages of this module, "..." allowed
	third  []string // prefixes of third-party packages; nil: none
	impure string   // why it may do I/O or start goroutines; "" if it may not
	may    []string // exceptions from impureImports
}

// layers lists the layers from the bottom up. The first match applies.
var layers = []layer{
	{pkg: "parse", may: []string{"sync"}}, // decoders share interned strings
	{pkg: "pleg"},
	{pkg: "parse/journal", own: []string{"parse"}, may: []string{"sync"}}, // files that are read concurrently pass on their parsers
	{pkg: "parse/journal/binary", own: []string{"parse", "parse/journal", "parse/logs"}, third: []string{"github.com/klauspost/compress", "github.com/pierrec/lz4", "github.com/mikelolasagasti/xz"}},
	{pkg: "internal/nodes", third: []string{"go.yaml.in/yaml"}},
	{pkg: "internal/spell"},
	{pkg: "parse/logs", own: []string{"internal/nodes", "internal/spell", "parse", "parse/journal", "parse/logs/..."}, third: []string{"go.yaml.in/yaml"}, may: []string{"sync"}}, // regular expressions are compiled when first needed
	{pkg: "parse/metrics", own: []string{"parse"}, third: []string{"github.com/prometheus/", "github.com/gogo/protobuf", "google.golang.org/protobuf", "github.com/klauspost/compress"}},
	{pkg: "parse/metrics/tsdb", own: []string{"parse", "parse/metrics"}, third: []string{"github.com/prometheus/", "github.com/klauspost/compress"},
		impure: "the index reader wants a context"},
	{pkg: "parse/exports", own: []string{"internal/nodes", "parse", "parse/journal"}, third: []string{"go.yaml.in/yaml"}},
	{pkg: "parse/cri", own: []string{"parse"}},
	{pkg: "parse/facts", own: []string{"internal/nodes", "parse"}, third: []string{"go.yaml.in/yaml"}},
	{pkg: "parse/clock", own: []string{"parse"}},
	{pkg: "parse/bundle", own: []string{"parse/...", "parse"}, third: []string{"github.com/klauspost/compress", "github.com/pierrec/lz4", "github.com/mikelolasagasti/xz", "github.com/prometheus/"},
		impure: "opens inputs and runs the decoders"},
	{pkg: "replay/internal/table", own: []string{"parse"}},
	{pkg: "replay/internal/host", own: []string{"parse", "pleg", "replay/internal/table"}},
	{pkg: "replay/internal/assign", own: []string{"parse", "parse/facts", "pleg", "replay/internal/host"}},
	{pkg: "replay/internal/version", own: []string{"parse"}},
	{pkg: "replay/internal/kubelet", own: []string{"parse", "parse/facts", "pleg", "replay/internal/host", "replay/internal/table", "replay/internal/version"}},
	{pkg: "replay/internal/snapshots", own: []string{"parse", "replay/internal/host", "replay/internal/kubelet"}},
	{pkg: "replay/internal/generator", own: []string{"parse", "pleg", "replay/internal/host", "replay/internal/kubelet"}},
	{pkg: "replay/internal/serial", own: []string{"replay/internal/host"}},
	{pkg: "replay/internal/pause", own: []string{"replay/internal/host", "replay/internal/kubelet", "replay/internal/table"}},
	{pkg: "replay/internal/relist", own: []string{"parse", "parse/facts", "replay/internal/generator", "replay/internal/host", "replay/internal/kubelet", "replay/internal/pause", "replay/internal/serial", "replay/internal/snapshots"}},
	{pkg: "replay/internal/health", own: []string{"parse", "replay/internal/generator", "replay/internal/host", "replay/internal/kubelet", "replay/internal/pause", "replay/internal/relist", "replay/internal/snapshots"}},
	{pkg: "replay", own: []string{"parse", "parse/facts", "replay/internal/..."}},
	{pkg: "replay/audit", own: []string{"parse", "pleg", "replay", "replay/internal/host"}},
	{pkg: "replay/blame", own: []string{"parse", "pleg", "replay", "replay/internal/host", "replay/internal/table"}},
	{pkg: "replay/age", own: []string{"replay", "replay/internal/snapshots"}},
	{pkg: "replay/waits", own: []string{"parse", "parse/facts"}},
	{pkg: "replay/curves", own: []string{"parse", "replay"}},
	{pkg: "replay/listings", own: []string{"parse", "pleg", "replay/internal/host", "replay/simulate"}},
	{pkg: "replay/past", own: []string{"parse", "pleg", "replay", "replay/blame", "replay/internal/host", "replay/simulate"}},
	{pkg: "replay/scenario", own: []string{"parse", "pleg", "replay", "replay/simulate"}},
	{pkg: "replay/stream", own: []string{"pleg", "replay/simulate"}},
	{pkg: "replay/simulate", own: []string{"parse", "pleg", "replay", "replay/age", "replay/blame", "replay/internal/host"}},
	{pkg: "replay/timeout", own: []string{"parse", "pleg", "replay", "replay/blame", "replay/simulate"}},
	{pkg: "rules", own: []string{"internal/nodes", "internal/spell", "parse", "parse/...", "pleg", "replay", "replay/age", "replay/audit", "replay/waits", "rules/causes", "rules/internal/pattern"}, third: []string{"go.yaml.in/yaml"}, may: []string{"sync"}}, // likewise
	{pkg: "rules/internal/pattern", own: []string{"parse/logs"}, may: []string{"sync"}}, // expressions are compiled once
	{pkg: "rules/trial", own: []string{"parse", "parse/clock", "parse/logs", "replay", "rules"}},
	{pkg: "rules/query", own: []string{"internal/spell", "parse", "parse/metrics", "replay"}, third: []string{"github.com/prometheus/"},
		impure: "the PromQL engine wants a context"},
	{pkg: "rules/alerts", own: []string{"internal/nodes", "parse", "parse/metrics", "replay", "rules", "rules/query"}, third: []string{"github.com/prometheus/", "go.yaml.in/yaml"},
		impure: "the PromQL engine wants a context and a logger"},
	{pkg: "rules/promtest", own: []string{"internal/nodes", "parse", "rules/alerts", "rules/query"}, third: []string{"github.com/prometheus/", "go.yaml.in/yaml"},
		impure: "the PromQL engine wants a context"},
	{pkg: "parse/inventory", own: []string{"parse", "parse/facts"}},
	{pkg: "rules/advice", own: []string{"parse", "parse/facts", "replay", "rules"}},
	{pkg: "internal/report/model", own: []string{"parse", "parse/facts", "parse/inventory", "pleg", "replay", "replay/...", "rules", "rules/advice", "rules/alerts", "rules/query"}, third: []string{"github.com/go-json-experiment/json"}},
	{pkg: "internal/report/timeline", own: []string{"internal/report/model", "parse"}},
	{pkg: "internal/report", own: []string{"internal/report/...", "parse", "parse/...", "pleg", "replay", "replay/...", "rules", "rules/..."}, third: []string{"github.com/jedib0t/go-pretty", "github.com/go-json-experiment/json"}},
	{pkg: "internal/fleet", own: []string{"parse", "parse/facts", "pleg", "replay", "rules", "internal/report", "internal/report/model"}, third: []string{"github.com/klauspost/compress/zstd", "github.com/jedib0t/go-pretty"}},
}

// impureImports give access to the outside world: files, clocks, scheduling, randomness.
var impureImports = []string{"os", "os/exec", "net", "net/http", "sync", "log", "log/slog", "context", "math/rand", "math/rand/v2", "syscall", "unsafe", "plugin"}

// TestLayers checks the imports of every package against its layer.
func TestLayers(t *testing.T) {
	for _, p := range list(t) {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		l := find(name)
		if l == nil {
			continue
		}
		for _, imp := range p.Imports {
			if why := forbidden(l, imp); why != "" {
				t.Errorf("%s imports %s: %s", name, imp, why)
			}
		}
	}
}

func forbidden(l *layer, imp string) string {
	if own, ok := strings.CutPrefix(imp, module+"/"); ok {
		if !slices.ContainsFunc(l.own, func(pat string) bool { return matches(pat, own) }) {
			return "arrows point down; see ARCHITECTURE.md"
		}
		return ""
	}
	if strings.Contains(strings.SplitN(imp, "/", 2)[0], ".") {
		if !slices.ContainsFunc(l.third, func(p string) bool { return strings.HasPrefix(imp, p) }) {
			return "this package has no use for it; see the table in imports_test.go"
		}
		return ""
	}
	if l.impure == "" && slices.Contains(impureImports, imp) && !slices.Contains(l.may, imp) {
		return "only parse/bundle and cmd touch files, clocks and goroutines"
	}
	return ""
}

// TestSizes: no package of the rebuild is too long to read in one sitting.
func TestSizes(t *testing.T) {
	const most = 3000
	for _, p := range list(t) {
		if name := strings.TrimPrefix(p.ImportPath, module+"/"); name != "replay" && !matches("replay/...", name) {
			continue
		}
		lines := 0
		for _, f := range p.GoFiles {
			text, err := os.ReadFile(filepath.Join(p.Dir, f))
			if err != nil {
				t.Fatal(err)
			}
			lines += bytes.Count(text, []byte{'\n'})
		}
		if lines > most {
			t.Errorf("%s has %d lines without tests, more than %d: divide it by what it knows", p.ImportPath, lines, most)
		}
	}
}

// TestDocs: every package has a package comment.
func TestDocs(t *testing.T) {
	for _, p := range list(t) {
		if p.Doc == "" {
			t.Errorf("package %s has no package comment", p.ImportPath)
		}
	}
}

// TestNoNetwork: our code opens no connections. The PromQL engine links net, and a Kubernetes
// client for its logging; our packages must not import them.
func TestNoNetwork(t *testing.T) {
	for _, p := range list(t) {
		for _, imp := range p.Imports {
			if imp == "net" || strings.HasPrefix(imp, "net/http") || imp == "net/rpc" || strings.HasPrefix(imp, "k8s.io/") {
				t.Errorf("%s imports %s", p.ImportPath, imp)
			}
		}
	}
}

// TestNoUtil: packages are named after what they provide.
func TestNoUtil(t *testing.T) {
	for _, p := range list(t) {
		switch path.Base(p.ImportPath) {
		case "util", "utils", "common", "types", "helpers", "misc":
			t.Errorf("%s: name it after what it knows", p.ImportPath)
		}
	}
}

func find(name string) *layer {
	for i := range layers {
		if layers[i].pkg == name {
			return &layers[i]
		}
	}
	return nil
}

func matches(pattern, name string) bool {
	if base, ok := strings.CutSuffix(pattern, "/..."); ok {
		return strings.HasPrefix(name, base+"/")
	}
	return pattern == name
}

type pkg struct {
	ImportPath, Doc, Dir string
	Imports, GoFiles     []string
}

func list(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Doc,Dir,Imports,GoFiles", module+"/...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

// forTests are modules and packages for tests and build tools, which must not be linked into the
// program.
var forTests = []string{"github.com/CycloneDX/", "github.com/santhosh-tekuri/", "github.com/chromedp/", "github.com/rogpeppe/", "pgregory.net/",
	"github.com/google/go-cmp", "github.com/stretchr/", "honnef.co/", module + "/internal/schemas", module + "/internal/fixtures"}

// TestProgram: the program is not linked with what only tests need.
func TestProgram(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", module+"/cmd/plegforensics").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, dep := range strings.Fields(string(out)) {
		if slices.ContainsFunc(forTests, func(p string) bool { return strings.HasPrefix(dep, p) }) {
			t.Errorf("the program is linked with %s", dep)
		}
	}
}

// TestEscaping: strings from inputs are escaped by package model as they enter a document. Only two
// places escape strings that are part of no report: partials of batch with the names of bundles, and
// messages on the terminal. Other escaping functions of model are not exported.
func TestEscaping(t *testing.T) {
	entrances := []string{"internal/fleet/partial.go", "cmd/plegforensics/visible.go"}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(at string, d os.DirEntry, err error) error {
		name, _ := filepath.Rel(root, at)
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		source, err := os.ReadFile(at)
		if calls := bytes.Contains(source, []byte("model.In(")) || bytes.Contains(source, []byte("= model.In\n")); calls != slices.Contains(entrances, filepath.ToSlash(name)) {
			t.Errorf("%s: calls model.In: %v", name, calls)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
