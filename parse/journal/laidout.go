package journal

import "bytes"

// LaidHead and LaidTail stand around the message, as a string of JSON, in the
// records of exports that were laid out as lines. No other byte string before
// the message's end is LaidTail: JSON escapes the quotes of a message.
const (
	LaidHead = `{"MESSAGE":"`
	LaidTail = `","timestamp":`
)

// LaidMessage returns where in a record that was laid out its message stands:
// what the export holds of it, and all that is worth quoting. A line that is no
// such record is all message.
func LaidMessage(rec []byte) (from, end int) {
	if bytes.HasPrefix(rec, laidHead) {
		if n := bytes.Index(rec, laidTail); n >= len(laidHead) {
			return len(laidHead), n
		}
	}
	return 0, len(rec)
}

var laidHead, laidTail = []byte(LaidHead), []byte(LaidTail)
