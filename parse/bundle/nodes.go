package bundle

import (
	"strconv"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/facts"
)

// nameNodes sets the node of the files of a single-node layout to the name that one
// of them states. Otherwise the facts of nested reports would have no node.
func nameNodes(b *parse.Bundle, units []*unit) {
	tops := map[*parse.File]string{}
	for _, u := range units {
		for _, f := range u.listed {
			if top, l := u.ids.top(f.Path); l != nil && l.oneNode {
				tops[f] = strconv.Itoa(f.Input) + "/" + top
			}
		}
	}
	names := map[string]string{}
	for _, f := range b.Facts {
		if top, ok := tops[f.File]; ok && f.Key == facts.KeyNodeName && names[top] == "" {
			names[top] = f.Value
		}
	}
	for f, top := range tops {
		if f.Node == "" {
			f.Node = names[top]
		}
	}
}
