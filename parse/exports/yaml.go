package exports

import (
	"bytes"

	"go.yaml.in/yaml/v3"

	"github.com/plegforensics/plegforensics/internal/nodes"
)

// entries reads YAML: documents separated by "---", or one list.
type entries struct {
	*source
}

func (e *entries) step() {
	n := e.docLen()
	doc := e.win[:n]
	r, ok, err := readEntry(doc)
	if ok {
		e.write(&r)
	}
	if err != nil {
		e.damaged(0, n, whyInvalid)
	}
	e.skip(max(n, 1))
}

var docStart = []byte("---")

// opensEntry reports whether a line begins a document or a list element.
func opensEntry(line []byte) bool {
	return bytes.HasPrefix(line, docStart) || bytes.HasPrefix(line, []byte("- "))
}

// docLen returns the length of the entry at the start of the window.
func (e *entries) docLen() int {
	for n := 0; ; {
		end := bytes.IndexByte(e.win[n:], '\n')
		for end < 0 && len(e.win) < maxRecord && e.more() {
			end = bytes.IndexByte(e.win[n:], '\n')
		}
		if end < 0 {
			return len(e.win)
		}
		n += end + 1
		if e.at(n) == '-' && e.at(n+1) != 0 && e.at(n+2) != 0 && opensEntry(e.win[n:]) || n >= maxRecord {
			return n
		}
	}
}

// readEntry parses one entry. Aliases are not followed; services do not export any.
func readEntry(doc []byte) (r record, ok bool, err error) {
	var node yaml.Node
	if err := nodes.Unmarshal(doc, &node); err != nil || len(node.Content) == 0 {
		return r, false, err
	}
	top := node.Content[0]
	if top.Kind == yaml.SequenceNode && len(top.Content) == 1 {
		top = top.Content[0]
	}
	if top.Kind != yaml.MappingNode {
		return r, false, nil
	}
	p := parts{}
	lines := map[string]int{}
	flatten(p, lines, "", top, 0)
	if r, ok = p.record(); ok {
		r.line, r.broken = lines[r.message], true
	}
	return r, ok, nil
}

// flatten adds the scalars of a mapping to p, and their lines to lines.
func flatten(p parts, lines map[string]int, prefix string, m *yaml.Node, depth int) {
	if depth > maxDepth {
		return
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		if k, v := m.Content[i], m.Content[i+1]; v.Kind == yaml.ScalarNode {
			p.put(prefix+k.Value, v.Value)
			if _, ok := lines[v.Value]; !ok {
				lines[v.Value] = v.Line - 1
				if v.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
					lines[v.Value]++ // the text begins after the block indicator
				}
			}
		}
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		if k, v := m.Content[i], m.Content[i+1]; v.Kind == yaml.MappingNode {
			flatten(p, lines, prefix+k.Value+".", v, depth+1)
		}
	}
}
