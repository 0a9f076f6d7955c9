package replay

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// The tests read klog text through a small decoder of their own: package logs may not be imported here, and
// tests of inferences must not depend on how lines are recognized.

type testSig struct {
	id string
	re *regexp.Regexp // named groups are the fields
}

func sigLine(id, re string) testSig { return testSig{id, regexp.MustCompile(re)} }

var testSigs = []testSig{
	sigLine(parse.SigAge, `last seen active (?P<age>[0-9.hmsµn]+) ago; threshold is (?P<threshold>[0-9hms]+)`),
	sigLine(parse.SigNever, `pleg has yet to be successful|last seen active 2562047h47m16\.85`),
	sigLine(parse.SigSkip, `(?i)skipping pod synchronization(?:" err="(?P<reason>[^"]*)")?`),
	sigLine(parse.SigCut, `PLEG is not healthy: (?P<seen>pleg was)(?: l| last| last s)?"?$`),
	sigLine(parse.SigFull, `EventedPLEG: pleg event channel capacity is full with (?P<events>\d+) events`),
	sigLine(parse.SigRelisting, `^"?GenericPLEG: Relisting"?$`),
	sigLine(parse.SigRetrieved, `"Retrieved pods from runtime" all=(?P<all>\w+)`),
	sigLine(parse.SigTransition, `GenericPLEG(: \S+/\S+: | ?").*( -> |oldState=)`),
	sigLine(parse.SigListFail, `GenericPLEG: Unable to retrieve pods"?:? (err=")?(?P<err>.*code = (?P<code>\w+).*)`),
	sigLine(parse.SigWriteStatus, `PLEG: Write status"? (err="(?P<err>[^"]*)")?`),
	sigLine(parse.SigIgnore, `PLEG: Ignoring events for pod"? (err="(?P<err>[^"]*)")?`),
	sigLine(parse.SigFinished, `Generic \(PLEG\): container finished`),
	sigLine(parse.SigEvent, `SyncLoop \(PLEG\).*Data"?:"(?P<data>\w+)`),
	sigLine(parse.SigSync, `SyncLoop (\()?(?P<op>ADD|UPDATE|DELETE|REMOVE|RECONCILE)`),
	sigLine(parse.SigKeeping, `SyncLoop \(housekeeping\)"?$`),
	sigLine(parse.SigHousekept, `SyncLoop \(housekeeping\) end`),
	sigLine(parse.SigVerbose, `Updating node status|Looking for .*have seen|Status Manager: syncing batch|Sync pod status|Generated UID`),
	sigLine(parse.SigUnwanted, `Killing unwanted pod`),
	sigLine(parse.SigNotReady, `Node became not ready.*?(node="(?P<node>[^"]*)")?.*Heartbeat`),
	sigLine(parse.SigNodeEvent, `Recording (?P<event>\w+) event message for node (?P<node>\S+)|Recording event message for node" node="(?P<node>[^"]*)" event="(?P<event>\w+)"`),
	sigLine(parse.SigHousekeeping, `"Housekeeping took longer than .*actual="(?P<actual>[^"]*)"`),
	sigLine(parse.SigStatusDown, `container runtime is down`),
	sigLine(parse.SigVersion, `"Kubelet version" kubeletVersion="(?P<version>[^"]*)"|server.go:\d+\] Version: (?P<version>v\S+)`),
	sigLine(parse.SigFlag, `FLAG: --(?P<name>[\w-]+)=(?P<value>.*)`),
	sigLine(parse.SigGates, `feature gates: (?P<gates>.*)`),
	sigLine(parse.SigFallback, `Fall back to Generic PLEG`),
	sigLine(parse.SigStream, `failed to receive streaming container event`),
	sigLine(parse.SigStarting, `Starting kubelet main sync loop`),
	sigLine(parse.SigRPC, `"?(?P<call>List(PodSandbox|Containers))"? with filter "?(?P<filter>nil|)?"? ?from runtime service failed"?.*code = (?P<code>\w+)`),
	sigLine(parse.SigRPC, `(?P<call>ContainerStatus|PodSandboxStatus) ("?(?P<id>[0-9a-f]{20,})"? )?(from runtime service failed|of sandbox).*code = (?P<code>\w+)`),
}

var klogHeader = regexp.MustCompile(`^([IWEF])(\d{4} \d\d:\d\d:\d\d\.\d{6}) +(\d+) ([\w.-]+:\d+)\] `)

// testLog decodes klog lines as of the year 2026 in UTC.
type testLog struct {
	sigs    map[string]*parse.Sig
	sets    map[string]*parse.SigSet
	origins map[string]*parse.Origin
}

func newTestLog() *testLog {
	return &testLog{map[string]*parse.Sig{}, map[string]*parse.SigSet{}, map[string]*parse.Origin{}}
}

// decode returns the bundle part of one file; host is the host name in the framing.
func (d *testLog) decode(path, host, text string) parse.LogPart {
	f := &parse.File{Path: path, Role: parse.RoleKubeletLog}
	var p parse.LogPart
	for i, line := range strings.Split(text, "\n") {
		m := klogHeader.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		at, err := time.Parse("2006 0102 15:04:05.000000", "2026 "+m[2])
		if err != nil {
			continue
		}
		pid, _ := strconv.Atoi(m[3])
		st := parse.Stamp{At: at.UnixNano(), Res: parse.ResolutionOf(time.Microsecond), Basis: parse.Stated}
		mark := parse.Mark{Pos: parse.Pos{File: f, Line: uint32(i + 1)}, Stamp: st, Text: parse.PlainText(line)}
		p.Coverage = cover(p.Coverage, f, d.origin(host, pid), mark)
		set := d.match(line[len(m[0]):])
		if set == nil {
			continue
		}
		p.Events = append(p.Events, parse.NewEvent(&parse.EventKind{File: mark.File, Sigs: set, Origin: d.origin(host, pid), Headed: true, Severity: m[1][0], Caller: m[4]}, mark.Text, parse.Event{Line: mark.Line, Offset: mark.Offset, Stamp: st, Msg: uint16(len(m[0]))}))
	}
	return p
}

func (d *testLog) origin(host string, pid int) *parse.Origin {
	key := host + "/" + strconv.Itoa(pid)
	if d.origins[key] == nil {
		d.origins[key] = &parse.Origin{Source: parse.SrcKubelet, Host: host, PID: pid}
	}
	return d.origins[key]
}

// cover adds a line to the coverage of its origin.
func cover(list []*parse.Coverage, f *parse.File, o *parse.Origin, m parse.Mark) []*parse.Coverage {
	for _, c := range list {
		if c.Origin == o {
			if d := m.At - c.LastLine.At; max(d, -d) >= parse.GapMin {
				c.Gaps = append(c.Gaps, parse.Gap{Last: c.LastLine, Next: m})
			}
			c.LastLine = m
			c.Lines++
			return list
		}
	}
	return append(list, &parse.Coverage{File: f, Origin: o, Lines: 1, FirstLine: m, LastLine: m, MaxV: -1})
}

// match returns the interned set of the line's signatures.
func (d *testLog) match(msg string) *parse.SigSet {
	var ids []string
	set := &parse.SigSet{}
	for i, s := range testSigs {
		if !s.re.MatchString(msg) {
			continue
		}
		key := s.id + "#" + strconv.Itoa(i)
		if d.sigs[key] == nil {
			d.sigs[key] = &parse.Sig{ID: s.id, Extract: extractor(s.re, s.id)}
		}
		ids = append(ids, key)
		set.Sigs = append(set.Sigs, d.sigs[key])
	}
	if len(ids) == 0 {
		return nil
	}
	all := strings.Join(ids, ",")
	if d.sets[all] == nil {
		d.sets[all] = set
	}
	return d.sets[all]
}

func extractor(re *regexp.Regexp, id string) func(string, []parse.Field) []parse.Field {
	return func(msg string, dst []parse.Field) []parse.Field {
		var out []parse.Field
		m := re.FindStringSubmatch(msg)
		for i, name := range re.SubexpNames() {
			if m != nil && name != "" && m[i] != "" {
				out = append(out, parse.Field{Name: name, Value: m[i]})
			}
		}
		if id == parse.SigRPC {
			call := parse.FieldOf(out, "call")
			scope := ""
			if strings.HasPrefix(call, "List") {
				scope = "all"
			}
			out = append(out, parse.Field{Name: "scope", Value: scope})
		}
		return append(dst, out...)
	}
}

// bundleOf decodes one file of one node.
func bundleOf(text string) *parse.Bundle {
	return bundleOfParts(newTestLog().decode("kubelet.log", "", text))
}

// bundleOfParts merges decoded files as package bundle does.
func bundleOfParts(parts ...parse.LogPart) *parse.Bundle {
	b := &parse.Bundle{}
	seen := map[*parse.File]bool{}
	for _, p := range parts {
		b.Events = append(b.Events, p.Events...)
		b.Coverage = append(b.Coverage, p.Coverage...)
		b.Markers = append(b.Markers, p.Markers...)
		for _, c := range p.Coverage {
			if !seen[c.File] {
				seen[c.File] = true
				b.Files = append(b.Files, c.File)
			}
		}
	}
	sortEvents(b.Events)
	return b
}

// buildOne rebuilds the only node of the text.
func buildOne(t *testing.T, text string) *Node {
	t.Helper()
	nodes := Build(bundleOf(text), Options{})
	if len(nodes) != 1 {
		t.Fatalf("%d nodes, want 1", len(nodes))
	}
	return nodes[0]
}

// at parses a time on 20 November 2026; times before 12:00 are on the 21st.
func at(t *testing.T, s string) int64 {
	t.Helper()
	day := "2026-11-20T"
	if s < "12" {
		day = "2026-11-21T"
	}
	v, err := time.Parse(time.RFC3339Nano, day+s+"Z")
	if err != nil {
		t.Fatal(err)
	}
	return v.UnixNano()
}

// sortEvents sorts events into the order that package bundle guarantees.
func sortEvents(es []*parse.Event) {
	slices.SortStableFunc(es, func(a, b *parse.Event) int {
		switch {
		case a.At != b.At:
			return cmp.Compare(a.At, b.At)
		case a.Where().Before(b.Where()):
			return -1
		case b.Where().Before(a.Where()):
			return 1
		}
		return 0
	})
}
