package facts

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// described are the lines of "kubectl describe node" with the names of the
// corresponding fields of a Node object.
var described = []struct{ key, field string }{
	{"Kubelet Version", "kubelet_version"},
	{"Container Runtime Version", "runtime"},
	{"Kernel Version", "kernel"},
	{"OS Image", "os"},
	{"Boot ID", "boot_id"},
	{"Machine ID", "machine_id"},
	{"Unschedulable", "unschedulable"},
}

// descriptionMarks are texts of which a node description contains at least one: the
// kubelet version, a Ready condition (often all that was pasted), what stands above the
// conditions, or the header of "kubectl get nodes".
var descriptionMarks = [][]byte{[]byte("Kubelet Version:"), []byte("KubeletNotReady"), []byte("KubeletReady"), []byte("NodeStatusUnknown"),
	[]byte("Unschedulable:"), []byte(criSocket), []byte(attachDetach), []byte(nodeTTL), []byte("\nRoles:"), nodeTable}

// Annotations that only nodes have: of kubeadm, of the kubelet itself, and of the controller that
// says how long it may cache secrets.
const (
	criSocket    = "kubeadm.alpha.kubernetes.io/cri-socket"
	attachDetach = "volumes.kubernetes.io/controller-managed-attach-detach"
	nodeTTL      = "node.alpha.kubernetes.io/ttl"
)

var nodeTable = []byte("NAME ")

// Described returns the nodes in the output of "kubectl describe node" or "kubectl
// get nodes". The output may be a small part of text: log collectors mix it with
// logs.
func Described(f *parse.File, text []byte) []*parse.Object {
	if !slices.ContainsFunc(descriptionMarks, func(m []byte) bool { return bytes.Contains(text, m) }) {
		return nil
	}
	d := describer{}
	for off, line := 0, uint32(1); off < len(text); line++ {
		raw, _, _ := bytes.Cut(text[off:], []byte("\n"))
		d.line(raw, parse.Pos{File: f, Offset: int64(off), Line: line})
		off += len(raw) + 1
	}
	d.end()
	return d.out
}

// BeginsDescription reports whether a line begins the description of a node or is
// the header of "kubectl get nodes".
func BeginsDescription(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("Name:"))
	return ok && len(rest) > 0 && (rest[0] == ' ' || rest[0] == '\t') || tableHead(line)
}

// describer collects nodes, one after the other.
type describer struct {
	out     []*parse.Object
	name    string // value of the last "Name:" line
	named   parse.Pos
	head    parse.Text // that line
	node    *parse.Object
	seen    parse.Stamp // newest heartbeat since the name
	version bool
	certain bool // a line that only the description of a node has
	table   bool // the previous line belongs to "kubectl get nodes"
}

// maxDescribed bounds the nodes of one text.
const maxDescribed = 5000

// line processes one line. Older minikube versions put a star before each line,
// quotes an angle bracket.
func (d *describer) line(raw []byte, at parse.Pos) {
	if len(raw) > 1<<10 {
		return
	}
	own := bytes.TrimLeft(raw, "*> \t")
	if d.table = tableHead(own) || d.table && d.row(own, raw, at); d.table {
		return
	}
	key, rest, ok := bytes.Cut(own, []byte(":"))
	value := strings.TrimSpace(string(rest))
	switch {
	case bytes.HasPrefix(own, []byte("==> ")):
		d.end()
	case ok && string(key) == "Name" && !bytes.HasPrefix(bytes.TrimLeft(raw, "*>"), []byte("   ")):
		d.end()
		if d.name = value; strings.ContainsAny(value, " /\"") {
			d.name = ""
		}
		d.named, d.head = at, parse.PlainText(strings.TrimRight(string(raw), "\r"))
	case ok && value != "":
		d.value(string(key), value, raw, at)
	}
	if i := bytes.Index(own, []byte(", ")); i > 0 && d.name != "" {
		d.heartbeat(own, raw, at)
	}
}

// tableHead reports whether a line is the header of "kubectl get nodes".
func tableHead(line []byte) bool {
	f := bytes.Fields(line)
	return len(f) >= 4 && string(f[0]) == "NAME" && string(f[1]) == "STATUS" &&
		slices.ContainsFunc(f[2:], func(w []byte) bool { return string(w) == "VERSION" })
}

// row parses a row of that table: the first word is the name; the version is the
// word that begins with v and a digit; the runtime, in wide output, is the word
// with a URL scheme; the status, which has no time, is kept as "listed".
func (d *describer) row(line, raw []byte, at parse.Pos) bool {
	f := bytes.Fields(line)
	if len(f) < 4 || !bytes.Contains(f[1], []byte("Ready")) {
		return false
	}
	o := &parse.Object{Kind: ObjectNode, Name: clip(string(f[0])), Pos: at, Text: parse.PlainText(strings.TrimRight(string(raw), "\r"))}
	for _, w := range f[2:] {
		switch {
		case len(w) > 3 && w[0] == 'v' && w[1]-'0' <= 9 && bytes.IndexByte(w, '.') > 0:
			o.Fields = append(o.Fields, parse.Field{Name: "kubelet_version", Value: clip(string(w))})
		case bytes.Contains(w, []byte("://")):
			o.Fields = append(o.Fields, parse.Field{Name: "runtime", Value: clip(string(w))})
		}
	}
	if len(o.Fields) == 0 || len(d.out) >= maxDescribed {
		return false
	}
	o.Fields = append(o.Fields, parse.Field{Name: "listed", Value: clip(string(f[1]))})
	d.out = append(d.out, o)
	return true
}

func (d *describer) value(key, value string, raw []byte, at parse.Pos) {
	if key == "Annotations" {
		key, value, _ = strings.Cut(value, ":")
		value = strings.TrimSpace(value)
	}
	switch key {
	case criSocket:
		d.certain = true
		if d.node == nil {
			d.cite(raw, at)
		}
		d.node.Fields = append(d.node.Fields, parse.Field{Name: "cri_socket", Value: clip(value)})
		return
	case "Roles": // kubectl describes no other object with roles beside its name
		d.certain = d.certain || raw[0] == 'R' && !strings.Contains(value, " ")
	case attachDetach, nodeTTL, "Unschedulable":
		d.certain = true
	}
	for _, k := range described {
		if k.key != key {
			continue
		}
		if d.node == nil {
			d.cite(raw, at)
		}
		if k.field == "kubelet_version" && strings.HasPrefix(value, "v") {
			d.version = true
			d.cite(raw, at)
		}
		if k.field == "boot_id" {
			value = strings.ReplaceAll(value, "-", "")
		}
		d.node.Fields = append(d.node.Fields, parse.Field{Name: k.field, Value: clip(value)})
		return
	}
}

// cite makes the current line the position of the node.
func (d *describer) cite(raw []byte, at parse.Pos) {
	if d.node == nil {
		d.node = &parse.Object{Kind: ObjectNode, Name: d.name}
	}
	d.node.Pos, d.node.Text = at, parse.PlainText(strings.TrimRight(string(raw), "\r"))
}

// heartbeat parses the first date of a condition: "Ready True Fri, 04 Mar 2022
// 10:40:34 +0000 …".
func (d *describer) heartbeat(row, raw []byte, at parse.Pos) {
	f := bytes.Fields(row)
	if len(f) < 8 || len(f[2]) != 4 || f[2][3] != ',' {
		return
	}
	t, err := parse.ParseTime("Mon, 02 Jan 2006 15:04:05 -0700", string(bytes.Join(f[2:8], []byte(" "))))
	if err == nil && t.UnixNano() > d.seen.At {
		d.seen = parse.Stamp{At: t.UnixNano(), Res: parse.ResolutionOf(time.Second), Basis: parse.Stated}
	}
	if err == nil && !d.version && string(f[0]) == "Ready" {
		d.cite(raw, at)
	}
}

// end keeps the current node if it has a version, or a name and a condition or another
// line that only nodes have.
func (d *describer) end() {
	named := d.name != "" && (d.seen.At > 0 || d.certain)
	if d.node == nil && named { // no line states more
		d.node = &parse.Object{Kind: ObjectNode, Name: d.name, Pos: d.named, Text: d.head}
	}
	if d.node != nil && (d.version || named) && len(d.out) < maxDescribed {
		d.node.Stamp = d.seen
		d.out = append(d.out, d.node)
	}
	d.node, d.name, d.seen, d.version, d.certain = nil, "", parse.Stamp{}, false, false
}
