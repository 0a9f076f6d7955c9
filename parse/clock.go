package parse

import "time"

// YearUnknown is the year in which a reading without a year is stored. It is
// a leap year, so 29 February survives.
const YearUnknown = 1972

// Lack says what a clock reading does not tell.
type Lack uint8

// What a reading may lack.
const (
	LackYear Lack = 1 << iota // "Mar 13 15:41:18", klog headers: stored in year YearUnknown
	LackZone                  // local time of an unstated zone: stored as if UTC
	LackDate                  // time of day only (sar rows): stored in 1 Jan YearUnknown
)

// Clock is one clock reading as it stands in a line, before year and zone are
// inferred. The zero Clock is "no reading".
type Clock struct {
	NS   int64         // ns since the Unix epoch, taking missing year as YearUnknown and missing zone as UTC
	Res  time.Duration // granularity of the reading: 1s, 1µs, 1ns, …
	Lack Lack
	Set  bool
	East int8 // zone that an ISO stamp states, in quarters of an hour east of UTC; packed records leave it out
}

// Basis says how the absolute time of a record is known, from worst to best.
type Basis uint8

// Bases, in growing trust.
const (
	NoTime       Basis = iota // no time at all
	FileTime                  // the file's modification time
	LowerBound                // the moment lies at or shortly after At: a snapshot's own gauges, which state earlier moments
	YearGuessed               // year from the file time or the default; zone too if none was stated
	YearInferred              // year from another record of the bundle
	SinceBoot                 // time since boot, the boot dated by another record
	ZoneGuessed               // full date, but the zone was assumed UTC
	ZoneInferred              // full date, zone from another record of the bundle
	Stated                    // the line states everything, or the user did by --tz and --year
)

func (b Basis) String() string {
	return [...]string{"none", "file time", "lower bound", "year guessed", "year inferred", "since boot", "zone assumed", "zone inferred", "stated"}[b]
}

// Stamp is an absolute time and how it is known.
type Stamp struct {
	At    int64      // Unix nanoseconds; meaningful when Basis > NoTime
	Res   Resolution // granularity, at least ±this
	Basis Basis
}

// Resolution is a granularity of clock readings in few bytes, as every record has
// one: a count of 30 bits, and its unit. It is exact to the nanosecond up to a
// second, to the microsecond up to a quarter of an hour.
type Resolution uint32

const unitBits = 2

var units = [1 << unitBits]time.Duration{time.Nanosecond, time.Microsecond, time.Millisecond, time.Second}

// ResolutionOf returns d, rounded up to what a Resolution can say; below zero is
// zero.
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

// Time returns the stamp as a UTC time, the zero time when unknown.
func (s Stamp) Time() time.Time {
	if s.Basis == NoTime {
		return time.Time{}
	}
	return time.Unix(0, s.At).UTC()
}
