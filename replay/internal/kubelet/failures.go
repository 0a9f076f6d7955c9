package kubelet

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// Failure is a CRI call that failed, logged by one or more layers.
type Failure struct {
	Call  string // ListPodSandbox, ContainerStatus, …
	Scope string // all, pod, ready; unknown if it was cut off; "" for calls about one object
	Code  string // name of the gRPC code

	// Details is set only on failures that were constructed or modified, as by tests and redaction. Otherwise
	// the strings are kept interned and built on demand: they differ from failure to failure, and there may be
	// tens of thousands.
	Details *FailureDetails

	Pod      string // ns/name
	End      int64
	Start    host.Instant // End minus the RPC timeout for DeadlineExceeded
	Evidence []host.Evidence

	interned     *parse.StringTable
	err, id, uid parse.StringID
}

// FailureDetails holds the results of Failure's methods of the same names.
type FailureDetails struct{ Err, ObjectID, PodUID string }

// Err returns the error as logged.
func (f *Failure) Err() string {
	if f.Details != nil {
		return f.Details.Err
	}
	return f.text(f.err)
}

// AppendErr appends the result of Err to dst, for callers that visit many failures.
func (f *Failure) AppendErr(dst []byte) []byte {
	if f.Details != nil || f.err == 0 {
		return append(dst, f.Err()...)
	}
	return f.interned.AppendText(dst, f.err)
}

// ObjectID returns the ID of the container or sandbox, as logged.
func (f *Failure) ObjectID() string {
	if f.Details != nil {
		return f.Details.ObjectID
	}
	return f.text(f.id)
}

// PodUID returns the UID of the pod.
func (f *Failure) PodUID() string {
	if f.Details != nil {
		return f.Details.PodUID
	}
	return f.text(f.uid)
}

func (f *Failure) text(s parse.StringID) string {
	if s == 0 {
		return ""
	}
	return f.interned.Text(s)
}

// Unpacked returns a copy of the failure with Details set.
func (f Failure) Unpacked() any {
	f.Details = &FailureDetails{f.Err(), f.ObjectID(), f.PodUID()}
	f.interned, f.err, f.id, f.uid = nil, 0, 0, 0
	return f
}

// About reports whether the call was about the object or its pod. IDs belong to the node's StringTable.
func (f *Failure) About(id, podUID parse.StringID, interned *parse.StringTable) bool {
	if f.Details == nil {
		return f.uid == podUID || f.id == id
	}
	return f.Details.PodUID == interned.Text(podUID) || f.Details.ObjectID == interned.Text(id)
}

// LayerGap is the maximum distance between the lines that the kubelet's layers log about one failed call; they
// are microseconds apart.
const LayerGap = 20 * time.Millisecond

// DeadlineLate is how late a call that times out may return: 0 to 5 ms after its deadline, more on a loaded
// machine.
const DeadlineLate = 40 * time.Millisecond

// FailuresOf merges the lines of all layers into one failure per call. If timeout is 0, it is unknown, and the
// failures have no Start.
func FailuresOf(calls []Call, interned *parse.StringTable, timeout time.Duration) []Failure {
	r := failureReader{interned: interned, timeout: timeout, words: map[parse.StringID]string{}, pods: map[host.PodID]string{}}
	out, lines := make([]Failure, 0, len(calls)), make([]host.Evidence, len(calls))
	for i := range calls {
		lines[i].Record = calls[i].Line
		f := r.failure(&calls[i])
		f.Evidence = lines[i : i+1 : i+1]
		if j := mergeable(out, &f); j >= 0 {
			out[j].merge(&f)
			continue
		}
		out = append(out, f)
	}
	return out
}

// failureReader turns calls into failures, keeping one copy of each of the few distinct words and pods.
type failureReader struct {
	interned *parse.StringTable
	timeout  time.Duration
	words    map[parse.StringID]string
	pods     map[host.PodID]string
}

func (r *failureReader) failure(c *Call) Failure {
	f := Failure{Call: r.word(c.Name), Scope: r.word(c.Scope), Code: r.word(c.code), Pod: r.pod(c.pod),
		interned: r.interned, err: c.err, id: c.id, uid: c.uid}
	if c.Line.Basis == parse.NoTime {
		return f
	}
	f.End = c.Line.At
	if f.Code == "DeadlineExceeded" && slices.Contains(plainCalls, f.Call) && r.timeout > 0 {
		f.Start = host.Instant{At: f.End - int64(r.timeout), Slack: DeadlineLate}
	}
	return f
}

// mostWords limits the distinct words for calls, scopes and codes; any others become "other". The CRI has about
// forty calls.
const mostWords = 1000

func (r *failureReader) word(s parse.StringID) string {
	text, ok := r.words[s]
	switch {
	case ok:
	case len(r.words) == mostWords:
		return "other"
	default:
		text = r.interned.Text(s)
		r.words[s] = text
	}
	return text
}

func (r *failureReader) pod(p host.PodID) string {
	text, ok := r.pods[p]
	if !ok {
		text = p.Text(r.interned)
		r.pods[p] = text
	}
	return text
}

// plainCalls have runtimeRequestTimeout as their deadline. RunPodSandbox has twice that; the deadlines of
// StopContainer and ExecSync depend on the pod.
var plainCalls = []string{"ListPodSandbox", "ListContainers", "PodSandboxStatus", "ContainerStatus",
	"Status", "Version", "CreateContainer", "StartContainer", "RemoveContainer", "StopPodSandbox", "RemovePodSandbox"}

// mergeable returns the index of the failure that f describes from another layer, -1 if there is none.
func mergeable(out []Failure, f *Failure) int {
	if f.End == 0 {
		return -1
	}
	for j := len(out) - 1; j >= 0 && j >= len(out)-8; j-- {
		g := &out[j]
		if f.End-g.End > int64(LayerGap) || g.End == 0 {
			return -1
		}
		if agree(f.Call, g.Call) && agree(f.Code, g.Code) && agree(f.id, g.id) &&
			agree(f.uid, g.uid) && agree(f.Pod, g.Pod) && agree(f.Scope, g.Scope) && !twice(f, g) {
			return j
		}
	}
	return -1
}

// agree reports whether two values are compatible: equal, or one of them unset.
func agree[T comparable](a, b T) bool {
	var none T
	return a == none || b == none || a == b
}

// twice reports whether g already has a line from the layer of f, so that f is another call.
func twice(f, g *Failure) bool {
	e := f.Evidence[0].Record.(*parse.Event)
	return e.Caller != "" && slices.ContainsFunc(g.Evidence, func(x host.Evidence) bool { return x.Record.(*parse.Event).Caller == e.Caller })
}

// merge adds what another layer logged.
func (f *Failure) merge(g *Failure) {
	f.Call, f.Scope, f.Code, f.Pod = cmp.Or(f.Call, g.Call), cmp.Or(f.Scope, g.Scope), cmp.Or(f.Code, g.Code), cmp.Or(f.Pod, g.Pod)
	f.err, f.id, f.uid = cmp.Or(f.err, g.err), cmp.Or(f.id, g.id), cmp.Or(f.uid, g.uid)
	f.Start = cmp.Or(f.Start, g.Start)
	f.Evidence = append(f.Evidence, g.Evidence...)
}

// immediate reports whether an error shows that the call did not wait: there was nothing to connect to. A dial
// that timed out did wait.
func immediate(err string) bool {
	has := func(words string) bool { return strings.Contains(err, words) }
	return !has("timeout") && !has("timed out") &&
		slices.ContainsFunc([]string{"connection refused", "no such file or directory", "connect: ", "onnect to the Docker daemon", "onnect to Docker endpoint"}, has)
}

// TimedOut reports whether an error text says that a call hit its deadline.
func TimedOut(err string) bool {
	return strings.Contains(err, "DeadlineExceeded") || strings.Contains(err, "deadline exceeded") ||
		strings.Contains(err, "operation timeout")
}
