package facts

import (
	"strconv"
	"strings"
)

// topMem is the memory that the head of top(1) tells, in the unit it is told in.
type topMem struct{ total, free, buffers, cached, available float64 }

// memLine reports whether f are the fields of "MiB Mem : …", "KiB Mem: …" or
// "Mem: …", or with Swap instead.
func memLine(f []string, name string) bool {
	if len(f) < 4 {
		return false
	}
	if f[0] == "KiB" || f[0] == "MiB" || f[0] == "GiB" {
		f = f[1:]
	}
	return strings.TrimSuffix(f[0], ":") == name
}

// read takes the numbers of such a line, each before its name. The last words of
// the line about swap are about memory again.
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

// share states the share of memory that is available. Where top does not tell it, all
// that is free or holds copies of files counts, which is rather too much.
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
