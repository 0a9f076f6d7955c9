package genmetrics

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSnapshotsAreCompleteAndTheSame(t *testing.T) {
	o := Options{Series: 450, Scrapes: 3}
	dirs := []string{t.TempDir(), t.TempDir()}
	for _, d := range dirs {
		if err := Snapshots(d, o); err != nil {
			t.Fatal(err)
		}
	}
	names, _ := filepath.Glob(filepath.Join(dirs[0], "*.prom"))
	if len(names) != 3 {
		t.Fatal(names)
	}
	for _, name := range names {
		a, _ := os.ReadFile(name)
		b, _ := os.ReadFile(filepath.Join(dirs[1], filepath.Base(name)))
		if len(a) == 0 || string(a) != string(b) {
			t.Errorf("%s differs from its copy", name)
		}
	}
}
