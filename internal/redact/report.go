package redact

import (
	"reflect"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// Report returns a copy of rep in which every name is replaced. The original is
// not changed.
func (r *Redactor) Report(rep *report.Report) *report.Report {
	for _, n := range rep.Nodes {
		r.learnNode(n.Node)
	}
	r.Walk(rep)
	r.Settle()
	return Copy(r, rep)
}

// Copy returns v with every learned name replaced, for outputs that do not hold
// a report; v is not changed.
func Copy[T any](r *Redactor, v T) T {
	c := copier{r: r, seen: map[place]reflect.Value{}}
	return c.copy(reflect.ValueOf(&v)).Elem().Interface().(T)
}

// Pod learns a pod by its ns/name and UID, either of which may be empty, and
// gives it its pseudonym at once.
func (r *Redactor) Pod(name, uid string) {
	had := len(r.kinds)
	r.learnPod(name, "")
	if len(uid) >= 3 && !strings.Contains(uid, "/") {
		r.learn(UID, uid)
	}
	if len(r.kinds) > had {
		r.Settle()
	}
}

// Nodes learns the names of nodes, for outputs that do not hold a report.
func (r *Redactor) Nodes(ns []*replay.Node) {
	for _, n := range ns {
		r.learnNode(n)
		r.Walk(n)
	}
	r.Settle()
}

// learnNode learns what the structure of a node names.
func (r *Redactor) learnNode(n *replay.Node) {
	if n.Name != "unknown" {
		r.learn(Node, n.Name)
	}
	for _, e := range n.Events {
		r.learnHostname(e.Origin.Host)
	}
	for _, es := range []replay.PodEvents{n.Observed, n.Audit.Events} {
		for _, e := range es.All() {
			r.learnPod(e.Pod, e.PodUID)
		}
	}
	for _, f := range n.Failures {
		r.learnPod(f.Pod, f.PodUID())
	}
	for _, t := range n.History.All() {
		r.learnPod(t.Namespace+"/"+t.PodName, t.PodUID)
		if worth(Container, t.Subject.Name) {
			r.learn(Container, t.Subject.Name)
		}
	}
	for _, b := range n.Blame {
		for _, s := range b.ByPod {
			r.learnPod(s.What, s.ID)
		}
	}
	for _, o := range n.Objects {
		kind := Pod
		if o.Kind == "Node" {
			kind = Node
		}
		if worth(kind, o.Name) {
			r.learn(kind, o.Name)
		}
		if worth(Namespace, o.Namespace) {
			r.learn(Namespace, o.Namespace)
		}
	}
}

func (r *Redactor) learnHostname(h string) {
	if len(h) < 2 {
		return
	}
	r.learn(Node, h)
	if short, _, ok := strings.Cut(h, "."); ok && worth(Node, short) {
		r.learn(Node, short)
	}
}

func (r *Redactor) learnPod(pod, uid string) {
	if ns, name, ok := strings.Cut(pod, "/"); ok {
		if worth(Namespace, ns) {
			r.learn(Namespace, ns)
		}
		if worth(Pod, name) {
			r.learn(Pod, name)
		}
	}
	if len(uid) >= 8 {
		r.learn(UID, uid)
	}
}

// Settle ends learning: from here on Text replaces what was learned.
func (r *Redactor) Settle() {
	if len(r.names) == len(r.kinds) {
		return // nothing new since
	}
	r.settle()
	r.odd = r.odd[:0]
	for n := range r.names {
		if strings.ContainsFunc(n, func(c rune) bool { return c > 127 || !isWordByte(byte(c)) }) {
			r.odd = append(r.odd, n)
		}
	}
	// Longest first: a name inside another one must not be replaced before it.
	slices.SortFunc(r.odd, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
}

// Walk learns from every string below v.
func (r *Redactor) Walk(v any) {
	w := walker{r: r, seen: map[place]bool{}}
	w.walk(reflect.ValueOf(v))
}

var (
	textType = reflect.TypeFor[parse.Text]()
	sigsType = reflect.TypeFor[*parse.SigSet]()
	eventTyp = reflect.TypeFor[parse.Event]()
	fieldTyp = reflect.TypeFor[parse.Field]()
	inputTyp = reflect.TypeFor[parse.Input]()
	// textual are plain strings; strings of a type of their own are words that
	// the tool chose, such as outcomes and severities.
	textual  = reflect.TypeFor[string]()
	nameList = reflect.TypeFor[[]string]()
)

// packed is a replay.List or a replay.Failure: what it holds is in its exported
// fields once it is unpacked.
type packed interface{ Unpacked() any }

func unpacked(v reflect.Value) reflect.Value {
	if p, ok := v.Interface().(packed); ok {
		return reflect.ValueOf(p.Unpacked())
	}
	return v
}

// place identifies a value: a struct and its first field share an address.
type place struct {
	at  uintptr
	typ reflect.Type
}

type walker struct {
	r    *Redactor
	seen map[place]bool
}

func (w *walker) walk(v reflect.Value) {
	if v.Type() == textType {
		w.r.Learn(v.Interface().(parse.Text).String())
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || v.Type() == sigsType || w.seen[place{v.Pointer(), v.Type()}] {
			return
		}
		w.seen[place{v.Pointer(), v.Type()}] = true
		w.walk(v.Elem())
	case reflect.Interface:
		if !v.IsNil() {
			w.walk(v.Elem())
		}
	case reflect.Struct:
		v = unpacked(v)
		if v.Type() == fieldTyp {
			w.r.label(v.Interface().(parse.Field))
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				w.walk(v.Field(i))
			}
		}
		if e, ok := v.Interface().(parse.Event); ok {
			w.r.Learn(e.Text().String())
		}
	case reflect.Slice, reflect.Array:
		if scalar(v.Type().Elem()) {
			return
		}
		for i := range v.Len() {
			w.walk(v.Index(i))
		}
	case reflect.String:
		if v.Type() == textual {
			w.r.Learn(v.String())
		}
	}
}

// labelKinds tell what the value of a metric label, or of an attribute, is.
var labelKinds = map[string]Kind{
	"pod": Pod, "pod_name": Pod, "exported_pod": Pod, "kubernetes_pod_name": Pod,
	"namespace": Namespace, "exported_namespace": Namespace, "kubernetes_namespace": Namespace,
	"node": Node, "nodename": Node, "hostname": Node, "host": Node, "kubernetes_node": Node, "kubernetes_io_hostname": Node, "instance": Node,
	"container": Container, "container_name": Container, "persistentvolumeclaim": Volume, "persistentvolume": Volume, "uid": UID,
}

// label learns the value of a label by its name.
func (r *Redactor) label(f parse.Field) {
	k, ok := labelKinds[f.Name]
	if !ok {
		return
	}
	value := f.Value
	if f.Name == "instance" {
		value, _, _ = strings.Cut(value, ":") // a port is no name
	}
	if worth(k, value) && !strings.ContainsAny(value, "/ ") {
		r.learn(k, value)
	}
}

func scalar(t reflect.Type) bool { return t.Kind() >= reflect.Bool && t.Kind() <= reflect.Complex128 }

// copier copies a value with all strings replaced, sharing kept as it was.
type copier struct {
	r    *Redactor
	seen map[place]reflect.Value
}

func (c *copier) copy(v reflect.Value) reflect.Value {
	if v.Type() == textType {
		return reflect.ValueOf(parse.PlainText(c.r.Text(v.Interface().(parse.Text).String())))
	}
	switch v.Kind() {
	case reflect.Pointer:
		return c.pointer(v)
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type()).Elem()
		out.Set(c.copy(v.Elem()))
		return out
	case reflect.Struct:
		v = unpacked(v)
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		c.fields(out, v)
		return out
	case reflect.Slice:
		if v.IsNil() || scalar(v.Type().Elem()) {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(c.copy(v.Index(i)))
		}
		return out
	case reflect.String:
		if v.Type() == textual {
			return reflect.ValueOf(c.r.Text(v.String()))
		}
	}
	return v
}

func (c *copier) pointer(v reflect.Value) reflect.Value {
	if v.IsNil() || v.Type() == sigsType {
		return v
	}
	key := place{v.Pointer(), v.Type()}
	if out, ok := c.seen[key]; ok {
		return out
	}
	out := reflect.New(v.Type().Elem())
	c.seen[key] = out
	if v.Elem().Kind() == reflect.Struct {
		from := unpacked(v.Elem())
		out.Elem().Set(from)
		c.fields(out.Elem(), from)
	} else {
		out.Elem().Set(c.copy(v.Elem()))
	}
	return out
}

// nameFields are the fields that hold one name and nothing else.
var nameFields = map[string]bool{"Name": true, "Namespace": true, "Pod": true, "PodName": true, "Host": true, "Node": true}

// baseName is the last element of a path: where an input lay on the disk of the
// reader tells about the reader.
func baseName(path string) string {
	path = strings.TrimRight(path, `/\`)
	return path[strings.LastIndexAny(path, `/\`)+1:]
}

// fields replaces the exported fields of out, a shallow copy of v.
func (c *copier) fields(out, v reflect.Value) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		switch {
		case !f.IsExported():
		case f.Type == textual && (nameFields[f.Name] || v.Type() == fieldTyp && f.Name == "Value"):
			out.Field(i).SetString(c.r.Name(v.Field(i).String()))
		case f.Name == "Nodes" && f.Type == nameList:
			names := slices.Clone(v.Field(i).Interface().([]string))
			for k := range names {
				names[k] = c.r.Name(names[k])
			}
			out.Field(i).Set(reflect.ValueOf(names))
		case v.Type() == inputTyp && f.Name == "Path":
			out.Field(i).SetString(c.r.Text(baseName(v.Field(i).String())))
		default:
			out.Field(i).Set(c.copy(v.Field(i)))
		}
	}
	if v.Type() == eventTyp {
		e := out.Addr().Interface().(*parse.Event)
		t := parse.PlainText(c.r.Text(e.Text().String()))
		e.Lot = parse.NewLot(e.EventKind, t)
		e.SetText(t)
		e.Msg, e.Body = 0, 0 // lengths have changed
	}
}
