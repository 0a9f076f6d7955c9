package facts

import (
	"strconv"
	"strings"
)

// topMem is the memory in the header of top(1), in the unit printed there.
type topMem struct{ total, free, buffers, cached, available float64 }

// memLine reports whether f are the fields of a line "MiB Mem : …", "KiB Mem: …" or
// "Mem: …"; name is Mem or Swap.
func memLine(f []string, name string) bool {
	if len(f) < 4 {
		return false
	}
	if f[0] == "KiB" || f[0] == "MiB" || f[0] == "GiB" {
		f = f[1:]
	}
	return strings.TrimSuffix(f[0], ":") == name
}

// read reads the numbers of such a line, each of which precedes its name. The last
// columns of the swap line (avail, cached) are about memory.
func (m *topMem) read(f []string, swap bool) {
	for i := 1; i < len(f); i++ {
		v, ok := number(strings.TrimSuffix(f[i-1], "k"))
		if !ok {
			continue
		}
		switch name := strings.TrimRight(f[i], ",."); {
		case name == "cached":
			m.cached = v
		case name == "avail":
			m.available = v
		case swap:
		case name == "total":
			m.total = v
		case name == "free":
			m.free = v
		case name == "buffers":
			m.buffers = v
		}
	}
}

// share adds the share of memory available. If top does not print it, free memory
// plus buffers and cache counts, which is an overestimate.
func (m *topMem) share(s *scan) {
	n := m.available
	if n == 0 {
		n = m.free + m.buffers + m.cached
	}
	if m.total > 0 {
		pct := 100 * n / m.total
		s.add(KeyMemAvailPct, strconv.FormatFloat(pct, 'f', 1, 64), pct, attr("tool", "top"))
	}
}
