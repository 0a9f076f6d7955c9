package parse

// zoneOffsets maps zone abbreviations that stand for a single offset to seconds east of UTC, as
// the IANA database has them in the years of Kubernetes. Others, such as CST or IST, are used in
// several parts of the world.
var zoneOffsets = map[string]struct {
	seconds  int
	seasonal bool // the clocks with this name have another one in the other half of the year
}{
	"UTC": {0, false}, "GMT": {0, false}, "Z": {0, false},
	"JST": {32400, false}, "KST": {32400, false}, "HKT": {28800, false}, "WIB": {25200, false}, "PKT": {18000, false}, "MSK": {10800, false},
	"EAT": {10800, false}, "CAT": {7200, false}, "SAST": {7200, false}, "WAT": {3600, false}, "HST": {-36000, false},
	"EST": {-18000, true}, "EDT": {-14400, true}, "PST": {-28800, true}, "PDT": {-25200, true}, "MDT": {-21600, true}, "CDT": {-18000, true},
	"CET": {3600, true}, "CEST": {7200, true}, "EET": {7200, true}, "EEST": {10800, true}, "WET": {0, true}, "WEST": {3600, true},
	"AEST": {36000, true}, "AEDT": {39600, true}, "NZST": {43200, true}, "NZDT": {46800, true}, "AKST": {-32400, true}, "AKDT": {-28800, true},
}

// ZoneOffset returns the offset of a zone abbreviation in seconds east of UTC; ok is false if the
// abbreviation is unknown or ambiguous. A seasonal one holds only for a time that it stands beside.
func ZoneOffset(word string) (seconds int, seasonal, ok bool) {
	z, ok := zoneOffsets[word]
	return z.seconds, z.seasonal, ok
}
