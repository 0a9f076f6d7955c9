package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// world is an hour of a simulated kubelet 1.33: its log at some verbosity, and its relist metrics
// every 15 s. Phases of trouble alternate with quiet ones.
type world struct {
	r         *rand.Rand
	verbosity int
	lines     []worldLine
	relists   []worldRelist
	end       int64
	files     map[string]string // from which tests remove something
}

type worldLine struct {
	at   int64
	text string
}

type worldRelist struct {
	start, listEnd, end int64
	ok                  bool
}

const worldSecond = int64(time.Second)

func newWorld(seed uint64, verbosity int) *world {
	w := &world{r: rand.New(rand.NewPCG(seed, uint64(verbosity))), verbosity: verbosity, files: map[string]string{}}
	t0 := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC).UnixNano() + int64(seed)*7_777_777
	w.end = t0 + 3600*worldSecond
	for _, f := range []string{`cgroup-driver="systemd"`, `config="/var/lib/kubelet/config.yaml"`, `event-qps="50"`, `feature-gates=""`, `hostname-override=""`,
		`max-pods="110"`, `root-dir="/var/lib/kubelet"`, `runtime-request-timeout="2m0s"`, fmt.Sprintf(`v="%d"`, verbosity)} {
		w.log(t0-worldSecond-1_000_000, 'I', "flags.go:64", "FLAG: --%s", f)
	}
	w.log(t0-worldSecond, 'I', "server.go:467", `"Kubelet version" kubeletVersion="v1.33.1"`)
	w.log(t0-100_000, 'I', "kubelet.go:2303", `"Starting kubelet main sync loop"`)
	w.relist(t0, 5_000_000, 2_000_000, "")
	for t := t0 + worldSecond + 10_000_000; t < w.end; {
		kind, n := w.r.IntN(11), 1+w.r.IntN(4)
		if kind < 6 {
			kind, n = 0, 20+w.r.IntN(240)
		}
		for ; n > 0 && t < w.end; n-- {
			t = w.trouble(t, kind) + worldSecond + w.r.Int64N(5_000_000)
		}
	}
	w.syncLoop(t0) // the first iteration skips: no relist has listed pods yet
	w.chatter(t0)
	w.write()
	for at := t0 + 7*worldSecond; at < w.end; at += 15 * worldSecond {
		w.files["metrics/"+time.Unix(0, at).UTC().Format("20060102T150405.000Z")+".prom"] = w.snapshot(t0, at)
	}
	return w
}

func (w *world) log(at int64, severity byte, caller, format string, args ...any) {
	w.lines = append(w.lines, worldLine{at, fmt.Sprintf("%c%s    4242 %s] ", severity, time.Unix(0, at).UTC().Format("0102 15:04:05.000000"), caller) + fmt.Sprintf(format, args...) + "\n"})
}

// trouble runs one relist of a kind: quick, a list that hangs or is refused, a slow list, slow
// inspections. It returns the end of the relist.
func (w *world) trouble(t int64, kind int) int64 {
	list, inspect, fail := 1_000_000*(1+w.r.Int64N(20)), 1_000_000*w.r.Int64N(10), ""
	switch kind {
	case 6, 7:
		list, fail = 120*worldSecond+w.r.Int64N(5_000_000), "rpc error: code = DeadlineExceeded desc = context deadline exceeded"
	case 8:
		list, fail = w.r.Int64N(900_000), "rpc error: code = Unavailable desc = connection error: dial unix /run/x.sock: connect: connection refused"
	case 9:
		list = w.r.Int64N(119) * worldSecond
	case 10:
		inspect = w.r.Int64N(400) * worldSecond
	}
	return w.relist(t, list, inspect, fail)
}

func (w *world) relist(t, list, inspect int64, fail string) int64 {
	if w.verbosity >= 5 {
		w.log(t-20_000, 'I', "generic.go:224", `"GenericPLEG: Relisting"`)
	}
	r := worldRelist{t, t + list, t + list + inspect, fail == ""}
	switch {
	case !r.ok:
		r.end = r.listEnd
		w.log(t+list-50_000, 'E', "log.go:32", `"ListPodSandbox with filter from runtime service failed" err="%s" filter="nil"`, fail)
		w.log(t+list, 'E', "generic.go:238", `"GenericPLEG: Unable to retrieve pods" err="%s"`, fail)
	default:
		if w.verbosity >= 4 {
			w.log(t+list-60_000, 'I', "kuberuntime_manager.go:475", `"Retrieved pods from runtime" all=true`)
		}
		for at := r.listEnd; w.r.IntN(4) == 0 || at < r.end-5*worldSecond; at += 5 * worldSecond {
			w.event(min(at, r.end))
			if at+5*worldSecond > r.end {
				break
			}
		}
	}
	w.relists = append(w.relists, r)
	return r.end
}

// event logs a container start, as the relist and the sync loop do.
func (w *world) event(at int64) {
	id := fmt.Sprintf("%064x", w.r.Uint64())
	if w.verbosity >= 4 {
		w.log(at-30_000, 'I', "generic.go:201", `"GenericPLEG" podUID="0d1c" containerID="%s" oldState="non-existent" newState="running"`, id)
	}
	if start, ok := w.seen(at); ok && at-start < 180*worldSecond {
		w.log(at+20_000, 'I', "kubelet.go:2554", `"SyncLoop (PLEG): event for pod" pod="default/web-0" event={"ID":"0d1c","Type":"ContainerStarted","Data":"%s"}`, id)
	}
}

// seen returns the start of the last relist that has listed pods, and whether there is one.
func (w *world) seen(at int64) (start int64, ok bool) {
	for i := len(w.relists) - 1; i >= 0; i-- {
		if r := &w.relists[i]; r.ok && r.listEnd <= at {
			return r.start, true
		}
	}
	return 0, false
}

// syncLoop checks the health as the kubelet does, and logs iterations that skip.
func (w *world) syncLoop(t int64) {
	pause := worldSecond / 10
	for t < w.end {
		start, ok := w.seen(t)
		switch {
		case !ok:
			w.log(t, 'E', "kubelet.go:2327", `"Skipping pod synchronization" err="PLEG is not healthy: pleg has yet to be successful"`)
		case t-start > 180*worldSecond:
			w.log(t+150_000, 'E', "kubelet.go:2327", `"Skipping pod synchronization" err="PLEG is not healthy: pleg was last seen active %s ago; threshold is 3m0s"`, time.Duration(t-start))
		default:
			pause = worldSecond / 10
			t += worldSecond
			continue
		}
		t += pause
		pause = min(2*pause, 5*worldSecond)
	}
}

// chatter logs what other goroutines write, whatever PLEG does.
func (w *world) chatter(t int64) {
	for ; t < w.end; t += 2*worldSecond + w.r.Int64N(worldSecond) {
		for k := range 3 {
			w.log(t+int64(k)*1_000_000, 'I', "reconciler_common.go:251", `"operationExecutor.VerifyControllerAttachedVolume started" volume="v%d"`, k)
		}
	}
}

// write splits the log into two files, as rotation does.
func (w *world) write() {
	w.lines = slices.DeleteFunc(w.lines, func(l worldLine) bool { return l.at >= w.end })
	slices.SortStableFunc(w.lines, func(a, b worldLine) int { return cmp.Compare(a.at, b.at) })
	half := len(w.lines) * 2 / 5
	for name, part := range map[string][]worldLine{"kubelet.log.1": w.lines[:half], "kubelet.log": w.lines[half:]} {
		var b strings.Builder
		for _, l := range part {
			b.WriteString(l.text)
		}
		w.files[name] = b.String()
	}
}

var worldBuckets = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// snapshot returns the response of /metrics at a time.
func (w *world) snapshot(t0, at int64) string {
	var took, apart []float64
	last := int64(0)
	for _, r := range w.relists {
		if r.start <= at && last != 0 {
			apart = append(apart, float64(r.start-last)/1e9)
		}
		if r.end <= at {
			took = append(took, float64(r.end-r.start)/1e9)
		}
		if r.ok && r.listEnd <= at {
			last = r.start
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds %.2f\n# TYPE kubelet_pleg_last_seen_seconds gauge\nkubelet_pleg_last_seen_seconds %d\n",
		float64(t0-worldSecond)/1e9, last/worldSecond)
	for name, values := range map[string][]float64{"duration": took, "interval": apart} {
		name = "kubelet_pleg_relist_" + name + "_seconds"
		fmt.Fprintf(&b, "# TYPE %s histogram\n", name)
		sum := 0.0
		for _, v := range values {
			sum += v
		}
		for _, le := range worldBuckets {
			n := 0
			for _, v := range values {
				if v <= le {
					n++
				}
			}
			fmt.Fprintf(&b, "%s_bucket{le=\"%g\"} %d\n", name, le, n)
		}
		fmt.Fprintf(&b, "%s_bucket{le=\"+Inf\"} %d\n%s_sum %.9f\n%s_count %d\n", name, len(values), name, sum, name, len(values))
	}
	return b.String()
}

// put writes the wanted files, changed or not, and returns their directory.
func (w *world) put(t *testing.T, want func(name string) bool, change func(name, text string) string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range slices.Sorted(maps.Keys(w.files)) { // in a fixed order: want and change may use random numbers
		text := w.files[name]
		if !want(name) {
			continue
		}
		if change != nil {
			text = change(name, text)
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
