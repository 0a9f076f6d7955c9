package main

import (
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// frame parses --since and --until; 0 if not given. Durations count back from end.
func frame(c *cli.Context, end int64) (since, until int64, err error) {
	loc, err := zone("tz", c.String("tz"))
	if err != nil {
		return 0, 0, err
	}
	if since, err = moment("since", c.String("since"), loc, end); err != nil {
		return 0, 0, err
	}
	until, err = moment("until", c.String("until"), loc, end)
	return since, until, err
}

// clip applies --since and --until by calling cut. Nodes without anything in the window are
// dropped, with a message.
func clip(c *cli.Context, ns []*replay.Node, cut func(n *replay.Node, since, until int64)) ([]*replay.Node, error) {
	if c.String("since") == "" && c.String("until") == "" {
		return ns, nil
	}
	var from, to int64
	for _, n := range ns {
		if w := n.Window; w.Start != 0 && (from == 0 || w.Start < from) {
			from = w.Start
		}
		to = max(to, n.Window.End)
	}
	if from == 0 && to == 0 {
		return nil, &exitError{exitNothing, "no data in the window: nothing in the input was dated", "leave --since and --until out"}
	}
	since, until, err := frame(c, to)
	if err != nil {
		return nil, err
	}
	if since != 0 && until != 0 && since > until {
		return nil, usage(covers(from, to), "--since %s is after --until %s", instantText(since), instantText(until))
	}
	var without []string
	kept := slices.DeleteFunc(slices.Clone(ns), func(n *replay.Node) bool {
		empty := since != 0 && n.Window.End < since || until != 0 && n.Window.Start > until
		if !empty {
			cut(n, since, until)
			empty = !n.Dated()
		}
		if empty {
			without = append(without, n.Name)
		}
		return empty
	})
	if len(kept) == 0 {
		hint := covers(from, to)
		if (since == 0 || since <= to) && (until == 0 || until >= from) {
			hint += ", and nothing of the time between is in the window"
		}
		return nil, &exitError{exitNothing, "no data in the window " + windowText(since, until), hint}
	}
	if len(without) > 0 && !c.Bool("quiet") && !redacting(c) {
		fmt.Fprintf(c.App.ErrWriter, "plegforensics: warning: no data of %s in the window\n", fmt.Sprint(without))
	}
	return kept, nil
}

// covers states the span of the input, so that the user can correct the window.
func covers(from, to int64) string {
	return "the input covers " + instantText(from) + " to " + instantText(to)
}

func windowText(since, until int64) string {
	switch {
	case until == 0:
		return "from " + instantText(since) + " on"
	case since == 0:
		return "until " + instantText(until)
	}
	return instantText(since) + " to " + instantText(until)
}

func instantText(ns int64) string { return time.Unix(0, ns).UTC().Format("2006-01-02 15:04:05 UTC") }

// recordedWindow returns a filter for --since and --until on recorded relists, nil if neither flag
// is given. They are replayed while they are read, so their end is not known and no duration can
// count back from it.
func recordedWindow(c *cli.Context) (func(int64) bool, error) {
	for _, flag := range []string{"since", "until"} {
		if _, relative := ago(c.String(flag)); relative {
			return nil, usage("give the time itself: RFC 3339, or \"2006-01-02 15:04\"", "--%s: recorded relists are replayed as they are read, and their end is not known", flag)
		}
	}
	since, until, err := frame(c, 0)
	if err != nil || since == 0 && until == 0 {
		return nil, err
	}
	if since != 0 && until != 0 && since > until {
		return nil, usage("", "--since %s is after --until %s", instantText(since), instantText(until))
	}
	return func(at int64) bool { return at >= since && (until == 0 || at <= until) }, nil
}

// wanted reports whether a recorded relist lies in the window. A line with an unreadable time is
// left to the decoder, which warns of it.
func (r *replayRun) wanted(line []byte) bool {
	if r.inWindow == nil {
		return true
	}
	m := recordedTime().FindSubmatch(line[:min(len(line), 4096)])
	if m == nil {
		return true
	}
	at, err := parse.ParseTime(time.RFC3339Nano, string(m[1]))
	if err != nil || r.inWindow(at.UnixNano()) {
		return true
	}
	r.left++
	return false
}

var recordedTime = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"time"\s*:\s*"([^"]+)"`) })
