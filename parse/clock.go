package parse

import "time"

// YearUnknown is the year in which a reading without a year is stored. It is a leap
// year so that February 29 is representable.
const YearUnknown = 1972

// Lack is a bitset of what a clock reading does not state.
type Lack uint8

// Parts that a reading may lack.
const (
	LackYear Lack = 1 << iota // "Mar 13 15:41:18", klog headers: stored in year YearUnknown
	LackZone                  // local time of an unstated zone: stored as if UTC
	LackDate                  // time of day only (sar rows): stored in January 1 of YearUnknown
)

// Clock is a clock reading as it appears in a line, before year and zone are
// inferred. The zero Clock means no reading.
type Clock struct {
	NS   int64         // ns since the Unix epoch, with a missing year taken as YearUnknown and a missing zone as UTC
	Res  time.Duration // granularity of the reading: 1s, 1µs, 1ns, …
	Lack Lack
	Set  bool
	East int8 // zone stated by an ISO timestamp, in quarters of an hour east of UTC; not kept in packed records
}

// Basis states how the absolute time of a record is known, from worst to best.
type Basis uint8

// Bases, in increasing order of trust.
const (
	NoTime       Basis = iota // no time at all
	FileTime                  // the file's modification time
	LowerBound                // the time is at or shortly after At: a snapshot's own gauges, which state earlier times
	YearGuessed               // year from the file time or the default; zone too if none was stated
	YearInferred              // year from another record of the bundle
	SinceBoot                 // time since boot, the boot dated by another record
	ZoneGuessed               // full date, but the zone was assumed UTC
	ZoneInferred              // full date, zone from another record of the bundle
	Stated                    // stated by the line, or by the user with --tz and --year
)

// String returns the human-readable name of the basis.
func (b Basis) String() string {
	return [...]string{"none", "file time", "lower bound", "year guessed", "year inferred", "since boot", "zone assumed", "zone inferred", "stated"}[b]
}

// Stamp is an absolute time and how it is known.
type Stamp struct {
	At    int64      // Unix nanoseconds; meaningful when Basis > NoTime
	Res   Resolution // granularity: the error is at least ±this
	Basis Basis
}

// LastSecond is the last Unix second that is taken for a time: nanoseconds since 1970
// fit into 64 bits until April 2262, and a zone moves a time by less than a day.
const LastSecond = (1<<63-1)/1_000_000_000 - 86400

// ParseTime is time.Parse for times that Unix nanoseconds can hold, from 1678 to 2261. Others are an error.
func ParseTime(layout, value string) (time.Time, error) {
	t, err := time.Parse(layout, value)
	if y := t.UTC().Year(); err == nil && (y < 1678 || y > 2261) {
		return time.Time{}, &time.ParseError{Layout: layout, Value: value, Message: ": out of range"}
	}
	return t, err
}

// Resolution is a compact granularity of clock readings, because every record has
// one: a 30-bit count and its unit. It is exact to the nanosecond up to one second,
// and to the microsecond up to a quarter of an hour.
type Resolution uint32

const unitBits = 2

var units = [1 << unitBits]time.Duration{time.Nanosecond, time.Microsecond, time.Millisecond, time.Second}

// ResolutionOf returns d as a Resolution, rounded up. A negative d counts as zero.
func ResolutionOf(d time.Duration) Resolution {
	d = min(max(d, 0), 1<<60)
	for i, unit := range units {
		if n := (d + unit - 1) / unit; n < 1<<(32-unitBits) {
			return Resolution(n)<<unitBits | Resolution(i)
		}
	}
	return 1<<32 - 1
}

// Duration returns the granularity as a duration.
func (r Resolution) Duration() time.Duration {
	return time.Duration(r>>unitBits) * units[r&(1<<unitBits-1)]
}

// Time returns the stamp in UTC, or the zero time if it is unknown.
func (s Stamp) Time() time.Time {
	if s.Basis == NoTime {
		return time.Time{}
	}
	return time.Unix(0, s.At).UTC()
}
