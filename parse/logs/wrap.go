package logs

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse/journal"
)

// wrapped are texts of the lines about the health of PLEG that a terminal may have
// broken in two. Only a break within one of them is mended: what else stands on a
// line without a header may be anything.
var wrapped = []string{
	"kipping pod synchronization - PLEG is not healthy",
	"kipping pod synchronization - [",
	"kipping pod synchronization\" err=\"",
	"PLEG is not healthy: pleg was last seen active ",
	"pleg has yet to be successful",
	" ago; threshold is ",
}

// wraps reports whether a bare line goes on with the open record where a terminal
// broke it, and whether the break swallowed a blank. A row of a node's conditions is
// broken where it has not come to its message.
func (o *openRecord) wraps(s *scanner) (ok, blank bool) {
	e := &s.entry
	if e.Form != journal.Bare || e.Header.Kind != journal.NoHeader || e.Partial || e.Marker.Kind != "" || len(e.Msg) == 0 {
		return false, false
	}
	if o.form == journal.Condition {
		if row := o.message(s); !describeRE().Match(row) {
			row = slices.Concat(bytes.TrimRight(row, "\r"), e.Msg)
			blank = !describeRE().Match(row)
			if !blank || describeRE().Match(slices.Insert(row, len(row)-len(e.Msg), ' ')) {
				return true, blank
			}
		}
	}
	return seam(o.message(s), e.Msg)
}

// seamReach is how far from a break is looked.
const seamReach = 80

func seam(before, after []byte) (ok, blank bool) {
	tail, head := string(before[max(0, len(before)-seamReach):]), string(after[:min(len(after), seamReach)])
	if !speaksOfPLEG(tail) && !speaksOfPLEG(head) {
		return false, false
	}
	apart := strings.HasSuffix(tail, " ") || strings.HasPrefix(head, " ")
	bareTail, bareHead := squeeze(strings.TrimRight(tail, "\r")), squeeze(head)
	for _, text := range wrapped {
		for i := 1; i < len(text); i++ {
			left, right := squeeze(text[:i]), squeeze(text[i:])
			if left != "" && right != "" && text[i-1] != ' ' && strings.HasSuffix(bareTail, left) && strings.HasPrefix(bareHead, right) {
				return true, text[i] == ' ' && !apart
			}
		}
	}
	// Within the age or the threshold, or beside them.
	_, age, ok := strings.Cut(tail, "pleg was last seen active")
	rest, _, end := strings.Cut(" "+head, " ago")
	if _, limit, at := strings.Cut(tail, "ago; threshold is"); at {
		rest, _, _ = strings.Cut(head, "]")
		rest = strings.TrimRight(rest, "\"'}. \r")
		_, err := time.ParseDuration(squeeze(limit + rest))
		age, ok, end = limit, !strings.HasSuffix(limit, "s"), err == nil
	}
	age, rest = strings.TrimSpace(age), strings.TrimSpace(rest)
	if !ok || !end || !isAgeText(age+rest) || len(rest) > 32 {
		return false, false
	}
	return true, (age == "" || rest == "") && !apart
}

// speaksOfPLEG is a cheap test for what stands on one side of a break at least.
func speaksOfPLEG(s string) bool {
	return strings.Contains(s, "leg") || strings.Contains(s, "LEG") || strings.Contains(s, "kip") || strings.Contains(s, "synchroni")
}

// squeeze takes the blanks out.
func squeeze(s string) string { return strings.ReplaceAll(s, " ", "") }

// mend joins the rest of a broken line to the open record. Of blanks that indent it
// one is left.
func (o *openRecord) mend(rest []byte, blank bool) {
	if text := bytes.TrimLeft(rest, " \t"); len(text) < len(rest) {
		rest, blank = text, !bytes.HasSuffix(o.body, []byte(" "))
	}
	o.body = slices.Grow(bytes.TrimRight(o.body, "\r"), len(rest)+1)
	if blank {
		o.body = append(o.body, ' ')
	}
	o.body = append(o.body, clip(rest)...)
}
