package bundle

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const linkedLine = "I0304 10:03:05.000000    2114 kubelet.go:2347] \"Started kubelet\"\n"

func plant(t *testing.T, dir string, files, symlinks map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range symlinks {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(strings.ReplaceAll(to, "$DIR", dir), path); err != nil {
			t.Skip(err)
		}
	}
}

// TestDirectoryLinks: targets inside the input directory are read once; links that
// lead out are named and counted, so that no loss is silent.
func TestDirectoryLinks(t *testing.T) {
	tests := []struct {
		name            string
		files, symlinks map[string]string
		below           string // the directory given as input
		paths           string // of files read
		warnings        []string
		err             bool
	}{
		{"containers and pods", map[string]string{"log/pods/x/0.log": linkedLine},
			map[string]string{"log/containers/a.log": "../pods/x/0.log", "log/containers/b.log": "$DIR/log/pods/x/0.log", "log/containers/dir": "../pods"},
			"log", "pods/x/0.log", nil, false},
		{"containers alone", map[string]string{"log/pods/x/0.log": linkedLine},
			map[string]string{"log/containers/a.log": "../pods/x/0.log", "log/containers/b.log": "../pods/x/0.log"},
			"log/containers", "", []string{"a.log: 2 symbolic links lead out of the directory and are not followed, name the directory that holds the files as well: a.log (to ../pods/x/0.log), b.log (to ../pods/x/0.log)"}, true},
		{"an annex", map[string]string{"repo/.git/annex/objects/aa/SHA256E-s1--1": linkedLine},
			map[string]string{"repo/node1/kubelet.log": "../.git/annex/objects/aa/SHA256E-s1--1", "repo/copy.log": "$DIR/repo/.git/annex/objects/aa/SHA256E-s1--1"},
			"repo", "copy.log", nil, false},
		{"dangling and circles", map[string]string{"d/k.log": linkedLine},
			map[string]string{"d/gone": "nosuch", "d/round": "round"},
			"d", "k.log", []string{"gone: 2 symbolic links lead to nothing: gone (to nosuch), round (to round)"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			plant(t, dir, tt.files, tt.symlinks)
			b, err := Load(context.Background(), []string{filepath.Join(dir, tt.below)}, Options{})
			if (err != nil) != tt.err && len(b.Events)+len(b.Coverage) > 0 {
				t.Errorf("error %v", err)
			}
			var paths, warnings []string
			for _, c := range b.Coverage {
				paths = append(paths, c.File.Path)
			}
			for _, w := range b.Warnings {
				warnings = append(warnings, w.String())
			}
			if got := strings.Join(paths, " "); got != tt.paths {
				t.Errorf("read %q, want %q", got, tt.paths)
			}
			if fmt.Sprint(warnings) != fmt.Sprint(tt.warnings) {
				t.Errorf("warnings %q, want %q", warnings, tt.warnings)
			}
		})
	}
}
