package journal

import (
	"math/bits"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// yearless is what syslog and klog timestamps lack.
const yearless = parse.LackYear | parse.LackZone

// unixDay returns the day number of a date in the Gregorian calendar, 0 for
// 1970-01-01. Years are shifted to begin in March, so that the leap day is the last
// day.
func unixDay(year, month, day int) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	y := int64(year)
	days := 365*y + floorDiv(y, 4) - floorDiv(y, 100) + floorDiv(y, 400)
	return days + int64((153*(month-3)+2)/5) + int64(day) - 1 - 719468
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// monthStart[m] is the day number of the first of month m in YearUnknown.
var monthStart = func() (t [13]int64) {
	for m := 1; m <= 12; m++ {
		t[m] = unixDay(parse.YearUnknown, m, 1)
	}
	return t
}()

// validDate reports whether the day exists in some year.
func validDate(month, day int) bool {
	return month >= 1 && month <= 12 && day >= 1 && day <= 31 && (day < 30 || month != 2) && (day < 31 || month != 4 && month != 6 && month != 9 && month != 11)
}

// two reads two decimal digits; it returns -1 if there are none.
func two(b []byte) int {
	if len(b) < 2 || b[0]-'0' > 9 || b[1]-'0' > 9 {
		return -1
	}
	return int(b[0]-'0')*10 + int(b[1]-'0')
}

// timeOfDay reads "hh:mm:ss" and returns the second of the day, or -1 if b does not
// begin with one. Leap seconds are accepted.
func timeOfDay(b []byte) int64 {
	if len(b) < 8 || b[2] != ':' || b[5] != ':' {
		return -1
	}
	h, m, s := two(b), two(b[3:]), two(b[6:])
	if h < 0 || h > 23 || m < 0 || m > 59 || s < 0 || s > 60 {
		return -1
	}
	return int64(h*3600 + m*60 + s)
}

var fractionUnit = [...]int64{1e9, 1e8, 1e7, 1e6, 1e5, 1e4, 1e3, 1e2, 10, 1}

// fraction reads ".123456" (or with a comma) and returns nanoseconds, granularity
// and the number of bytes read. Digits after the ninth are dropped. The writer may
// have trimmed trailing zeros, so the granularity is rounded to ms, µs or ns;
// without a fraction it is 1s.
func fraction(b []byte) (ns int64, res time.Duration, n int) {
	if len(b) < 2 || b[0] != '.' && b[0] != ',' || b[1]-'0' > 9 {
		return 0, time.Second, 0
	}
	digits := 0
	n = 1
	if len(b) > 8 {
		ns, digits = digitsOf(eight(b[1:]))
		n += digits
	}
	if digits == 0 || digits == 8 {
		for ; n < len(b) && b[n]-'0' <= 9; n++ {
			if digits < 9 {
				ns = ns*10 + int64(b[n]-'0')
				digits++
			}
		}
	}
	res = time.Nanosecond
	switch {
	case digits <= 3:
		res = time.Millisecond
	case digits <= 6:
		res = time.Microsecond
	}
	return ns * fractionUnit[digits], res, n
}

// digitsOf reads the leading digits of the eight bytes in v, all at once, and
// counts them.
func digitsOf(v uint64) (n int64, digits int) {
	const each = 0x0101010101010101
	v ^= '0' * each
	others := ((v & (0x7F * each)) + 0x76*each | v) & (0x80 * each)
	digits = bits.TrailingZeros64(others) / 8
	return joinDigits(v << (64 - 8*digits) & (0x0F * each)), digits // moves the last digit to the top
}

// joinDigits returns the number of eight digit values, the first in the lowest
// byte. It joins pairs of digits, then pairs of those.
func joinDigits(v uint64) int64 {
	v = (v*10 + v>>8) & 0x00FF00FF00FF00FF
	v = (v*100 + v>>16) & 0x0000FFFF0000FFFF
	return int64(v&0xFFFF*10000 + v>>32)
}

// zone reads "Z", "+hh:mm", "+hhmm" or "+hh" and returns seconds east of UTC.
func zone(b []byte) (offset, n int) {
	if len(b) == 0 {
		return 0, 0
	}
	if b[0] == 'Z' {
		return 0, 1
	}
	h := two(b[1:])
	if b[0] != '+' && b[0] != '-' || h < 0 || h > 18 {
		return 0, 0
	}
	n = 3
	m := 0
	if len(b) >= 6 && b[3] == ':' && two(b[4:]) >= 0 {
		m, n = two(b[4:]), 6
	} else if v := two(b[3:]); v >= 0 {
		m, n = v, 5
	}
	offset = h*3600 + m*60
	if b[0] == '-' {
		offset = -offset
	}
	return offset, n
}

// isoSeconds reads "2006-01-02T15:04:05", which has 19 bytes, or with a blank, or with
// slashes as Go's standard logger writes it, and returns seconds since the epoch as if
// UTC.
func isoSeconds(b []byte) (sec int64, ok bool) {
	if len(b) < 19 || b[4] != '-' && b[4] != '/' || b[7] != b[4] || b[10] != 'T' && b[10] != ' ' {
		return 0, false
	}
	cc, yy, m, d, t := two(b), two(b[2:]), two(b[5:]), two(b[8:]), timeOfDay(b[11:])
	if cc < 0 || yy < 0 || !validDate(m, d) || t < 0 {
		return 0, false
	}
	sec = unixDay(cc*100+yy, m, d)*86400 + t
	return sec, sec >= 0 // 0001-01-01 means no time
}

// outOfRange is the reading of a date after parse.LastSecond: no time.
var outOfRange = parse.Clock{Lack: parse.LackDate}

// OutOfRange reports whether the timestamp of the framing or of the header is after
// parse.LastSecond, so that neither dates the entry.
func (e *Entry) OutOfRange() bool { return e.Clock == outOfRange || e.Header.Clock == outOfRange }

// isoTail reads what may follow the seconds of an ISO timestamp: fraction and zone.
func isoTail(sec int64, b []byte) (c parse.Clock, n int) {
	ns, res, n := fraction(b)
	if sec > parse.LastSecond {
		_, m := zone(b[n:])
		return outOfRange, n + m
	}
	c = parse.Clock{NS: sec*1e9 + ns, Res: res, Lack: parse.LackZone, Set: true}
	if n < len(b) && b[n] == 'Z' {
		c.Lack = 0
		return c, n + 1
	}
	if off, m := zone(b[n:]); m > 0 {
		c.NS -= int64(off) * 1e9
		c.Lack = 0
		c.East = int8(off / 900)
		n += m
	}
	return c, n
}

// ReadISO reads a timestamp of the RFC 3339 family at the start of b: separator T
// or blank, any fraction, zone optional. It returns the number of bytes read, 0 if
// there is no such timestamp.
func ReadISO(b []byte) (parse.Clock, int) {
	sec, ok := isoSeconds(b)
	if !ok {
		return parse.Clock{}, 0
	}
	c, n := isoTail(sec, b[19:])
	return c, 19 + n
}

// ReadGoTime reads the text of a Go time.Time at the start of b, such as
// "2021-01-09 19:48:52.460628029 +0800 CST m=+1199233.179", up to the zone offset.
func ReadGoTime(b []byte) (parse.Clock, int) {
	c, n := ReadISO(b)
	if n == 0 || c.Lack == 0 || n+1 >= len(b) || b[n] != ' ' {
		return c, n
	}
	off, m := zone(b[n+1:])
	if m < 5 {
		return c, n
	}
	if c.Set {
		c.NS, c.Lack = c.NS-int64(off)*1e9, 0
	}
	return c, n + 1 + m
}

// bsdSeconds reads "Mmm dd hh:mm:ss", with the month in any language known to
// readMonth, and returns the second in YearUnknown. n is the number of bytes read.
func bsdSeconds(b []byte) (sec int64, n int) {
	month, n := readMonth(b)
	if month == 0 || n+3 >= len(b) || b[n] != ' ' {
		return 0, 0
	}
	n++
	day := 0
	switch {
	case b[n] == ' ':
		day, n = digit(b[n+1]), n+2
	case b[n+1] == ' ':
		day, n = digit(b[n]), n+1
	default:
		day, n = two(b[n:]), n+2
	}
	if !validDate(month, day) || n+9 > len(b) || b[n] != ' ' {
		return 0, 0
	}
	t := timeOfDay(b[n+1:])
	if t < 0 {
		return 0, 0
	}
	return (monthStart[month]+int64(day)-1)*86400 + t, n + 9
}

func digit(c byte) int {
	if c-'0' > 9 {
		return -1
	}
	return int(c - '0')
}

// rfc1123 reads a date as kubectl describe prints it:
// "Sat, 28 Sep 2019 15:05:43 +0000", 31 bytes.
func rfc1123(b []byte) (parse.Clock, int) {
	if len(b) < 31 || b[3] != ',' || b[4] != ' ' || b[7] != ' ' {
		return parse.Clock{}, 0
	}
	month, n := readMonth(b[8:])
	day, cc, yy, t := two(b[5:]), two(b[12:]), two(b[14:]), timeOfDay(b[17:])
	off, z := zone(b[26:])
	if month == 0 || n != 3 || !validDate(month, day) || cc < 0 || yy < 0 || t < 0 || z != 5 {
		return parse.Clock{}, 0
	}
	sec := unixDay(cc*100+yy, month, day)*86400 + t - int64(off)
	if sec < 0 || sec > parse.LastSecond {
		return parse.Clock{}, 0
	}
	return parse.Clock{NS: sec * 1e9, Res: time.Second, Set: true}, 31
}
