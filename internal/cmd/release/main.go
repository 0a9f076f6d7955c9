// Command release builds a release: archives with static binaries for each platform, a CycloneDX
// bill of materials for each, completions, the manual page, the krew manifest, and checksums. Equal
// sources, version and Go release give equal bytes on any machine. It accesses only the module
// proxy. It is called by scripts/release.sh.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

const (
	module  = "github.com/plegforensics/plegforensics"
	program = "plegforensics"
)

// platform is an operating system and architecture in Go's terms.
type platform struct{ os, arch string }

// platforms lists the platforms of a release.
var platforms = []platform{
	{"linux", "amd64"}, {"linux", "arm64"},
	{"darwin", "amd64"}, {"darwin", "arm64"},
	{"windows", "amd64"}, {"windows", "arm64"},
}

// binary returns the file name of the program on the platform.
func (p platform) binary() string {
	if p.os == "windows" {
		return program + ".exe"
	}
	return program
}

// stem returns the base name of the platform's files without extension.
func (p platform) stem(version string) string {
	return strings.Join([]string{program, version, p.os, p.arch}, "_")
}

// archive returns the name of the platform's archive.
func (p platform) archive(version string) string {
	if p.os == "windows" {
		return p.stem(version) + ".zip"
	}
	return p.stem(version) + ".tar.gz"
}

func main() {
	version := flag.String("version", "", "`VERSION` to stamp, vX.Y.Z")
	dist := flag.String("dist", "dist", "empty this `DIR` and fill it")
	only := flag.String("only", "", "build for one `OS/ARCH` only")
	flag.Parse()
	if err := run(*version, *dist, *only); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// versionForm is the form of versions accepted by krew and Go.
var versionForm = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

func run(version, dist, only string) error {
	if !versionForm.MatchString(version) {
		return fmt.Errorf("version %q is not of the form v1.2.3", version)
	}
	at, err := sourceTime()
	if err != nil {
		return err
	}
	if err := os.RemoveAll(dist); err != nil {
		return err
	}
	if err := os.MkdirAll(dist, 0o755); err != nil {
		return err
	}
	r := &release{version: version, dist: dist, at: at}
	if err := r.documents(); err != nil {
		return err
	}
	for _, p := range platforms {
		if only == "" || only == p.os+"/"+p.arch {
			if err := r.platform(p); err != nil {
				return fmt.Errorf("%s/%s: %w", p.os, p.arch, err)
			}
		}
	}
	if only == "" {
		if err := r.krew(); err != nil {
			return err
		}
	}
	return r.checksums()
}

// sourceTime returns the timestamp for archives: that of the commit, not of the build.
func sourceTime() (time.Time, error) {
	s := os.Getenv("SOURCE_DATE_EPOCH")
	if s == "" {
		out, err := exec.Command("git", "log", "-1", "--format=%ct").Output()
		if err != nil {
			return time.Time{}, fmt.Errorf("set SOURCE_DATE_EPOCH: git log: %w", err)
		}
		s = strings.TrimSpace(string(out))
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return time.Unix(n, 0).UTC(), err
}

// release is one run of the command.
type release struct {
	version, dist string
	at            time.Time
	extra         []member // files contained in every archive
}

// build compiles the program.
func (r *release) build(p platform, out string) error {
	return goTool(p, "build", "-pgo=cmd/"+program+"/release.pgo", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid= -X main.version="+r.version, "-o", out, "./cmd/"+program)
}

// goTool runs the go command for a platform, without environment variables that affect the result.
func goTool(p platform, args ...string) error {
	cmd := goCommand(p, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

func goCommand(p platform, args ...string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0", "GOOS="+p.os, "GOARCH="+p.arch)
	return cmd
}

// documents writes completions and the manual page as printed by the program, and keeps them for
// the archives.
func (r *release) documents() error {
	host := platform{runtime.GOOS, runtime.GOARCH}
	bin := filepath.Join(r.dist, ".host-"+host.binary())
	if err := r.build(host, bin); err != nil {
		return err
	}
	defer os.Remove(bin)
	bin, err := filepath.Abs(bin)
	if err != nil {
		return err
	}
	for _, x := range []struct {
		name string
		args []string
	}{
		{"completions/" + program + ".bash", []string{"completion", "bash"}},
		{"completions/" + program + ".zsh", []string{"completion", "zsh"}},
		{"completions/" + program + ".fish", []string{"completion", "fish"}},
		{"completions/" + program + ".ps1", []string{"completion", "powershell"}},
		{"man/" + program + ".1", []string{"man"}},
	} {
		out, err := exec.Command(bin, x.args...).Output()
		if err != nil {
			return fmt.Errorf("%s: %w", strings.Join(x.args, " "), err)
		}
		r.extra = append(r.extra, member{x.name, 0o644, out})
		if err := os.WriteFile(filepath.Join(r.dist, filepath.Base(x.name)), out, 0o644); err != nil {
			return err
		}
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		r.extra = append(r.extra, member{name, 0o644, data})
	}
	return nil
}

// platform builds the program for one platform, with its bill of materials and archive.
func (r *release) platform(p platform) error {
	bin := filepath.Join(r.dist, ".build-"+p.binary())
	defer os.Remove(bin)
	if err := r.build(p, bin); err != nil {
		return err
	}
	data, err := os.ReadFile(bin)
	if err != nil {
		return err
	}
	bom, err := bill(bin, r.version, r.at)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.dist, p.stem(r.version)+".cdx.json"), bom, 0o644); err != nil {
		return err
	}
	licences, err := licences(p)
	if err != nil {
		return err
	}
	files := append([]member{{p.binary(), 0o755, data}, {"THIRD-PARTY-LICENSES", 0o644, licences}}, r.extra...)
	packed, err := pack(p.archive(r.version), files, r.at)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.dist, p.archive(r.version)), packed, 0o644)
}
