package host

import "github.com/plegforensics/plegforensics/parse"

// Survey is what the index of a node's lines tells the passes over them: how
// much room they will need, and when the lines were written.
type Survey struct {
	*Index
	Events  int // pod events
	Turns   int // turns of the sync loop
	Marks   int // lines of the relist goroutine
	Calls   int // failed runtime calls
	history int // lines that tell of containers
	Kubelet int // lines of the kubelet
	Sources map[parse.Source]bool
	Wall    Span // of the dated lines
	Boot    Span // of the lines of the kernel's buffer
}

// Look makes the survey of a node, and gives it its StringTable where the input
// brought none.
func Look(n *Records) *Survey {
	if n.Interned == nil {
		n.Interned = parse.NewStringTable()
	}
	v := &Survey{Index: n.Index(), Sources: map[parse.Source]bool{}}
	for i := range v.Groups {
		x := &v.Groups[i]
		v.Sources[x.Origin.Source] = true
		v.Wall.join(x.when[byWall])
		v.Boot.join(x.when[byBoot])
		if x.Origin.Source == parse.SrcKubelet {
			v.Kubelet += x.Lines
		}
		for _, room := range [...]struct {
			kinds Kinds
			of    *int
		}{{KindEvent, &v.Events}, {KindTurn, &v.Turns}, {KindGoroutine, &v.Marks}, {KindCall, &v.Calls}, {KindHistory, &v.history}} {
			if x.Kinds&room.kinds != 0 {
				*room.of += x.Lines
			}
		}
	}
	return v
}
