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

// identify sets the role of a member: by the layout that knows its path, else by
// content. It returns why the member is not used ("" if it is), its export form,
// and whether it counts as a log only because the user named it or gave few files.
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
		f.Role, guessed = parse.RoleLog, true // let the log decoder try
	}
	return id.Why, form, guessed
}

// byContent returns the role of a file; f.Role is what the layout says.
// Unmistakable content takes precedence over the path.
func byContent(f *parse.File, head []byte) parse.Role {
	switch {
	case isJournal(head):
		return parse.RoleJournal
	case f.Role != parse.RoleUnknown:
		return f.Role
	case isSnapshotName(f.Path) && (metrics.ErrorPage(head) || metrics.Sniff(head) == metrics.FormatText):
		return parse.RoleMetrics
	}
	if _, ok := tsdb.Root(f.Path); ok { // segments of a write-ahead log have no magic number but a known path
		return parse.RoleTSDB
	}
	if !facts.IsDate(f.Path, head) && hasLogLines(head) {
		return sniff(head)
	}
	switch kind := facts.Kind(f.Path, head); {
	case kind == "date" && isFewSamples(head):
		return parse.RoleMetrics
	case kind == "date":
		return parse.RoleFacts // a single line that is a date
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

// hasLogLines reports whether one of the first lines begins like a log line. Times
// in mid-line do not count: process tables are full of them.
func hasLogLines(h []byte) bool {
	return firstLines(h, logLines, func(line []byte) bool {
		for _, s := range shapes {
			if shaped(line, s) {
				return true
			}
		}
		return foreignStamp(line) || hasKlogHeader(line)
	})
}

// sniffers are tested in order; the first match wins. head is the beginning of the
// member, up to headLen bytes.
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

// sniff returns the role by content alone, RoleUnknown if none matches.
func sniff(head []byte) parse.Role {
	for _, s := range sniffers {
		if s.match(head) {
			return s.role
		}
	}
	return parse.RoleUnknown
}

// isSnapshotName reports whether a file is named like a metrics snapshot or lies
// among snapshots. An error page in such a file is a failed snapshot.
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

// isTSDB recognizes files of a Prometheus TSDB that have a magic number: index,
// chunk and head chunk files. Others are recognized by path (layouts.go).
func isTSDB(h []byte) bool {
	for _, magic := range []string{"\xba\xaa\xd7\x00", "\x85\xbd\x40\xdd", "\x01\x30\xbc\x91"} {
		if bytes.HasPrefix(h, []byte(magic)) {
			return true
		}
	}
	return false
}

// isText reports whether h may be text in a superset of ASCII: at most 5% control
// characters. NUL bytes, up to half of h, are allowed, since they occur in logs
// after a crash.
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

// firstLines calls f with the first n non-blank lines of h, trimmed, until f
// returns true. It reports whether f did.
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

// isDescription recognizes "kubectl describe node" output at the beginning of a
// text, possibly after the command and its prompt. The log decoder reads it.
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

// isProtobufMetrics recognizes length-delimited io.prometheus.client.MetricFamily
// messages.
func isProtobufMetrics(h []byte) bool { return metrics.Sniff(h) == metrics.FormatProto }

func isMetricName(b []byte) bool {
	for i, c := range b {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == ':' || i > 0 && c >= '0' && c <= '9') {
			return false
		}
	}
	return len(b) > 0
}

// isExposition recognizes the text formats: two of the first 12 lines are samples
// or HELP or TYPE comments. A code fence or command line may precede them. Names
// and numbers alone are no metrics: tables of the kernel's modules and counters are
// like that.
func isExposition(h []byte) bool {
	hits, sure := 0, false
	return firstLines(h, 12, func(line []byte) bool {
		sample, certain := expositionLine(line)
		if sample {
			hits++
		}
		sure = sure || certain
		return hits >= 2 && sure
	}) || isFewSamples(h) || len(h) == headLen && metrics.Sniff(h) == metrics.FormatText && hits == 0
}

// isFewSamples reports whether h consists of samples, of which one tells that they
// are some, and lines that people leave around them, such as a date.
func isFewSamples(h []byte) bool {
	sure := false
	for line := range bytes.SplitSeq(h, newline) {
		line = bytes.TrimSpace(line)
		sample, certain := expositionLine(line)
		if !sample && !metrics.Dress(line) {
			return false
		}
		sure = sure || certain
	}
	return sure
}

// expositionLine reports whether a line has the form of one of metrics, and whether
// it can be nothing else: by its comment, its labels, or a name that is known.
func expositionLine(line []byte) (sample, certain bool) {
	if bytes.HasPrefix(line, []byte("# HELP ")) || bytes.HasPrefix(line, []byte("# TYPE ")) {
		return true, true
	}
	if bytes.HasPrefix(line, []byte(`{__name__="`)) { // promtool tsdb dump
		return true, true
	}
	end := bytes.IndexAny(line, "{ ")
	if end <= 0 || !isMetricName(line[:end]) {
		return false, false
	}
	rest := line[end:]
	certain = metrics.KnownName(line[:end])
	if rest[0] == '{' {
		close := bytes.LastIndexByte(rest, '}')
		if close < 0 || !bytes.Contains(rest[:close], []byte(`="`)) {
			return false, false
		}
		rest, certain = rest[close+1:], true
	} else if !bytes.ContainsRune(line[:end], '_') || line[end-1] == ':' {
		return false, false // "up 1" alone proves too little, and "nonvoluntary_ctxt_switches: 15" is of /proc
	}
	f := bytes.Fields(rest)
	sample = len(f) >= 1 && len(f) <= 2 && isNumber(f[0]) && (len(f) == 1 || metrics.IsSampleTime(f[1]))
	return sample, sample && certain
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

// isMetricsJSON recognizes responses of the Prometheus HTTP API, their result array
// alone as promtool prints it, and the export format of VictoriaMetrics.
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

// isObject recognizes Kubernetes objects and lists of them in YAML and JSON.
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

// containerKeys are JSON keys that only container tools use.
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

// tableHeads are column titles of crictl, docker, podman and ctr, in order.
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

// inOrder reports whether line begins with the first word and contains the others
// after it in order.
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

// isStacks recognizes goroutine dumps.
func isStacks(h []byte) bool {
	return firstLines(h, 40, func(line []byte) bool {
		if bytes.HasPrefix(line, []byte("goroutine profile: total ")) {
			return true
		}
		return bytes.HasPrefix(line, []byte("goroutine ")) && bytes.HasSuffix(line, []byte("]:")) && bytes.IndexByte(line, '[') > 0
	})
}

// systemHeads are first words of command outputs and /proc files that package facts
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
