package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// bill returns the bill of materials of a binary as CycloneDX 1.6. It is based on what the Go
// linker recorded, so it lists what is in this binary, not what some list of dependencies requests.
func bill(path, version string, at time.Time) ([]byte, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	b := cdx.NewBOM()
	b.SpecVersion, b.JSONSchema = cdx.SpecVersion1_6, "http://cyclonedx.org/schema/bom-1.6.schema.json"
	b.SerialNumber = serial(sum)
	main := component(cdx.ComponentTypeApplication, module, version)
	main.Name, main.Licenses = program, &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}}
	main.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: fmt.Sprintf("%x", sum)}}
	main.Properties = settings(info)
	b.Metadata = &cdx.Metadata{Timestamp: at.Format(time.RFC3339), Component: &main}

	dirs, err := moduleDirs()
	if err != nil {
		return nil, err
	}
	std := component(cdx.ComponentTypeLibrary, "stdlib", strings.TrimPrefix(info.GoVersion, "go"))
	std.Licenses = &cdx.Licenses{{License: &cdx.License{ID: "BSD-3-Clause"}}}
	parts := []cdx.Component{std}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		c := component(cdx.ComponentTypeLibrary, m.Path, m.Version)
		if m.Sum != "" {
			c.Properties = &[]cdx.Property{{Name: "go:sum", Value: m.Sum}}
		}
		for _, id := range spdx(dirs[m.Path]) {
			if c.Licenses == nil {
				c.Licenses = &cdx.Licenses{}
			}
			l := cdx.License{ID: id}
			if strings.HasPrefix(id, "LicenseRef-") {
				l = cdx.License{Name: id}
			}
			*c.Licenses = append(*c.Licenses, cdx.LicenseChoice{License: &l})
		}
		parts = append(parts, c)
	}
	b.Components = &parts
	var refs []string
	for _, c := range parts {
		refs = append(refs, c.BOMRef)
	}
	b.Dependencies = &[]cdx.Dependency{{Ref: main.BOMRef, Dependencies: &refs}}

	var out bytes.Buffer
	err = cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false).EncodeVersion(b, cdx.SpecVersion1_6)
	return out.Bytes(), err
}

// moduleDirs returns the source directories of all modules.
func moduleDirs() (map[string]string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Path}}\t{{.Dir}}", "all").Output()
	if err != nil {
		return nil, err
	}
	dirs := map[string]string{}
	for _, l := range strings.Split(string(out), "\n") {
		if path, dir, ok := strings.Cut(l, "\t"); ok {
			dirs[path] = dir
		}
	}
	return dirs, nil
}

// component describes a Go module by its package URL.
func component(kind cdx.ComponentType, path, version string) cdx.Component {
	purl := "pkg:golang/" + path
	if version != "" {
		purl += "@" + url.QueryEscape(version)
	}
	if path != "stdlib" {
		purl += "?type=module"
	}
	return cdx.Component{BOMRef: purl, Type: kind, Name: path, Version: version, PackageURL: purl}
}

// settings returns the build settings that affect the binary.
func settings(info *debug.BuildInfo) *[]cdx.Property {
	out := []cdx.Property{{Name: "go:version", Value: info.GoVersion}}
	for _, s := range info.Settings {
		switch s.Key {
		case "CGO_ENABLED", "GOOS", "GOARCH", "GOAMD64", "GOARM64", "-trimpath":
			out = append(out, cdx.Property{Name: "go:" + s.Key, Value: s.Value})
		}
	}
	return &out
}

// serial derives a UUID from the binary's hash (version 8, custom), so that equal binaries have
// equal bills.
func serial(sum [sha256.Size]byte) string {
	u := sum[:16]
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:16])
}
