package facts

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/plegforensics/plegforensics/internal/nodes"
)

// tree is a value of a JSON or YAML document with its line.
type tree struct {
	line  int // 1-based, within the document
	value string
	names []string
	kids  []*tree
	list  bool
}

// get returns the value at a path of names, an empty tree if there is none.
func (t *tree) get(names ...string) *tree {
	for _, name := range names {
		if t = t.child(name); t == nil {
			return &tree{}
		}
	}
	return t
}

func (t *tree) child(name string) *tree {
	if t == nil || t.list {
		return nil
	}
	for i, n := range t.names {
		if n == name {
			return t.kids[i]
		}
	}
	return nil
}

// items returns the elements of a list, nil if t is not a list.
func (t *tree) items() []*tree {
	if t == nil || !t.list {
		return nil
	}
	return t.kids
}

// Limits per document.
const (
	maxTreeNodes = 500000
	maxTreeDepth = 100
)

var errTooLarge = errors.New("too many values or too deep")

// yamlTree parses one YAML document.
func yamlTree(data []byte) (*tree, error) {
	var doc yaml.Node
	if err := nodes.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return &tree{}, nil
	}
	left := maxTreeNodes
	return fromYAML(doc.Content[0], &left, 0)
}

func fromYAML(n *yaml.Node, left *int, depth int) (*tree, error) {
	if *left--; *left < 0 || depth > maxTreeDepth {
		return nil, errTooLarge
	}
	t := &tree{line: n.Line, value: n.Value, list: n.Kind == yaml.SequenceNode}
	if n.Kind == yaml.AliasNode {
		return t, nil // aliases are not expanded: YAML bombs
	}
	step := 1
	if n.Kind == yaml.MappingNode {
		step = 2
	}
	for i := step - 1; i < len(n.Content); i += step {
		kid, err := fromYAML(n.Content[i], left, depth+1)
		if err != nil {
			return nil, err
		}
		if step == 2 {
			t.names = append(t.names, n.Content[i-1].Value)
		}
		t.kids = append(t.kids, kid)
	}
	return t, nil
}

// jsonReader builds trees from JSON and counts lines.
type jsonReader struct {
	d    *json.Decoder
	data []byte
	at   int // offset up to which lines are counted
	row  int
	left int
}

// jsonTree parses one JSON value. On an error it also returns the part read before
// it.
func jsonTree(data []byte) (*tree, error) {
	r := &jsonReader{d: json.NewDecoder(bytes.NewReader(data)), data: data, row: 1, left: maxTreeNodes}
	r.d.UseNumber()
	return r.value(0)
}

// line returns the line of the last token read.
func (r *jsonReader) line() int {
	end := min(int(r.d.InputOffset()), len(r.data))
	r.row += bytes.Count(r.data[r.at:end], []byte("\n"))
	r.at = end
	return r.row
}

func (r *jsonReader) value(depth int) (*tree, error) {
	if r.left--; r.left < 0 || depth > maxTreeDepth {
		return nil, errTooLarge
	}
	tok, err := r.d.Token()
	if err != nil {
		return nil, err
	}
	t := &tree{line: r.line()}
	switch v := tok.(type) {
	case json.Delim:
		t.list = v == '['
		return t, r.inside(t, depth)
	case string:
		t.value = v
	case json.Number:
		t.value = v.String()
	case bool:
		t.value = strconv.FormatBool(v)
	}
	return t, nil
}

// inside reads the elements of t and its closing bracket.
func (r *jsonReader) inside(t *tree, depth int) error {
	for r.d.More() {
		if !t.list {
			name, err := r.d.Token()
			if err != nil {
				return err
			}
			s, _ := name.(string)
			t.names = append(t.names, s)
		}
		kid, err := r.value(depth + 1)
		if err != nil {
			if len(t.names) > len(t.kids) && !t.list {
				t.names = t.names[:len(t.kids)]
			}
			return err
		}
		t.kids = append(t.kids, kid)
	}
	_, err := r.d.Token()
	return err
}
