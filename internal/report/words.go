package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/parse"
)

// Date formats Unix nanoseconds as date and time in UTC.
func Date(at int64) string { return layout(model.Time(at), time.DateTime) }

// Layouts of times in tables; without the year, because rows must fit.
const (
	dayAndTime = "01-02 15:04:05.000"
	timeOnly   = "15:04:05.000"
)

func layout(at model.Time, l string) string {
	if at == 0 {
		return "?"
	}
	return at.UTC().Format(l)
}

// Span formats a duration for people.
func Span(d time.Duration) string { return parse.Short(d) }

// span formats a number of seconds as a duration, "?" for nil.
func span(s *float64) string {
	return cmp.Or(known(s, func(s float64) string { return Span(model.Duration(&s)) }), "?")
}

// quantity formats a value with its unit; seconds become a duration.
func quantity(v float64, unit string) string {
	if math.IsNaN(v) {
		return "?"
	}
	if unit == "seconds" && math.Abs(v) < 1e9 {
		return Span(time.Duration(v * 1e9))
	}
	s := strconv.FormatFloat(v, 'g', 4, 64)
	if math.Abs(v) < 1e15 && (math.Abs(v) >= 1e4 || v == math.Trunc(v)) {
		s = strconv.FormatFloat(v, 'f', 0, 64)
	}
	if v == 1 {
		unit = strings.TrimSuffix(unit, "s")
	}
	return strings.TrimSuffix(s+" "+unit, " ")
}

// valueOf formats the value of a breach. A duration is a lower bound while the breach lasts; it is
// "" if only one moment is known.
func valueOf(b *model.Breach) string {
	switch {
	case b.Value == nil:
		return "?"
	case b.End == 0 && b.Unit == "seconds" && *b.Value == 0:
		return ""
	case b.Unit == "seconds" && (b.Least || b.End == 0 && b.Slack == 0):
		return atLeast(b.Value)
	case b.Least:
		return "at least " + quantity(*b.Value, b.Unit)
	case b.Slack > 0:
		return parse.About(model.Duration(b.Value), model.Duration(&b.Slack))
	}
	return quantity(*b.Value, b.Unit)
}

// oldest formats the highest proven age of the last relist in an episode.
func oldest(e *model.Episode) string {
	switch {
	case e.NeverRelisted:
		return "none yet"
	case e.OldestAge == nil:
		return "unknown"
	}
	return atLeast(e.OldestAge)
}

// elsewhere names the episode with the highest age of the last relist; "" if that is the worst
// episode.
func elsewhere(n *model.Node) string {
	x := slices.MaxFunc(n.Episodes, func(a, b model.Episode) int {
		return cmp.Compare(model.Duration(a.OldestAge), model.Duration(b.OldestAge))
	})
	if model.Duration(x.OldestAge) <= model.Duration(n.Episodes[n.Worst].OldestAge) {
		return ""
	}
	return strings.TrimSuffix(fmt.Sprintf("%s in episode %d from %s", oldest(&x), x.ID, layout(x.Start(), time.TimeOnly)), " from ?")
}

// atLeast formats a lower bound in seconds.
func atLeast(s *float64) string { return "at least " + parse.Least(model.Duration(s)) }

// limitOf formats the threshold of a breach; "" if it is 0, so that any occurrence is a breach.
func limitOf(b *model.Breach) string {
	if b.Threshold == nil || *b.Threshold == 0 {
		return ""
	}
	return quantity(*b.Threshold, b.Unit)
}

// measured formats the value and the threshold of a breach.
func measured(b *model.Breach) string {
	var c clauses
	c.add(valueOf(b) != "", "%s", valueOf(b))
	c.add(limitOf(b) != "", "threshold %s", limitOf(b))
	return c.String()
}

// Bytes formats a size with a binary unit.
func Bytes(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	f, units := float64(n)/1024, "KMGTPE"
	for f >= 1024 && len(units) > 1 {
		f, units = f/1024, units[1:]
	}
	return fmt.Sprintf("%.1f %ciB", f, units[0])
}

// collectNext heads what is asked for. The input may hold some of it in a form that no rule knows.
const collectNext = "Collect next, as it was not recognized in the input"

// clauses are the parts of a sentence, joined by commas.
type clauses []string

// add appends a clause if holds is true.
func (c *clauses) add(holds bool, format string, args ...any) {
	if holds {
		*c = append(*c, fmt.Sprintf(format, args...))
	}
}

func (c clauses) String() string { return strings.Join(c, ", ") }

// stuckIn names the relist phase in which PLEG was stuck.
func stuckIn(step string) string {
	if step == "" || step == "unknown" {
		return "stuck in an unknown phase"
	}
	return "stuck in " + step
}

// episodesWords names episodes by ID.
func episodesWords(ids []int) string {
	words := strings.Fields(strings.Trim(fmt.Sprint(ids), "[]"))
	if len(words) == 1 {
		return "episode " + words[0]
	}
	return "episodes " + strings.Join(words, ", ")
}

// sentenceCase capitalizes the first letter of s.
func sentenceCase(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}
