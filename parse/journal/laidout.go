package journal

import "bytes"

// LaidHead and LaidTail enclose the message, a JSON string, in the records that
// package exports rewrites as lines. LaidTail cannot occur within the message,
// because JSON escapes its quotes.
const (
	LaidHead = `{"MESSAGE":"`
	LaidTail = `","timestamp":`
)

// LaidMessage returns the bounds of the message in a record rewritten by package
// exports: the part that is in the export and worth quoting. Any other line is all
// message.
func LaidMessage(rec []byte) (from, end int) {
	if bytes.HasPrefix(rec, laidHead) {
		if n := bytes.Index(rec, laidTail); n >= len(laidHead) {
			return len(laidHead), n
		}
	}
	return 0, len(rec)
}

var laidHead, laidTail = []byte(LaidHead), []byte(LaidTail)
