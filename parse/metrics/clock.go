package metrics

import (
	"bytes"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// clues collects evidence of when a snapshot was taken. Times are Unix nanoseconds,
// 0 if unknown.
type clues struct {
	said      reading // date line or header before the snapshot
	maxStamp  int64   // latest sample timestamp
	unstamped bool    // a sample has no timestamp
	exact     int64   // a gauge of the current time, in whole seconds
	exactWhy  string
	lastSeen  int64 // kubelet_pleg_last_seen_seconds: ≤ now
	lastGC    int64 // go_memstats_last_gc_time_seconds: ≤ now, ≥ now − 2 min
	start     int64 // process_start_time_seconds: ≤ now

	relists float64 // relists completed since the start, and their total seconds
	busy    float64
}

// age returns a lower bound of the process age in ns from its relists: they run
// serially, one second apart (pkg/kubelet/pleg, all versions).
func (c *clues) age() int64 {
	if s := c.busy + max(c.relists-1, 0); s > 0 && s < 1e9 {
		return int64(s * 1e9)
	}
	return 0
}

// gcPeriod is the maximum time between two garbage collections of a Go process
// (runtime.forcegcperiod), with some margin.
const gcPeriod = 2*time.Minute + 15*time.Second

// reading is a time stated in text or in a file name.
type reading struct {
	at     int64
	res    time.Duration
	noZone bool
	why    string
}

func (r reading) set() bool { return r.at != 0 }

// lower returns a lower bound of the time of the snapshot, the latest time that its
// own gauges state, and the name of the evidence.
func (c *clues) lower() (int64, string) {
	at, why := c.start, "process_start_time_seconds"
	if age := c.age(); at != 0 && age != 0 {
		at, why = at+age, "process_start_time_seconds and the relists since then"
	}
	if c.lastSeen >= at {
		at, why = c.lastSeen, "kubelet_pleg_last_seen_seconds"
	}
	if c.lastGC > at {
		at, why = c.lastGC, "go_memstats_last_gc_time_seconds"
	}
	if c.unstamped && c.maxStamp > at {
		at, why = c.maxStamp, "latest time stamp of a sample"
	}
	return at, why
}

// upper returns an upper bound of the time of the snapshot, 0 if there is none.
func (c *clues) upper() int64 {
	if c.lastGC == 0 {
		return 0
	}
	return c.lastGC + int64(gcPeriod)
}

// place is where in its file a snapshot stands.
type place struct {
	only bool // no other snapshot of the exporter is in the file
	last bool // no other snapshot follows
}

// resolve dates the snapshot by the first of these that is present: timestamps of
// the samples; a gauge of the current time; a date in the file; a date in the name of
// a file that holds one snapshot; gauges that state a time shortly before, as a lower
// bound, or a later time that fits them: the date in the name of the directory or
// archive, which may have been packed later, or the modification time; one of these
// two.
func (c *clues) resolve(f *parse.File, at place) (parse.Stamp, string) {
	switch {
	case c.maxStamp != 0 && !c.unstamped:
		return stamp(c.maxStamp, time.Millisecond, parse.Stated), "time stamps of the samples"
	case c.exact != 0:
		return stamp(c.exact, time.Second, parse.Stated), c.exactWhy
	}
	said, folder := c.said, reading{}
	if name, dir := nameTimes(f.Path); at.only {
		folder = dir
		if !said.set() {
			said = name
		}
	}
	if said.set() {
		if st, why, ok := c.trust(said); ok {
			return st, why
		}
	}
	written := int64(0)
	if at.last {
		written = f.ModTime
	}
	return c.bounded(folder, written)
}

// trust checks a stated time against the gauges, and infers its zone from them if
// it has none. ok is false if they contradict it.
func (c *clues) trust(r reading) (parse.Stamp, string, bool) {
	low, _ := c.lower()
	const skew = int64(2 * time.Second)
	if !r.noZone {
		return stamp(r.at, r.res, parse.Stated), r.why, low == 0 || r.at+int64(r.res) >= low-skew
	}
	if up := c.upper(); up != 0 {
		for _, quarter := range zoneOrder {
			at := r.at - int64(quarter)*int64(15*time.Minute)
			if at+int64(r.res) >= low-skew && at <= up {
				why := fmt.Sprintf("%s, in UTC%s by the snapshot's own gauges", r.why, offsetName(quarter))
				return stamp(at, r.res, parse.ZoneInferred), why, true
			}
		}
		return parse.Stamp{}, "", false
	}
	return stamp(r.at, r.res, parse.ZoneGuessed), r.why + ", taken as UTC", low == 0 || r.at+int64(r.res) >= low-skew
}

// zoneOrder lists zone offsets in quarters of an hour, UTC first.
var zoneOrder = func() []int {
	out := []int{0}
	for q := 1; q <= 14*4; q++ {
		out = append(out, q, -q)
	}
	return out
}()

func offsetName(quarter int) string {
	sign := '+'
	if quarter < 0 {
		sign, quarter = '-', -quarter
	}
	if quarter == 0 {
		return ""
	}
	return fmt.Sprintf("%c%02d:%02d", sign, quarter/4, quarter%4*15)
}

// bounded dates a snapshot of which no text states the time, by its gauges and by two
// times at which the snapshot existed: the date of its folder and the modification time.
// Neither is known to be the time at which it was taken.
func (c *clues) bounded(folder reading, modTime int64) (parse.Stamp, string) {
	low, why := c.lower()
	up := c.upper()
	if folder.set() {
		st, said, ok := c.trust(folder)
		switch {
		case ok && low == 0:
			return stamp(st.At, folder.res, parse.FileTime), said
		case ok && up != 0 && st.At <= up:
			return stamp(st.At, time.Duration(max(st.At-low, int64(folder.res))), parse.FileTime), said + ", which agrees with " + why
		}
	}
	switch {
	case low == 0 && modTime > 0:
		return stamp(modTime, time.Second, parse.FileTime), "modification time of the file"
	case low == 0:
		return parse.Stamp{}, "nothing dates the snapshot"
	case modTime >= low && up != 0 && modTime <= up:
		return stamp(modTime, time.Duration(modTime-low), parse.FileTime),
			"modification time of the file, which agrees with " + why
	}
	res := time.Second
	if up > low {
		res = time.Duration(up - low)
	}
	return stamp(low, res, parse.LowerBound), "not before " + why
}

func stamp(at int64, res time.Duration, b parse.Basis) parse.Stamp {
	return parse.Stamp{At: at, Res: parse.ResolutionOf(res), Basis: b}
}

// learn extracts clues from a sample.
func (s *snapshot) learn(name, key []byte, v float64) {
	c := &s.clue
	switch string(name) {
	case "kubelet_pleg_last_seen_seconds":
		c.lastSeen = unixNS(v)
	case "go_memstats_last_gc_time_seconds":
		c.lastGC = unixNS(v)
	case "process_start_time_seconds":
		c.start = unixNS(v)
	case "node_time_seconds":
		c.exact, c.exactWhy = unixNS(v), "node_time_seconds, the exporter's clock"
	case "container_last_seen":
		// cadvisor sets it to the current time for containers that still exist.
		if at := unixNS(v); at > c.exact {
			c.exact, c.exactWhy = at, "container_last_seen, the exporter's clock"
		}
	case "kubelet_node_name":
		s.scrape.Node = labelIn(key, "node")
	}
	s.exporters.learn(name)
	if len(key) == len(name) { // without labels: the kubelet's own page, which is about one process
		c.learnRelists(name, v)
	}
}

func (c *clues) learnRelists(name []byte, v float64) {
	switch string(name) {
	case "kubelet_pleg_relist_duration_seconds_count", "kubelet_pleg_relist_latency_microseconds_count":
		c.relists = v
	case "kubelet_pleg_relist_duration_seconds_sum":
		c.busy = v
	case "kubelet_pleg_relist_latency_microseconds_sum":
		c.busy = v / 1e6
	}
}

// unixNS converts a gauge of Unix seconds to nanoseconds, 0 if it is not a time of
// this century.
func unixNS(v float64) int64 {
	if !(v > 1.26e9 && v < 4.1e9) { // 2010 … 2099; false for NaN
		return 0
	}
	sec := int64(v)
	return sec*1e9 + int64((v-float64(sec))*1e9)
}

// labelIn returns a label's value from a series as written. Values with escapes are
// not supported.
func labelIn(key []byte, label string) string {
	i := bytes.Index(key, []byte(label+`="`))
	if i < 0 {
		return ""
	}
	v, _, _ := bytes.Cut(key[i+len(label)+2:], []byte(`"`))
	return string(v)
}

// timeLayouts are the date formats that people and tools use.
var timeLayouts = []struct {
	layout string
	noZone bool
	res    time.Duration
}{
	{time.RFC3339Nano, false, time.Millisecond},
	{"2006-01-02T15:04:05.999999999Z0700", false, time.Millisecond},
	{"2006-01-02T15-04-05.999999999Z0700", false, time.Millisecond},
	{"2006-01-02T15_04_05.999999999Z0700", false, time.Millisecond},
	{"20060102T150405.999999999Z0700", false, time.Millisecond},
	{"20060102150405Z0700", false, time.Second},
	{"2006-01-02 15:04:05.999999999 -0700 MST", false, time.Millisecond},
	{"2006-01-02 15:04:05.999999999 -0700", false, time.Millisecond},
	{"2006-01-02 15:04:05.999999999Z07:00", false, time.Millisecond},
	{"2006-01-02 15:04:05.999999999 UTC", false, time.Millisecond},
	{time.RFC1123, false, time.Second},
	{time.RFC1123Z, false, time.Second},
	{"Mon Jan _2 15:04:05 UTC 2006", false, time.Second},
	{"Mon Jan _2 03:04:05 PM UTC 2006", false, time.Second},
	{"Mon _2 Jan 2006 03:04:05 PM UTC", false, time.Second},
	{"Mon _2 Jan 15:04:05 UTC 2006", false, time.Second},
	{"Mon Jan _2 15:04:05 MST 2006", true, time.Second},
	{"Mon Jan _2 03:04:05 PM MST 2006", true, time.Second},
	{"Mon _2 Jan 2006 03:04:05 PM MST", true, time.Second},
	{"Mon _2 Jan 15:04:05 MST 2006", true, time.Second},
	{"2006-01-02T15:04:05.999999999", true, time.Millisecond},
	{"2006-01-02 15:04:05.999999999", true, time.Millisecond},
	{"2006-01-02T15-04-05", true, time.Second},
	{"2006-01-02_15-04-05", true, time.Second},
	{"2006-01-02-15-04-05", true, time.Second},
	{"2006-01-02-150405", true, time.Second},
	{"2006-01-02_150405", true, time.Second},
	{"2006-01-02_15:04:05", true, time.Second},
	{"2006_01_02_15_04_05", true, time.Second},
	{"20060102T150405", true, time.Second},
	{"20060102-150405", true, time.Second},
	{"20060102_150405", true, time.Second},
	{"20060102150405", true, time.Second},
}

// parseTime parses a whole string as a date or as Unix seconds, milliseconds,
// microseconds or nanoseconds.
func parseTime(s string) (reading, bool) {
	if len(s) < 10 || len(s) > 64 {
		return reading{}, false
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && len(s) != 14 {
		return epoch(n, len(s))
	}
	if s[0] > '9' && (s[0] < 'A' || s[0] > 'Z') {
		return reading{}, false
	}
	for _, l := range timeLayouts {
		if t, err := time.Parse(l.layout, s); err == nil && t.Year() >= 2010 && t.Year() < 2100 {
			return reading{at: t.UnixNano(), res: l.res, noZone: l.noZone}, true
		}
	}
	return reading{}, false
}

func epoch(n int64, digits int) (reading, bool) {
	unit := map[int]int64{10: 1e9, 13: 1e6, 16: 1e3, 19: 1}[digits]
	if unit == 0 || n*unit < 1.26e18 || n*unit > 4.1e18 {
		return reading{}, false
	}
	return reading{at: n * unit, res: time.Duration(max(unit, 1e6))}, true
}

// nameTimes returns the dates in the base name of a path and in the name of its
// directory or archive.
func nameTimes(p string) (name, dir reading) {
	p = strings.ReplaceAll(p, "!", "/") // members of archives
	if r, ok := dateWithin(path.Base(p)); ok {
		name = r
		name.why = "date in the file name"
	}
	if r, ok := dateWithin(path.Base(path.Dir(p))); ok {
		dir = r
		dir.why = "date in the name of the directory or archive"
	}
	return name, dir
}

// dateWithin returns the longest date that begins at the first number of name with
// one.
func dateWithin(name string) (reading, bool) {
	name = name[:min(len(name), 255)]
	for i := 0; i < len(name); i++ {
		if name[i] < '0' || name[i] > '9' || i > 0 && name[i-1] >= '0' && name[i-1] <= '9' {
			continue
		}
		end := i
		for end < len(name) && strings.IndexByte("0123456789-_:.TZ+", name[end]) >= 0 {
			end++
		}
		for j := end; j >= i+10; j-- {
			if r, ok := parseTime(name[i:j]); ok {
				return r, true
			}
		}
	}
	return reading{}, false
}
