package replay

import "github.com/plegforensics/plegforensics/parse"

// survey is what the census of a node's lines tells the passes over them: how
// much room they will need, and when the lines were written.
type survey struct {
	*Census
	events  int // pod events
	turns   int // turns of the sync loop
	marks   int // lines of the relist goroutine
	calls   int // failed runtime calls
	history int // lines that tell of containers
	kubelet int // lines of the kubelet
	sources map[parse.Source]bool
	wall    span // of the dated lines
	boot    span // of the lines of the kernel's buffer
}

// look makes the survey of a node, and gives it its Symbols where the input
// brought none.
func look(n *Node) *survey {
	if n.symbols == nil {
		n.symbols = parse.NewSymbols()
	}
	v := &survey{Census: n.Census(), sources: map[parse.Source]bool{}}
	for i := range v.Classes {
		v.count(&v.Classes[i])
	}
	return v
}

func (v *survey) count(x *Class) {
	v.sources[x.Origin.Source] = true
	if x.stated != (span{}) {
		v.wall.join(x.stated)
	}
	if x.boot != (span{}) {
		v.boot.join(x.boot)
	}
	if x.Origin.Source == parse.SrcKubelet {
		v.kubelet += x.Lines
	}
	for _, room := range [...]struct {
		kinds kinds
		of    *int
	}{{kEvent, &v.events}, {kTurn, &v.turns}, {kGoroutine, &v.marks}, {kCall, &v.calls}, {kHistory, &v.history}} {
		if x.kinds&room.kinds != 0 {
			*room.of += x.Lines
		}
	}
}
