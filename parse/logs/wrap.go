package logs

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/plegforensics/plegforensics/parse/journal"
)

// wrapped lists texts of lines about PLEG health that a terminal may have wrapped.
// Only a break inside one of them is mended, because any other line without a
// header may be unrelated.
var wrapped = []string{
	"kipping pod synchronization - PLEG is not healthy",
	"kipping pod synchronization - [",
	"kipping pod synchronization\" err=\"",
	"PLEG is not healthy: pleg was last seen active ",
	"pleg has yet to be successful",
	" ago; threshold is ",
}

// breaks returns all places where the wrapped texts may be broken, without spaces.
var breaks = sync.OnceValue(func() (all []textBreak) {
	for _, text := range wrapped {
		for i := 1; i < len(text); i++ {
			b := textBreak{squeeze(text[:i]), squeeze(text[i:]), text[i] == ' '}
			if b.left != "" && b.right != "" && text[i-1] != ' ' {
				all = append(all, b)
			}
		}
	}
	return all
})

// textBreak is a text in two parts.
type textBreak struct {
	left, right string
	blank       bool // the right part begins with a space
}

// wraps reports whether a bare line continues the open record where a terminal
// wrapped it, and whether the wrap swallowed a blank. A row of node conditions may
// be wrapped anywhere before its message.
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

// seamReach is the number of bytes examined on each side of a break.
const seamReach = 80

// seam reports whether a terminal wrapped one text into before and after, and
// whether the wrap swallowed a blank.
func seam(before, after []byte) (ok, blank bool) {
	tail, head := string(before[max(0, len(before)-seamReach):]), string(after[:min(len(after), seamReach)])
	if !speaksOfPLEG(tail) && !speaksOfPLEG(head) {
		return false, false
	}
	apart := strings.HasSuffix(tail, " ") || strings.HasPrefix(head, " ")
	bareTail, bareHead := squeeze(strings.TrimRight(tail, "\r")), squeeze(head)
	for _, b := range breaks() {
		if strings.HasSuffix(bareTail, b.left) && strings.HasPrefix(bareHead, b.right) {
			return true, b.blank && !apart
		}
	}
	// A break inside the age or the threshold, or next to one.
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

// speaksOfPLEG is a cheap test for text that must be on at least one side of a
// break.
func speaksOfPLEG(s string) bool {
	return strings.Contains(s, "leg") || strings.Contains(s, "LEG") || strings.Contains(s, "kip") || strings.Contains(s, "synchroni")
}

// squeeze removes all spaces.
func squeeze(s string) string { return strings.ReplaceAll(s, " ", "") }

// mend appends the rest of a wrapped line to the open record. Of the blanks that
// indent it, one is left.
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
