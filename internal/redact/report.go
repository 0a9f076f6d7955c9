package redact

import (
	"strings"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// Analysis learns every name in the inputs of a report and in everything the report says. From then
// on these names are replaced.
func (r *Redactor) Analysis(a *model.Analysis) {
	l := learner{r, map[*parse.File]bool{}}
	for _, in := range a.Inputs {
		r.learnPath(in.Path)
		r.Learn(in.Path)
	}
	for _, w := range a.Warnings {
		l.file(w.File)
		r.Learn(w.Msg)
	}
	for _, n := range a.Nodes {
		r.learnNode(n.Node)
		r.learnEvents(n.Audit.Events)
		for _, b := range n.Blame {
			for _, s := range b.ByPod {
				r.learnPod(s.What, s.ID)
			}
		}
	}
	for _, n := range a.Nodes {
		l.node(n.Node)
	}
	for _, b := range a.Bundles {
		l.bundle(b)
	}
	model.Tell(a, l)
	r.Settle()
}

// Pod learns a pod by its ns/name and UID, either of which may be empty, and assigns its pseudonym
// right away. If a log has no UIDs, replay uses ns/name as UID.
func (r *Redactor) Pod(name, uid string) {
	r.learnPod(name, "")
	if strings.Contains(uid, "/") {
		r.learnPod(uid, "")
	} else {
		r.learn(UID, uid)
	}
	r.Settle()
}

// Nodes learns the names of nodes, for outputs that are not reports.
func (r *Redactor) Nodes(ns []*replay.Node) {
	l := learner{r, map[*parse.File]bool{}}
	for _, n := range ns {
		r.learnNode(n)
		r.learnEvents(n.Observed)
		l.node(n)
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

// learnNode learns the names in the fields of a node.
func (r *Redactor) learnNode(n *replay.Node) {
	if n.Name != "unknown" {
		r.learnHostname(n.Name)
	}
	for _, e := range n.Events {
		r.learnHostname(e.Origin.Host)
	}
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

// label learns the value of a label, whose kind depends on the label's name.
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

// learner learns from records. As model.Names it learns from everything a document says and
// replaces nothing.
type learner struct {
	r     *Redactor
	files map[*parse.File]bool // already seen
}

// Text implements model.Names.
func (l learner) Text(s string) string { l.r.Learn(s); return s }

// Name implements model.Names.
func (l learner) Name(s string) string { l.r.Learn(s); return s }

// Path implements model.Names.
func (l learner) Path(s string) string { l.r.learnPath(s); return s }

func (l learner) file(f *parse.File) {
	if f == nil || l.files[f] {
		return
	}
	l.files[f] = true
	l.r.learnPath(f.Path)
	l.key("node", f.Node)
}

// key learns the value of a field that is one name.
func (l learner) key(name, value string) {
	if value != "" {
		l.r.label(parse.Field{Name: name, Value: value})
		l.r.Learn(value)
	}
}

func (l learner) fields(fs []parse.Field) {
	for _, f := range fs {
		l.key(f.Name, f.Value)
	}
}

// labels learns the values of metric labels. They are names, whatever the label is called, except
// those of labels with a few values that are the same in every cluster.
func (l learner) labels(fs []parse.Field) {
	for _, f := range fs {
		l.r.Learn(f.Name)
		l.key(f.Name, f.Value)
		switch {
		case f.Value == "", keyKind(f.Name) != "", enumerations[f.Name], familiar(f.Value):
		case strings.ContainsAny(f.Value, "/ :"):
			for _, w := range strings.FieldsFunc(f.Value, func(c rune) bool { return strings.ContainsRune("/ :", c) }) {
				if isPathName(w) && !familiar(w) {
					l.r.learnAs(Object, w)
				}
			}
		default:
			l.r.learnAs(Object, f.Value)
		}
	}
}

// enumerations are labels whose values are not names.
var enumerations = wordSet(`__name__ le quantile code verb method version operation_type operation resource subresource scope group type reason state status
	phase condition mode cpu fstype result plugin_name migrated metrics_path severity alertname gitVersion gitCommit gitTreeState buildDate goVersion compiler platform major minor
	kernel_version os_image container_runtime_version kubelet_version kubeproxy_version kernelVersion osVersion dockerVersion cadvisorVersion cadvisorRevision
	probe_type lifecycle_handler container_type work event_type eviction_signal preemption_signal failure_type server_type request_kind request_operation grpc_code grpc_method
	grpc_service grpc_type priority_level flow_schema dry_run content_type handler id image name effect key unit priority qos_class boundary numa_node index source level page pagesize`)

// Cited implements model.Citer.
func (l learner) Cited(es []replay.Evidence) {
	for _, e := range es {
		l.r.Learn(e.Note)
		if e.Record != nil {
			l.file(e.Where().File)
			l.r.Learn(e.Quote())
		}
	}
}

// node learns from the records of a node.
func (l learner) node(n *replay.Node) {
	for _, e := range n.Events {
		l.file(e.File)
		l.key("host", e.Origin.Host)
		l.r.Learn(e.Text().String())
	}
	l.facts(n.Facts)
	for _, o := range n.Objects {
		l.file(o.File)
		l.fields(o.Fields)
		l.r.Learn(o.Text.String())
	}
	for _, s := range n.Series {
		l.key("node", s.Node)
		l.r.Learn(s.Name)
		l.labels(s.Labels)
	}
	for _, s := range n.Scrapes {
		l.file(s.File)
		l.key("node", s.Node)
		l.r.Learn(s.Failed)
	}
	for _, m := range n.Markers {
		l.r.Learn(m.Text.String())
	}
	for _, c := range n.Containers {
		l.file(c.File)
		l.key("namespace", c.Namespace)
		l.key("pod", c.PodName)
		l.key("uid", c.PodUID)
		l.r.learn(Container, c.Name)
		l.r.Learn(c.Text.String())
	}
	for _, c := range n.Coverage {
		l.file(c.File)
		if c.Origin != nil {
			l.key("host", c.Origin.Host)
		}
	}
	said := ""
	for i := range n.Failures {
		if err := n.Failures[i].Err(); err != said { // a daemon that is gone is told a million times
			l.r.Learn(err)
			said = err
		}
	}
	for _, q := range n.Requests.All() {
		l.r.learnPod(q.Pod, "")
		l.r.Learn(q.Err)
	}
	for _, t := range n.History.All() {
		if t.Line != nil {
			l.file(t.Line.Where().File)
		}
	}
}

func (l learner) facts(fs []*parse.Fact) {
	for _, f := range fs {
		l.file(f.File)
		l.key(f.Key, f.Value)
		l.fields(f.Attrs)
		l.r.Learn(f.Text.String())
	}
}

// bundle learns from what belongs to no node.
func (l learner) bundle(b *parse.Bundle) {
	for _, f := range b.Files {
		l.file(f)
	}
	l.facts(b.Facts)
	for _, m := range b.Markers {
		l.file(m.File)
		l.r.Learn(m.Text.String())
	}
}
