package facts

import (
	"math"
	"strconv"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

func isListJobs(_, head string) bool {
	line := firstLine(head)
	f := fields(line)
	return len(f) >= 4 && f[0] == "JOB" && f[1] == "UNIT" || strings.HasPrefix(line, "No jobs running")
}

// listJobs reads systemctl list-jobs.
func (s *scan) listJobs() {
	n := 0
	for s.advance() {
		f := fields(s.line)
		switch {
		case strings.HasPrefix(s.line, "No jobs"):
			s.add(KeyJobs, "0", 0)
			return
		case len(f) == 4 && isNumber(f[0]):
			n++
			s.add(KeyJob, f[1], num(f[0]), attr("unit", f[1]), attr("type", f[2]), attr("state", f[3]))
		case len(f) >= 3 && f[1] == "jobs" && f[2] == "listed.":
			s.number(KeyJobs, f[0], 1)
			return
		}
	}
	if n > 0 {
		s.add(KeyJobs, strconv.Itoa(n), float64(n))
	}
}

// isNodeUnit reports whether the state of a unit matters for the kubelet.
func isNodeUnit(unit string) bool {
	unit = strings.TrimSuffix(unit, ".service")
	for _, u := range []string{
		"kubelet", "containerd", "docker", "crio", "cri-docker", "k3s", "k3s-agent", "rke2-server", "rke2-agent", "dbus", "dbus-broker",
		"systemd-journald", "docker.socket", "kubelet-wrapper", "origin-node", "atomic-openshift-node", "snap.kubelet.daemon", "snap.k8s.kubelet",
		"snap.microk8s.daemon-kubelet", "snap.microk8s.daemon-kubelite", "snap.microk8s.daemon-containerd", "chronyd", "systemd-timesyncd", "ntpd",
	} {
		if unit == u {
			return true
		}
	}
	return false
}

// listUnits reads systemctl list-units: failed units and units of isNodeUnit.
func (s *scan) listUnits() {
	for s.advance() {
		f := fields(strings.TrimLeft(s.line, "●*x× "))
		if len(f) < 4 || !strings.Contains(f[0], ".") {
			continue
		}
		if f[2] == "failed" {
			s.text(KeyFailedUnit, f[0], attr("unit", f[0]))
		}
		if isNodeUnit(f[0]) {
			s.text(KeyUnit, f[2], attr("unit", f[0]), attr("load", f[1]), attr("active", f[2]), attr("sub", f[3]))
		}
	}
}

func isUnitStatus(name, head string) bool {
	return strings.Contains(head, "Active: ") && strings.Contains(head, "Loaded: ") || strings.Contains(name, "systemctl_status")
}

// unitStatus reads systemctl status of one or more units.
func (s *scan) unitStatus() {
	var u unitBlock
	for s.advance() {
		if !s.statusKubelet() {
			s.unitLine(&u)
		}
	}
}

// unitBlock is the part of systemctl status that describes one unit, as far as it was read.
type unitBlock struct {
	name, load string
	loaded     bool // the line about the unit's file was read
	fact       *parse.Fact
}

// unitLine reads a line of systemctl status.
func (s *scan) unitLine(u *unitBlock) {
	line := strings.TrimSpace(s.line)
	key, v, ok := strings.Cut(line, ": ")
	head := strings.TrimLeft(line, "●*x×○↻ ")
	switch {
	case strings.Contains(s.line, ".service - ") || strings.Contains(s.line, ".socket - "),
		head != line && strings.HasSuffix(head, ".service") && !strings.Contains(head, " "): // a masked unit has no description
		*u = unitBlock{name: fields(head)[0]}
	case ok && key == "Loaded":
		u.loaded = true
		if strings.HasPrefix(v, "masked") {
			u.load = "masked"
		} else if strings.Contains(v, "; disabled") {
			u.load = "disabled"
		}
	case ok && key == "Active":
		u.fact = s.active(u.name, v)
		if u.load != "" {
			s.attach(u.fact, "load", u.load)
		}
	case !ok || u.fact == nil:
	case key == "Main PID":
		s.attach(u.fact, "pid", fields(v)[0])
		if _, status, ok := strings.Cut(v, "(code=exited, status="); ok {
			s.attach(u.fact, "status", strings.TrimSuffix(status, ")"))
		}
	case key == "Tasks":
		s.attach(u.fact, "tasks", fields(v)[0])
		if _, limit, ok := strings.Cut(v, "(limit: "); ok {
			s.attach(u.fact, "limit", strings.TrimSuffix(limit, ")"))
		}
	case key == "Memory":
		s.attach(u.fact, "memory", v)
	}
}

// unitAbove reads a line of a log that may begin with systemctl status: only below the name of a unit and
// the line about its file, and up to the empty line above the unit's log.
func (s *scan) unitAbove(u *unitBlock) {
	switch line := strings.TrimSpace(s.line); {
	case line == "":
		*u = unitBlock{}
	case !strings.HasPrefix(line, "Active: ") || u.name != "" && u.loaded && u.fact == nil:
		s.unitLine(u)
	}
}

func (s *scan) attach(f *parse.Fact, name, value string) {
	f.Attrs = append(f.Attrs, attr(name, strings.Clone(value)))
}

// active parses "active (running) since Sat 2026-11-21 00:01:20 UTC; 4min ago".
func (s *scan) active(unit, v string) *parse.Fact {
	state, rest, _ := strings.Cut(v, " ")
	sub, _, _ := strings.Cut(strings.TrimPrefix(rest, "("), ")")
	_, since, _ := strings.Cut(v, "since ")
	since, _, _ = strings.Cut(since, ";")
	if state == "failed" {
		s.text(KeyFailedUnit, unit, attr("unit", unit))
	}
	_, result, _ := strings.Cut(rest, "(Result: ")
	result, _, _ = strings.Cut(result, ")")
	return s.text(KeyUnit, state, attr("unit", unit), attr("active", state), attr("sub", sub), attr("result", result), attr("since", since))
}

// systemdVersion parses "systemd 252 (252.39-1~deb12u2)".
func (s *scan) systemdVersion() {
	if !s.advance() {
		return
	}
	f := fields(s.line)
	if len(f) >= 2 && isNumber(f[1]) {
		s.add(KeySystemd, strings.Trim(strings.Join(f[1:], " "), "()"), num(f[1]))
	}
}

// unitSettings are unit settings that limit a daemon.
var unitSettings = map[string]bool{
	"CPUQuota": true, "CPUShares": true, "CPUWeight": true, "AllowedCPUs": true, "CPUAffinity": true, "TasksMax": true, "LimitNOFILE": true,
	"LimitNPROC": true, "LimitCORE": true, "MemoryMax": true, "MemoryLimit": true, "MemoryHigh": true, "OOMScoreAdjust": true, "KillMode": true,
	"Nice": true, "CPUSchedulingPolicy": true, "IOWeight": true, "Slice": true,
}

// unitFile reads unit files, also several as printed by systemctl cat.
func (s *scan) unitFile() {
	unit := strings.TrimPrefix(s.name, "systemctl_cat_")
	for s.advance() {
		line := strings.TrimSpace(s.line)
		if strings.HasPrefix(line, "# /") {
			unit = line[strings.LastIndexByte(line, '/')+1:]
			if i := strings.Index(line, ".service.d/"); i > 0 {
				unit = line[strings.LastIndexByte(line[:i], '/')+1 : i+8]
			}
			continue
		}
		name, v, ok := strings.Cut(line, "=")
		switch {
		case !ok:
		case unitSettings[name]:
			n := math.NaN()
			if x, fine := number(v); fine {
				n = x
			}
			s.add(KeyUnitSetting, v, n, attr("unit", unit), attr("name", name))
		case strings.Contains(line, "--") && (strings.Contains(unit, "kubelet") || strings.Contains(v, "kubelet")):
			s.kubeletFlags(strings.Fields(strings.ReplaceAll(v, `"`, " ")))
		}
	}
}
