package facts

import (
	"bytes"
	"cmp"
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
	{"Operating System", "os"},
	{"Boot ID", "boot_id"},
	{"Machine ID", "machine_id"},
	{"Unschedulable", "unschedulable"},
}

// descriptionMarks are texts of which a node description contains at least one: the
// kubelet version, a Ready condition (often all that was pasted), what stands above the
// conditions, or the header of "kubectl get nodes".
var descriptionMarks = [][]byte{[]byte("Kubelet Version:"), []byte("KubeletNotReady"), []byte("KubeletReady"), []byte("NodeStatusUnknown"),
	[]byte("Unschedulable:"), []byte(criSocket), []byte(attachDetach), []byte(nodeTTL), []byte("\nRoles:"), []byte(" NotReady "), nodeTable,
	[]byte("HolderIdentity:"), []byte(noLease)}

// noLease precedes the name of a node that has no lease, in quotes, in what kubectl describes.
const noLease = "Failed to get lease: leases.coordination.k8s.io "

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
	col, _ := tableHead(bytes.TrimLeft(line, "*> \t"))
	return ok && len(rest) > 0 && (rest[0] == ' ' || rest[0] == '\t') || col > 0
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
	status  int  // the column of the status if the previous line belongs to "kubectl get nodes", else 0
	bare    bool // that table has no column of versions
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
	if col, bare := tableHead(own); col > 0 {
		d.status, d.bare = col, bare
		return
	}
	if col := cmp.Or(d.status, headlessRow(own)); col > 0 && d.row(own, raw, at, col) {
		return
	}
	d.status = 0
	key, rest, ok := bytes.Cut(own, []byte(":"))
	if socket, found := bytes.CutPrefix(own, []byte(criSocket+"=")); found { // up to kubectl 1.10
		key, rest, ok = []byte(criSocket), socket, true
	}
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

// tableHead returns the column of the status if a line is the header of "kubectl get nodes", else 0, and
// whether the table lacks the versions, as up to 1.5. Up to 1.2 labels stand before the status.
func tableHead(line []byte) (col int, bare bool) {
	f := bytes.Fields(line)
	if len(f) < 3 || string(f[0]) != "NAME" {
		return 0, false
	}
	switch last := string(f[len(f)-1]); {
	case string(f[1]) == "LABELS" && string(f[2]) == "STATUS":
		return 2, true
	case string(f[1]) != "STATUS":
	case slices.ContainsFunc(f[2:], func(w []byte) bool { return string(w) == "VERSION" }):
		return 1, false
	case len(f) == 3 && last == "AGE":
		return 1, true
	}
	return 0, false
}

// headlessRow returns the column of the status if a line is a row of "kubectl get nodes" by itself, as grep or
// --no-headers leave it, else 0: the status of a node, an age, and a version.
func headlessRow(line []byte) int {
	f := bytes.Fields(line)
	if len(f) < 4 || !isReadiness(f[1]) || !slices.ContainsFunc(f[2:], isVersion) {
		return 0
	}
	for _, w := range f[2:] {
		if unit := w[len(w)-1]; w[0]-'0' <= 9 && (unit == 's' || unit == 'm' || unit == 'h' || unit == 'd' || unit == 'y') {
			return 1
		}
	}
	return 0
}

// isReadiness reports whether a word is the status of a node.
func isReadiness(w []byte) bool {
	word, _, _ := bytes.Cut(w, []byte(","))
	return string(word) == "Ready" || string(word) == "NotReady"
}

// isVersion reports whether a word is a version such as v1.13.4.
func isVersion(w []byte) bool {
	return len(w) > 3 && w[0] == 'v' && w[1]-'0' <= 9 && bytes.IndexByte(w, '.') > 0
}

// row parses a row of that table: the first word is the name; the version is the
// word that begins with v and a digit; the runtime, in wide output, is the word
// with a URL scheme; the system is kept if it is Windows; the status, which has no time, is kept as "listed".
func (d *describer) row(line, raw []byte, at parse.Pos, col int) bool {
	f := bytes.Fields(line)
	if len(f) <= col || !bytes.Contains(f[col], []byte("Ready")) {
		return false
	}
	o := &parse.Object{Kind: ObjectNode, Name: clip(strings.TrimPrefix(string(f[0]), "node/")), Pos: at, Text: parse.PlainText(strings.TrimRight(string(raw), "\r"))}
	for _, w := range f[2:] {
		switch {
		case isVersion(w):
			o.Fields = append(o.Fields, parse.Field{Name: "kubelet_version", Value: clip(string(w))})
		case bytes.Contains(w, []byte("://")):
			o.Fields = append(o.Fields, parse.Field{Name: "runtime", Value: clip(string(w))})
		}
	}
	if len(o.Fields) == 0 && !(d.bare && isReadiness(f[col])) || len(d.out) >= maxDescribed {
		return false
	}
	if i := bytes.Index(line, []byte(" Windows ")); i > 0 { // the system, in wide output; blanks stand between the columns
		system, _, _ := bytes.Cut(line[i+1:], []byte("  "))
		o.Fields = append(o.Fields, parse.Field{Name: "os", Value: clip(string(system))})
	}
	o.Fields = append(o.Fields, parse.Field{Name: "listed", Value: clip(string(f[col]))})
	d.out = append(d.out, o)
	return true
}

// lease takes the name of a node from its lease if the paste begins below the line with the name.
func (d *describer) lease(name string, raw []byte, at parse.Pos) {
	if d.certain = true; d.name == "" && name != "" && !strings.ContainsAny(name, " /\"<>") {
		d.name, d.named, d.head = clip(name), at, parse.PlainText(strings.TrimRight(string(raw), "\r"))
		if d.node != nil {
			d.node.Name = d.name
		}
	}
}

func (d *describer) value(key, value string, raw []byte, at parse.Pos) {
	if key == "Annotations" {
		if i := strings.IndexAny(value, ":="); i >= 0 { // "=" up to kubectl 1.10
			key, value = value[:i], strings.TrimSpace(value[i+1:])
		}
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
	case "HolderIdentity": // the lease of a node has its name; kubectl describes no other object so
		d.lease(value, raw, at)
	case "Lease":
		if rest, ok := strings.CutPrefix(value, noLease); ok {
			d.lease(strings.Trim(strings.TrimSuffix(rest, " not found"), `"`), raw, at)
		}
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
// 10:40:34 +0000 …". The date of another row is none of a node: a pod has a "Start Time: Thu, 08 Jun …".
func (d *describer) heartbeat(row, raw []byte, at parse.Pos) {
	f := bytes.Fields(row)
	if len(f) < 8 || len(f[2]) != 4 || f[2][3] != ',' || !slices.Contains(conditionStates, string(f[1])) {
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

// conditionStates are the states of a condition, which are the same in all objects.
var conditionStates = []string{"True", "False", "Unknown"}

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
