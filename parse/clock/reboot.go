package clock

import (
	"sort"
	"strconv"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// Fact keys that determine the meaning of reboot separators.
const (
	keyCollectorVersion = "collector.version"
	keyBootID           = "node.boot_id"
)

// separators dates the separators between two boots by the line that follows, where
// the new boot begins. It also sets their boot ID to that of the new boot: in
// journals that the collector read newest first and then reversed, the separator
// comes after the lines of the boot that it names.
func (f *file) separators(a *anchors) {
	var reboots []*parse.Marker
	for _, m := range f.markers {
		if m.Kind == parse.MarkReboot && !m.Raw.Set {
			reboots = append(reboots, m)
		}
	}
	if len(reboots) == 0 {
		return
	}
	sort.SliceStable(reboots, func(i, j int) bool { return f.before(reboots[i].Pos, reboots[j].Pos) })
	if f.namesEnded(reboots, a) {
		for i, m := range reboots {
			if i+1 < len(reboots) {
				m.Boot = reboots[i+1].Boot
			} else {
				m.Boot = a.boots[f.Input][f.Node]
			}
		}
	}
	for _, m := range reboots {
		i := sort.Search(f.len(), func(i int) bool { return f.before(m.Pos, f.item(i).pos()) })
		if i < f.len() {
			m.Stamp = f.item(i).stamp()
		}
	}
}

// before reports whether x is before y in time order.
func (f *file) before(x, y parse.Pos) bool {
	if f.reversed {
		x, y = y, x
	}
	return comparePos(x, y) < 0
}

// namesEnded reports whether separators name the boot that ended. A separator
// before the first or after the last line decides; otherwise the version of sos
// does, which since 4.9 reads journals newest first and reverses them.
func (f *file) namesEnded(reboots []*parse.Marker, a *anchors) bool {
	if f.reversed || f.len() == 0 {
		return f.reversed
	}
	switch {
	case comparePos(reboots[0].Pos, f.item(0).pos()) < 0:
		return false
	case comparePos(reboots[len(reboots)-1].Pos, f.item(f.len()-1).pos()) > 0:
		return true
	}
	return f.Layout == "sosreport" && strings.Contains(f.Path, "journalctl_") && a.turnsRound(f.File)
}

// turnsRound reports whether the collector of f is a version of sos that reverses
// journals, 4.9 or later.
func (a *anchors) turnsRound(f *parse.File) bool {
	v := a.collectors[f.Input][f.Node]
	if v == "" {
		v = a.collectors[f.Input][""]
	}
	major, rest, _ := strings.Cut(v, ".")
	minor, _, _ := strings.Cut(rest, ".")
	x, err1 := strconv.Atoi(major)
	y, err2 := strconv.Atoi(minor)
	return err1 == nil && err2 == nil && (x > 4 || x == 4 && y >= 9)
}

// noteBoots records what the bundle states about collectors and boots, the first
// per node.
func (a *anchors) noteBoots(b *parse.Bundle) {
	a.collectors, a.boots = map[int]map[string]string{}, map[int]map[string]string{}
	put := func(m map[int]map[string]string, f *parse.Fact) {
		if m[f.File.Input] == nil {
			m[f.File.Input] = map[string]string{}
		}
		if m[f.File.Input][f.File.Node] == "" {
			m[f.File.Input][f.File.Node] = f.Value
		}
	}
	for _, f := range b.Facts {
		switch {
		case f.File == nil:
		case f.Key == keyCollectorVersion && (f.File.Layout == "sosreport" || f.File.Layout == ""):
			put(a.collectors, f)
		case f.Key == keyBootID:
			put(a.boots, f)
		}
	}
}
