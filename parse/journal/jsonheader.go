package journal

import (
	"bytes"
	"math"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// readJSONHeader reads the header of a message that is a JSON object: klog's (ts in
// milliseconds, caller, msg, v), or that of zap and logrus (level, time or ts). The
// text is the whole object. Only the first eight members are examined.
func readJSONHeader(b []byte, h *Header) bool {
	o, ok := openObject(b)
	if !ok {
		return false
	}
	var j jsonHeader
	for range 8 {
		key, value, ok := o.next()
		if !ok {
			break
		}
		j.member(key, value)
	}
	return j.header(b, h)
}

type jsonHeader struct {
	clock        parse.Clock
	caller       []byte
	level        []byte
	msg, v, errs bool
}

func (j *jsonHeader) member(key, value []byte) {
	switch string(key) {
	case "ts", "time", "timestamp", "@timestamp":
		if value[0] == '"' {
			j.clock, _ = ReadISO(unquoted(value))
		} else {
			j.clock = epoch(value)
		}
	case "caller":
		j.caller = unquoted(value)
	case "level":
		j.level = unquoted(value)
	case "msg", "message":
		j.msg = true
	case "v":
		j.v = true
	case "err":
		j.errs = true
	}
}

// header determines the header from the members. Since Kubernetes 1.23 a klog line
// without "v" is an error, so the whole object is searched for it. The form of 1.21
// and 1.22 without a caller prints "v":0 on errors too; there, an err key indicates
// an error.
func (j *jsonHeader) header(b []byte, h *Header) bool {
	if !j.msg || !j.clock.Set && len(j.level) == 0 {
		return false
	}
	*h = Header{Kind: JSONLog, Clock: j.clock, Caller: lastElem(j.caller), Severity: severity(j.level)}
	if len(j.level) > 0 {
		return true
	}
	h.Kind, h.Severity = KlogJSON, 'I'
	if !j.v && !bytes.Contains(b, []byte(`"v":`)) || j.errs && len(j.caller) == 0 {
		h.Severity = 'E'
	}
	return true
}

// lastElem strips the directory of "kubelet/kubelet.go:123".
func lastElem(path []byte) []byte { return path[bytes.LastIndexByte(path, '/')+1:] }

// epoch reads a decimal number of seconds, milliseconds, µs or ns since the epoch;
// the magnitude determines the unit. klog writes milliseconds as a float.
func epoch(raw []byte) (c parse.Clock) {
	whole, frac, digits := decimal(raw)
	unit := int64(0)
	switch {
	case whole <= 0:
		return c
	case whole < 1e11:
		unit = 1e9
	case whole < 1e14:
		unit = 1e6
	case whole < 1e17:
		unit = 1e3
	default:
		unit = 1
	}
	if whole > math.MaxInt64/unit {
		return c
	}
	res := time.Duration(unit)
	for range min(digits, 9) {
		res = max(res/10, 1)
	}
	return parse.Clock{NS: whole*unit + int64(frac*float64(unit)+0.5), Res: res, Set: true}
}

// decimal reads digits and an optional fraction, followed by the end of raw or a
// blank. digits is the number of fractional digits. For anything else, whole is
// negative.
func decimal(raw []byte) (whole int64, frac float64, digits int) {
	i := 0
	for ; i < len(raw) && raw[i]-'0' <= 9; i++ {
		if whole > math.MaxInt64/10-1 {
			return -1, 0, 0
		}
		whole = whole*10 + int64(raw[i]-'0')
	}
	if i == 0 {
		return -1, 0, 0
	}
	if i < len(raw) && raw[i] == '.' {
		scale := 0.1
		for i++; i < len(raw) && raw[i]-'0' <= 9; i++ {
			frac += float64(raw[i]-'0') * scale
			scale /= 10
			digits++
		}
	}
	if i < len(raw) && raw[i] != ' ' {
		return -1, 0, 0
	}
	return whole, frac, digits
}
