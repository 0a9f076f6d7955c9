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

// version is stamped into release builds: -ldflags "-X main.version=v1.2.3".
var version = unstamped

const unstamped = "dev"

// buildVersion is the version of the program: that of the release, else that of
// the module as "go install" knows it, else the commit that was built, else
// "dev".
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
	case strings.HasPrefix(info.Main.Version, "v"): // of a release, or made of the commit
		return info.Main.Version
	case commit != "":
		return unstamped + "-" + commit + dirty
	}
	return unstamped
}

// exact reports whether a version names the sources that were built.
func exact(v string) bool { return v != unstamped && !strings.Contains(v, "+dirty") }

// buildID tells builds apart whose version does not: the hash of the program. It
// is "" where the version says it all, so that shards on several platforms merge.
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

// versionLine is what --version prints.
func versionLine(app *cli.App) string {
	line := fmt.Sprintf("%s %s %s %s/%s", app.Name, app.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if id := buildID(); id != "" {
		line += " build " + id
	}
	return line
}
