package replay

import "github.com/plegforensics/plegforensics/parse"

// survey is what a first pass over a node's lines finds. The passes after it
// know what they will need room for, and look at no line that is not theirs.
type survey struct {
	kinds   kindMemo // of all sets that the node's lines matched
	events  int      // pod events
	turns   int      // turns of the sync loop
	marks   int      // lines of the relist goroutine
	calls   int      // failed runtime calls
	kubelet int      // dated lines of the kubelet
	history []int32  // lines that tell of containers
	sources map[parse.Source]bool
	forms   []*parse.Event // the first lines of each set
	wall    span           // of the dated lines
	boot    span           // of the lines of the kernel's buffer
}

// look makes the survey of a node, and gives it its Symbols where the input
// brought none.
func look(n *Node) *survey {
	if n.symbols == nil {
		n.symbols = parse.NewSymbols()
	}
	v := &survey{kinds: newKindMemo(), sources: map[parse.Source]bool{}}
	var last, other *parse.Origin // most lines come from two
	for i, e := range n.Events {
		if e.Origin != last {
			if e.Origin != other {
				v.sources[e.Origin.Source] = true
			}
			last, other = e.Origin, last
		}
		v.date(e)
		row := v.kinds.row(e)
		if row.lines++; row.lines <= formsLooked {
			v.forms = append(v.forms, e)
		}
		if k := row.kinds; k != 0 {
			v.count(k)
			if k&kHistory != 0 && e.Basis != parse.NoTime {
				if v.history == nil {
					v.history = make([]int32, 0, (len(n.Events)-i)/3+1)
				}
				v.history = append(v.history, int32(i))
			}
		}
	}
	return v
}

func (v *survey) count(k kinds) {
	if k&kEvent != 0 {
		v.events++
	}
	if k&kTurn != 0 {
		v.turns++
	}
	if k&kGoroutine != 0 {
		v.marks++
	}
	if k&kCall != 0 {
		v.calls++
	}
}

func (v *survey) date(e *parse.Event) {
	if e.Basis != parse.NoTime && e.Origin.Source == parse.SrcKubelet {
		v.kubelet++
	}
	switch {
	case e.Basis <= parse.LowerBound:
	case e.Basis == parse.SinceBoot:
		v.boot.add(e.At)
	default:
		v.wall.add(e.At)
	}
}
