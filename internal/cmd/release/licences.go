package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// licenceFile matches the names of files that a license requires to be distributed.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([.-].*)?$`)

// licences returns the license texts of everything linked into the program for a platform, by
// module, and of Go itself.
func licences(p platform) ([]byte, error) {
	out, err := goCommand(p, "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}", "./cmd/"+program).Output()
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Sort(lines)
	root, err := goCommand(p, "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	lines = append([]string{"Go " + runtime.Version() + "\t" + strings.TrimSpace(string(root))}, slices.Compact(lines)...)
	var b bytes.Buffer
	for _, l := range lines {
		name, dir, ok := strings.Cut(l, "\t")
		if !ok {
			continue // the standard library
		}
		if err := addLicence(&b, name, dir); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

func addLicence(b *bytes.Buffer, name, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	found := false
	for _, e := range entries {
		if e.IsDir() || !licenceFile.MatchString(e.Name()) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		found = true
		fmt.Fprintf(b, "==== %s: %s\n\n%s\n\n", name, e.Name(), bytes.TrimSpace(data))
	}
	if !found {
		return fmt.Errorf("%s has no licence", name)
	}
	return nil
}
