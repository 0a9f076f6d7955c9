// Package nodes reads the YAML files embedded in the program. Scanning them takes most of the
// startup time, so they are embedded a second time, as packed trees. The YAML files remain
// authoritative: packed trees that do not match them are ignored, and a test fails if they are out
// of date.
//
// A Node keeps kind, value, content and line. Styles, tags and comments are lost; anchors are
// refused.
package nodes

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math/bits"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Kind is the kind of a node.
type Kind uint8

// Kinds of nodes.
const (
	Document Kind = iota + 1
	Sequence
	Mapping
	Scalar
	Alias
)

// kindOf converts the kind of a YAML node, which is a bit.
func kindOf(k yaml.Kind) Kind { return Kind(bits.Len32(uint32(k))) }

// Node is a compact form of yaml.Node: there are thousands.
type Node struct {
	Kind    Kind
	Line    int
	Value   string
	Content []Node
}

// copyOf converts a tree of YAML nodes.
func copyOf(n *yaml.Node) Node {
	out := Node{Kind: kindOf(n.Kind), Line: n.Line, Value: n.Value}
	if len(n.Content) > 0 {
		out.Content = make([]Node, len(n.Content))
	}
	for i, c := range n.Content {
		out.Content[i] = copyOf(c)
	}
	return out
}

// File holds the documents of a YAML file.
type File struct {
	Name string
	Docs []Node
	Err  error // of the next document, if it cannot be read

	anchored error // why it cannot be packed, if so
}

// mostDocs is how many documents a file may hold, far more than any real one does.
const mostDocs = 5000

// Parse scans a file.
func Parse(name string, data []byte) File {
	f := File{Name: name}
	for dec := yaml.NewDecoder(bytes.NewReader(data)); ; {
		if len(f.Docs) == mostDocs {
			f.Err = fmt.Errorf("yaml: line %d: the %d documents before are the most that a file may hold", f.Docs[mostDocs-1].Line, mostDocs)
			return f
		}
		var doc yaml.Node
		if err := Decode(dec, &doc); err != nil {
			if !errors.Is(err, io.EOF) {
				f.Err = err
			}
			return f
		}
		if f.anchored == nil {
			f.anchored = anchored(&doc)
		}
		f.Docs = append(f.Docs, copyOf(&doc))
	}
}

// Decode is that of the YAML library, which panics at some malformed texts: it returns an error.
func Decode(dec *yaml.Decoder, into any) (err error) {
	defer Caught(&err)
	return dec.Decode(into)
}

// Unmarshal is that of the YAML library; see Decode.
func Unmarshal(data []byte, into any) (err error) {
	defer Caught(&err)
	return yaml.Unmarshal(data, into)
}

// Caught is deferred around calls of the YAML library, and makes an error of a panic.
func Caught(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("yaml: the text is malformed: %v", p)
	}
}

// anchored returns an error if a tree has anchors or aliases, which embedded files must not use.
func anchored(n *yaml.Node) error {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return fmt.Errorf("line %d: anchors and aliases have no place here", n.Line)
	}
	for _, c := range n.Content {
		if err := anchored(c); err != nil {
			return err
		}
	}
	return nil
}

// FS is a file system with files at its root, such as embed.FS.
type FS interface {
	fs.ReadDirFS
	fs.ReadFileFS
}

// sumRoom is the size of the buffer for checksums.
const sumRoom = 16 << 10

// Load returns all files sorted by name: from the output of Pack if it matches, else by scanning.
func Load(fsys FS, packed string) ([]File, error) {
	files, sum, err := list(fsys)
	if err != nil {
		return nil, err
	}
	if rest, ok := strings.CutPrefix(packed, header(sum)); ok && unpack(rest, files) {
		return files, nil
	}
	return files, scan(fsys, files)
}

// Pack packs all files for Load.
func Pack(fsys FS) (string, error) {
	files, sum, err := list(fsys)
	if err == nil {
		err = scan(fsys, files)
	}
	if err != nil {
		return "", err
	}
	out := []byte(header(sum))
	for _, f := range files {
		if err := cmp.Or(f.Err, f.anchored); err != nil {
			return "", fmt.Errorf("%s: %w", f.Name, err)
		}
		out = binary.AppendUvarint(out, uint64(len(f.Docs)))
		for i := range f.Docs {
			n := 0
			tree := appendNode(nil, &f.Docs[i], &n)
			out = append(binary.AppendUvarint(out, uint64(n)), tree...)
		}
	}
	return string(out), nil
}

// list names the files and computes their checksum without keeping a copy of them.
func list(fsys FS) ([]File, uint32, error) {
	dir, err := fsys.ReadDir(".")
	if err != nil {
		return nil, 0, err
	}
	files, sum, room := make([]File, len(dir)), crc32.NewIEEE(), make([]byte, sumRoom)
	for i, e := range dir {
		files[i].Name = e.Name()
		info, err := e.Info()
		if err != nil {
			return nil, 0, err
		}
		fmt.Fprintf(sum, "%s %d\n", e.Name(), info.Size())
		f, err := fsys.Open(e.Name())
		if err != nil {
			return nil, 0, err
		}
		_, err = io.CopyBuffer(sum, f, room)
		f.Close()
		if err != nil {
			return nil, 0, err
		}
	}
	return files, sum.Sum32(), nil
}

// scan reads the listed files.
func scan(fsys FS, files []File) error {
	for i := range files {
		data, err := fsys.ReadFile(files[i].Name)
		if err != nil {
			return err
		}
		files[i] = Parse(files[i].Name, data)
	}
	return nil
}

// header is the start of Pack's output for files with a checksum.
func header(sum uint32) string { return fmt.Sprintf("nodes 1 %08x\n", sum) }

func appendNode(out []byte, n *Node, count *int) []byte {
	*count++
	out = append(out, 1<<(n.Kind-1))
	out = binary.AppendUvarint(out, uint64(n.Line))
	out = binary.AppendUvarint(out, uint64(len(n.Value)))
	out = append(out, n.Value...)
	out = binary.AppendUvarint(out, uint64(len(n.Content)))
	for i := range n.Content {
		out = appendNode(out, &n.Content[i], count)
	}
	return out
}

// unpacker decodes the output of Pack. The nodes of a document share one slice.
type unpacker struct {
	rest  string
	nodes []Node
	bad   bool
}

// unpack fills in the documents of the files. It reports whether packed is valid.
func unpack(packed string, files []File) bool {
	u := &unpacker{rest: packed}
	for i := range files {
		files[i].Docs = make([]Node, min(u.number(), len(u.rest)))
		for d := range files[i].Docs {
			u.nodes = make([]Node, max(u.number()-1, 0))
			u.node(&files[i].Docs[d])
		}
	}
	return !u.bad && u.rest == ""
}

// number decodes a number.
func (u *unpacker) number() int {
	if rest := u.rest; len(rest) > 0 && rest[0] < 0x80 { // nearly always
		u.rest = rest[1:]
		return int(rest[0])
	}
	return u.longNumber()
}

func (u *unpacker) longNumber() int {
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

func (u *unpacker) node(n *Node) {
	if u.rest == "" {
		u.bad = true
		return
	}
	n.Kind = kindOf(yaml.Kind(u.rest[0]))
	u.rest = u.rest[1:]
	n.Line = u.number()
	size := min(u.number(), len(u.rest))
	n.Value, u.rest = u.rest[:size], u.rest[size:]
	if size = u.number(); size > len(u.nodes) {
		u.bad = true
		return
	}
	n.Content, u.nodes = u.nodes[:size:size], u.nodes[size:]
	for i := range n.Content {
		u.node(&n.Content[i])
	}
}
