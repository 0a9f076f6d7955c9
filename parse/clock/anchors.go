package clock

import (
	"sort"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// Fact keys about time; package facts documents them.
const (
	keyCollected = "time.collected" // Raw: time of collection
	keyZone      = "time.zone"      // Num: seconds east of UTC, Value: name
)

// anchors holds what the whole bundle says about time, by input and node.
type anchors struct {
	zones   []zoneAnchor
	moments []momentAnchor
	newest  map[int]momentAnchor // newest complete timestamp of an input
	stated  []aged               // ages on lines that state their zone
	dated   []datedFile
	east    map[int]statedZone // zone other than UTC that lines of an input state

	collectors map[int]map[string]string // collector version by input and node
	boots      map[int]map[string]string // ID of the boot running at collection, by input and node
}

// zoneAnchor is a zone stated by a file of the bundle.
type zoneAnchor struct {
	input int
	node  string
	zone
}

// momentAnchor is an upper bound for the lines of a node's files, within
// slackAhead.
type momentAnchor struct {
	input int
	node  string
	at    int64
	why   string
}

// gather reads the anchors from facts, objects and lines with complete timestamps.
func gather(b *parse.Bundle, files []*file) *anchors {
	a := &anchors{newest: map[int]momentAnchor{}, east: map[int]statedZone{}}
	a.noteBoots(b)
	for _, f := range b.Facts {
		if f.Key == keyZone && f.File != nil {
			a.zones = append(a.zones, zoneAnchor{f.File.Input, f.File.Node,
				named(f.Value, int(f.Num), "stated in "+f.Pos.String())})
		}
	}
	for _, f := range b.Facts {
		if f.Key == keyCollected && f.File != nil && f.Raw.Set && f.Raw.Lack&(parse.LackYear|parse.LackDate) == 0 {
			at := f.Raw.NS
			if f.Raw.Lack&parse.LackZone != 0 {
				if z, ok := a.zoneOf(f.File); ok {
					at -= int64(z.at(at)) * 1e9
				}
			}
			a.moments = append(a.moments, momentAnchor{f.File.Input, f.File.Node, at, "collection time in " + f.Pos.String()})
		}
	}
	for _, o := range b.Objects {
		if o.Basis == parse.Stated && o.File != nil && o.At > a.newest[o.File.Input].at {
			a.newest[o.File.Input] = momentAnchor{o.File.Input, o.File.Node, o.At, "full stamp in " + o.Pos.String()}
		}
	}
	for _, f := range files {
		a.stated = append(a.stated, f.stated...)
		a.noteYears(f)
		a.noteZone(f)
		if f.latest > a.newest[f.Input].at {
			a.newest[f.Input] = momentAnchor{f.Input, f.Node, f.latest, "full stamp in " + f.item(f.latestAt).pos().String()}
		}
	}
	a.joinYears()
	return a
}

// zoneOf returns the zone that the bundle states for the node of f. A zone of the
// same node and one with a location take precedence.
func (a *anchors) zoneOf(f *parse.File) (zone, bool) {
	best := -1
	for i, z := range a.zones {
		if z.input != f.Input || z.node != f.Node && z.node != "" && f.Node != "" {
			continue
		}
		if best < 0 || z.node == f.Node && a.zones[best].node != f.Node || a.zones[best].loc == nil && z.loc != nil {
			best = i
		}
	}
	if best < 0 {
		return zone{}, false
	}
	return a.zones[best].zone, true
}

// newestOf returns the latest time that a line of f can have: the collection time,
// else the newest complete timestamp of the input.
func (a *anchors) newestOf(f *parse.File) (momentAnchor, bool) {
	if m, ok := a.collectedOf(f); ok {
		return m, ok
	}
	m, ok := a.newest[f.Input]
	return m, ok
}

// collectedOf returns the time of the collection of f.
func (a *anchors) collectedOf(f *parse.File) (momentAnchor, bool) {
	var got []momentAnchor
	for _, m := range a.moments {
		if m.input == f.Input && (m.node == f.Node || m.node == "" || f.Node == "") {
			got = append(got, m)
		}
	}
	if len(got) == 0 {
		return momentAnchor{}, false
	}
	sort.SliceStable(got, func(i, j int) bool { return got[i].at > got[j].at })
	return got[0], true
}

// stampFacts dates facts by their own clock, else by the collection time, else by
// the file's modification time.
func stampFacts(b *parse.Bundle, a *anchors) {
	for _, f := range b.Facts {
		if f.Basis != parse.NoTime || f.File == nil {
			continue
		}
		if f.Raw.Set && f.Raw.Lack&(parse.LackYear|parse.LackDate) == 0 {
			f.Stamp = parse.Stamp{At: f.Raw.NS, Res: parse.ResolutionOf(f.Raw.Res), Basis: parse.Stated}
			if f.Raw.Lack&parse.LackZone != 0 {
				f.Basis = parse.ZoneGuessed
				if z, ok := a.zoneOf(f.File); ok {
					f.At -= int64(z.at(f.At)) * 1e9
					f.Basis = parse.ZoneInferred
				}
			}
			continue
		}
		m, ok := a.newestOf(f.File)
		switch {
		case f.Raw.Set && f.Raw.Lack&parse.LackDate == 0:
			f.Stamp = datedFact(f, a, m, ok)
		case ok:
			f.Stamp = parse.Stamp{At: m.at, Res: parse.ResolutionOf(time.Minute), Basis: parse.YearInferred}
		case f.File.ModTime != 0:
			f.Stamp = parse.Stamp{At: f.File.ModTime, Res: parse.ResolutionOf(time.Minute), Basis: parse.FileTime}
		}
	}
}

// datedFact returns the timestamp of a fact that states month and day but no year.
func datedFact(f *parse.Fact, a *anchors, m momentAnchor, ok bool) parse.Stamp {
	bound, basis := f.File.ModTime, parse.YearGuessed
	if ok {
		bound, basis = m.at, parse.YearInferred
	}
	if bound == 0 {
		return parse.Stamp{}
	}
	at := f.Raw.NS
	if z, ok := a.zoneOf(f.File); ok && f.Raw.Lack&parse.LackZone != 0 {
		at -= int64(z.at(bound)) * 1e9
	}
	return parse.Stamp{At: new(calendar).inYear(at, latestYear(at, bound)), Res: parse.ResolutionOf(f.Raw.Res), Basis: basis}
}
