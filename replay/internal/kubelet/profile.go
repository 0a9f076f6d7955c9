package kubelet

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/facts"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/version"
)

// Times formats a count and a noun, such as "2 pairs".
func Times(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// GenericPeriod is the pause between relists of the generic generator.
const GenericPeriod = pleg.Period

// Given holds settings that the user states about the kubelet; they override the log. Zero values mean not
// given.
type Given struct {
	KubeletVersion                string // "v1.28.0" or "1.28"
	RelistThreshold, RelistPeriod time.Duration
}

// profiler fills in a Profile and records how each value is known.
type profiler struct {
	k     Profile
	s     *Log
	forms []*parse.Event // lines whose form shows the version
	opt   Given
	basis []string
	sock  string          // runtime socket, from the flag or configuration
	gaps  []time.Duration // distances between failures, sorted
}

// ProfileOf determines the profile; forms are the lines whose form shows the version.
func ProfileOf(s *Log, forms []*parse.Event, opt Given) Profile {
	p := &profiler{s: s, forms: forms, opt: opt}
	p.k.Verbosity = -1
	p.lines()
	p.facts()
	p.runtime()
	p.system()
	p.version()
	p.health()
	p.timeout()
	p.verbosity()
	p.k.Basis = strings.Join(p.basis, "; ")
	return p.k
}

func (p *profiler) say(s string) { p.basis = append(p.basis, s) }

func (p *profiler) cite(r parse.Record, note string) {
	p.k.Evidence = append(p.k.Evidence, host.Evidence{Record: r, Note: note})
}

// lines reads the start-up lines; later ones override earlier ones.
func (p *profiler) lines() {
	k, bare := &p.k, p.unconfigured()
	for _, e := range p.s.profile {
		switch {
		case p.s.Broken && p.cut(e):
		case e.Is(parse.SigVersion):
			if v := versionText(e.Field("version")); v != "" {
				if v != k.Version {
					p.cite(e, "version")
				}
				k.Version = v
			}
		case e.Is(parse.SigFlag):
			p.flag(e, bare[e.Origin.PID])
		case e.Is(parse.SigGates):
			gates := e.Field("gates")
			p.gate(e, strings.Contains(gates, "EventedPLEG:true") || strings.Contains(gates, `"EventedPLEG":true`))
		case e.Is(parse.SigRuntime):
			if name := e.Field("name"); name != "" {
				k.Runtime = strings.TrimSpace(name + " " + e.Field("version"))
			}
		}
	}
	if k.Version != "" {
		p.say("version stated")
	}
	p.gated()
}

// gate notes what a line says of the feature gate in its run. A process may list its gates before it has read its
// configuration.
func (p *profiler) gate(e *parse.Event, on bool) {
	if p.k.Gates == nil {
		p.k.Gates = map[int]bool{}
	}
	run := p.s.RunAt(e.At)
	if on && !p.k.Gates[run] {
		p.cite(e, "feature gate")
	}
	p.k.Gates[run] = p.k.Gates[run] || on
}

// gated sets which PLEG runs. If the gate differs between processes, that is known by run only; see package generator.
func (p *profiler) gated() {
	on, off := false, false
	for _, x := range p.k.Gates {
		on, off = on || x, off || !x
	}
	switch {
	case on && off:
		p.k.PLEG = PLEGUnknown
		p.say("evented PLEG in some of the processes only")
	case on:
		p.k.PLEG = "evented"
	case off:
		p.k.PLEG = "generic"
	}
}

// cut reports whether a line ends with one of its values, which may be incomplete in a log whose lines are cut
// off at a fixed column.
func (p *profiler) cut(e *parse.Event) bool {
	text := e.Text().String()
	return slices.ContainsFunc(e.Fields(), func(f parse.Field) bool { return strings.HasSuffix(text, f.Value) })
}

// unconfigured returns, by process ID, which processes log that they have no configuration file. For other
// processes a flag at its default may not have been given at all, and the value from the file may be in force.
func (p *profiler) unconfigured() map[int]bool {
	out := map[int]bool{}
	for _, e := range p.s.profile {
		if e.Is(parse.SigFlag) && e.Field("name") == "config" {
			out[e.Origin.PID] = strings.Trim(e.Field("value"), `"`) == ""
		}
	}
	return out
}

// flagDefaults are the values that flags show if not set.
var flagDefaults = map[string]string{"v": "0", "runtime-request-timeout": "2m0s", "feature-gates": "", "container-runtime-endpoint": "unix:///run/containerd/containerd.sock"}

func (p *profiler) flag(e *parse.Event, bare bool) {
	k, name, value := &p.k, e.Field("name"), strings.Trim(e.Field("value"), `"`)
	if !bare && flagDefaults[name] == value {
		return
	}
	switch name {
	case "container-runtime-endpoint":
		p.sock = value
	case "v":
		if v, err := strconv.Atoi(value); err == nil && v >= 0 && v <= 100 {
			k.Verbosity = v
		}
	case "runtime-request-timeout":
		if d, err := time.ParseDuration(value); err == nil && d > 0 {
			k.RPCTimeout = d
		}
	case "feature-gates":
		if strings.Contains(value, "EventedPLEG=true") {
			p.gate(e, true)
		}
	}
}

// facts reads configuration and versions from other files. A configuration file overrides flag defaults, which
// may be all that the flag lines show.
func (p *profiler) facts() {
	k := &p.k
	name, version := "", ""
	for _, f := range p.s.Facts {
		switch f.Key {
		case facts.KeyKubelet:
			if k.Version == "" {
				k.Version = versionText(f.Value)
				p.say("version from " + f.File.Path)
				p.cite(f, "version")
			}
		case facts.KeyRPCTimeout:
			if f.Num > 0 && f.Num < 1e6 {
				k.RPCTimeout = time.Duration(f.Num * float64(time.Second))
				p.cite(f, "runtimeRequestTimeout")
			}
		case facts.KeyVerbosity:
			if k.Verbosity < 0 && f.Num >= 0 && f.Num <= 100 {
				k.Verbosity = int(f.Num)
			}
		case facts.KeyEvented:
			if f.Num == 1 && k.PLEG == "" {
				k.PLEG = "evented"
				p.cite(f, "feature gate")
			}
		case facts.KeyEndpoint:
			p.sock = f.Value
		case facts.KeyRuntimeName:
			name = f.Value
		case facts.KeyRuntimeVersion:
			version = f.Value
			if a := f.Attr("name"); a != "" {
				name = a
			}
		}
	}
	if k.Runtime == "" && name != "" {
		k.Runtime = strings.TrimSpace(name + " " + version)
	}
	p.nodeObject()
	p.metrics()
}

// metrics takes from the kubelet's own metrics what no line and no file states: its version, and whether
// evented PLEG is on. Since the gate exists (1.26), even the metrics of a default kubelet state that it is off.
func (p *profiler) metrics() {
	k := &p.k
	for _, s := range p.s.Series {
		if s.Job != "kubelet" && s.Label("job") != "kubelet" {
			continue
		}
		switch {
		case s.Name == "kubernetes_build_info" && k.Version == "" && s.Label("git_version") != "":
			k.Version = versionText(s.Label("git_version"))
			p.say("version from the kubelet's metrics")
			for pt := range s.Samples() {
				p.cite(s.Cite(pt), "version")
				break
			}
		case s.Name == "kubernetes_feature_enabled" && s.Label("name") == "EventedPLEG" && k.PLEG == "":
			for pt := range s.Samples() {
				k.PLEG = "generic"
				if pt.V == 1 {
					k.PLEG = "evented"
				}
				p.cite(s.Cite(pt), "feature gate")
				break
			}
		}
	}
}

// nodeObject takes versions that no log and no file states from the node object: the kubelet reports them to
// the API server.
func (p *profiler) nodeObject() {
	k := &p.k
	var newest *parse.Object
	for _, o := range p.s.Objects {
		version := host.FieldOf(o.Fields, "kubelet_version")
		if o.Kind != facts.ObjectNode || version == "" {
			continue
		}
		if newest != nil && newest.Name != o.Name && version != host.FieldOf(newest.Fields, "kubelet_version") {
			return // a table of several nodes, which does not say which one this is
		}
		if newest == nil || o.At >= newest.At {
			newest = o
		}
	}
	if newest == nil {
		return
	}
	if k.Version == "" {
		k.Version = versionText(host.FieldOf(newest.Fields, "kubelet_version"))
		p.say("version from the node object in " + newest.File.Path)
		p.cite(newest, "version")
	}
	k.OS = host.FieldOf(newest.Fields, "os")
	if k.Runtime == "" {
		name, version, _ := strings.Cut(host.FieldOf(newest.Fields, "runtime"), "://")
		k.Runtime = strings.TrimSpace(name + " " + version)
	}
}

// runtime infers the kind of runtime if nothing states it: from its socket, the containers that the kubelet
// names, the writers of lines, or messages specific to the dockershim. dockerd takes precedence over
// containerd, since it runs a containerd of its own, whose lines name its namespace moby.
func (p *profiler) runtime() {
	if p.k.Runtime != "" {
		return
	}
	kind, by := "", "its socket"
	for _, x := range [][2]string{{"docker", "docker"}, {"containerd", "containerd"}, {"crio", "cri-o"}} { // unix:///run/k3s/containerd/containerd.sock
		if kind == "" && strings.Contains(path.Base(p.sock), x[0]) {
			kind = x[1]
		}
	}
	if kind == "" {
		named := p.ofContainers()
		if len(named) > 1 {
			return // the runtime was replaced
		}
		kind, by = strings.Join(named, ""), "the containers that the kubelet names"
	}
	if kind == "" {
		kind, by = p.byLines(), "its lines"
		for _, f := range p.s.Facts {
			if dumped := runtimesByDump[f.Attr("program")]; f.Key == facts.KeyGoroutines && dumped != "" && (kind == "" || dumped == "docker") {
				kind, by = dumped, "its goroutine dump"
			}
		}
	}
	if kind != "" {
		p.k.Runtime = kind
		p.say("runtime " + kind + " by " + by)
	}
}

// containerID matches a container ID as the kubelet writes it, with its runtime as scheme.
var containerID = regexp.MustCompile(`\b(containerd|cri-o|docker)://[0-9a-f]{12,}`)

// ofContainers returns the runtimes of the containers that kubelet lines name.
func (p *profiler) ofContainers() (kinds []string) {
	for _, e := range p.forms {
		if e.From() != parse.SrcKubelet {
			continue
		}
		for _, m := range containerID.FindAllStringSubmatch(e.Quote(), -1) {
			if !slices.Contains(kinds, m[1]) {
				kinds = append(kinds, m[1])
			}
		}
	}
	return kinds
}

// byLines returns the runtime inferred from the writers of lines, "" if none.
func (p *profiler) byLines() string {
	if slices.ContainsFunc(p.s.Coverage, func(c *parse.Coverage) bool { return strings.HasPrefix(c.Origin.Ident, "cri-dockerd") }) {
		return "docker"
	}
	kind := ""
	for _, e := range p.forms {
		switch src := e.From(); {
		case src == parse.SrcDockerd, src == parse.SrcKubelet && (e.Is(parse.SigDocker) || e.Is(parse.SigDockershim) || strings.HasPrefix(e.Caller, "docker_")):
			return "docker" // docker_ callers are the kubelet's own dockerd client
		case kind == "" && src == parse.SrcCRIO:
			kind = "cri-o"
		case kind == "" && src == parse.SrcContainerd && !strings.Contains(e.Quote(), "moby"):
			kind = "containerd"
		}
	}
	return kind
}

// system determines the operating system: as files state it, otherwise from paths and services that only
// Windows has, or from what only Linux has.
func (p *profiler) system() {
	stated, linux := p.k.OS, false
	for _, f := range p.s.Facts {
		if f.Key == facts.KeyOS {
			stated = cmp.Or(stated, f.Value)
		}
		linux = linux || f.Key == facts.KeyKernel
	}
	for _, c := range p.s.Coverage {
		linux = linux || c.Origin.Source == parse.SrcKernel || c.Origin.Source == parse.SrcSystemd
	}
	windows := strings.Contains(stated, "Windows") || stated == "" && slices.ContainsFunc(p.forms, func(e *parse.Event) bool {
		return e.Is("win.perf") || e.Is("win.path") || e.Is("win.hcs") || e.Is("win.hcstime")
	})
	switch {
	case windows:
		p.k.OS = "windows"
	case stated != "" || linux:
		p.k.OS = "linux"
	}
}

// runtimesByDump maps the program of a goroutine dump to the kind of runtime.
var runtimesByDump = map[string]string{"dockerd": "docker", "docker-containerd": "docker", "cri-dockerd": "docker", "crio": "cri-o", "containerd": "containerd"}

func (p *profiler) version() {
	k := &p.k
	if p.opt.KubeletVersion != "" {
		k.Version = versionText(p.opt.KubeletVersion)
		p.basis = slices.DeleteFunc(p.basis, func(s string) bool { return strings.HasPrefix(s, "version") })
		p.say("version by option")
	}
	if k.Version != "" {
		k.VersionMin, k.VersionMax = k.Version, k.Version
		return
	}
	lo, hi := version.Range(p.forms)
	if lo > 0 {
		k.VersionMin = "v1." + strconv.Itoa(lo)
	}
	if hi > 0 {
		k.VersionMax = "v1." + strconv.Itoa(hi)
	}
	if lo > 0 || hi > 0 {
		p.say("version " + k.VersionText() + " by the form of its lines")
	} else {
		p.say("version unknown")
	}
}

// VersionText returns the version in words, as precisely as it is known.
func (k *Profile) VersionText() string {
	switch {
	case k.Version != "":
		return k.Version
	case k.VersionMin == "":
		return k.VersionMax + " or earlier"
	case k.VersionMax == "":
		return k.VersionMin + " or later"
	case k.VersionMin == k.VersionMax:
		return k.VersionMin
	}
	return k.VersionMin + " to " + k.VersionMax
}

// health determines period and threshold: from the options, from lines that state the threshold, from the
// evented PLEG gate, or else the generic constants.
func (p *profiler) health() {
	k := &p.k
	stated := p.stated()
	if stated == pleg.EventedThreshold && k.PLEG == "" {
		k.PLEG = "evented"
		p.say("evented PLEG by its threshold of 10m0s")
	}
	k.Period, k.Threshold = pleg.Period, pleg.Threshold
	if k.EventedSends() && stated != pleg.Threshold { // after a fallback the kubelet relists as usual
		k.Period, k.Threshold = pleg.EventedPeriod, pleg.EventedThreshold
	}
	switch {
	case p.opt.RelistThreshold > 0:
		k.Threshold, k.ThresholdSet = p.opt.RelistThreshold, true
		p.say("threshold by option")
	case stated > 0:
		k.Threshold = stated
		p.say("threshold stated by the kubelet")
	default:
		p.say("threshold by default")
	}
	if p.opt.RelistPeriod > 0 {
		k.Period = p.opt.RelistPeriod
		p.say("period by option")
	}
	if k.PLEG == "" {
		k.PLEG = PLEGUnknown
		if v := cmp.Or(k.Version, k.VersionMax); v != "" && version.OlderThan(v, 26) || stated == pleg.Threshold {
			k.PLEG = "generic"
		}
	}
}

// stated returns the threshold that most lines state, 0 if none does.
func (p *profiler) stated() time.Duration {
	count := map[time.Duration]int{}
	best := time.Duration(0)
	for _, a := range p.s.Ages {
		if a.Limit <= 0 {
			continue
		}
		count[a.Limit]++
		if count[a.Limit] > count[best] || count[a.Limit] == count[best] && a.Limit < best {
			best = a.Limit
		}
	}
	return best
}

// timeout determines runtimeRequestTimeout. Failing lists measure it: they follow each other by timeout plus
// period. Flag lines show the flag's default even if the configuration file overrides it, so measurements win.
// A value that is not measured, confirmed or stated is assumed, and proves nothing.
func (p *profiler) timeout() {
	k := &p.k
	stated := k.RPCTimeout > 0
	p.gaps = p.failureGaps()
	slices.Sort(p.gaps)
	measured, by := p.measured()
	if by != "" && measured != k.RPCTimeout {
		k.RPCTimeout, k.TimeoutKnown = measured, true
		p.say("runtimeRequestTimeout " + parse.Short(measured) + " measured from " + by)
		return
	}
	k.RPCTimeout, k.TimeoutKnown = cmp.Or(k.RPCTimeout, pleg.RPCTimeout), true
	waits := p.waits()
	switch least := k.RPCTimeout - 3*time.Second/2; { // timestamps may be truncated to seconds
	case slices.ContainsFunc(slices.Concat(p.gaps[:min(len(p.gaps), 1)], waits.own), func(d time.Duration) bool { return d < least }):
		k.TimeoutKnown = false
		p.say("runtimeRequestTimeout unknown: serial calls that timed out are less than " + parse.Short(k.RPCTimeout) + " apart")
	case stated:
		p.say("runtimeRequestTimeout stated")
	case p.fromFile():
		p.say("runtimeRequestTimeout by default, which the configuration file leaves")
	case slices.ContainsFunc(waits.all, func(d time.Duration) bool {
		late := d + 20*time.Millisecond
		if late -= k.RPCTimeout; late >= k.RPCTimeout {
			late -= k.RPCTimeout // a pod costs a relist two timeouts, up to 1.31
		}
		return late >= 0 && (late <= timeoutLate || late >= k.Period && late <= k.Period+timeoutLate)
	}):
		p.say("runtimeRequestTimeout by default, which inspections that failed confirm")
	case p.heldUp(k.RPCTimeout):
		p.say("runtimeRequestTimeout by default, which housekeeping confirms that a failed list held up")
	default:
		k.TimeoutKnown = false
		p.say("runtimeRequestTimeout unknown, 2m is the default")
	}
	if !k.TimeoutKnown {
		k.most = p.most(waits.own)
		k.slower = slices.ContainsFunc(p.s.Stalls, func(x Stall) bool { return x.To-x.From > 2*int64(k.RPCTimeout+time.Second) }) // housekeeping lists twice
	}
}

// most returns an upper bound for an unknown timeout. It is at most the time between two calls of the relist
// goroutine that hit it. Nor is it longer than a relist whose list call hit it can have run: since PLEG
// started, or since a relist that kept a working sync loop healthy may have begun.
func (p *profiler) most(own []time.Duration) time.Duration {
	out := slices.Min(slices.Concat(p.gaps[:min(len(p.gaps), 1)], own, []time.Duration{TimeoutMost}))
	for _, m := range p.s.Marks {
		if m.Kind != host.KindListFail || !m.Deadline || m.Run < 0 {
			continue
		}
		r := &p.s.Runs[m.Run]
		if worked := p.s.Attended(m.Run, m.At, time.Duration(m.At-r.First)); worked > r.First {
			out = min(out, time.Duration(m.At-worked)+p.k.Threshold)
		}
		if r.Loop != 0 {
			out = min(out, time.Duration(m.At-r.Loop))
		}
	}
	return out
}

// heldUp reports whether housekeeping took one timeout and ended with a list call that hit its deadline:
// housekeeping gives up at the first failure.
func (p *profiler) heldUp(timeout time.Duration) bool {
	return slices.ContainsFunc(p.s.Stalls, func(x Stall) bool {
		over := time.Duration(x.To-x.From) - timeout
		return over >= 0 && over <= time.Second && slices.ContainsFunc(p.s.Calls, func(c Call) bool {
			return int(c.Run) == x.Run && c.Line.At > x.To-int64(time.Second) && c.Line.At <= x.To && p.s.Interned.Text(c.code) == "DeadlineExceeded" && strings.HasPrefix(p.s.Interned.Text(c.Name), "List")
		})
	})
}

// waits holds how long inspections waited for their deadline, measured from the failure before or from the
// start of their relist. Failures follow each other directly within a relist; from one relist to the next, a
// period is added.
type waits struct {
	own []time.Duration // between lines of the relist goroutine, which is serial
	all []time.Duration
}

func (p *profiler) waits() waits {
	var w waits
	type failed struct {
		at  int64
		run int
		own bool
	}
	var ends []failed
	for _, m := range p.s.Marks {
		if m.Kind&host.KindInspectFail != 0 && m.Deadline {
			ends = append(ends, failed{m.At, m.Run, true})
		}
	}
	for i := range p.s.Calls {
		c := &p.s.Calls[i]
		if p.s.Interned.Text(c.code) == "DeadlineExceeded" && p.s.Interned.Text(c.Name) == "PodSandboxStatus" && c.Line.Basis != parse.NoTime {
			ends = append(ends, failed{c.Line.At, int(c.Run), false})
		}
	}
	slices.SortStableFunc(ends, func(a, b failed) int { return cmp.Compare(a.at, b.at) })
	starts := p.lastSeen()
	prev, prevOwn := map[int]int64{}, map[int]int64{}
	for _, e := range ends {
		gap := func(since map[int]int64) (time.Duration, bool) {
			d := time.Duration(e.at - since[e.run])
			return d, since[e.run] != 0 && d >= time.Second // shorter: another layer's line about the same call
		}
		if d, ok := gap(prev); ok {
			w.all = append(w.all, d)
		}
		if d, ok := gap(prevOwn); e.own && ok {
			w.own = append(w.own, d)
		}
		if l := starts[e.run]; len(l) > 0 {
			if i, _ := slices.BinarySearch(l, e.at-int64(time.Second)); i > 0 {
				w.all = append(w.all, time.Duration(e.at-l[i-1]))
			}
		}
		prev[e.run] = e.at
		if e.own {
			prevOwn[e.run] = e.at
		}
	}
	return w
}

// fromFile reports whether the kubelet configuration is available: what it does not set has its default.
func (p *profiler) fromFile() bool {
	return slices.ContainsFunc(p.s.Facts, func(f *parse.Fact) bool {
		from := f.Attr("from")
		return strings.HasPrefix(f.Key, "kubelet.") && (from == "file" || from == "configz")
	})
}

// measured returns the timeout measured from the shortest distance between two consecutive list failures that
// hit their deadline, and what measures it, "" if nothing does. A slow first call, or an unlogged relist in
// between, only makes distances longer.
func (p *profiler) measured() (time.Duration, string) {
	gaps := p.gaps
	if len(gaps) == 0 {
		return p.single()
	}
	whole, ok := wholeSeconds(gaps[0])
	if !ok {
		return p.single()
	}
	n := sort.Search(len(gaps), func(i int) bool { return gaps[i] > whole+timeoutLate })
	usual := cmp.Or(p.k.RPCTimeout, pleg.RPCTimeout)
	if whole != usual && (n == 1 && (whole > usual || whole%RoundTimeout != 0) || p.several(whole)) {
		return p.single() // two separate hangs can be any time apart
	}
	return whole, Times(n, "pair") + " of failing lists"
}

// RoundTimeout is the unit of timeouts that people set.
const RoundTimeout = 5 * time.Second

// several reports whether a distance (less the period) may span several relists, some without lines: it is not
// a round number, but is made up of that many round timeouts and periods.
func (p *profiler) several(d time.Duration) bool {
	for k := time.Duration(2); k <= 5 && d%RoundTimeout != 0; k++ {
		if one := (d + p.k.Period) / k; one*k == d+p.k.Period && (one-p.k.Period)%RoundTimeout == 0 {
			return true
		}
	}
	return false
}

// timeoutLate is how late a call that hits its deadline may return, with the rest of its relist, on a loaded
// machine.
const timeoutLate = 400 * time.Millisecond

// wholeSeconds rounds a measured timeout to the whole seconds it represents: a timeout never fires early. The
// bool is false if d is too far above them.
func wholeSeconds(d time.Duration) (time.Duration, bool) {
	whole := (d + 20*time.Millisecond).Truncate(time.Second)
	return whole, whole > 0 && d-whole <= timeoutLate
}

// failureGaps returns the distances between list failures by deadline, less the period. Failures with a relist
// that listed pods in between, known from its own line or because it was last seen later, do not count.
func (p *profiler) failureGaps() []time.Duration {
	var gaps []time.Duration
	starts := p.lastSeen()
	prev, begun := map[int]*Mark{}, map[int]int{}
	for i := range p.s.Marks {
		switch m := &p.s.Marks[i]; {
		case m.Kind == host.KindRelisting:
			begun[m.Run]++
		case m.Kind != host.KindListFail:
			delete(prev, m.Run)
		case !m.Deadline:
			delete(prev, m.Run)
		default:
			if t := prev[m.Run]; t != nil && begun[m.Run] < 2 && !anyIn(starts[m.Run], t.At, m.At) && p.s.SameClock(t.Line, m.Line) {
				gaps = append(gaps, time.Duration(m.At-t.At)-p.k.Period)
			}
			prev[m.Run], begun[m.Run] = m, 0
		}
	}
	return gaps
}

// lastSeen returns the starts of relists that ages name, by run, sorted.
func (p *profiler) lastSeen() map[int][]int64 {
	out := map[int][]int64{}
	for _, a := range p.s.Ages {
		if a.At != 0 {
			out[a.Run] = append(out[a.Run], a.At-int64(a.Age))
		}
	}
	for _, l := range out {
		slices.Sort(l)
	}
	return out
}

// anyIn reports whether one of the moments, which are sorted, lies strictly between from and to.
func anyIn(moments []int64, from, to int64) bool {
	i, _ := slices.BinarySearch(moments, from+1)
	return i < len(moments) && moments[i] < to
}

// single measures the timeout from one failure and the last-seen start before it: the attempt began a period
// after that relist, which takes some time itself. A timeout longer than usual must also explain why no call
// had failed before.
func (p *profiler) single() (time.Duration, string) {
	const by = "a failing list and the relist before it"
	tries := 0
	for _, m := range p.s.Marks {
		if m.Kind != host.KindListFail || !m.Deadline {
			continue
		}
		if tries++; tries > 64 {
			break // further ones add nothing
		}
		start, seen, ok := p.seenAfter(&m)
		if !ok {
			continue
		}
		d := time.Duration(m.At-start) - p.k.Period
		usual := cmp.Or(p.k.RPCTimeout, pleg.RPCTimeout)
		whole := d.Truncate(time.Second)
		switch {
		case whole <= 0 || d-whole >= 500*time.Millisecond:
		case p.several(whole):
		case d < usual-20*time.Millisecond && usual-d <= time.Duration(p.s.Quiet(m.At, seen)): // the clock may have been set forward by that
		case d < usual-20*time.Millisecond, whole > usual && whole%(30*time.Second) == 0 && !p.timedOut(m.Run, start, m.At-int64(d)/10):
			return whole, by
		case d < usual+time.Second:
			return usual, by
		}
	}
	return 0, ""
}

// seenAfter returns the start of the relist that the first age after a mark names and when it does, unless an age before the mark
// names an older one although this one had begun: the attempt then began later, or the clock was set between.
func (p *profiler) seenAfter(m *Mark) (start, at int64, ok bool) {
	ages := p.s.Ages
	k := sort.Search(len(ages), func(i int) bool { return ages[i].At >= m.At })
	for i := k; i < len(ages); i++ {
		if a := &ages[i]; a.Run == m.Run && a.Res <= time.Millisecond {
			start = a.At - int64(a.Age)
			return start, a.At, p.s.SameClock(a.Record, m.Line) && !slices.ContainsFunc(ages[:k], func(b Age) bool {
				return b.Run == m.Run && b.At > start+int64(p.k.Period) && b.At-int64(b.Age) < start-int64(SameStart)
			})
		}
	}
	return 0, 0, false
}

// timedOut reports whether a call of the run hit its deadline between the two moments.
func (p *profiler) timedOut(run int, from, to int64) bool {
	calls := p.s.Calls
	i := sort.Search(len(calls), func(i int) bool { return calls[i].Line.At > from })
	for ; i < len(calls) && calls[i].Line.At < to; i++ {
		if c := &calls[i]; int(c.Run) == run && p.s.Interned.Text(c.code) == "DeadlineExceeded" {
			return true
		}
	}
	return false
}

// verbosity takes the value of the flag, otherwise the minimum that the lines prove.
func (p *profiler) verbosity() {
	k := &p.k
	if k.Verbosity >= 0 {
		p.say("verbosity stated")
		return
	}
	for _, c := range p.s.Coverage {
		if c.Origin.Source == parse.SrcKubelet {
			k.Verbosity = max(k.Verbosity, c.MaxV)
		}
	}
	for _, m := range p.s.Marks {
		if m.Kind == host.KindRelisting {
			k.Verbosity = max(k.Verbosity, 5)
			break
		}
	}
	if len(p.s.Observed.Rows) > 0 {
		k.Verbosity = max(k.Verbosity, 2)
	}
	if k.Verbosity >= 0 {
		p.say("verbosity at least " + strconv.Itoa(k.Verbosity) + " by its lines")
	}
}

// PLEGUnknown is the value of Profile.PLEG if nothing shows whether evented PLEG is on.
const PLEGUnknown = "unknown"

// Profile describes the node's kubelet and how that is known.
type Profile struct {
	Version    string // "v1.28.0", "" if unknown
	VersionMin string // bounds by fingerprint if no line states it: "v1.21"
	VersionMax string
	Runtime    string       // "containerd 1.7.2", "" if unknown
	OS         string       // linux, windows, "" if unknown
	PLEG       string       // generic, evented, unknown
	Gates      map[int]bool // feature gate EventedPLEG by run, as far as lines state it
	Period     time.Duration
	Threshold  time.Duration
	RPCTimeout time.Duration // runtimeRequestTimeout
	Verbosity  int           // -v, -1 if unknown
	Basis      string        // in words: what is evidence and what is default
	Evidence   []host.Evidence

	ThresholdSet bool          // threshold set by option: overrides the lines
	TimeoutKnown bool          // RPCTimeout is stated, measured or confirmed; otherwise it is assumed and dates nothing
	most         time.Duration // upper bound of an unknown timeout, 0 if none
	slower       bool          // a call took longer than the default timeout allows
}

// CallTimeout returns runtimeRequestTimeout if it is known, else 0.
func (k *Profile) CallTimeout() time.Duration {
	if !k.TimeoutKnown {
		return 0
	}
	return k.RPCTimeout
}

// TimeoutMost is the longest timeout that kubelets are known to be configured with.
const TimeoutMost = 15 * time.Minute

// LongestCall returns runtimeRequestTimeout or, if it is unknown, an upper bound.
func (k *Profile) LongestCall() time.Duration { return cmp.Or(k.CallTimeout(), k.most, TimeoutMost) }

// Hangs returns how long a call may hang before a line reports it: the timeout or, if it is unknown, its
// default, unless another bound is proven.
func (k *Profile) Hangs() time.Duration {
	if k.slower {
		return k.LongestCall()
	}
	return min(k.RPCTimeout, k.LongestCall())
}

// Since reports whether the kubelet is known to be of 1.minor or later.
func (k *Profile) Since(minor int) bool {
	m, ok := version.Minor(cmp.Or(k.Version, k.VersionMin))
	return ok && m >= minor
}

// Before reports whether the kubelet is known to be older than 1.minor.
func (k *Profile) Before(minor int) bool {
	return version.OlderThan(cmp.Or(k.Version, k.VersionMax), minor)
}

// Timeouts reports whether d, in ns, is a whole number of timeouts, at least one, plus less than 2 s: one or
// more consecutive calls that hit their deadline.
func (k *Profile) Timeouts(d int64) bool {
	t := int64(k.CallTimeout())
	return t != 0 && d >= t && d%t < int64(2*time.Second)
}

// MayTimeOut reports whether a call that took so long, in ns, may have hit its deadline. If the timeout is unknown,
// it may be any round value that people set.
func (k *Profile) MayTimeOut(took int64) bool {
	if t := int64(k.CallTimeout()); t != 0 {
		return took >= t && took < t+int64(2*time.Second)
	}
	return took > int64(2*RoundTimeout) && took%int64(RoundTimeout) < int64(timeoutLate)
}

// EventedSends reports whether evented PLEG is on in a version in which it sends events itself and generic PLEG
// relists rarely: up to 1.36. Later versions only use it to request relists of single pods. Without a version,
// the best known behavior is assumed.
func (k *Profile) EventedSends() bool {
	if k.PLEG != "evented" {
		return false
	}
	p, err := pleg.New(cmp.Or(k.Version, k.VersionMin))
	return err != nil || p.Has(pleg.EventedSends) || !p.Has(pleg.EventedAvailable)
}

// OnDemandRelists reports whether the kubelet may relist single pods between relists of the node: from 1.36 on.
func (k *Profile) OnDemandRelists() bool {
	p, err := pleg.New(cmp.Or(k.Version, k.VersionMax))
	return err != nil || p.Has(pleg.OnDemandRelist)
}
