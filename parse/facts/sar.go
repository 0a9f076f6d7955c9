package facts

import (
	"encoding/xml"
	"io"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// isSar recognizes the header of sysstat: kernel, host in parentheses, date,
// architecture, processors.
func isSar(_, head string) bool {
	line := firstLine(head)
	return strings.HasPrefix(line, "Linux ") && strings.Contains(line, " CPU)") && strings.Contains(line, "_\t(") ||
		strings.HasPrefix(line, "Linux ") && strings.HasSuffix(line, " CPU)")
}

// sarColumns are the columns of sar relevant to the kubelet.
var sarColumns = []struct {
	column, key, op string
	factor          float64
}{
	{"%user", KeyCPUUser, "", 1}, {"%usr", KeyCPUUser, "", 1}, {"%system", KeyCPUSystem, "", 1}, {"%sys", KeyCPUSystem, "", 1},
	{"%iowait", KeyCPUIowait, "", 1}, {"%steal", KeyCPUSteal, "", 1}, {"%idle", KeyCPUIdle, "", 1},
	{"runq-sz", KeyRunQueue, "", 1}, {"plist-sz", KeyThreads, "", 1}, {"ldavg-1", KeyLoad1, "", 1}, {"ldavg-5", KeyLoad5, "", 1},
	{"ldavg-15", KeyLoad15, "", 1}, {"blocked", KeyBlocked, "", 1},
	{"pswpin/s", KeySwapIn, "", 1}, {"pswpout/s", KeySwapOut, "", 1}, {"majflt/s", KeySarMajorFault, "", 1},
	{"kbmemfree", KeyMemFree, "", 1024}, {"kbavail", KeyMemAvailable, "", 1024}, {"kbdirty", KeyMemDirty, "", 1024},
	{"await", KeyDiskAwait, "", 1e-3}, {"%util", KeyDiskUtil, "", 1},
	{"%scpu-10", "psi.cpu.some.avg10", "", 1}, {"%scpu-60", "psi.cpu.some.avg60", "", 1}, {"%scpu-300", "psi.cpu.some.avg300", "", 1},
	{"%sio-10", "psi.io.some.avg10", "", 1}, {"%sio-60", "psi.io.some.avg60", "", 1}, {"%sio-300", "psi.io.some.avg300", "", 1},
	{"%fio-10", "psi.io.full.avg10", "", 1}, {"%fio-60", "psi.io.full.avg60", "", 1}, {"%fio-300", "psi.io.full.avg300", "", 1},
	{"%smem-10", "psi.memory.some.avg10", "", 1}, {"%smem-60", "psi.memory.some.avg60", "", 1}, {"%smem-300", "psi.memory.some.avg300", "", 1},
	{"%fmem-10", "psi.memory.full.avg10", "", 1}, {"%fmem-60", "psi.memory.full.avg60", "", 1}, {"%fmem-300", "psi.memory.full.avg300", "", 1},
}

// sar reads the text output of sar. Rows state only the time of day; the header
// states the date, in a locale-dependent format.
func (s *scan) sar() {
	var date, day time.Time // of the file, and of the row at hand
	known := false
	var cols map[string]int
	var last time.Duration
	for s.advance() {
		f := fields(s.line)
		if len(f) == 0 || f[0] == "Average:" {
			cols = nil
			continue
		}
		if f[0] == "Linux" {
			date, known = sarDate(f)
			day, last = date, 0
			continue
		}
		of, rest, ok := clockTime(f)
		if !ok {
			continue
		}
		if len(rest) > 0 && isSarHeader(rest) { // each table begins on the day of the file
			cols, day, last = index(rest), date, of
			continue
		}
		if of+12*time.Hour < last {
			day = day.AddDate(0, 0, 1)
		}
		last = of
		raw := reading(day.Add(of), parse.LackZone)
		if !known {
			raw = reading(time.Date(parse.YearUnknown, 1, 1, 0, 0, 0, 0, time.UTC).Add(of), parse.LackDate|parse.LackZone|parse.LackYear)
		}
		switch {
		case strings.Contains(s.line, "LINUX RESTART") || strings.Contains(s.line, "LINUX  RESTART"):
			s.text(KeySarRestart, strings.Join(rest, " ")).Raw = raw
			cols = nil
		case cols != nil:
			s.sarRow(cols, rest, raw)
		}
	}
}

func isSarHeader(f []string) bool {
	for _, w := range f {
		if isNumber(w) {
			return false
		}
	}
	return strings.ContainsAny(f[len(f)-1], "%/-") || f[0] == "CPU" || f[0] == "DEV" || f[0] == "kbmemfree" || f[0] == "runq-sz" || f[len(f)-1] == "blocked" || f[0] == "IFACE" || f[0] == "INTR"
}

// sarDate parses the date of the header: 11/20/26, 11/20/2026, 2026-11-20,
// 20.11.2026. In a date with slashes the month comes first unless that is
// impossible.
func sarDate(f []string) (time.Time, bool) {
	for _, w := range f {
		for _, form := range []string{"2006-01-02", "01/02/2006", "01/02/06", "02/01/2006", "02/01/06", "02.01.2006", "02.01.06"} {
			if t, err := time.Parse(form, w); err == nil {
				return t, true
			}
		}
	}
	return time.Time{}, false
}

// clockTime parses the time of day at the start of a row, with AM or PM if present.
func clockTime(f []string) (time.Duration, []string, bool) {
	t, err := time.Parse("15:04:05", f[0])
	if err != nil {
		return 0, nil, false
	}
	rest := f[1:]
	of := time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second
	if len(rest) > 0 && (rest[0] == "AM" || rest[0] == "PM") {
		of %= 12 * time.Hour
		if rest[0] == "PM" {
			of += 12 * time.Hour
		}
		rest = rest[1:]
	}
	return of, rest, true
}

// sarRow adds the columns of one row; rows of single processors are skipped.
func (s *scan) sarRow(cols map[string]int, f []string, raw parse.Clock) {
	if i, ok := cols["CPU"]; ok && (i >= len(f) || f[i] != "all") {
		return
	}
	device := ""
	if i, ok := cols["DEV"]; ok && i < len(f) {
		device = f[i]
	}
	for _, c := range sarColumns {
		i, ok := cols[c.column]
		if !ok || i >= len(f) {
			continue
		}
		if v, ok := number(f[i]); ok {
			s.add(c.key, f[i], v*c.factor, attr("tool", "sar"), attr("device", device)).Raw = raw
		}
	}
}

// sarXML reads the XML output of sadf -x. Its timestamps have a date, and state
// whether they are in UTC.
func (s *scan) sarXML() {
	d := xml.NewDecoder(strings.NewReader(string(s.data)))
	d.Strict = false
	var raw parse.Clock
	depth := 0
	for {
		tok, err := d.Token()
		if err != nil {
			if err != io.EOF {
				s.warn("sar XML ends early: " + err.Error())
			}
			return
		}
		switch t := tok.(type) {
		case xml.StartElement:
			if depth++; depth > 64 {
				s.warn("sar XML is nested more than 64 deep")
				return
			}
			s.seek(int(d.InputOffset()))
			if t.Name.Local == "timestamp" {
				raw = xmlTime(t)
				continue
			}
			s.xmlElement(t, raw)
		case xml.EndElement:
			depth--
		}
	}
}

// seek advances to the line that holds the offset.
func (s *scan) seek(at int) {
	for s.next < at && s.advance() {
	}
}

func xmlTime(t xml.StartElement) parse.Clock {
	var date, clock, utc string
	for _, a := range t.Attr {
		switch a.Name.Local {
		case "date":
			date = a.Value
		case "time":
			clock = a.Value
		case "utc":
			utc = a.Value
		}
	}
	at, err := parse.ParseTime("2006-01-02 15:04:05", date+" "+strings.ReplaceAll(clock, "-", ":"))
	if err != nil {
		return parse.Clock{}
	}
	lack := parse.LackZone
	if utc == "1" {
		lack = 0
	}
	return reading(at, lack)
}

// xmlKeys maps "element.attribute" of sadf -x to keys.
var xmlKeys = map[string]struct {
	key    string
	factor float64
}{
	"cpu.user": {KeyCPUUser, 1}, "cpu.usr": {KeyCPUUser, 1}, "cpu.system": {KeyCPUSystem, 1}, "cpu.sys": {KeyCPUSystem, 1},
	"cpu.iowait": {KeyCPUIowait, 1}, "cpu.steal": {KeyCPUSteal, 1}, "cpu.idle": {KeyCPUIdle, 1},
	"queue.runq-sz": {KeyRunQueue, 1}, "queue.plist-sz": {KeyThreads, 1}, "queue.ldavg-1": {KeyLoad1, 1}, "queue.ldavg-5": {KeyLoad5, 1},
	"queue.ldavg-15": {KeyLoad15, 1}, "queue.blocked": {KeyBlocked, 1},
	"swap-pages.pswpin": {KeySwapIn, 1}, "swap-pages.pswpout": {KeySwapOut, 1}, "paging.majflt": {KeySarMajorFault, 1},
	"disk-device.await": {KeyDiskAwait, 1e-3}, "disk-device.util-percent": {KeyDiskUtil, 1},
	"psi-cpu.some_avg10": {"psi.cpu.some.avg10", 1}, "psi-cpu.some_avg60": {"psi.cpu.some.avg60", 1}, "psi-cpu.some_avg300": {"psi.cpu.some.avg300", 1},
	"psi-io.some_avg10": {"psi.io.some.avg10", 1}, "psi-io.some_avg60": {"psi.io.some.avg60", 1}, "psi-io.full_avg60": {"psi.io.full.avg60", 1},
	"psi-mem.some_avg10": {"psi.memory.some.avg10", 1}, "psi-mem.some_avg60": {"psi.memory.some.avg60", 1}, "psi-mem.full_avg60": {"psi.memory.full.avg60", 1},
}

// xmlElement adds the attributes of one element.
func (s *scan) xmlElement(t xml.StartElement, raw parse.Clock) {
	device := ""
	for _, a := range t.Attr {
		switch a.Name.Local {
		case "number":
			if t.Name.Local == "cpu" && a.Value != "all" {
				return
			}
		case "dev":
			device = a.Value
		}
	}
	for _, a := range t.Attr {
		k := xmlKeys[t.Name.Local+"."+a.Name.Local]
		if v, ok := number(a.Value); ok && k.key != "" {
			s.add(k.key, a.Value, v*k.factor, attr("tool", "sar"), attr("device", device)).Raw = raw
		}
	}
}
