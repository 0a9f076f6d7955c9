package cuts

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"
)

// cut removes lines, files and snapshots, in one or two of the ways in which people and tools do.
func (s *source) cut(r *rand.Rand) (map[string]string, string) {
	out, how := maps.Clone(s.files), []string{}
	shots := slices.DeleteFunc(slices.Sorted(maps.Keys(out)), isNoShot)
	switch r.IntN(7) {
	case 0, 1, 2:
		maps.DeleteFunc(out, func(name, _ string) bool { return !isNoShot(name) })
	case 3:
		maps.DeleteFunc(out, func(name, _ string) bool { return isNoShot(name) })
		how = append(how, "no log")
		fallthrough
	case 4, 5:
		if len(shots) == 0 {
			break
		}
		k, n, every := r.IntN(len(shots)), 1+r.IntN(1+r.IntN(len(shots))), 1+r.IntN(4)
		if r.IntN(3) == 0 {
			n = 1
		}
		for i, name := range shots {
			if i < k || i >= k+n || (i-k)%every != 0 {
				delete(out, name)
			}
		}
		how = append(how, fmt.Sprintf("snapshots %d to %d of %d, every %d", k, k+n, len(shots), every))
	}
	for range 1 + r.IntN(2) {
		what, cut := lineCut(r)
		how = append(how, what)
		for _, name := range slices.Sorted(maps.Keys(out)) {
			if isNoShot(name) {
				if out[name] = strings.Join(cut(strings.SplitAfter(out[name], "\n")), ""); out[name] == "" {
					delete(out, name)
				}
			}
		}
	}
	if log, form := out["kubelet.log"], r.IntN(12); log != "" && form < len(forms) {
		delete(out, "kubelet.log")
		how = append(how, forms[form].name)
		maps.Copy(out, forms[form].of(strings.SplitAfter(log, "\n"), r))
	}
	return out, strings.Join(how, "; ")
}

func isNoShot(name string) bool { return !strings.HasPrefix(name, "metrics/") }

// forms are the forms a log takes on its way, as files.
var forms = []struct {
	name string
	of   func(lines []string, r *rand.Rand) map[string]string
}{
	{"rotated, with a hole or the same lines twice", func(lines []string, r *rand.Rand) map[string]string {
		end := r.IntN(len(lines) + 1)
		next := max(0, min(len(lines), end+r.IntN(1+len(lines)/5)-len(lines)/10))
		return map[string]string{"kubelet.log.1": strings.Join(lines[:end], ""), "kubelet.log": strings.Join(lines[next:], "")}
	}},
	{"as a journal tells it", func(lines []string, _ *rand.Rand) map[string]string {
		return eachLine(lines, func(l string) string {
			t := lineTime(l)
			if t == 0 || !strings.HasPrefix(l[1:], "1") && !strings.HasPrefix(l[1:], "0") {
				return l
			}
			pid := strings.Fields(l)[2]
			return time.Unix(0, t).UTC().Format("Jan 02 15:04:05") + " node-1 kubelet[" + pid + "]: " + l
		})
	}},
	{"wrapped at 80 columns", func(lines []string, _ *rand.Rand) map[string]string {
		return eachLine(lines, func(l string) string {
			out := ""
			for ; len(l) > 81; l = l[80:] {
				out += l[:80] + "\n"
			}
			return out + l
		})
	}},
	{"cut at a column", func(lines []string, r *rand.Rand) map[string]string {
		most := 60 + r.IntN(200)
		return eachLine(lines, func(l string) string {
			if len(l) > most {
				return l[:most] + "\n"
			}
			return l
		})
	}},
	{"newest first", func(lines []string, _ *rand.Rand) map[string]string {
		lines = slices.Clone(lines)
		slices.Reverse(lines)
		return eachLine(lines, func(l string) string { return strings.TrimSuffix(l, "\n") + "\n" })
	}},
}

func eachLine(lines []string, change func(string) string) map[string]string {
	var b strings.Builder
	for _, l := range lines {
		if strings.TrimSpace(l) != "" {
			b.WriteString(change(l))
		}
	}
	return map[string]string{"kubelet.log": b.String()}
}

var cutGreps = []string{"PLEG", "(?i)pleg", "PLEG|rpc error|SyncLoop|NotReady|not ready", "^E", "^[EW]|\"ts\".*\"err\"", "error|failed|Error|Failed",
	"PLEG|NotReady", "kubelet.go|generic.go", "SyncLoop|Skipping|skipping", "Ready", "generic.go", "last seen|Relisting|retrieve pods", "kubelet", "^[^V]*$"}

var cutCaller = regexp.MustCompile(`[a-z_0-9]+\.go:\d+`)

// lineCut chooses a way to omit lines.
func lineCut(r *rand.Rand) (string, func([]string) []string) {
	keep := func(want func(i, n int, line string) bool) func([]string) []string {
		return func(lines []string) (out []string) {
			for i, l := range lines {
				if want(i, len(lines), l) {
					out = append(out, l)
				}
			}
			return out
		}
	}
	between := func(from, to float64) func([]string) []string {
		return keep(func(i, n int, _ string) bool { return float64(i) >= from*float64(n) && float64(i) < to*float64(n) })
	}
	switch r.IntN(15) {
	case 0, 1:
		p := []float64{.002, .01, .05, .1, .3, .5, .8, .95}[r.IntN(8)]
		return fmt.Sprintf("%g of the lines missing", p), keep(func(int, int, string) bool { return r.Float64() >= p })
	case 2, 3, 4:
		type hole struct{ from, to float64 }
		var holes []hole
		for range 1 + r.IntN(4) {
			from := r.Float64()
			holes = append(holes, hole{from, from + .3*r.Float64()*r.Float64()})
		}
		return fmt.Sprintf("holes %.3f", holes), keep(func(i, n int, _ string) bool {
			return !slices.ContainsFunc(holes, func(h hole) bool { return float64(i) >= h.from*float64(n) && float64(i) < h.to*float64(n) })
		})
	case 5:
		to := r.Float64()
		return fmt.Sprintf("head to %.3f", to), between(0, to)
	case 6:
		from := r.Float64()
		return fmt.Sprintf("tail from %.3f", from), between(from, 2)
	case 7:
		from, most := r.Float64(), 20+r.IntN(600)
		return fmt.Sprintf("%d lines from %.3f", most, from), keep(func(i, n int, _ string) bool {
			return float64(i) >= from*float64(n) && float64(i) < from*float64(n)+float64(most)
		})
	case 8, 9:
		g := cutGreps[r.IntN(len(cutGreps))]
		around := []int{0, 0, 0, 1, 5, 20}[r.IntN(6)]
		re := regexp.MustCompile(g)
		return fmt.Sprintf("grep -C%d %s", around, g), func(lines []string) []string {
			want := make([]bool, len(lines))
			for i, l := range lines {
				if re.MatchString(l) {
					for k := max(0, i-around); k <= min(len(lines)-1, i+around); k++ {
						want[k] = true
					}
				}
			}
			var out []string
			for i, l := range lines {
				if want[i] {
					if around > 0 && i > 0 && !want[i-1] && len(out) > 0 {
						out = append(out, "--\n")
					}
					out = append(out, l)
				}
			}
			return out
		}
	case 10, 11: // grep -v of some callers
		p := []float64{.03, .1, .3, .6}[r.IntN(4)]
		salt := r.Uint64()
		return fmt.Sprintf("%g of the callers missing", p), keep(func(_, _ int, l string) bool {
			h := fnv.New64a()
			fmt.Fprint(h, salt, cutCaller.FindString(l))
			return float64(h.Sum64()%1000) >= p*1000
		})
	case 12: // journalctl --since --until, in whole minutes
		from, most := r.Float64(), 1+r.IntN(12)
		return fmt.Sprintf("%d min from %.3f", most, from), func(lines []string) []string {
			first, last := timesOf(lines)
			since := (first + int64(from*float64(last-first))) / int64(time.Minute) * int64(time.Minute)
			return byTime(lines, func(t int64) bool { return t >= since && t < since+int64(most)*int64(time.Minute) })
		}
	default: // a journal that drops lines when there are too many
		var where []float64
		for range 1 + r.IntN(4) {
			where = append(where, r.Float64())
		}
		most := []int{3, 10, 90}[r.IntN(3)]
		return fmt.Sprintf("up to %d s missing at %.3f", most, where), func(lines []string) []string {
			first, last := timesOf(lines)
			for _, w := range where {
				from := first + int64(w*float64(last-first))
				to := from + int64(r.Float64()*float64(most)*1e9)
				lines = byTime(lines, func(t int64) bool { return t < from || t > to })
			}
			return lines
		}
	}
}

// timesOf returns the times of the first and last line that have one.
func timesOf(lines []string) (first, last int64) {
	for _, l := range lines {
		if t := lineTime(l); t != 0 {
			if last = max(last, t); first == 0 {
				first = t
			}
		}
	}
	return first, last
}

// byTime keeps the lines of wanted times; a line without a time belongs to the line before it.
func byTime(lines []string, want func(int64) bool) (out []string) {
	at := int64(0)
	for _, l := range lines {
		if t := lineTime(l); t != 0 {
			at = t
		}
		if want(at) {
			out = append(out, l)
		}
	}
	return out
}
