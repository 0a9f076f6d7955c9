package logs

import (
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// ageTold is a report of the age of the last relist.
type ageTold struct {
	before, behind string // the text around the report
	age            string // verbatim
	threshold      string // "" if none is stated
}

const ageBegins = "pleg was last seen active "

// findAge finds "pleg was last seen active AGE ago", with or without
// "; threshold is T". It is written by hand because a sync loop that skips logs
// such lines by the hundred thousand, each with another age.
func findAge(s string) (t ageTold, ok bool) {
	for at := 0; ; {
		n := strings.Index(s[at:], ageBegins)
		if n < 0 {
			return ageTold{}, false
		}
		t.before = s[:at+n]
		at += n + len(ageBegins)
		age, behind, ok := strings.Cut(s[at:], " ago")
		if !ok {
			t.age = cutAge(s[at:])
			return t, t.age != ""
		}
		if !isAgeText(age) {
			continue
		}
		t.age, t.behind = age, behind
		if rest, ok := strings.CutPrefix(behind, "; threshold is "); ok {
			t.threshold = duration(rest)
			if t.threshold != "" {
				t.behind = rest[len(t.threshold):]
			}
		}
		return t, true
	}
}

// cutAge returns the age if the text ends within it, as a pager or a collector cut it: a fraction that minutes
// stand before is one of seconds, and four of its digits tell the age to 0.1 ms. It returns "" if less is left.
func cutAge(s string) string {
	age := strings.TrimRight(s, " …>.\"")
	minutes, seconds, ok := strings.Cut(age, "m")
	whole, fraction, both := strings.Cut(seconds, ".")
	if !ok || !both || minutes == "" || whole == "" || len(fraction) < 4 || strings.Trim(minutes, "0123456789h") != "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return ""
	}
	return age + "s"
}

// duration returns the duration that s begins with: a digit, then digits, letters
// and dots, ending in a letter.
func duration(s string) string {
	n, end := 0, 0
	for ; n < len(s); n++ {
		c := s[n]
		letter := c >= 'a' && c <= 'z'
		if !letter && (c < '0' || c > '9') && (c != '.' || n == 0) || letter && n == 0 {
			break
		}
		if letter {
			end = n + 1
		}
	}
	return s[:end]
}

// neverAge begins the largest time.Duration, which kubelets before 1.13 print if no
// relist has succeeded yet. Copies may round or truncate its fraction.
const neverAge = "2562047h47m16"

// extractAge reads "pleg was last seen active AGE ago; threshold is T". Blanks
// inside the age are copying damage.
func extractAge(r *record) ([]parse.Field, bool) {
	t, ok := findAge(r.raw)
	if !ok || quotedIn(t.before, t.behind) {
		return nil, false
	}
	age := strings.ReplaceAll(t.age, " ", "")
	if strings.HasPrefix(age, neverAge) {
		return nil, false
	}
	fields := addField(append(r.fields(), parse.Field{Name: "age", Value: age}), "threshold", t.threshold)
	return addField(fields, "quoted", t.heartbeat()), true
}

// heartbeat returns the heartbeat time of a condition that the line quotes as JSON,
// such as a status that could not be posted: the age was measured at that time. It
// returns "" for the line that reports a changed condition, which is written at the
// time of the change.
func (t *ageTold) heartbeat() string {
	const key = "lastHeartbeatTime"
	if !strings.Contains(t.before, key) || strings.Contains(t.before, "became not ready") { // faster than LastIndex
		return ""
	}
	i := strings.LastIndex(t.before, key)
	stamp := strings.TrimLeft(t.before[i+len(key):], `\": `)
	stamp, _, _ = strings.Cut(stamp, `"`)
	return strings.TrimRight(stamp, `\`)
}

// extractNever accepts a line stating that no relist has succeeded yet.
func extractNever(r *record) ([]parse.Field, bool) {
	for _, text := range [...]string{"pleg has yet to be successful", "pleg was last seen active " + neverAge} {
		if before, behind, ok := strings.Cut(r.raw, text); ok {
			return nil, !quotedIn(before, behind)
		}
	}
	return nil, false
}

// isAge reports whether extractAge accepts r.
func isAge(r *record) bool {
	t, ok := findAge(r.raw)
	return ok && !quotedIn(t.before, t.behind) && !strings.HasPrefix(strings.ReplaceAll(t.age, " ", ""), neverAge)
}

// extractCutReport reads a report of PLEG health that was truncated within its
// text. It sets seen if the text extends far enough to rule out
// "has yet to be successful", which states no age.
func extractCutReport(r *record) ([]parse.Field, bool) {
	const before, aged, never = "PLEG is not healthy", ": pleg was last seen active ", ": pleg has yet to be successful"
	name, rest, ok := strings.Cut(r.raw, before)
	if _, aged := findAge(r.raw); !ok || aged || strings.HasSuffix(name, "Evented") { // see pleg.full
		return nil, false
	}
	common := func(s string) int {
		n := 0
		for n < len(s) && n < len(rest) && s[n] == rest[n] {
			n++
		}
		return n
	}
	shared := len(": pleg ")
	switch {
	case common(never) > shared:
		return nil, false
	case common(aged) > shared:
		return []parse.Field{{Name: "seen", Value: "true"}}, true
	}
	// Text that continues differently is prose about such reports. So is the bare
	// name of the problem if nothing states that a node or its kubelet has it.
	n := max(common(aged), common(never))
	cut := strings.HasPrefix(rest[n:], "...") || strings.HasPrefix(rest[n:], "…") || strings.Trim(rest[n:], ` .…>"'\]})`) == ""
	return nil, cut && (n > 0 || strings.Contains(rest, "..") || strings.Contains(rest, "…") || statesTrouble().MatchString(r.raw))
}

// statesTrouble matches text around a genuine report of the problem.
var statesTrouble = onDemand(`(?i)skipping pod sync|NotReady|not ready|\berr=|Ready +False`)

// isAgeText reports whether s is a duration as it appears in log lines. Copying may
// have inserted blanks.
func isAgeText(s string) bool {
	if s == "" || s[0] < '0' || s[0] > '9' {
		return false
	}
	for _, c := range s {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && c != '.' && c != ' ' && c != 'µ' {
			return false
		}
	}
	return true
}

const (
	eventPrintf = `SyncLoop (PLEG): "`
	eventKeyed  = "SyncLoop (PLEG): event for pod"
)

// isEvent reports whether extractEvent accepts r.
func isEvent(r *record) bool {
	if strings.HasPrefix(r.msg, eventPrintf) {
		return strings.Contains(r.msg[len(eventPrintf):], `", event: `)
	}
	return r.form != formPrintf && strings.HasSuffix(r.msg, eventKeyed)
}

// extractEvent reads a pod lifecycle event in each of its spellings:
// &pleg.PodLifecycleEvent{ID:"…", …} (≤ 1.20), &{ID:… Type:… Data:…} (1.21 to 1.27)
// and {"ID":…} (≥ 1.28 and JSON). Events without an object, PodSync and
// ConditionMet, have null data. These lines occur by the hundred thousand, so they
// are parsed by hand.
func extractEvent(r *record) ([]parse.Field, bool) {
	pod, event := "", ""
	if rest, ok := strings.CutPrefix(r.msg, eventPrintf); ok {
		if pod, event, ok = strings.Cut(rest, `", event: `); !ok || strings.Contains(pod, `"`) {
			return nil, false
		}
	} else if r.form == formPrintf || !strings.HasSuffix(r.msg, eventKeyed) {
		return nil, false
	} else {
		pod, event = r.podEvent()
	}
	return addEvent(addPod(r.fields(), pod), event), true
}

// addEvent appends the fields of an event.
func addEvent(out []parse.Field, event string) []parse.Field {
	out = addField(out, "pod_uid", eventValue(event, "ID"))
	out = addField(out, "type", eventValue(event, "Type"))
	if v := eventValue(event, "Data"); v != "interface" { // interface {}(nil)
		out = addField(out, "data", v)
	}
	return out
}

const (
	ignoredPrintf = "SyncLoop (PLEG): ignore irrelevant event: "
	ignoredKeyed  = "ignore irrelevant event"
)

// isIgnoredEvent reports whether extractIgnoredEvent accepts r.
func isIgnoredEvent(r *record) bool {
	return strings.HasPrefix(r.msg, ignoredPrintf) || r.form != formPrintf && strings.HasSuffix(r.msg, ignoredKeyed)
}

// extractIgnoredEvent reads an event of a pod that the kubelet no longer manages.
// The line names only the pod's UID.
func extractIgnoredEvent(r *record) ([]parse.Field, bool) {
	event, ok := strings.CutPrefix(r.msg, ignoredPrintf)
	if !ok {
		if !isIgnoredEvent(r) {
			return nil, false
		}
		event = r.first("event")
	}
	return addEvent(r.fields(), event), true
}

// podEvent returns the values of the keys pod and event.
func (r *record) podEvent() (pod, event string) {
	if r.read || r.form != formKlog {
		return r.first("pod"), r.first("event")
	}
	for p := (pairs{s: r.rest, blanks: true}); (pod == "" || event == "") && p.next(); {
		switch {
		case p.key == "pod" && pod == "":
			pod = p.value
		case p.key == "event" && event == "":
			event = p.value
		}
	}
	return pod, event
}

// eventValue returns the value of a key of an event: a quoted string, or the text
// up to a blank, comma or brace.
func eventValue(event, key string) string {
	for s := event; ; {
		i := strings.Index(s, key)
		if i < 0 {
			return ""
		}
		rest := strings.TrimPrefix(s[i+len(key):], `"`)
		if (i > 0 && isWord(s[i-1])) || !strings.HasPrefix(rest, ":") {
			s = s[i+len(key):]
			continue
		}
		rest = strings.TrimPrefix(rest[1:], " ")
		if q, ok := strings.CutPrefix(rest, `"`); ok {
			if v, _, ok := strings.Cut(q, `"`); ok {
				return v
			}
		}
		if end := strings.IndexAny(rest, " ,}"); end >= 0 {
			return rest[:end]
		}
		return rest
	}
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

var (
	syncPrintfRE = onDemand(`^SyncLoop \(([A-Z]+), "([a-z]*)"\): (.*)`)
	syncKeyedRE  = onDemand(`^SyncLoop ([A-Z]+)$`)
	deletionRE   = onDemand(`:DeletionTimestamp=[^, "]*`)
)

// isSync reports whether extractSync accepts r.
func isSync(r *record) bool {
	op, ok := strings.CutPrefix(r.msg, "SyncLoop ")
	if !ok {
		return false
	}
	if r.form != formPrintf && !strings.HasPrefix(op, "(") {
		return op != "" && strings.Trim(op, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
	}
	return syncPrintfRE().MatchString(r.msg)
}

// extractSync reads the pods that a configuration source added, changed or removed.
// They are joined by commas and spelled as in the line.
func extractSync(r *record) ([]parse.Field, bool) {
	var op, source, pods string
	if m := syncPrintfRE().FindStringSubmatch(r.msg); m != nil {
		op, source, pods = m[1], m[2], joinPods(m[3])
	} else if m := syncKeyedRE().FindStringSubmatch(r.msg); m != nil && r.form != formPrintf {
		op, source, pods = m[1], r.first("source"), joinPods(r.first("pods"))
	} else {
		return nil, false
	}
	out := addField([]parse.Field{{Name: "op", Value: op}}, "source", source)
	return addField(out, "pods", pods), true
}

var podObjectRE = onDemand(`"name":"([^"]*)"(?:,"namespace":"([^"]*)")?`)

// joinPods normalizes the separators of a list of pods: `"a, b"` (≤ 1.20), [a b],
// "[a b]" and ["a","b"] (≥ 1.21), [{"name":…,"namespace":…}] (JSON).
func joinPods(s string) string {
	if strings.Contains(s, `{"`) {
		var out []string
		for _, m := range podObjectRE().FindAllStringSubmatch(s, -1) {
			out = append(out, strings.TrimPrefix(m[2]+"/"+m[1], "/"))
		}
		return strings.Join(out, ",")
	}
	s = deletionRE().ReplaceAllString(s, "")
	fields := strings.FieldsFunc(s, func(c rune) bool { return strings.ContainsRune(`[]", `, c) })
	return strings.Join(fields, ",")
}

const (
	listFailed = "GenericPLEG: Unable to retrieve pods"
	housekept  = "Housekeeping took longer than "
)

func isListFail(r *record) bool     { return strings.Contains(r.msg, listFailed) }
func isHousekeeping(r *record) bool { return strings.Contains(r.msg, housekept) }

// extractListFail reads a failed list call of a relist.
func extractListFail(r *record) ([]parse.Field, bool) { return listFailure(r, listFailed) }

// extractPodListFail reads a failed list call for a single pod, made on demand
// (1.36). It is not a relist of the node.
func extractPodListFail(r *record) ([]parse.Field, bool) {
	if strings.Contains(r.msg, "retrieve pods") {
		return nil, false
	}
	return listFailure(r, "GenericPLEG: Unable to retrieve pod")
}

func listFailure(r *record, what string) ([]parse.Field, bool) {
	_, rest, ok := strings.Cut(r.msg, what)
	if !ok {
		return nil, false
	}
	err := r.first("err")
	if r.form == formPrintf || err == "" {
		_, err, _ = strings.Cut(rest, ": ")
	}
	out := errFields(append(r.fields(), parse.Field{Name: "layer", Value: "generic"}), err)
	return addField(out, "pod_uid", r.first("podUID")), true
}

// extractHousekeeping reads the form of 1.22 to 1.26, with the limit in the message
// and plain seconds as value, and the later form.
func extractHousekeeping(r *record) ([]parse.Field, bool) {
	_, limit, ok := strings.Cut(r.msg, housekept)
	if !ok {
		return nil, false
	}
	if limit == "expected" {
		out := addField(r.fields(), "expected", r.first("expected"))
		return addField(out, "actual", r.first("actual")), true
	}
	out := addField(r.fields(), "expected", limit)
	if s := r.first("seconds"); s != "" {
		out = addField(out, "actual", s+"s")
	}
	return out, true
}
