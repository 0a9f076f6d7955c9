package facts

import (
	"path"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// decoder decodes one kind of output.
type decoder struct {
	kind string
	// is recognizes the kind by the name of the command or file, in lower case, and
	// the beginning of the content.
	is func(name, head string) bool
	// decode is nil for files with the output of several commands, which run splits
	// into sections.
	decode func(*scan)
}

// headLen is how many bytes of a file are used to recognize its kind.
const headLen = 4096

// decoders are tried in this order. They go by content where possible, by name only
// where the content is ambiguous.
var decoders = []decoder{
	{"supportconfig", hasPrefixes("=====", "#==[ "), nil},
	{"sos-manifest", contains(`"components"`, `"plugins"`, `"version"`), (*scan).sosManifest},
	{"sar-xml", contains("<sysstat"), (*scan).sarXML},
	{"sar", isSar, (*scan).sar},
	{"goroutines", isGoroutines, (*scan).goroutines},
	{"kernel-stack", isKernelStack, (*scan).kernelStack},
	{"top", contains("load average:", "Tasks:"), (*scan).top},
	{"uptime", contains("load average:"), (*scan).uptime},
	{"loadavg", named("loadavg"), (*scan).loadavg},
	{"psi", hasPrefixes("some avg10="), (*scan).psi},
	{"meminfo", contains("MemTotal:", "MemFree:"), (*scan).meminfo},
	{"free", isFree, (*scan).free},
	{"proc-stat", hasPrefixes("cpu  "), (*scan).procStat},
	{"proc-vmstat", hasPrefixes("nr_free_pages "), (*scan).procVmstat},
	{"vmstat", contains("procs --"), (*scan).vmstat},
	{"iostat", contains("Device", "%util"), (*scan).iostat},
	{"ps", isPS, (*scan).ps},
	{"lvs", isLvs, (*scan).lvs},
	{"df", isDf, (*scan).df},
	{"mounts", isMounts, (*scan).mounts},
	{"proc-cgroups", hasPrefixes("#subsys_name"), (*scan).procCgroups},
	{"cgroup-file", named("freezer.state", "cgroup.events", "pids.current", "pids.max", "cpu.stat"), (*scan).cgroupFile},
	{"timedatectl", contains("Time zone:"), (*scan).timedatectl},
	{"list-boots", isListBoots, (*scan).listBoots},
	{"hwclock", named("hwclock*", "*hwclock"), (*scan).hwclock},
	{"date", isDate, (*scan).date},
	{"list-jobs", isListJobs, (*scan).listJobs},
	{"list-units", contains("UNIT", "LOAD", "ACTIVE", "SUB"), (*scan).listUnits},
	{"unit-status", isUnitStatus, (*scan).unitStatus},
	{"systemd-version", hasPrefixes("systemd "), (*scan).systemdVersion},
	{"unit-file", contains("[Service]"), (*scan).unitFile},
	{"os-release", contains("PRETTY_NAME="), (*scan).osRelease},
	{"uname", isUname, (*scan).uname},
	{"hostname", named("hostname", "hostname_-f", "hostname.txt", "etc.hostname"), (*scan).hostname},
	{"one-node", isOneNode, (*scan).oneNode},
	{"boot-id", named("boot_id"), (*scan).bootID},
	{"sysctl", isSysctl, (*scan).sysctl},
	{"proc-sys", named("pid_max", "threads-max", "file-nr", "file-max"), (*scan).procSys},
	{"cmdline", hasPrefixes("BOOT_IMAGE="), (*scan).cmdline},
	{"lscpu", contains("CPU(s):"), (*scan).lscpu},
	{"cpuinfo", hasPrefixes("processor\t"), (*scan).cpuinfo},
	{"crictl-info", contains(`"RuntimeReady"`), (*scan).crictlInfo},
	{"docker-info", contains("Containers:", "Server Version:"), (*scan).dockerInfo},
	{"runtime-version", contains("RuntimeName:"), (*scan).crictlVersion},
	{"docker-version", isDockerVersion, (*scan).versionLines},
	{"version-line", isVersionLine, (*scan).versionLines},
	{"packages", named("installed-rpms", "installed-debs", "*package*"), (*scan).packages},
	{"container-table", isContainerTable, (*scan).containerTable},
	{"collector-info", contains(`"exitCode"`), (*scan).runInfo},
	{"bundle-metadata", contains("bundlename:"), (*scan).bundleMetadata},
	{"kubelet-cmdline", isKubeletCmdline, (*scan).kubeletCmdline},
	{"kubelet-config", contains("KubeletConfiguration"), (*scan).kubeletConfig},
	{"configz", contains(`"kubeletconfig"`), (*scan).kubeletConfig},
	{"objects-json", isObjectsJSON, (*scan).objectsJSON},
	{"objects-yaml", isObjectsYAML, (*scan).objectsYAML},
	{"sos-log", isSosLog, (*scan).sosLog},
	{"collector-version", isCollectorVersion, (*scan).collectorVersion},
	{"killed", isTrouble, func(*scan) {}}, // run looks for trouble in every file
}

// Decode decodes a file with the role facts, stacks, objects or manifest, and
// container listings for their counts. It does not retain data.
func Decode(f *parse.File, data []byte) parse.Part {
	s := newScan(f, NameOf(f.Path), data)
	s.run()
	return *s.part
}

// Kind returns the kind of the decoder for a file with this path and head, "" if
// there is none.
func Kind(path string, head []byte) string {
	name, beginning := NameOf(path), string(head[:min(len(head), headLen)])
	if isTranscript(name, beginning) {
		return "transcript"
	}
	if d := choose(name, beginning); d != nil {
		return d.kind
	}
	return ""
}

// IsDate reports whether a file, by its path and head, is a single line with a
// date.
func IsDate(path string, head []byte) bool {
	return isDate(NameOf(path), string(head[:min(len(head), headLen)]))
}

// NameOf returns the last element of a path in lower case, without extensions that
// only state the form of the file, such as ".txt", ".tailed" or ".gz".
func NameOf(p string) string {
	name := strings.ToLower(path.Base(p[strings.LastIndexByte(p, '!')+1:]))
	for {
		i := strings.LastIndexByte(name, '.')
		if i <= 0 {
			return name
		}
		switch name[i:] {
		case ".txt", ".tailed", ".gz", ".xz", ".log":
			name = name[:i]
		default:
			return name
		}
	}
}

func (s *scan) run() {
	head := string(s.data[:min(len(s.data), headLen)])
	if isTranscript(s.name, head) {
		s.transcript()
		return
	}
	s.trouble()
	s.rewind()
	d := choose(s.name, head)
	switch {
	case d == nil:
	case d.decode == nil:
		s.supportconfig()
	default:
		d.decode(s)
	}
}

func choose(name, head string) *decoder {
	for i := range decoders {
		if decoders[i].is(name, head) {
			return &decoders[i]
		}
	}
	return nil
}

// contains matches a head that contains all of the words.
func contains(words ...string) func(name, head string) bool {
	return func(_, head string) bool {
		for _, w := range words {
			if !strings.Contains(head, w) {
				return false
			}
		}
		return true
	}
}

// hasPrefixes matches a head that begins with one of the strings.
func hasPrefixes(begin ...string) func(name, head string) bool {
	return func(_, head string) bool {
		for _, b := range begin {
			if strings.HasPrefix(head, b) {
				return true
			}
		}
		return false
	}
}

// named matches one of the names; a "*" at either end matches any text. The
// patterns are parsed once, since every file is tested.
func named(names ...string) func(name, head string) bool {
	type pattern struct {
		text        string
		front, back bool // any text may stand at this end
	}
	var patterns []pattern
	for _, n := range names {
		text := strings.TrimSuffix(strings.TrimPrefix(n, "*"), "*")
		patterns = append(patterns, pattern{text, strings.HasPrefix(n, "*"), strings.HasSuffix(n, "*")})
	}
	return func(name, _ string) bool {
		for _, p := range patterns {
			switch {
			case p.front && p.back && strings.Contains(name, p.text),
				p.front && !p.back && strings.HasSuffix(name, p.text),
				p.back && !p.front && strings.HasPrefix(name, p.text),
				name == p.text:
				return true
			}
		}
		return false
	}
}

// firstLine returns the first non-blank line, trimmed.
func firstLine(head string) string {
	for line := range strings.Lines(head) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

// fields splits a line at white space.
func fields(line string) []string { return strings.Fields(line) }
