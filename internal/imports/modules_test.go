package imports

import (
	"flag"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

var updateModules = flag.Bool("update", false, "rewrite the list of linked modules")

// TestModules checks the list of modules linked into the program: each is one more to trust, so
// adding one must be a conscious decision.
func TestModules(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", module+"/cmd/plegforensics").Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Fields(string(out))
	slices.Sort(got)
	list := strings.Join(slices.Compact(got), "\n") + "\n"
	const name = "testdata/modules.txt"
	if *updateModules {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(list), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if list != string(want) {
		t.Errorf("other modules are linked than %s lists (-update accepts them):\n%s", name, list)
	}
}
