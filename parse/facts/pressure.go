package facts

import (
	"path"
	"strconv"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// uptime reads "10:15:00 up 2 days,  1:20,  3 users,  load average: 1.2, 3.4, 5.6".
func (s *scan) uptime() {
	for s.advance() {
		if strings.Contains(s.line, "load average:") {
			s.loadLine()
			return
		}
	}
}

// loadLine parses the line that uptime, w and top share.
func (s *scan) loadLine() {
	before, after, _ := strings.Cut(s.line, "load average:")
	keys := []string{KeyLoad1, KeyLoad5, KeyLoad15}
	for i, v := range strings.Split(strings.TrimSpace(after), ", ") {
		if i < len(keys) {
			s.number(keys[i], strings.TrimSpace(v), 1)
		}
	}
	if up, ok := uptimeOf(before); ok {
		s.add(KeyUptime, strings.TrimSpace(before), up)
	}
}

// uptimeOf parses "… up 3 days,  1:20," or "… up 55 min," into seconds.
func uptimeOf(s string) (float64, bool) {
	_, s, ok := strings.Cut(s, " up ")
	if !ok {
		return 0, false
	}
	total, found := 0.0, false
	for _, part := range strings.Split(s, ",") {
		f := fields(part)
		switch {
		case len(f) == 1 && strings.Count(f[0], ":") == 1:
			h, m, _ := strings.Cut(f[0], ":")
			hn, err1 := strconv.Atoi(h)
			mn, err2 := strconv.Atoi(m)
			if err1 == nil && err2 == nil {
				total, found = total+float64(hn)*3600+float64(mn)*60, true
			}
		case len(f) == 2 && strings.HasPrefix(f[1], "day"):
			total, found = total+num(f[0])*86400, true
		case len(f) == 2 && strings.HasPrefix(f[1], "min"):
			total, found = total+num(f[0])*60, true
		case len(f) == 2 && strings.HasPrefix(f[1], "sec"):
			total, found = total+num(f[0]), true
		}
	}
	return total, found
}

// num is number with 0 for an invalid value.
func num(s string) float64 {
	v, _ := number(s)
	return v
}

// loadavg reads /proc/loadavg: "6.88 7.51 10.48 3/512 12345".
func (s *scan) loadavg() {
	if !s.advance() {
		return
	}
	f := fields(s.line)
	for i, key := range []string{KeyLoad1, KeyLoad5, KeyLoad15} {
		if i < len(f) {
			s.number(key, f[i], 1)
		}
	}
	if len(f) < 4 {
		return
	}
	if running, all, ok := strings.Cut(f[3], "/"); ok {
		s.number(KeyRunQueue, running, 1, attr("tool", "loadavg"))
		s.number(KeyThreads, all, 1)
	}
}

// psi reads /proc/pressure/RESOURCE; the resource is part of the file name.
func (s *scan) psi() {
	resource := ""
	for _, r := range []string{"cpu", "memory", "irq", "io"} {
		if strings.Contains(s.name, r) {
			resource = r
			break
		}
	}
	if resource == "" {
		return
	}
	// The pressure of a single cgroup says nothing about the node.
	if dir := path.Base(path.Dir(s.file.Path)); strings.HasPrefix(s.name, resource+".pressure") && dir != "cgroup" && dir != "unified" {
		return
	}
	for s.advance() {
		f := fields(s.line)
		if len(f) < 2 || f[0] != "some" && f[0] != "full" {
			continue
		}
		for _, kv := range f[1:] {
			if name, v, ok := strings.Cut(kv, "="); ok && (name == "total" || strings.HasPrefix(name, "avg")) {
				s.number("psi."+resource+"."+f[0]+"."+name, v, 1)
			}
		}
	}
}

// memKeys maps the field names of /proc/meminfo to keys.
var memKeys = map[string]string{
	"MemTotal": KeyMemTotal, "MemFree": KeyMemFree, "MemAvailable": KeyMemAvailable, "Dirty": KeyMemDirty,
	"Writeback": KeyMemWriteback, "SUnreclaim": KeyMemUnevict, "SwapTotal": KeySwapTotal, "SwapFree": KeySwapFree,
}

// meminfo reads /proc/meminfo.
func (s *scan) meminfo() {
	total := 0.0
	for s.advance() {
		name, v, ok := strings.Cut(s.line, ":")
		key := memKeys[strings.TrimSpace(name)]
		if !ok || key == "" {
			continue
		}
		n, ok := sized(v, 1)
		if !ok {
			continue
		}
		s.add(key, strings.TrimSpace(v), n)
		s.share(key, n, &total)
	}
}

// share adds the available share of memory. total is set by KeyMemTotal, which must
// come first.
func (s *scan) share(key string, n float64, total *float64) {
	switch {
	case key == KeyMemTotal:
		*total = n
	case key == KeyMemAvailable && *total > 0:
		pct := 100 * n / *total
		s.add(KeyMemAvailPct, strconv.FormatFloat(pct, 'f', 1, 64), pct)
	}
}

func isFree(_, head string) bool {
	f := fields(firstLine(head))
	return len(f) >= 3 && f[0] == "total" && f[1] == "used" && f[2] == "free"
}

// free reads free(1) in any unit; old versions have no column "available".
func (s *scan) free() {
	unit := 1024.0
	for suffix, u := range map[string]float64{"-m": 1 << 20, "-b": 1, "-g": 1 << 30, "-k": 1024} {
		if strings.HasSuffix(s.name, suffix) {
			unit = u
		}
	}
	var cols []string
	for s.advance() {
		f := fields(s.line)
		switch {
		case len(f) > 2 && f[0] == "total":
			cols = f
		case len(f) > 3 && f[0] == "Mem:":
			s.freeRow(cols, f[1:], unit, map[string]string{"total": KeyMemTotal, "free": KeyMemFree, "available": KeyMemAvailable})
		case len(f) > 3 && f[0] == "Swap:":
			s.freeRow(cols, f[1:], unit, map[string]string{"total": KeySwapTotal, "free": KeySwapFree})
		}
	}
}

func (s *scan) freeRow(cols, values []string, unit float64, keys map[string]string) {
	total := 0.0
	for i, col := range cols {
		key := keys[col]
		if key == "" || i >= len(values) {
			continue
		}
		if n, ok := sized(values[i], unit); ok {
			s.add(key, values[i], n)
			s.share(key, n, &total)
		}
	}
}

// procStat reads /proc/stat: CPU time shares since boot, boot time, task counts.
func (s *scan) procStat() {
	cpus := 0
	for s.advance() {
		f := fields(s.line)
		if len(f) < 2 {
			continue
		}
		switch {
		case f[0] == "cpu":
			s.cpuShares(f[1:])
		case strings.HasPrefix(f[0], "cpu"):
			cpus++
		case f[0] == "btime":
			s.number(KeyBootTime, f[1], 1)
		case f[0] == "procs_running":
			s.number(KeyRunQueue, f[1], 1, attr("tool", "stat"))
		case f[0] == "procs_blocked":
			s.number(KeyBlocked, f[1], 1, attr("tool", "stat"))
		case f[0] == "intr" && cpus > 0:
			s.addCPUs(cpus)
		}
	}
}

// addCPUs adds the number of processors, at the current line, which is the one
// after the last processor.
func (s *scan) addCPUs(n int) { s.add(KeyCPUs, strconv.Itoa(n), float64(n)) }

// cpuShares parses the columns user nice system idle iowait irq softirq steal
// guest….
func (s *scan) cpuShares(f []string) {
	var v [8]float64
	total := 0.0
	for i := range v {
		if i < len(f) {
			v[i] = num(f[i])
			total += v[i]
		}
	}
	if total <= 0 {
		return
	}
	for _, c := range []struct {
		key string
		n   float64
	}{
		{KeyCPUUser, v[0] + v[1]}, {KeyCPUSystem, v[2] + v[5] + v[6]}, {KeyCPUIowait, v[4]}, {KeyCPUSteal, v[7]}, {KeyCPUIdle, v[3]},
	} {
		pct := 100 * c.n / total
		s.add(c.key, strconv.FormatFloat(pct, 'f', 2, 64), pct, attr("tool", "stat"), attr("since", "boot"))
	}
}

// procVmstat reads the counters of /proc/vmstat that indicate memory pressure.
func (s *scan) procVmstat() {
	stalls, pos, line := 0.0, parse.Pos{}, ""
	for s.advance() {
		f := fields(s.line)
		if len(f) != 2 {
			continue
		}
		switch {
		case f[0] == "pgmajfault":
			s.number(KeyMajorFaults, f[1], 1)
		case f[0] == "oom_kill":
			s.number(KeyOOMKills, f[1], 1)
		case strings.HasPrefix(f[0], "allocstall"):
			stalls += num(f[1])
			pos, line = s.pos(), s.line
		}
	}
	if pos.IsValid() {
		s.addAt(pos, line, KeyAllocStall, strconv.FormatFloat(stalls, 'f', -1, 64), stalls)
	}
}

// vmstat reads vmstat(8). The first row is the average since boot.
func (s *scan) vmstat() {
	var cols map[string]int
	first := true
	for s.advance() {
		f := fields(s.line)
		if len(f) > 10 && f[0] == "r" && f[1] == "b" {
			cols = index(f)
			continue
		}
		if cols == nil || len(f) < len(cols)-2 || !isNumber(f[0]) {
			continue
		}
		since := ""
		if first {
			since = "boot"
		}
		first = false
		for _, c := range vmstatColumns {
			if i, ok := cols[c.name]; ok && i < len(f) {
				s.number(c.key, f[i], 1, attr("tool", "vmstat"), attr("since", since))
			}
		}
	}
}

var vmstatColumns = []struct{ name, key string }{
	{"r", KeyRunQueue}, {"b", KeyBlocked}, {"si", KeySwapIn}, {"so", KeySwapOut},
	{"us", KeyCPUUser}, {"sy", KeyCPUSystem}, {"id", KeyCPUIdle}, {"wa", KeyCPUIowait}, {"st", KeyCPUSteal},
}

// index maps column names to their positions.
func index(cols []string) map[string]int {
	m := make(map[string]int, len(cols))
	for i, c := range cols {
		if _, ok := m[c]; !ok {
			m[c] = i
		}
	}
	return m
}

func isNumber(s string) bool {
	_, ok := number(s)
	return ok
}

// iostat reads iostat -x.
func (s *scan) iostat() {
	var cols map[string]int
	for s.advance() {
		f := fields(s.line)
		if len(f) == 0 {
			cols = nil
			continue
		}
		if strings.HasPrefix(f[0], "Device") {
			cols = index(f)
			continue
		}
		if cols == nil {
			continue
		}
		for _, c := range iostatColumns {
			if i, ok := cols[c.name]; ok && i < len(f) {
				s.number(c.key, f[i], c.factor, attr("device", f[0]), attr("tool", "iostat"), attr("op", c.op))
			}
		}
	}
}

var iostatColumns = []struct {
	name, key, op string
	factor        float64
}{
	{"%util", KeyDiskUtil, "", 1}, {"await", KeyDiskAwait, "", 1e-3}, {"r_await", KeyDiskAwait, "r", 1e-3}, {"w_await", KeyDiskAwait, "w", 1e-3},
}

// top reads the header of top(1) in batch mode, and its process table.
func (s *scan) top() {
	var mem topMem
	for s.advance() {
		f := fields(s.line)
		switch {
		case strings.HasPrefix(s.line, "top - "):
			s.loadLine()
		case strings.Contains(s.line, "Cpu(s)"):
			s.topCPU()
		case memLine(f, "Mem"):
			mem.read(f, false)
		case memLine(f, "Swap"):
			mem.read(f, true)
			mem.share(s)
		case len(f) > 3 && f[0] == "PID":
			s.table(f, "top")
			return
		}
	}
}

// topCPU parses "%Cpu(s):  2.0 us,  1.0 sy, … 0.3 wa, … 0.0 st", or "2.0%us" of old
// versions.
func (s *scan) topCPU() {
	_, rest, _ := strings.Cut(s.line, ":")
	for _, part := range strings.Split(rest, ",") {
		f := fields(strings.ReplaceAll(part, "%", " "))
		if len(f) != 2 {
			continue
		}
		for _, c := range vmstatColumns[4:] {
			if c.name == f[1] {
				s.number(c.key, f[0], 1, attr("tool", "top"))
			}
		}
	}
}
