// Package version tells the version of a kubelet by the form of its lines.
package version

import (
	"strconv"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// clue says that a line with the given signature and form comes from minor versions lo to hi of the kubelet (0:
// unbounded).
type clue struct {
	id     string
	has    string // substring of the message, or two in order separated by …; "" matches any
	form   form
	lo, hi int
	level  byte // klog severity; 0 any
}

type form uint8

const (
	anyForm    form = iota
	printf          // free text
	structured      // quoted message and key=value pairs
)

// clues are taken from the sources named in the package documentation of parse/logs. These messages became
// structured in 1.21.
var clues = []clue{
	{parse.SigSkip, "", printf, 0, 20, 0},
	{parse.SigSkip, "", printf, 0, 16, 'I'},
	{parse.SigSkip, "", printf, 17, 20, 'E'},
	// Up to 1.13 the reasons were a slice of strings, printed in brackets (even a single one) and separated by
	// spaces.
	{parse.SigSkip, "container runtime is not up", printf, 0, 1, 0},
	{parse.SigSkip, " is down PLEG", printf, 0, 13, 0},
	{parse.SigSkip, " completed yet PLEG", printf, 0, 13, 0},
	{parse.SigSkip, "[container runtime is down]", printf, 0, 13, 0},
	{parse.SigSkip, "- [PLEG is not healthy…3m0s]", printf, 0, 13, 0},
	{parse.SigSkip, " is down, PLEG", printf, 14, 20, 0},
	{parse.SigSkip, "- PLEG is not healthy", printf, 14, 20, 0},
	{parse.SigStatusWait, "", anyForm, 13, 0, 0},
	{parse.SigSkip, "", structured, 21, 0, 0},
	{parse.SigListFail, "", printf, 0, 20, 0},
	// Those that name no object begin so; of others the ID or the filter is quoted.
	{parse.SigRPC, `" from runtime service failed: `, printf, 0, 20, 0},
	{parse.SigRPC, " with filter …from runtime service failed: ", printf, 0, 20, 0},
	{parse.SigRPC, "RunPodSandbox from runtime service failed: ", printf, 0, 20, 0},
	{parse.SigRPC, "Version from runtime service failed: ", printf, 0, 20, 0},
	{parse.SigRPC, "Status from runtime service failed: ", printf, 0, 20, 0},
	{parse.SigRPC, `from runtime service failed" `, structured, 21, 0, 0},
	// gRPC codes were logged as numbers.
	{parse.SigRPC, "failed: rpc error: code = 2 desc", printf, 0, 8, 0},
	{parse.SigRPC, "failed: rpc error: code = 4 desc", printf, 0, 8, 0},
	{parse.SigRPC, "failed: rpc error: code = 14 desc", printf, 0, 8, 0},
	{parse.SigListFail, "pods: rpc error: code = 2 desc", printf, 0, 8, 0},
	{parse.SigListFail, "pods: rpc error: code = 4 desc", printf, 0, 8, 0},
	{parse.SigListFail, "pods: rpc error: code = 14 desc", printf, 0, 8, 0},
	{parse.SigListFail, "", structured, 21, 0, 0},
	{parse.SigRelisting, "", printf, 0, 20, 0},
	{parse.SigRelisting, "", structured, 21, 0, 0},
	{parse.SigEvent, "", printf, 0, 20, 0},
	{parse.SigEvent, "event=&{", structured, 21, 27, 0},
	{parse.SigEvent, `event={"`, structured, 28, 0, 0},
	{parse.SigNotReady, "", printf, 0, 20, 0},
	{parse.SigNotReady, `condition={"`, structured, 28, 0, 0},
	{parse.SigNotReady, "condition={Type", structured, 21, 27, 0},
	{parse.SigFinished, "", anyForm, 22, 0, 0},
	{parse.SigRetrieved, "", anyForm, 27, 0, 0},
	{parse.SigRelistingPod, "", anyForm, 36, 0, 0},
	{parse.SigPodListFail, "", anyForm, 36, 0, 0},
	{parse.SigPodDropped, "", anyForm, 36, 0, 0},
	{parse.SigReinspect, "failed reinspection", printf, 0, 13, 'E'},
	{parse.SigReinspect, "failed reinspection", printf, 14, 20, 'I'},
	{parse.SigReinspect, "", printf, 0, 20, 0},
	{parse.SigReinspect, "", structured, 21, 31, 0},
	{parse.SigNever, "yet to be successful", anyForm, 13, 0, 0},
	{parse.SigNever, "2562047h47m16.85", anyForm, 0, 12, 0},
	{parse.SigAge, "threshold is 3m0s.", anyForm, 14, 14, 0},
	{parse.SigDiscard, "", anyForm, 14, 0, 0},
	{parse.SigHousekeeping, "longer than 15s", anyForm, 22, 26, 0},
	{parse.SigHousekeeping, "longer than expected", anyForm, 27, 0, 0},
}

// Range bounds the minor version by the form of the lines; 0 means unbounded. If lines contradict
// each other, for example after an upgrade within the log, it returns no bounds.
func Range(events []*parse.Event) (lo, hi int) {
	for _, e := range events {
		msg := ""
		for i := range clues {
			c := &clues[i]
			if !e.Is(c.id) {
				continue
			}
			if msg == "" {
				msg = e.Message()
			}
			if c.fits(msg, e.Severity) {
				lo = max(lo, c.lo)
				if c.hi > 0 && (hi == 0 || c.hi < hi) {
					hi = c.hi
				}
			}
		}
	}
	if hi > 0 && lo > hi {
		return 0, 0
	}
	return lo, hi
}

func (c *clue) fits(msg string, level byte) bool {
	f := printf
	msg = strings.TrimLeft(msg, " `") // quoted in Markdown
	if msg != "" && (msg[0] == '"' || msg[0] == '{') {
		f = structured
	}
	if c.form != anyForm && c.form != f || c.level != 0 && c.level != level {
		return false
	}
	first, then, _ := strings.Cut(c.has, "…")
	_, rest, ok := strings.Cut(msg, first)
	return ok && strings.Contains(rest, then)
}

// OlderThan reports whether a version such as "v1.13.5" is older than 1.minor. It returns false for an unknown
// version.
func OlderThan(version string, minor int) bool {
	m, ok := Minor(version)
	return ok && m < minor
}

// Minor returns the minor number of a 1.x version.
func Minor(version string) (int, bool) {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(version, "v"), "1.")
	if !ok {
		return 0, false
	}
	if i := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		rest = rest[:i]
	}
	m, err := strconv.Atoi(rest)
	return m, err == nil
}
