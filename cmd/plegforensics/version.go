package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"
)

// version is set in release builds by -ldflags "-X main.version=v1.2.3".
var version = unstamped

const unstamped = "dev"

// buildVersion returns the version of the program: that of the release, else that of the module as
// known to "go install", else the commit, else "dev".
var buildVersion = sync.OnceValue(func() string {
	if version != unstamped {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unstamped
	}
	return versionOf(info)
})

func versionOf(info *debug.BuildInfo) string {
	var commit, dirty string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(len(s.Value), 12)]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+dirty"
		}
	}
	switch {
	case strings.HasPrefix(info.Main.Version, "v"): // of a release, or derived from the commit
		return info.Main.Version
	case commit != "":
		return unstamped + "-" + commit + dirty
	}
	return unstamped
}

// exact reports whether a version identifies the sources.
func exact(v string) bool { return v != unstamped && !strings.Contains(v, "+dirty") }

// buildID distinguishes builds whose version does not: it is a hash of the executable. It is "" if
// the version is exact, so that shards from several platforms can be merged.
var buildID = sync.OnceValue(func() string {
	if exact(buildVersion()) {
		return ""
	}
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
})

// versionLine returns the output of --version.
func versionLine(app *cli.App) string {
	line := fmt.Sprintf("%s %s %s %s/%s", app.Name, app.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if id := buildID(); id != "" {
		line += " build " + id
	}
	return line
}
