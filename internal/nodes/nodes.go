// Package nodes reads the YAML files that the program brings. Scanning them is
// most of what a start costs, so they come a second time, as the trees that the
// scanner makes of them. The files stay what counts: a tree that is not of
// exactly these files is not used, and a test fails where it lies beside them.
//
// It keeps kind, value, content and line of a node; styles, tags and comments are
// lost, anchors are refused.
package nodes

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"strings"

	"go.yaml.in/yaml/v3"
)

// File is the documents of a YAML file.
type File struct {
	Name string
	Docs []*yaml.Node
	Err  error // of the document behind them, if it cannot be read
}

// Parse scans a file.
func Parse(name string, data []byte) File {
	f := File{Name: name}
	for dec := yaml.NewDecoder(bytes.NewReader(data)); ; {
		doc := new(yaml.Node)
		if err := dec.Decode(doc); err != nil {
			if !errors.Is(err, io.EOF) {
				f.Err = err
			}
			return f
		}
		f.Docs = append(f.Docs, doc)
	}
}

// FS is files at the root of a file system; embed.FS is one.
type FS interface {
	fs.ReadDirFS
	fs.ReadFileFS
}

// Load returns all files, in order of their names: from what Pack made of them,
// or else by scanning.
func Load(fsys FS, packed string) ([]File, error) {
	all, sum, err := read(fsys)
	if err != nil {
		return nil, err
	}
	if rest, ok := strings.CutPrefix(packed, header(sum)); ok {
		if files, ok := unpack(rest, all); ok {
			return files, nil
		}
	}
	for i := range all {
		all[i].File = Parse(all[i].Name, all[i].data)
	}
	return named(all), nil
}

// Pack packs all files for Load.
func Pack(fsys FS) (string, error) {
	all, sum, err := read(fsys)
	if err != nil {
		return "", err
	}
	out := []byte(header(sum))
	for _, s := range all {
		f := Parse(s.Name, s.data)
		if f.Err != nil {
			return "", fmt.Errorf("%s: %w", f.Name, f.Err)
		}
		out = binary.AppendUvarint(out, uint64(len(f.Docs)))
		for _, doc := range f.Docs {
			n := 0
			tree, err := appendNode(nil, doc, &n)
			if err != nil {
				return "", fmt.Errorf("%s: %w", f.Name, err)
			}
			out = append(binary.AppendUvarint(out, uint64(n)), tree...)
		}
	}
	return string(out), nil
}

// source is a file and its text.
type source struct {
	File
	data []byte
}

func named(all []source) []File {
	out := make([]File, len(all))
	for i := range all {
		out[i] = all[i].File
	}
	return out
}

// read reads the files and sums them up.
func read(fsys FS) ([]source, uint32, error) {
	dir, err := fsys.ReadDir(".")
	if err != nil {
		return nil, 0, err
	}
	sum := crc32.NewIEEE()
	var all []source
	for _, e := range dir {
		data, err := fsys.ReadFile(e.Name())
		if err != nil {
			return nil, 0, err
		}
		fmt.Fprintf(sum, "%s %d\n", e.Name(), len(data))
		sum.Write(data)
		all = append(all, source{File{Name: e.Name()}, data})
	}
	return all, sum.Sum32(), nil
}

// header begins what Pack makes of files with that sum.
func header(sum uint32) string { return fmt.Sprintf("nodes 1 %08x\n", sum) }

func appendNode(out []byte, n *yaml.Node, count *int) ([]byte, error) {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return nil, fmt.Errorf("line %d: anchors and aliases have no place here", n.Line)
	}
	*count++
	out = append(out, byte(n.Kind))
	out = binary.AppendUvarint(out, uint64(n.Line))
	out = binary.AppendUvarint(out, uint64(len(n.Value)))
	out = append(out, n.Value...)
	out = binary.AppendUvarint(out, uint64(len(n.Content)))
	for _, c := range n.Content {
		var err error
		if out, err = appendNode(out, c, count); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// unpacker reads what Pack wrote. Nodes come from one slice, as do their lists.
type unpacker struct {
	rest  string
	nodes []yaml.Node
	lists []*yaml.Node
	bad   bool
}

func unpack(packed string, all []source) ([]File, bool) {
	u := &unpacker{rest: packed}
	files := named(all)
	for i := range files {
		for range u.number() {
			n := u.number()
			u.nodes, u.lists = make([]yaml.Node, n), make([]*yaml.Node, n)
			files[i].Docs = append(files[i].Docs, u.node())
		}
	}
	return files, !u.bad && u.rest == ""
}

// number reads a number that counts something of what is left.
func (u *unpacker) number() int {
	n, shift := 0, 0
	for i := range min(len(u.rest), 4) {
		b := u.rest[i]
		if n |= int(b&0x7F) << shift; b < 0x80 {
			u.rest = u.rest[i+1:]
			if n <= len(u.rest)+1<<16 {
				return n
			}
			break
		}
		shift += 7
	}
	u.bad, u.rest = true, ""
	return 0
}

func (u *unpacker) node() *yaml.Node {
	if len(u.nodes) == 0 || u.rest == "" {
		u.bad = true
		return &yaml.Node{}
	}
	n := &u.nodes[0]
	u.nodes = u.nodes[1:]
	n.Kind = yaml.Kind(u.rest[0])
	u.rest = u.rest[1:]
	n.Line = u.number()
	size := min(u.number(), len(u.rest))
	n.Value, u.rest = u.rest[:size], u.rest[size:]
	size = u.number()
	if size > len(u.lists) {
		u.bad = true
		return n
	}
	n.Content, u.lists = u.lists[:size:size], u.lists[size:]
	for i := range n.Content {
		n.Content[i] = u.node()
	}
	return n
}
