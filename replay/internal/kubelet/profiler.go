package kubelet

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/facts"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/version"
)

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
	p := &profiler{k: Profile{Verbosity: -1}, s: s, forms: forms, opt: opt}
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
			if v := statedVersion(e); v != "" {
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
// the API server. kubeadm notes the socket there.
func (p *profiler) nodeObject() {
	k := &p.k
	var newest *parse.Object
	for _, o := range p.s.Objects {
		version := o.Field("kubelet_version")
		if o.Kind == facts.ObjectNode {
			p.sock = cmp.Or(p.sock, o.Field("cri_socket"))
		}
		if o.Kind != facts.ObjectNode || version == "" {
			continue
		}
		if newest != nil && newest.Name != o.Name && version != newest.Field("kubelet_version") {
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
		k.Version = versionText(newest.Field("kubelet_version"))
		p.say("version from the node object in " + newest.File.Path)
		p.cite(newest, "version")
	}
	k.OS = newest.Field("os")
	if k.Runtime == "" {
		name, version, _ := strings.Cut(newest.Field("runtime"), "://")
		k.Runtime = strings.TrimSpace(name + " " + strings.TrimPrefix(version, "Unknown")) // the runtime did not tell the kubelet
	}
}

// runtime infers the kind of runtime if nothing states it: from its socket, the containers and errors that the
// kubelet names, the writers of lines, or messages specific to the dockershim. dockerd takes precedence over
// containerd, since it runs a containerd of its own, whose lines name its namespace moby.
func (p *profiler) runtime() {
	if p.k.Runtime != "" {
		return
	}
	kind, by := "", "its socket"
	for _, x := range [][2]string{{"crio", "cri-o"}, {"containerd", "containerd"}, {"docker", "docker"}} { // unix:///run/k3s/containerd/containerd.sock
		if strings.Contains(path.Base(p.sock), x[0]) {
			kind = x[1]
		}
	}
	if kind == "" {
		named := host.RuntimesNamed(p.forms)
		if len(named) > 1 {
			return // the runtime was replaced
		}
		kind, by = strings.Join(named, ""), "the containers and errors that the kubelet names"
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

// byLines returns the runtime inferred from the writers of lines, "" if none.
func (p *profiler) byLines() string {
	if slices.ContainsFunc(p.s.Coverage, func(c *parse.Coverage) bool { return strings.HasPrefix(c.Origin.Ident, "cri-dockerd") }) {
		return "docker"
	}
	kind, moby := "", false // moby: containerd is dockerd's own
	for _, e := range p.forms {
		text := e.Quote()
		moby = moby || strings.Contains(text, "/moby/") || strings.Contains(text, "namespace=moby")
		switch src := e.From(); {
		case src == parse.SrcDockerd, src == parse.SrcKubelet && (e.Is(parse.SigDocker) || e.Is(parse.SigDockershim) || strings.HasPrefix(e.Caller, "docker_")):
			return "docker" // docker_ callers are the kubelet's own dockerd client
		case kind == "" && src == parse.SrcCRIO:
			kind = "cri-o"
		case kind == "" && (src == parse.SrcContainerd && !strings.Contains(text, "moby") || strings.Contains(text, "failed to create containerd ")):
			kind = "containerd" // which words errors like this, as its CRI service; dockerd speaks of a task or a shim task
		}
	}
	if moby && kind == "containerd" {
		return "" // the kubelet may use either
	}
	if kind == "" { // nothing in its log is of interest; one that runs beside another daemon may not be the kubelet's
		for _, c := range p.s.Coverage {
			switch c.Origin.Source {
			case parse.SrcDockerd, parse.SrcContainerd:
				return ""
			case parse.SrcCRIO:
				kind = "cri-o"
			}
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
	windows := strings.Contains(strings.ToLower(stated), "windows") || stated == "" && slices.ContainsFunc(p.forms, func(e *parse.Event) bool {
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
		p.say("version not recognized")
	}
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
	k.Threshold = cmp.Or(stated, k.Threshold)
	k.Reporting = k.Threshold
	switch {
	case p.opt.RelistThreshold > 0:
		k.Threshold, k.ThresholdSet = p.opt.RelistThreshold, true
		p.say("threshold by option")
	case stated > 0:
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
	if slices.ContainsFunc(p.s.Marks, func(m Mark) bool { return m.Kind == host.KindRelisting }) {
		k.Verbosity = max(k.Verbosity, 5)
	}
	if len(p.s.Observed.Rows) > 0 {
		k.Verbosity = max(k.Verbosity, 2)
	}
	if k.Verbosity >= 0 {
		p.say("verbosity at least " + strconv.Itoa(k.Verbosity) + " by its lines")
	}
}
