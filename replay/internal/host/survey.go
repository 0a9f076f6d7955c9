package host

import (
	"github.com/plegforensics/plegforensics/parse"
)

// Survey summarizes the index of a node's lines for later passes: how much room they
// need, and when the lines were written.
type Survey struct {
	*Index
	Events  int // lines of pod events
	Turns   int // lines of sync-loop iterations
	Ages    int // lines that state the age of the last relist
	Marks   int // lines of the relist goroutine
	Calls   int // failed runtime calls
	history int // lines about containers and sandboxes
	Kubelet int // lines of the kubelet
	Sources map[parse.Source]bool
	Wall    Span // of lines dated by a wall clock
	Boot    Span // of lines dated since boot (the kernel's buffer)
}

// Look builds the survey of a node. It sets n.Interned if that is nil.
func Look(n *Records) *Survey {
	if n.Interned == nil {
		n.Interned = parse.NewStringTable()
	}
	v := &Survey{Index: n.Index(), Sources: map[parse.Source]bool{}}
	for i := range v.Groups {
		x := &v.Groups[i]
		v.Sources[x.Origin.Source] = true
		v.Wall.Join(x.when[byWall])
		v.Boot.Join(x.when[byBoot])
		if x.Origin.Source == parse.SrcKubelet {
			v.Kubelet += x.Lines
		}
		for _, room := range [...]struct {
			kinds Kinds
			of    *int
		}{{KindEvent, &v.Events}, {KindTurn, &v.Turns}, {KindAge, &v.Ages}, {KindGoroutine, &v.Marks}, {KindCall, &v.Calls}, {KindHistory, &v.history}} {
			if x.Kinds&room.kinds != 0 {
				*room.of += x.Lines
			}
		}
	}
	return v
}
