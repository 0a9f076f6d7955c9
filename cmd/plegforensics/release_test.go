package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestKrewManifest: the manifest names every archive that the release script
// makes, and each place that the script fills in stands there.
func TestKrewManifest(t *testing.T) {
	data, err := os.ReadFile("../../packaging/krew/plegforensics.yaml")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("../../scripts/release.sh")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		APIVersion, Kind string
		Metadata         struct{ Name string }
		Spec             struct {
			Version, ShortDescription string
			Platforms                 []struct {
				Selector struct {
					MatchLabels struct{ OS, Arch string } `yaml:"matchLabels"`
				}
				URI, SHA256, Bin string
			}
		}
	}
	if err := yaml.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Kind != "Plugin" || doc.Metadata.Name != "plegforensics" || doc.Spec.Version != "VERSION" {
		t.Errorf("%+v", doc)
	}
	var have []string
	for _, p := range doc.Spec.Platforms {
		l := p.Selector.MatchLabels
		have = append(have, l.OS+"/"+l.Arch)
		if p.SHA256 != "SHA256_"+l.OS+"_"+l.Arch || !strings.HasSuffix(p.URI, "plegforensics_VERSION_"+l.OS+"_"+l.Arch+".tar.gz") ||
			strings.HasSuffix(p.Bin, ".exe") != (l.OS == "windows") {
			t.Errorf("platform %+v", p)
		}
	}
	loops := regexp.MustCompile(`for (?:os|arch) in ([a-z0-9 ]+); do`).FindAllStringSubmatch(string(script), 2)
	if len(loops) != 2 {
		t.Fatal("the script loops over no systems")
	}
	for _, goos := range strings.Fields(loops[0][1]) {
		for _, arch := range strings.Fields(loops[1][1]) {
			if !slices.Contains(have, goos+"/"+arch) {
				t.Errorf("no platform %s/%s", goos, arch)
			}
		}
	}
}
