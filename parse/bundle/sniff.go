package bundle

import (
	"bytes"
	"path"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/exports"
	"github.com/plegforensics/plegforensics/parse/facts"
	"github.com/plegforensics/plegforensics/parse/metrics"
	"github.com/plegforensics/plegforensics/parse/metrics/tsdb"
)

// identify decides what a member is good for: a layout that knows its path
// says so, else its content does. It returns why a layout has no use for it, and
// what kind of export of a log it is, and whether only the user's word makes it a log.
func (w *walker) identify(f *parse.File, head []byte, lone bool) (why string, form exports.Form, guessed bool) {
	id := w.u.id
	if f.Path != w.u.path || w.u.lone {
		id = w.u.ids.identify(f.Path)
	}
	f.Role, f.Node, f.Layout = id.Role, id.Node, id.Layout
	if id.Why == "" && isOwnReport(head) {
		id.Why = whyOwn
	}
	if id.Why == "" {
		f.Role = byContent(f, head)
		form = exported(f, id.Role, head)
	}
	if f.Role == parse.RoleUnknown && lone && isText(head) {
		f.Role, guessed = parse.RoleLog, true // named by the user: let the log decoder try
	}
	return id.Why, form, guessed
}

// byContent is the role of a file whose layout gives it f.Role, or nothing:
// what the content shows beyond doubt goes before the name.
func byContent(f *parse.File, head []byte) parse.Role {
	switch {
	case isJournal(head):
		return parse.RoleJournal
	case f.Role != parse.RoleUnknown:
		return f.Role
	case isSnapshotName(f.Path) && metrics.ErrorPage(head):
		return parse.RoleMetrics
	}
	if _, ok := tsdb.Root(f.Path); ok { // segments of a write-ahead log have no magic number, but a place
		return parse.RoleTSDB
	}
	if !facts.IsDate(f.Path, head) && hasLogLines(head) {
		return sniff(head)
	}
	switch kind := facts.Kind(f.Path, head); {
	case kind == "date" && isFewSamples(head):
		return parse.RoleMetrics
	case kind == "date":
		return parse.RoleFacts // one line that is a date and nothing else
	case kind != "" && !hasLogLines(head):
		if isContainerTable(head) {
			return parse.RoleCRI
		}
		if isStacks(head) {
			return parse.RoleStacks
		}
		if r := sniff(head); r == parse.RoleObjects || r == parse.RoleCRI || r == parse.RoleSnapshots {
			return r
		}
		return parse.RoleFacts
	}
	return sniff(head)
}

// hasLogLines reports whether one of the first lines begins as a log line does.
// Times within a line prove nothing: process tables are full of them.
func hasLogLines(h []byte) bool {
	return firstLines(h, logLines, func(line []byte) bool {
		for _, s := range shapes {
			if shaped(line, s) {
				return true
			}
		}
		return hasKlogHeader(line)
	})
}

// sniffers are tested in order; the first that knows the content wins. head is
// the beginning of the member, up to headLen bytes.
var sniffers = []struct {
	role  parse.Role
	match func(head []byte) bool
}{
	{parse.RoleJournal, isJournal},
	{parse.RoleMetrics, isProtobufMetrics},
	{parse.RoleTSDB, isTSDB},
	{parse.RoleUnknown, isBinary},
	{parse.RoleSnapshots, isSnapshots},
	{parse.RoleMetrics, isExposition},
	{parse.RoleMetrics, isMetricsJSON},
	{parse.RoleLog, isLogJSON},
	{parse.RoleCRI, isContainerJSON},
	{parse.RoleObjects, isObject},
	{parse.RoleCRI, isContainerTable},
	{parse.RoleStacks, isStacks},
	{parse.RoleLog, isLog},
	{parse.RoleFacts, isSystemFile},
	{parse.RoleLog, isDescription},
}

// sniff returns the role that the content alone gives a member, RoleUnknown
// for what nothing is known about.
func sniff(head []byte) parse.Role {
	for _, s := range sniffers {
		if s.match(head) {
			return s.role
		}
	}
	return parse.RoleUnknown
}

// isSnapshotName reports whether a file is called as snapshots of metrics are,
// or lies among them: then an error page in it is a snapshot that failed.
func isSnapshotName(p string) bool {
	dir, base := path.Split(strings.ToLower(p))
	switch path.Ext(base) {
	case ".prom", ".openmetrics", ".metrics":
		return true
	case ".txt", "":
		return strings.Contains(base, "metrics") || strings.HasSuffix(dir, "metrics/")
	}
	return false
}

func isJournal(h []byte) bool { return bytes.HasPrefix(h, []byte("LPKSHHRH")) }

// isTSDB knows the files of a Prometheus TSDB that carry a magic number: index
// and chunk files, head chunks. The others go by their place (layouts.go).
func isTSDB(h []byte) bool {
	for _, magic := range []string{"\xba\xaa\xd7\x00", "\x85\xbd\x40\xdd", "\x01\x30\xbc\x91"} {
		if bytes.HasPrefix(h, []byte(magic)) {
			return true
		}
	}
	return false
}

// isText reports whether h can be text in a superset of ASCII: hardly any
// control characters. NUL bytes occur in logs after a crash.
func isText(h []byte) bool {
	odd, nul := 0, 0
	h = h[:min(len(h), 16<<10)]
	for _, c := range h {
		switch {
		case c == 0:
			nul++
		case c < 0x20 && c != '\n' && c != '\t' && c != '\r' && c != 0x1b && c != '\f' && c != '\b':
			odd++
		}
	}
	return len(h) > 0 && odd*20 <= len(h) && nul*2 <= len(h)
}

func isBinary(h []byte) bool { return !isText(h) }

// lineStarts calls f with the first n lines of h that are not blank.
func firstLines(h []byte, n int, f func(line []byte) bool) bool {
	for n > 0 && len(h) > 0 {
		line, rest, _ := bytes.Cut(h, newline)
		h = rest
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		n--
		if f(line) {
			return true
		}
	}
	return false
}

// isDescription knows a text that begins with what kubectl prints of nodes, but for the
// command and what the shell says of it: the decoder of logs reads it.
func isDescription(h []byte) bool {
	return firstLines(h, 5, facts.BeginsDescription) && len(facts.Described(&parse.File{}, h)) > 0
}

// starts returns h without leading white space.
func starts(h []byte) []byte { return bytes.TrimLeft(h, " \t\r\n") }

func isSnapshots(h []byte) bool {
	h = starts(h)
	line, _, _ := bytes.Cut(h, newline)
	line = line[:min(len(line), 4096)]
	return bytes.HasPrefix(h, []byte("{")) && bytes.Contains(line, []byte(`"time"`)) &&
		(bytes.Contains(line, []byte(`"pods":[`)) || bytes.Contains(line, []byte(`"pods": [`)) || bytes.Contains(line, []byte(`"list_error"`)))
}

// isProtobufMetrics knows delimited io.prometheus.client.MetricFamily messages.
func isProtobufMetrics(h []byte) bool { return metrics.Sniff(h) == metrics.FormatProto }

func isMetricName(b []byte) bool {
	for i, c := range b {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == ':' || i > 0 && c >= '0' && c <= '9') {
			return false
		}
	}
	return len(b) > 0
}

// isExposition knows the text forms: two of the first lines are comments of
// the format or samples. A code fence or a command line may stand before.
func isExposition(h []byte) bool {
	hits := 0
	return firstLines(h, 12, func(line []byte) bool {
		if isExpositionLine(line) {
			hits++
		}
		return hits == 2
	}) || isFewSamples(h) || len(h) == headLen && metrics.Sniff(h) == metrics.FormatText && hits == 0
}

// isFewSamples knows a text that holds nothing but samples, be it one, and what
// people leave around them: the date, say.
func isFewSamples(h []byte) bool {
	samples := 0
	for line := range bytes.SplitSeq(h, newline) {
		switch line = bytes.TrimSpace(line); {
		case isExpositionLine(line):
			samples++
		case !metrics.Dress(line):
			return false
		}
	}
	return samples > 0
}

func isExpositionLine(line []byte) bool {
	if bytes.HasPrefix(line, []byte("# HELP ")) || bytes.HasPrefix(line, []byte("# TYPE ")) {
		return true
	}
	if bytes.HasPrefix(line, []byte(`{__name__="`)) { // promtool tsdb dump
		return true
	}
	end := bytes.IndexAny(line, "{ ")
	if end <= 0 || !isMetricName(line[:end]) {
		return false
	}
	rest := line[end:]
	if rest[0] == '{' {
		close := bytes.LastIndexByte(rest, '}')
		if close < 0 || !bytes.Contains(rest[:close], []byte(`="`)) {
			return false
		}
		rest = rest[close+1:]
	} else if !bytes.ContainsRune(line[:end], '_') {
		return false // "up 1" alone is too little
	}
	f := bytes.Fields(rest)
	return len(f) >= 1 && len(f) <= 2 && isNumber(f[0])
}

func isNumber(b []byte) bool {
	switch string(b) {
	case "NaN", "+Inf", "-Inf":
		return true
	}
	digits := false
	for _, c := range b {
		switch {
		case c >= '0' && c <= '9':
			digits = true
		case c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E':
			return false
		}
	}
	return digits
}

// isMetricsJSON knows the answers of the Prometheus HTTP API, the results in
// them alone, as promtool prints them, and the export format of VictoriaMetrics.
func isMetricsJSON(h []byte) bool {
	h = starts(h)
	if bytes.HasPrefix(h, []byte("[")) {
		return metrics.Sniff(h) == metrics.FormatAPI
	}
	if !bytes.HasPrefix(h, []byte("{")) {
		return false
	}
	h = h[:min(len(h), 8<<10)]
	return bytes.Contains(h, []byte(`"resultType"`)) ||
		bytes.Contains(h, []byte(`"metric"`)) && bytes.Contains(h, []byte(`"values"`)) && bytes.Contains(h, []byte(`"timestamps"`))
}

// isObject knows Kubernetes objects in YAML and JSON, lists of them included.
func isObject(h []byte) bool {
	h = starts(h)
	h = h[:min(len(h), 64<<10)]
	if bytes.HasPrefix(h, []byte("{")) || bytes.HasPrefix(h, []byte("[")) {
		return bytes.Contains(h, []byte(`"kind"`)) && bytes.Contains(h, []byte(`"apiVersion"`)) ||
			bytes.Contains(h, []byte(`"involvedObject"`)) || bytes.Contains(h, []byte(`"metadata"`)) && bytes.Contains(h, []byte(`"status"`))
	}
	api, kind := false, false
	return firstLines(h, 200, func(line []byte) bool {
		line = bytes.TrimPrefix(line, []byte("- "))
		api = api || bytes.HasPrefix(line, []byte("apiVersion:"))
		kind = kind || bytes.HasPrefix(line, []byte("kind:"))
		return api && kind
	})
}

// containerKeys are members that only the JSON of container tools has.
var containerKeys = []string{`"podSandboxId"`, `"sandboxId"`, `"createdAt"`, `"RuntimeReady"`, `"sandboxID"`, `"GraphDriver"`, `"ConmonPidFile"`, `"runtimeSpec"`}

func isContainerJSON(h []byte) bool {
	h = starts(h)
	if !bytes.HasPrefix(h, []byte("{")) && !bytes.HasPrefix(h, []byte("[")) {
		return false
	}
	h = h[:min(len(h), 64<<10)]
	for _, k := range containerKeys {
		if bytes.Contains(h, []byte(k)) {
			return true
		}
	}
	return false
}

// tableHeads are column titles of crictl, docker, podman and ctr.
var tableHeads = [][]string{
	{"CONTAINER ID", "IMAGE", "CREATED"},
	{"CONTAINER", "IMAGE", "CREATED", "STATE"},
	{"POD ID", "CREATED", "STATE"},
	{"CONTAINER", "IMAGE", "RUNTIME"},
}

func isContainerTable(h []byte) bool {
	return firstLines(h, 8, func(line []byte) bool {
		for _, head := range tableHeads {
			if inOrder(line, head) {
				return true
			}
		}
		return false
	})
}

// inOrder reports whether line begins with the first word and holds the others
// behind it in order.
func inOrder(line []byte, words []string) bool {
	if !bytes.HasPrefix(line, []byte(words[0])) {
		return false
	}
	for _, w := range words {
		i := bytes.Index(line, []byte(w))
		if i < 0 {
			return false
		}
		line = line[i+len(w):]
	}
	return true
}

// isStacks knows goroutine dumps.
func isStacks(h []byte) bool {
	return firstLines(h, 40, func(line []byte) bool {
		if bytes.HasPrefix(line, []byte("goroutine profile: total ")) {
			return true
		}
		return bytes.HasPrefix(line, []byte("goroutine ")) && bytes.HasSuffix(line, []byte("]:")) && bytes.IndexByte(line, '[') > 0
	})
}

// systemHeads begin command outputs and files of /proc that package facts
// reads whatever their name.
var systemHeads = []string{
	"some avg10=", "full avg10=", "MemTotal:", "Linux version ", "PRETTY_NAME=",
	"Local time:", "kind: KubeletConfiguration",
}

func isSystemFile(h []byte) bool {
	return firstLines(h, 3, func(line []byte) bool {
		for _, s := range systemHeads {
			if bytes.HasPrefix(line, []byte(s)) {
				return true
			}
		}
		return false
	})
}
