// Command packnodes writes packed.bin next to the YAML files of a directory, for package nodes. It
// is run by "go generate ./...".
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/plegforensics/plegforensics/internal/nodes"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "packnodes:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	packed, err := nodes.Pack(yamlFiles{os.DirFS(dir)})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "packed.bin"), []byte(packed), 0o644)
}

// yamlFiles contains the YAML files of a directory, as embedded in the program.
type yamlFiles struct{ fs.FS }

func (f yamlFiles) ReadFile(name string) ([]byte, error) { return fs.ReadFile(f.FS, name) }

func (f yamlFiles) ReadDir(name string) ([]fs.DirEntry, error) {
	names, err := fs.Glob(f.FS, "*.yaml")
	if err != nil {
		return nil, err
	}
	var out []fs.DirEntry
	for _, n := range names {
		info, err := fs.Stat(f.FS, n)
		if err != nil {
			return nil, err
		}
		out = append(out, fs.FileInfoToDirEntry(info))
	}
	return out, nil
}
