package journal

import (
	"bytes"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// about gives a line that tells of a node by its name, and was not written there, to
// that node: what the node lifecycle controller, or another, repeats of a condition, and a
// row of a table of nodes that says why one is not ready.
func (p *Parser) about(e *Entry) {
	name := ""
	switch {
	case e.Header.Kind == Klog && ByController(e.Header.Caller):
		name = repeated(e.Msg)
	case e.Header.Kind == Logrus || e.Header.Kind == JSONLog:
		if TellsWhy(e.Msg) {
			name = keyed(e.Msg)
		}
	case e.Form == Bare && e.Header.Kind == NoHeader:
		if name = nodeRow(e.Msg); name != "" {
			e.Form = EventRow
		}
	}
	if name != "" {
		e.Who = p.intern(Who{Host: name, Ident: parse.IdentAbout})
	}
}

// ByController reports whether a caller is the controller that watches the heartbeats of
// nodes (pkg/controller/node up to 1.9, nodelifecycle since).
func ByController(caller []byte) bool {
	return bytes.HasPrefix(caller, []byte("node")) && (bytes.HasPrefix(caller, []byte("node_lifecycle_controller.go")) ||
		bytes.HasPrefix(caller, []byte("node_controller.go")) || bytes.HasPrefix(caller, []byte("nodecontroller.go")))
}

// repeated returns the node of whose condition a line of that controller tells (monitorNodeHealth,
// monitorNodeStatus), "" if of none.
func repeated(msg []byte) string {
	if !bytes.Contains(msg, []byte("Condition")) {
		return ""
	}
	for _, before := range [...]string{"Condition Ready of node ", `node="`, "node ", "Node "} {
		if _, rest, ok := bytes.Cut(msg, []byte(before)); ok {
			if name, _, _ := strings.Cut(string(rest[:min(len(rest), maxName)]), " "); isNodeName(strings.TrimRight(name, `",:`)) {
				return strings.TrimRight(name, `",:`)
			}
		}
	}
	return ""
}

// notReady are the words by which a row says why a node is not ready.
var notReady = [...]string{"KubeletNotReady", "NodeStatusUnknown", "Kubelet stopped posting node status", "PLEG is not healthy",
	"container runtime is down", "Container runtime not ready", "container runtime not ready"}

// TellsWhy reports whether a text says why a node is not ready.
func TellsWhy(b []byte) bool {
	return slices.ContainsFunc(notReady[:], func(w string) bool { return bytes.Contains(b, []byte(w)) })
}

// keyed returns the node that a structured line names.
func keyed(msg []byte) string {
	for _, key := range [...]string{"node=", "nodeName=", `"node":`, `"nodeName":`} {
		if _, rest, ok := bytes.Cut(msg, []byte(key)); ok {
			name := strings.TrimLeft(string(rest[:min(len(rest), maxName)]), ` "`)
			if end := strings.IndexAny(name, `" ,}`); end > 0 && isNodeName(name[:end]) {
				return name[:end]
			}
		}
	}
	return ""
}

// nodeEvents are the reasons of events that the kubelet writes of its node.
var nodeEvents = []string{"ContainerGCFailed", "ImageGCFailed", "FreeDiskSpaceFailed", "NodeNotReady", "SystemOOM"}

// nodeRow returns the node that a row of a table names in its first column, by cells
// between bars or wide blanks, or that a list of nodes names before a colon, "" of any
// other line. In a row of an event, whose name is
// that of its object and a number, the event names it.
func nodeRow(b []byte) string {
	b = bytes.TrimPrefix(bytes.TrimPrefix(bytes.TrimLeft(b, " \t"), []byte("- ")), []byte("* "))
	if len(b) == 0 || len(b) > 4<<10 || b[0] != '|' && (b[0]|0x20 < 'a' || b[0]|0x20 > 'z') && b[0]-'0' > 9 {
		return ""
	}
	if name, _, listed := bytes.Cut(b[:min(len(b), maxName)], []byte(": ")); listed && bytes.ContainsAny(name, "0123456789") && !bytes.Contains(name, []byte(".log")) && isNodeName(string(name)) && TellsWhy(b) {
		return string(name)
	}
	cells := cellsOf(string(b))
	if len(cells) < 3 {
		return ""
	}
	if isNodeName(cells[0]) && TellsWhy(b) {
		return cells[0]
	}
	if slices.ContainsFunc(cells, func(c string) bool { return slices.Contains(nodeEvents, c) }) {
		for _, c := range cells {
			if i := strings.LastIndexByte(c, '.'); i > 0 && len(c)-i == 17 && strings.Trim(c[i+1:], "0123456789abcdef") == "" && isNodeName(c[:i]) {
				return c[:i]
			}
		}
	}
	return ""
}

// cellsOf cuts a row at bars, tabs, and blanks of two and more.
func cellsOf(row string) (cells []string) {
	row = strings.ReplaceAll(strings.Trim(row, "|"), "|", "  ")
	for _, c := range strings.Split(strings.ReplaceAll(row, "\t", "  "), "  ") {
		if c = strings.Trim(c, " `*"); c != "" {
			cells = append(cells, c)
		}
	}
	return cells
}

// isNodeName takes what can name a node and is no word: it holds a digit, a dash or a dot.
func isNodeName(s string) bool {
	return len(s) > 1 && len(s) <= 253 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-.") == "" &&
		strings.ContainsAny(s, "0123456789-.") && strings.Trim(s, "0123456789.") != "" && s[0] != '-' && s[0] != '.' && s[len(s)-1] != '.' && s[len(s)-1] != '-'
}
