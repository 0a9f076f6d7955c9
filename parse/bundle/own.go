package bundle

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"sync"
)

// The outputs of this program quote log lines. An output left beside the log must
// not be read as another log, so every writer puts a mark into the first lines of
// its output:
//
//	text            plegforensics VERSION COMMAND
//	markdown        <!-- plegforensics VERSION COMMAND -->
//	github          ::debug::plegforensics VERSION COMMAND
//	html            <meta name="generator" content="plegforensics">
//	JSON and lines  "schema":"plegforensics/NAME/vN"; timesketch "parser":"plegforensics"
//	sarif           the name of the driver; junit: the name of the test suites
//	gitlab          "engine_name":"plegforensics"
//	perfetto        "tool":"plegforensics VERSION"
//	prom            the metric plegforensics_build_info
//	csv             its header
//
// Outputs of versions without marks are recognized by their form. If an output was
// appended to a log or pasted after notes, the mark is in the middle of the file;
// decoding ends there (isOwnLine).

// ownHead is how much of a file is searched for a mark.
const ownHead = 16 << 10

// OwnReport reports whether a file is an output of this program, other than
// recorded listings (plegforensics/snapshots), which are input.
func OwnReport(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, ownHead)
	n, err := io.ReadFull(f, head)
	if err == io.ErrUnexpectedEOF || err == io.EOF {
		err = nil
	}
	return isOwnReport(head[:n]), err
}

// isOwnReport is like OwnReport for a file that begins with head.
func isOwnReport(head []byte) bool {
	head = starts(bytes.TrimPrefix(head[:min(len(head), ownHead)], []byte("\xef\xbb\xbf")))
	if bytes.Contains(head[:min(len(head), 64)], []byte(" std")) {
		if framed := containerFrame(); framed.Match(head[:min(len(head), 64)]) {
			head = framed.ReplaceAll(head, nil)
		}
	}
	if len(head) == 0 {
		return false
	}
	switch head[0] {
	case '{', '[':
		return isOwnJSON(head)
	case '<':
		return isOwnMarkup(head)
	}
	line, _, _ := bytes.Cut(head, newline)
	line = bytes.TrimRight(line[:min(len(line), 512)], "\r")
	for _, p := range ownLines {
		if bytes.HasPrefix(line, []byte(p)) {
			return true
		}
	}
	for _, word := range ownWords {
		if bytes.Contains(line, []byte(word)) && ownForms().Match(line) {
			return true
		}
	}
	_, body, _ := bytes.Cut(head, newline)
	return bytes.HasPrefix(body, []byte("  ")) && ownBody().Match(head[:min(len(head), 2<<10)])
}

// isOwnLine reports whether a line in the middle of a file begins an output of this
// program. It accepts only marks: if notes merely mention plegforensics, the log
// that follows them must be read. The line must not be empty.
func isOwnLine(line []byte) bool {
	if !ownFirst[line[0]] {
		return false
	}
	line = bytes.TrimLeft(line[:min(len(line), 4<<10)], " \t")
	switch {
	case len(line) == 0:
		return false
	case line[0] == '{':
		if bytes.HasPrefix(line, []byte(`{"schema":"plegforensics/`)) {
			return !bytes.HasPrefix(line, []byte(`{"schema":"plegforensics/snapshots`))
		}
		return bytes.HasPrefix(line, []byte(`{"message":`)) && bytes.Contains(line, []byte(`"data_type":"plegforensics:`)) ||
			bytes.HasPrefix(line, []byte(`{"otherData":{`)) && bytes.Contains(line[:min(len(line), 512)], []byte(`"tool":"plegforensics `))
	}
	for _, p := range ownHeads {
		if bytes.HasPrefix(line, []byte(p)) {
			return true
		}
	}
	return bytes.Contains(line, []byte("plegforensics")) && ownMark().Match(line)
}

// ownFirst are the first bytes of lines that isOwnLine accepts, to reject most log
// lines quickly.
var ownFirst = func() (first [256]bool) {
	for _, c := range []byte("p<:#knsma{ \t\"[") {
		first[c] = true
	}
	return first
}()

// ownMark matches a mark that fills its line.
var ownMark = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:` +
		`(?:<!-- |::debug::)?plegforensics [^ ]+ (?:analyze|timeline|events|replay|query|compare|batch|inspect)(?: -->)?\r?$` +
		`|<meta name="generator" content="plegforensics"` +
		`|<testsuites name="plegforensics"` +
		`|"schema": ?"plegforensics/(?:[a-rt-z]|s[a-mo-z])` + // except snapshots
		`|"engine_name": ?"plegforensics"` +
		`|"informationUri": ?"https://github.com/plegforensics/` + // sarif
		`)`)
})

// ownHeads are first lines of outputs that are recognized by their form.
var ownHeads = []string{
	"# HELP plegforensics_build_info ",
	"kind,node,id,start,end,seconds,value,threshold,unit,",
	"node,time,pod_uid,pod,type,data,status,",
	"kind,name,bundles,status,summary",
	"metric,type,kind,series,from,to,labels",
	"alert,group,file,expr,for_seconds,",
}

// containerFrame matches the prefix of a line in a container log (CRI format), in
// case this program ran in a container.
var containerFrame = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\dT[^ ]{9,30} std(?:out|err) [FP] `)
})

// ownLines are prefixes of the first line of an output.
var ownLines = []string{
	"plegforensics ", "plegforensics: ", // a mark; a warning, if both outputs went to one file
	"::debug::plegforensics ",
	"# HELP plegforensics_build_info ",
	"# PLEG report", "# PLEG fleet report", "# PLEG comparison",
	"Replay with the generic PLEG of kubelet ", "Replay with the evented PLEG of kubelet ",
	"kind,node,id,start,end,seconds,value,threshold,unit,",
	"node,time,pod_uid,pod,type,data,status,",
	"kind,name,bundles,status,summary",
	"series,time,value", "metric,type,kind,series,from,to,labels",
	"alert,group,file,expr,for_seconds,",
}

// ownWords holds one word of each alternative of ownForms: a cheap test, since most
// lines contain none.
var ownWords = []string{" used of ", " unhealthy with ", " events observed, ", " worse or new in ", " title=", "metric "}

// ownForms matches the first line of texts without a mark.
var ownForms = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:` +
		`.+  [a-z0-9-]+(?:, truncated)?, [0-9.]+ (?:B|[KMGT]iB) in [0-9]+ files? used of [0-9]+` + // analyze, inspect
		`|[0-9]+ bundles?, [0-9]+ nodes?, [0-9]+ unhealthy with [0-9]+ episodes?` + // batch
		`|[^ ]+: [0-9]+ events observed, [0-9]+ discarded` + // events
		`|(?:[0-9]+ things? (?:is|are)|Nothing is) worse or new in ` + // compare
		`|::(?:error|warning|notice) title=[^,:]* on [^,:]*,file=` + // github
		`|metric +type +kind +series +last sample +labels$` + // query --list
		`)`)
})

// ownBody matches the first lines of a timeline in text form.
var ownBody = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\A[^ \n]+\n  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? to [-0-9:. ]+ UTC, [0-9hms.]+; stamps in `)
})

// isOwnMarkup reports whether head begins an HTML page, a Markdown report or a
// JUnit file of this program.
func isOwnMarkup(head []byte) bool {
	return bytes.HasPrefix(head, []byte("<!-- plegforensics ")) ||
		bytes.Contains(head[:min(len(head), 2<<10)], []byte(`<meta name="generator" content="plegforensics"`)) ||
		bytes.HasPrefix(head, []byte("<?xml")) && bytes.Contains(head[:min(len(head), 512)], []byte(`<testsuites name="plegforensics"`))
}

// isOwnJSON reports whether head begins a JSON document or JSON line of this
// program. The key must be in the document itself: in a quoted line its quotes
// would be escaped.
func isOwnJSON(head []byte) bool {
	if !bytes.Contains(head, []byte("plegforensics")) {
		return isOwnOldJSON(head)
	}
	for _, at := range ownSchema().FindAllSubmatchIndex(head, -1) {
		if at[0] == 0 || head[at[0]-1] != '\\' {
			return !bytes.HasPrefix(head[at[2]:], []byte("snapshots"))
		}
	}
	return ownKeys().Match(head) || isOwnOldJSON(head)
}

var ownSchema = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"schema"\s*:\s*"plegforensics/([a-z]+)`) })

var ownKeys = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\A(?:` +
		`\{"message"[^\n]*"data_type":"plegforensics:` + // timesketch
		`|\[\s*\{[^}]*"engine_name"\s*:\s*"plegforensics"` + // gitlab
		`|\{\s*"\$schema"[^{]*\{\s*"tool"\s*:\s*\{\s*"driver"\s*:\s*\{\s*"name"\s*:\s*"plegforensics"` + // sarif
		`|\{\s*"otherData"\s*:\s*\{[^}]*"tool"\s*:\s*"plegforensics` + // perfetto
		`|\{\s*"items"\s*:\s*\[\s*\{(?s:.{0,800})"plegforensics"\s*:` + // intervals
		`|\{"metrics":\[\{"name":"plegforensics_` + // query --list
		`)`)
})

// isOwnOldJSON reports whether head begins JSON of versions without a mark.
func isOwnOldJSON(head []byte) bool { return ownOldJSON().Match(head) }

var ownOldJSON = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\A(?:` +
		`\{"kind":"(?:episode|breach|cause|relist|health|correlation)","node":"` + // findings, one per line
		`|\{"kind":"(?:node|cause|correlation|problem)","(?:name|id|title)":"` + // the same of a fleet
		`|\{"node":"[^"]*","time":"[^"]*","pod_uid":"[^"]*","pod":` + // events
		`|\[\s*\{\s*"description"\s*:\s*"(?:[^"\\]|\\.)*",\s*"check_name"\s*:\s*"[a-z-]+",\s*"fingerprint"` + // gitlab
		`|\[\s*\{\s*"kind"\s*:\s*"[a-z]+",\s*"name"\s*:\s*"(?:[^"\\]|\\.)*",\s*"pseudonym"` + // name map of a redaction
		`|\{\s*"traceEvents"\s*:\s*\[\s*\{\s*"name"\s*:\s*"process_name",\s*"ph"\s*:\s*"M",\s*"ts"\s*:\s*0,\s*"pid"\s*:\s*1,\s*"tid"\s*:\s*0,` + // perfetto
		`|\{"alerts":\[\{"alert":"(?:[^"\\]|\\.)*","group":` + // query --alerts
		`|\{"id":"[a-z]+:[0-9a-f]{64}","name":"(?:[^"\\]|\\.)*","status":"` + // batch record
		`)`)
})
