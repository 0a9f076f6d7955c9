package journal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// about attributes a line that reports on a node by name but was not written on it
// to that node: conditions repeated by the node lifecycle controller or others, and
// rows of node tables that state why a node is not ready.
func (p *Parser) about(e *Entry) {
	name := ""
	switch {
	case p.retold(e):
		return
	case e.Header.Kind == Klog && ByController(e.Header.Caller):
		name = repeated(e.Msg)
	case e.Header.Kind == Logrus || e.Header.Kind == JSONLog:
		if OfNode(e.Msg) {
			name = cmp.Or(keyed(e.Msg), ofObject(e.Msg))
		}
	case e.Form == Bare && e.Header.Kind == NoHeader:
		if name = nodeRow(e.Msg); name != "" {
			e.Form = EventRow
		} else if tellsWhy(e.Msg) {
			name = ofObject(e.Msg)
		}
	}
	if name != "" {
		e.Who = p.intern(Who{Host: name, Ident: parse.IdentAbout})
	}
}

// retold reads an event that an end-to-end test of Kubernetes prints when it is over (test/e2e/framework,
// DumpEventsInNamespace): "INFO: At TIME - event for POD: {COMPONENT NODE} REASON: TEXT". Its time is that of the
// event, and its host the node.
func (p *Parser) retold(e *Entry) bool {
	text := bytes.TrimPrefix(bytes.TrimLeft(e.Msg, " "), []byte("INFO: "))
	if !bytes.HasPrefix(text, []byte("At 2")) {
		return false
	}
	c, n := ReadGoTime(text[len("At "):])
	head, rest, ok := bytes.Cut(text[len("At ")+n:], []byte(": {"))
	who, text, both := bytes.Cut(rest, []byte("} "))
	component, node, _ := bytes.Cut(who, []byte(" "))
	if n == 0 || c.Lack != 0 || !ok || !both || !bytes.Contains(head, []byte(" - event for ")) {
		return false
	}
	e.Form, e.Clock, e.Off, e.Msg, e.Who = EventRow, c, e.Off+len(e.Msg)-len(text), text, nobody
	if string(component) == "kubelet" && isNodeName(string(node)) {
		e.Who = p.intern(Who{Host: string(node), Ident: parse.IdentAbout})
	}
	return true
}

// ByController reports whether a caller is the controller that watches node
// heartbeats (pkg/controller/node up to 1.9, nodelifecycle since).
func ByController(caller []byte) bool {
	return bytes.HasPrefix(caller, []byte("node")) && (bytes.HasPrefix(caller, []byte("node_lifecycle_controller.go")) ||
		bytes.HasPrefix(caller, []byte("node_controller.go")) || bytes.HasPrefix(caller, []byte("nodecontroller.go")))
}

// repeated returns the node whose condition a line of that controller reports
// (monitorNodeHealth, monitorNodeStatus), or "".
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

// notReady lists texts that state why a node is not ready.
var notReady = [...]string{"KubeletNotReady", "NodeStatusUnknown", "Kubelet stopped posting node status", "PLEG is not healthy",
	"container runtime is down", "Container runtime not ready", "container runtime not ready"}

// tellsWhy reports whether a text states why a node is not ready.
func tellsWhy(b []byte) bool {
	return slices.ContainsFunc(notReady[:], func(w string) bool { return bytes.Contains(b, []byte(w)) })
}

// OfNode reports whether a message may state why the node that it names is not ready.
func OfNode(msg []byte) bool {
	return (bytes.Contains(msg, []byte("node")) || bytes.Contains(msg, []byte(`"conditions"`))) && tellsWhy(msg)
}

// keyed returns the node named by a key of a structured line, or "".
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

// ofObject returns the name of the Node object that a line prints as JSON, or "". Pods have
// a Ready condition, too; none states why a node is not ready.
func ofObject(msg []byte) string {
	i := bytes.Index(msg[:min(len(msg), maxName)], []byte(`{"`))
	if i < 0 || !bytes.Contains(msg, []byte(`"conditions"`)) {
		return ""
	}
	var o struct {
		Metadata struct{ Name string }
		Status   struct {
			Conditions []struct{ Type, Reason string }
		}
	}
	if json.NewDecoder(bytes.NewReader(msg[i:])).Decode(&o) != nil || !isNodeName(o.Metadata.Name) {
		return ""
	}
	for _, c := range o.Status.Conditions {
		if c.Type == "Ready" && tellsWhy([]byte(c.Reason)) {
			return o.Metadata.Name
		}
	}
	return ""
}

// nodeEvents are the reasons of events that the kubelet writes about its node.
var nodeEvents = []string{"ContainerGCFailed", "ImageGCFailed", "FreeDiskSpaceFailed", "NodeNotReady", "SystemOOM"}

// nodeRow returns the node named by a table row whose cells are separated by bars
// or wide blanks, or by an item of a list that names it before a colon, or "" for any
// other line. The node is in the first column, except in an event row, where it is part
// of the event's name: the name of its object and a hex number.
func nodeRow(b []byte) string {
	b = bytes.TrimPrefix(bytes.TrimPrefix(bytes.TrimLeft(b, " \t"), []byte("- ")), []byte("* "))
	if len(b) == 0 || len(b) > 4<<10 || b[0] != '|' && (b[0]|0x20 < 'a' || b[0]|0x20 > 'z') && b[0]-'0' > 9 {
		return ""
	}
	if name, _, listed := bytes.Cut(b[:min(len(b), maxName)], []byte(": ")); listed && bytes.ContainsAny(name, "0123456789") && !bytes.Contains(name, []byte(".log")) && isNodeName(string(name)) && tellsWhy(b) {
		return string(name)
	}
	cells := cellsOf(string(b))
	if len(cells) < 3 {
		return ""
	}
	if isNodeName(cells[0]) && tellsWhy(b) {
		return cells[0]
	}
	if strings.HasPrefix(strings.TrimPrefix(cells[1], "Not"), "Ready") && slices.ContainsFunc(cells[2:], func(c string) bool { return strings.HasPrefix(c, "v1.") }) {
		return strings.TrimPrefix(cells[0], "node/") // kubectl get nodes
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

// cellsOf splits a row at bars, tabs, and two or more blanks.
func cellsOf(row string) (cells []string) {
	row = strings.ReplaceAll(strings.Trim(row, "|"), "|", "  ")
	for _, c := range strings.Split(strings.ReplaceAll(row, "\t", "  "), "  ") {
		if c = strings.Trim(c, " `*"); c != "" {
			cells = append(cells, c)
		}
	}
	return cells
}

// isNodeName reports whether s can be a node name and is not a word: it contains a
// digit, a dash or a dot.
func isNodeName(s string) bool {
	return len(s) > 1 && len(s) <= 253 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-.") == "" &&
		strings.ContainsAny(s, "0123456789-.") && strings.Trim(s, "0123456789.") != "" && s[0] != '-' && s[0] != '.' && s[len(s)-1] != '.' && s[len(s)-1] != '-'
}
