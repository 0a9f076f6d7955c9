// Package listings turns listings of container tools into recorded relists. It does no I/O.
package listings

import (
	"cmp"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/simulate"
)

// Snapshots turns listings of container tools into recorded relists. Files of
// one directory that list sandboxes and containers belong together; several such pairs
// follow one another in the order of their times and paths. A single listing replays as
// the first relist of a kubelet.
func Snapshots(cs []*parse.Container) []*simulate.Snapshot {
	var out []*simulate.Snapshot
	prev := make(map[string]*pleg.Pod)
	for _, group := range listingGroups(cs) {
		s := &simulate.Snapshot{Pos: group[0].Pos, List: -1, Drained: true, Proof: &simulate.Proof{Assumed: true}}
		s.At, s.Undated = listedAt(group, out)
		now := podsOf(group)
		for uid, p := range now {
			if old := prev[uid]; old == nil || !reflect.DeepEqual(old, p) {
				s.Changed = append(s.Changed, p)
			}
		}
		for uid := range prev {
			if now[uid] == nil {
				s.Gone = append(s.Gone, uid)
			}
		}
		slices.Sort(s.Gone)
		slices.SortFunc(s.Changed, func(a, b *pleg.Pod) int { return strings.Compare(a.UID, b.UID) })
		s.Pods = len(now)
		if len(out) > 0 {
			out[len(out)-1].Next = s.At
		}
		out, prev = append(out, s), now
	}
	return out
}

// listedAt returns the time of a listing. It is at least a second after the listing
// before; a listing whose time is unknown gets that value.
func listedAt(group []*parse.Container, out []*simulate.Snapshot) (at int64, undated bool) {
	for _, c := range group {
		if c.Basis > parse.NoTime {
			at = max(at, c.At)
		}
	}
	floor := int64(1e9)
	if len(out) > 0 {
		floor = out[len(out)-1].At + 1e9
	}
	return max(at, floor), at < floor
}

// listingGroups groups containers and sandboxes that were listed together.
func listingGroups(cs []*parse.Container) [][]*parse.Container {
	type key struct {
		dir string
		nth int // number among the directory's files of this kind
	}
	byFile := make(map[*parse.File][]*parse.Container)
	var files []*parse.File
	for _, c := range cs {
		if c.File == nil || c.State == "removed" {
			continue
		}
		if byFile[c.File] == nil {
			files = append(files, c.File)
		}
		byFile[c.File] = append(byFile[c.File], c)
	}
	slices.SortStableFunc(files, func(a, b *parse.File) int {
		return cmp.Or(cmp.Compare(a.ModTime, b.ModTime), cmp.Compare(a.Path, b.Path))
	})
	nth := make(map[string]int)
	groups := make(map[key]int)
	var out [][]*parse.Container
	for _, f := range files {
		list := byFile[f]
		kind := path.Dir(f.Path) + "\x00container"
		if list[0].Sandbox {
			kind = path.Dir(f.Path) + "\x00sandbox"
		}
		if len(list) == 1 { // inspect output: one object per file, all of one listing
			nth[kind] = 0
		}
		k := key{path.Dir(f.Path), nth[kind]}
		nth[kind]++
		i, ok := groups[k]
		if !ok {
			i = len(out)
			groups[k] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], list...)
	}
	return out
}

// podsOf builds the pods of one listing. A container without pod fields takes those of
// its sandbox; one without either becomes a pod of its own.
func podsOf(group []*parse.Container) map[string]*pleg.Pod {
	sandboxes := make(map[string]*parse.Container)
	for _, c := range group {
		if c.Sandbox {
			sandboxes[c.ID] = c
		}
	}
	pods := make(map[string]*pleg.Pod)
	seen := make(map[string]bool)
	for _, c := range group {
		if seen[c.ID] {
			continue
		}
		seen[c.ID] = true
		who := c
		if sb := sandboxes[c.SandboxID]; sb != nil && c.PodUID == "" {
			who = sb
		}
		uid := cmp.Or(who.PodUID, host.PodName(who.Namespace, who.PodName), c.SandboxID, c.ID)
		p := pods[uid]
		if p == nil {
			p = &pleg.Pod{UID: uid, Name: who.PodName, Namespace: who.Namespace}
			pods[uid] = p
		}
		st, _ := pleg.RawState(c.State)
		it := pleg.Item{ID: c.ID, Name: c.Name, State: st, ExitCode: c.ExitCode}
		if c.Sandbox {
			p.Sandboxes = append(p.Sandboxes, it)
		} else {
			p.Containers = append(p.Containers, it)
		}
	}
	return pods
}
