package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/plegforensics/plegforensics/internal/schemas"
)

var when = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// manifest is the part of a krew manifest that must agree with the archives.
type manifest struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   struct{ Name string }
	Spec       struct {
		Version          string
		ShortDescription string `yaml:"shortDescription"`
		Platforms        []struct {
			Selector struct {
				MatchLabels struct{ OS, Arch string } `yaml:"matchLabels"`
			}
			URI, SHA256, Bin string
			Files            []struct{ From, To string }
		}
	}
}

// TestKrew fills in the manifest for existing archives and compares them: every platform, its
// archive by name and checksum, and every file that is extracted from the archive.
func TestKrew(t *testing.T) {
	t.Chdir("../../..")
	r := &release{version: "v1.2.3", dist: t.TempDir(), at: when}
	for _, p := range platforms {
		packed, err := pack(p.archive(r.version), []member{{p.binary(), 0o755, []byte(p.os + p.arch)}, {"LICENSE", 0o644, nil}}, when)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(r.dist, p.archive(r.version)), packed, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.krew(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(r.dist, "krew.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var m manifest
	if err := yaml.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	if m.APIVersion != "krew.googlecontainertools.github.com/v1alpha2" || m.Kind != "Plugin" || m.Metadata.Name != program || m.Spec.Version != "v1.2.3" || m.Spec.ShortDescription == "" {
		t.Errorf("%+v", m)
	}
	if len(m.Spec.Platforms) != len(platforms) || regexp.MustCompile(`VERSION|SHA256_`).Match(data) {
		t.Errorf("%d platforms in\n%s", len(m.Spec.Platforms), data)
	}
	for i, x := range m.Spec.Platforms {
		p := platforms[i]
		name := p.archive(r.version)
		sum, err := checksum(filepath.Join(r.dist, name))
		if err != nil {
			t.Fatal(err)
		}
		if x.Selector.MatchLabels.OS != p.os || x.Selector.MatchLabels.Arch != p.arch || x.SHA256 != sum || x.Bin != p.binary() ||
			!strings.HasSuffix(x.URI, "/download/v1.2.3/"+name) {
			t.Errorf("%v: %+v", p, x)
		}
		held := unpacked(t, filepath.Join(r.dist, name))
		for _, f := range x.Files {
			if _, ok := held[f.From]; !ok {
				t.Errorf("%s holds no %s", name, f.From)
			}
		}
	}
}

// unpacked returns the contents of an archive by file name.
func unpacked(t *testing.T, path string) map[string]string {
	t.Helper()
	out := map[string]string{}
	if strings.HasSuffix(path, ".zip") {
		z, err := zip.OpenReader(path)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			out[f.Name] = f.Mode().String() + string(data)
		}
		return out
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out[h.Name] = h.FileInfo().Mode().String() + string(data)
	}
}

// TestPack: modes are kept, and the order of the input files does not matter.
func TestPack(t *testing.T) {
	files := []member{{"b", 0o755, []byte("run")}, {"a/x", 0o644, []byte("read")}}
	for _, name := range []string{"x.zip", "x.tar.gz"} {
		one, err := pack(name, files, when)
		if err != nil {
			t.Fatal(err)
		}
		two, err := pack(name, []member{files[1], files[0]}, when)
		if err != nil || !bytes.Equal(one, two) {
			t.Errorf("%s depends on the order: %v", name, err)
		}
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, one, 0o644); err != nil {
			t.Fatal(err)
		}
		got := unpacked(t, path)
		if len(got) != 2 || got["b"] != "-rwxr-xr-xrun" || got["a/x"] != "-rw-r--r--read" {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestBill checks the bill of materials of this test binary against the CycloneDX schema and the
// linker's build info.
func TestBill(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bom, err := bill(self, "v1.2.3", when)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	set := map[string][]byte{}
	for name, file := range map[string]string{"bom.json": "bom-1.6.schema.json", "spdx.schema.json": "spdx.schema.json", "jsf-0.82.schema.json": "jsf-0.82.schemax.json"} {
		data, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "schema", file))
		if err != nil {
			t.Fatal(err)
		}
		set[name] = data
	}
	if err := schemas.JSONWith(set, "bom.json", bom); err != nil {
		t.Error(err)
	}
	if parts, licences := strings.Count(string(bom), `"purl"`), strings.Count(string(bom), `"licenses"`); licences < parts {
		t.Errorf("%d of %d components have a licence", licences, parts)
	}
	for _, want := range []string{`"pkg:golang/github.com/CycloneDX/cyclonedx-go@v`, `"pkg:golang/stdlib@1.`, `"timestamp": "2026-03-01T12:00:00Z"`, `"value": "h1:`} {
		if !bytes.Contains(bom, []byte(want)) {
			t.Errorf("no %s in\n%s", want, bom)
		}
	}
	bad := bytes.Replace(bom, []byte(`"application"`), []byte(`"thing"`), 1)
	if schemas.JSONWith(set, "bom.json", bad) == nil {
		t.Error("a component of an unknown type is taken for valid")
	}
}

// TestReproducible builds twice for one platform: all files are equal byte for byte, and the
// archive contains the program with its documents.
func TestReproducible(t *testing.T) {
	if os.Getenv("PLEGFORENSICS_BUILDS") == "" {
		t.Skip("builds the program twice: the gate sets PLEGFORENSICS_BUILDS")
	}
	t.Chdir("../../..")
	t.Setenv("SOURCE_DATE_EPOCH", "1772366400")
	var sums [2][]byte
	var dist string
	for i := range sums {
		dist = t.TempDir()
		if err := run("v1.2.3", dist, "linux/amd64"); err != nil {
			t.Fatal(err)
		}
		var err error
		if sums[i], err = os.ReadFile(filepath.Join(dist, "SHA256SUMS")); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(sums[0], sums[1]) || len(sums[0]) == 0 {
		t.Errorf("%s\n%s", sums[0], sums[1])
	}
	held := unpacked(t, filepath.Join(dist, "plegforensics_v1.2.3_linux_amd64.tar.gz"))
	for _, name := range []string{program, "LICENSE", "THIRD-PARTY-LICENSES", "completions/plegforensics.zsh", "man/plegforensics.1"} {
		if len(held[name]) < 100 {
			t.Errorf("%s: %d bytes", name, len(held[name]))
		}
	}
	if !strings.Contains(held["THIRD-PARTY-LICENSES"], "==== github.com/klauspost/compress ") {
		t.Error("a licence is missing")
	}
}

func TestVersionForm(t *testing.T) {
	for v, ok := range map[string]bool{"v1.2.3": true, "v0.1.0-rc.1": true, "1.2.3": false, "v1.2": false, "v1.2.3; rm": false, "": false} {
		if versionForm.MatchString(v) != ok {
			t.Errorf("%q: %v", v, !ok)
		}
	}
}
