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
		r.learnEvents(n.Audit.Events)
		for _, b := range n.Blame {
			for _, s := range b.ByPod {
				r.learnPod(s.What, s.ID)
			}
		}
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
// gives it its pseudonym at once. Where a log tells no UIDs, the replay takes
// ns/name for one.
func (r *Redactor) Pod(name, uid string) {
	r.learnPod(name, "")
	if strings.Contains(uid, "/") {
		r.learnPod(uid, "")
	} else {
		r.learn(UID, uid)
	}
	r.Settle()
}

// Nodes learns the names of nodes, for outputs that do not hold a report.
func (r *Redactor) Nodes(ns []*replay.Node) {
	for _, n := range ns {
		r.learnNode(n)
		r.Walk(n)
	}
	r.Settle()
}

// Hosts learns names of nodes.
func (r *Redactor) Hosts(names ...string) {
	for _, n := range names {
		r.learnHostname(n)
	}
	r.Settle()
}

// learnNode learns what the structure of a node names.
func (r *Redactor) learnNode(n *replay.Node) {
	if n.Name != "unknown" {
		r.learnHostname(n.Name)
	}
	for _, e := range n.Events {
		r.learnHostname(e.Origin.Host)
	}
	r.learnEvents(n.Observed)
	for _, f := range n.Failures {
		r.learnPod(f.Pod, f.PodUID())
	}
	for _, t := range n.History.All() {
		r.learnPod(t.Namespace+"/"+t.PodName, t.PodUID)
		r.learn(Container, t.Subject.Name)
	}
	for _, o := range n.Objects {
		if o.Kind == "Node" {
			r.learnHostname(o.Name)
		} else {
			r.learn(Pod, o.Name)
		}
		r.learn(Namespace, o.Namespace)
		r.learn(UID, o.UID)
	}
}

func (r *Redactor) learnEvents(es replay.PodEvents) {
	for _, e := range es.All() {
		r.learnPod(e.Pod, e.PodUID)
	}
}

func (r *Redactor) learnPod(pod, uid string) {
	if ns, name, ok := strings.Cut(pod, "/"); ok {
		r.learn(Namespace, ns)
		r.learnAs(Pod, name)
	}
	if len(uid) >= 8 {
		r.learn(UID, uid)
	}
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
	fileTyp  = reflect.TypeFor[parse.File]()
	factType = reflect.TypeFor[parse.Fact]()
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
		switch v.Type() {
		case fieldTyp:
			w.r.label(v.Interface().(parse.Field))
		case fileTyp, inputTyp:
			w.r.learnPath(v.FieldByName("Path").String())
		}
		if v.Type() == factType {
			w.r.label(parse.Field{Name: v.FieldByName("Key").String(), Value: v.FieldByName("Value").String()})
		}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() {
				continue
			}
			if k := fieldKinds[f.Name]; k != "" && f.Type == textual {
				w.r.label(parse.Field{Name: k, Value: v.Field(i).String()})
			}
			w.walk(v.Field(i))
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

// label learns the value of a label by its name.
func (r *Redactor) label(f parse.Field) {
	k := keyKind(f.Name)
	if k == "" {
		return
	}
	if ns, pod, ok := strings.Cut(f.Value, "/"); ok && k == Pod {
		r.learnAs(Namespace, ns)
		r.learnAs(Pod, pod)
		return
	}
	if from, to := value(k, f.Value); to > from {
		r.learnAs(k, f.Value[from:to])
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

// fieldKinds are fields of records that hold one name of a kind, by keys.
var fieldKinds = map[string]string{"Node": "node", "Host": "node", "Hostname": "node", "Namespace": "namespace", "Pod": "pod", "PodName": "pod", "PodUID": "uid"}

// nameFields are the fields that hold one name and nothing else.
var nameFields = map[string]bool{"Name": true, "Namespace": true, "Pod": true, "PodName": true, "Host": true, "Node": true}

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
			out.Field(i).SetString(c.r.Path(baseName(v.Field(i).String())))
		case v.Type() == fileTyp && f.Name == "Path":
			out.Field(i).SetString(c.r.Path(v.Field(i).String()))
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
