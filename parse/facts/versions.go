package facts

import (
	"encoding/json"
	"path"
	"strconv"
	"strings"
)

// osRelease reads /etc/os-release, alone or within other text.
func (s *scan) osRelease() {
	for s.advance() {
		if v, ok := strings.CutPrefix(s.line, "PRETTY_NAME="); ok {
			s.text(KeyOS, strings.Trim(v, `"'`))
			return
		}
	}
}

func isUname(name, head string) bool {
	if strings.HasPrefix(name, "uname_-r") {
		return true
	}
	f := fields(firstLine(head))
	return len(f) >= 4 && f[0] == "Linux" && (strings.Contains(head, "#") || strings.Contains(name, "uname"))
}

// uname reads uname -a or uname -r. The host name in it is ignored, since it may be
// that of the collector's container.
func (s *scan) uname() {
	if !s.advance() {
		return
	}
	f := fields(s.line)
	switch {
	case len(f) == 1:
		s.text(KeyKernel, f[0])
	case len(f) >= 3:
		s.text(KeyKernel, f[2])
	}
}

// hostname reads a host name; error messages of hostname are ignored.
func (s *scan) hostname() {
	if !s.advance() {
		return
	}
	if v := strings.TrimSpace(s.line); v != "" && !strings.ContainsAny(v, " :/") && v != "localhost" {
		s.text(KeyNodeName, v)
	}
}

// isOneNode recognizes the table of kubectl get node with a single row.
func isOneNode(name, head string) bool {
	table, row, _ := strings.Cut(strings.TrimSpace(head), "\n")
	col, _ := tableHead([]byte(table))
	return strings.HasPrefix(name, "kubectl_get_no") && col > 0 && row != "" && !strings.Contains(row, "\n")
}

// oneNode reads the name of the node that was asked for, and the node itself as the
// table shows it.
func (s *scan) oneNode() {
	for _, o := range Described(s.file, s.data) {
		o.Pos.Offset += s.base.Offset
		o.Pos.Line += s.base.Line - 1
		s.part.Objects = append(s.part.Objects, o)
	}
	for s.advance() {
		if f := fields(s.line); len(f) > 2 && f[0] != "NAME" {
			s.text(KeyNodeName, f[0])
		}
	}
}

func (s *scan) bootID() {
	if !s.advance() {
		return
	}
	if v := strings.ReplaceAll(strings.TrimSpace(s.line), "-", ""); len(v) == 32 {
		s.text(KeyBootID, v)
	}
}

// sysctlKeys maps kernel settings to keys.
var sysctlKeys = map[string]string{
	"kernel.pid_max": KeyPidMax, "kernel.threads-max": KeyThreadsMax, "fs.file-max": KeyFilesMax, "fs.file-nr": KeyFilesOpen,
}

func isSysctl(name, head string) bool {
	return strings.HasPrefix(name, "sysctl") || strings.Contains(head, "\nkernel.pid_max = ") || strings.HasPrefix(head, "abi.vsyscall32 = ")
}

func (s *scan) sysctl() {
	for s.advance() {
		name, v, ok := strings.Cut(s.line, " = ")
		key := sysctlKeys[name]
		if f := fields(v); ok && len(f) > 0 {
			switch {
			case key != "":
				s.number(key, f[0], 1)
			case name == "kernel.random.boot_id" && len(f[0]) == 36:
				s.text(KeyBootID, strings.ReplaceAll(f[0], "-", ""))
			case name == "kernel.hostname":
				s.text(KeyNodeName, f[0])
			}
		}
	}
}

// procSys reads a single file of /proc/sys.
func (s *scan) procSys() {
	if !s.advance() {
		return
	}
	f := fields(s.line)
	if len(f) == 0 {
		return
	}
	switch s.name {
	case "pid_max":
		s.number(KeyPidMax, f[0], 1)
	case "threads-max":
		s.number(KeyThreadsMax, f[0], 1)
	case "file-max":
		s.number(KeyFilesMax, f[0], 1)
	case "file-nr":
		s.number(KeyFilesOpen, f[0], 1)
		if len(f) == 3 {
			s.number(KeyFilesMax, f[2], 1)
		}
	}
}

func (s *scan) cmdline() {
	if s.advance() {
		s.text(KeyCmdline, s.line)
	}
}

func (s *scan) lscpu() {
	for s.advance() {
		name, v, ok := strings.Cut(s.line, ":")
		if ok && strings.TrimSpace(name) == "CPU(s)" {
			s.number(KeyCPUs, strings.TrimSpace(v), 1)
			return
		}
	}
}

func (s *scan) cpuinfo() {
	n := 0
	for s.advance() {
		if strings.HasPrefix(s.line, "processor") {
			n++
		}
	}
	s.addCPUs(n)
}

// procCgroups reads /proc/cgroups: "memory 5 123 1".
func (s *scan) procCgroups() {
	for s.advance() {
		if f := fields(s.line); len(f) == 4 && f[0] == "memory" {
			s.number(KeyMemCgroups, f[2], 1)
		}
	}
}

// cgroupFile reads a single file of a cgroup.
func (s *scan) cgroupFile() {
	dir := path.Dir(s.file.Path) + "/"
	if i := strings.Index(dir, "/cgroup/"); i >= 0 {
		dir = dir[i+len("/cgroup"):]
	}
	if len(dir) > 1 {
		dir = dir[:len(dir)-1]
	}
	cg := attr("cgroup", dir)
	for s.advance() {
		f := fields(s.line)
		if len(f) == 0 {
			continue
		}
		switch {
		case s.name == "freezer.state":
			s.frozen(f[0] == "FROZEN", f[0], dir)
		case s.name == "cgroup.events" && f[0] == "frozen" && len(f) == 2:
			s.frozen(f[1] == "1", f[1], dir)
		case s.name == "pids.current":
			if f[0] != "0" {
				s.number(KeyCgroupPids, f[0], 1, cg)
			}
		case s.name == "pids.max":
			s.number(KeyCgroupPMax, f[0], 1, cg)
		case f[0] == "throttled_usec" && len(f) == 2 && f[1] != "0":
			s.number(KeyThrottled, f[1], 1e-6, cg)
		case f[0] == "throttled_time" && len(f) == 2 && f[1] != "0":
			s.number(KeyThrottled, f[1], 1e-9, cg)
		}
	}
}

// frozen adds a fact for a frozen cgroup. Thawed ones are too many.
func (s *scan) frozen(is bool, v, dir string) {
	if is {
		s.add(KeyFrozen, v, 1, attr("cgroup", dir))
	}
}

// crictlVersion reads crictl version.
func (s *scan) crictlVersion() {
	name := ""
	for s.advance() {
		k, v, ok := strings.Cut(s.line, ":")
		v = strings.TrimSpace(v)
		switch {
		case !ok:
		case k == "RuntimeName":
			name = v
			s.text(KeyRuntimeName, runtimeName(v))
		case k == "RuntimeVersion":
			s.runtimeVersion(name, v)
		}
	}
}

func runtimeName(v string) string {
	v = strings.ToLower(v)
	switch {
	case strings.HasPrefix(v, "cri-o"), v == "crio":
		return "cri-o"
	case strings.HasPrefix(v, "containerd"):
		return "containerd"
	case strings.HasPrefix(v, "docker"):
		return "docker"
	}
	return v
}

func (s *scan) runtimeVersion(name, v string) {
	s.text(KeyRuntimeVersion, strings.TrimPrefix(v, "v"), attr("name", runtimeName(name)))
}

func isDockerVersion(name, head string) bool {
	return strings.Contains(head, "Server:") && strings.Contains(head, "Engine:") || strings.HasPrefix(name, "docker_version")
}

func isVersionLine(name, head string) bool {
	line := firstLine(head)
	if len(head) > 2000 {
		return false
	}
	for _, p := range []string{"Kubernetes v", "containerd ", "containerd github.com", "crio version ", "runc version ", "crun version ", "crictl version ", "Docker version ", "Client:", "kind v"} {
		if strings.HasPrefix(line, p) {
			return true
		}
	}
	return strings.Contains(name, "kubernetes-version") || strings.HasPrefix(name, "kubelet_--version")
}

// versionLines reads --version output of one or several programs.
func (s *scan) versionLines() {
	server := false
	for s.advance() {
		line := strings.TrimSpace(s.line)
		f := fields(line)
		switch {
		case len(f) == 0:
		case strings.HasPrefix(line, "Server:"):
			server = true
		case strings.HasPrefix(line, "Kubernetes v"):
			s.text(KeyKubelet, f[1])
		case len(f) == 1 && strings.HasPrefix(f[0], "v1.") && strings.Contains(s.name, "kubernetes-version"):
			s.text(KeyKubelet, f[0])
		case strings.HasPrefix(line, "kind v") && len(f) >= 2:
			s.text(KeyCollector, "kind")
			s.text(KeyCollectorVersion, strings.TrimPrefix(f[1], "v"))
		case f[0] == "containerd" && len(f) >= 3:
			s.text(KeyRuntimeName, "containerd")
			s.runtimeVersion("containerd", f[2])
		case strings.HasPrefix(line, "crio version ") && len(f) >= 3:
			s.text(KeyRuntimeName, "cri-o")
			s.runtimeVersion("cri-o", f[2])
		case (f[0] == "runc" || f[0] == "crun" || f[0] == "youki") && len(f) >= 3 && f[1] == "version":
			s.text(KeyRunc, f[2], attr("name", f[0]))
		case strings.HasPrefix(line, "crictl version ") && len(f) >= 3:
			s.text(KeyCrictl, f[2])
		case strings.HasPrefix(line, "Docker version ") && len(f) >= 3:
			s.runtimeVersion("docker", strings.TrimSuffix(f[2], ","))
		case server && f[0] == "Version:" && len(f) == 2:
			s.runtimeVersion("docker", f[1])
			server = false
		}
	}
}

// packages reads lists of installed packages from rpm -qa and dpkg -l.
func (s *scan) packages() {
	for s.advance() {
		f := fields(s.line)
		if len(f) == 0 {
			continue
		}
		name, version := splitRPM(f[0])
		if len(f) >= 3 && f[0] == "ii" {
			name, version = strings.TrimSuffix(f[1], ":amd64"), f[2]
		}
		switch name {
		case "kubelet", "openshift-hyperkube", "openshift-kubelet", "atomic-openshift-node":
			s.text(KeyKubelet, "v"+upstream(version))
		case "containerd", "containerd.io":
			s.runtimeVersion("containerd", upstream(version))
		case "cri-o":
			s.runtimeVersion("cri-o", upstream(version))
		case "docker", "docker-ce", "moby-engine", "docker.io":
			s.runtimeVersion("docker", upstream(version))
		case "runc", "crun":
			s.text(KeyRunc, upstream(version), attr("name", name))
		case "systemd":
			v := upstream(version)
			lead, _, _ := strings.Cut(v, ".")
			s.add(KeySystemd, version, num(lead))
		}
	}
}

// splitRPM splits "name-version-release.arch" into name and the rest; both are ""
// for other strings.
func splitRPM(s string) (name, version string) {
	r := strings.LastIndexByte(s, '-')
	if r < 1 {
		return "", ""
	}
	v := strings.LastIndexByte(s[:r], '-')
	if v < 1 || v+1 >= len(s) || s[v+1] < '0' || s[v+1] > '9' {
		return "", ""
	}
	return s[:v], s[v+1:]
}

// upstream returns a package version without epoch and release.
func upstream(v string) string {
	if _, rest, ok := strings.Cut(v, ":"); ok {
		v = rest
	}
	if i := strings.IndexAny(v, "-~+"); i > 0 {
		v = v[:i]
	}
	return v
}

// dockerInfo reads docker info: container counts, versions, cgroup driver.
func (s *scan) dockerInfo() {
	for s.advance() {
		name, v, ok := strings.Cut(strings.TrimSpace(s.line), ": ")
		if !ok {
			continue
		}
		tool := attr("tool", "docker")
		switch name {
		case "Containers":
			s.number("containers.total", v, 1, tool)
		case "Running":
			s.number("containers.running", v, 1, tool)
		case "Paused":
			s.number("containers.paused", v, 1, tool)
		case "Stopped":
			s.number("containers.exited", v, 1, tool)
		case "Server Version":
			s.text(KeyRuntimeName, "docker")
			s.runtimeVersion("docker", v)
		case "Cgroup Driver":
			s.text(KeyCgroupDriver, v, attr("from", "docker"))
		case "Kernel Version":
			s.text(KeyKernel, v)
		case "Operating System":
			s.text(KeyOS, v)
		case "CPUs":
			s.number(KeyCPUs, v, 1)
		case "Name":
			s.text(KeyNodeName, v)
		}
	}
}

// crictlInfo reads the runtime conditions of crictl info.
func (s *scan) crictlInfo() {
	var info struct {
		Status struct {
			Conditions []struct {
				Type   string `json:"type"`
				Status bool   `json:"status"`
				Reason string `json:"reason"`
			} `json:"conditions"`
		} `json:"status"`
	}
	if err := json.Unmarshal(s.data, &info); err != nil {
		s.warn("crictl info is no JSON: " + err.Error())
		return
	}
	for _, c := range info.Status.Conditions {
		s.seekText(`"` + c.Type + `"`)
		s.add(KeyRuntimeCondition, strconv.FormatBool(c.Status), boolean(strconv.FormatBool(c.Status)), attr("name", c.Type), attr("reason", c.Reason))
	}
}

// seekText advances to the next line that contains text, or to the last line if
// there is none.
func (s *scan) seekText(text string) {
	for s.advance() {
		if strings.Contains(s.line, text) {
			return
		}
	}
}

// isContainerTable recognizes container and sandbox tables of crictl and docker.
func isContainerTable(_, head string) bool {
	line := firstLine(head)
	return strings.HasPrefix(line, "CONTAINER ") && strings.Contains(line, "STATE") ||
		strings.HasPrefix(line, "CONTAINER ID ") && strings.Contains(line, "STATUS") || strings.HasPrefix(line, "POD ID ")
}

// containerTable counts the rows of such tables by state.
func (s *scan) containerTable() {
	kind, tool, n, total := "containers.", "crictl", map[string]int{}, 0
	for s.advance() {
		f := fields(s.line)
		if len(f) < 3 {
			continue
		}
		if f[0] == "POD" {
			kind = "sandboxes."
			continue
		}
		if f[0] == "CONTAINER" {
			if strings.Contains(s.line, "STATUS") {
				tool = "docker"
			}
			continue
		}
		if state := stateIn(s.line, tool); state != "" {
			n[state]++
			total++
		}
	}
	if total == 0 {
		return
	}
	s.rewind()
	s.advance()
	for _, state := range []string{"running", "exited", "created", "unknown", "paused", "ready", "notready"} {
		if n[state] > 0 {
			s.add(kind+state, strconv.Itoa(n[state]), float64(n[state]), attr("tool", tool))
		}
	}
	s.add(kind+"total", strconv.Itoa(total), float64(total), attr("tool", tool))
}

// stateIn returns the state in a row: a column of its own, after two blanks.
func stateIn(line, tool string) string {
	words := []struct{ word, state string }{
		{"Running", "running"}, {"Exited", "exited"}, {"Created", "created"}, {"Unknown", "unknown"}, {"NotReady", "notready"}, {"Ready", "ready"},
	}
	if tool == "docker" {
		words = []struct{ word, state string }{{"Up", "running"}, {"Exited", "exited"}, {"Created", "created"}, {"Dead", "unknown"}, {"Removal", "exited"}, {"Restarting", "exited"}}
	}
	for _, w := range words {
		if strings.Contains(line, "  "+w.word+" ") || strings.HasSuffix(line, "  "+w.word) {
			if tool == "docker" && strings.Contains(line, "(Paused)") {
				return "paused"
			}
			return w.state
		}
	}
	return ""
}
