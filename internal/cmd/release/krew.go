package main

import (
	"os"
	"path/filepath"
	"strings"
)

// krewTemplate is the manifest with placeholders for version and checksums.
const krewTemplate = "packaging/krew/" + program + ".yaml"

// krew fills in the version and the checksums of the archives.
func (r *release) krew() error {
	data, err := os.ReadFile(krewTemplate)
	if err != nil {
		return err
	}
	pairs := []string{"VERSION", r.version}
	for _, p := range platforms {
		sum, err := checksum(filepath.Join(r.dist, p.archive(r.version)))
		if err != nil {
			return err
		}
		pairs = append(pairs, "SHA256_"+p.os+"_"+p.arch, sum)
	}
	return os.WriteFile(filepath.Join(r.dist, "krew.yaml"), []byte(strings.NewReplacer(pairs...).Replace(string(data))), 0o644)
}
