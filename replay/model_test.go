package replay

import (
	"cmp"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
)

// model is a miniature kubelet: one relist goroutine, one sync loop, a runtime with random trouble. It writes
// the lines that a kubelet would, and keeps the truth to check the rebuild against.
type model struct {
	rng     *rand.Rand
	verbose bool // -v=5
	lines   []modelLine
	starts  []int64    // true relist starts
	ends    []int64    // true ends of the same relists
	listed  [][2]int64 // for each relist that listed pods: its start, and when its list returned
	end     int64
}

type modelLine struct {
	at   int64
	text string
}

const (
	sec = int64(time.Second)
	ms  = int64(time.Millisecond)
)

func (m *model) log(at int64, severity byte, caller, format string, args ...any) {
	stamp := time.Unix(0, at).UTC().Format("0102 15:04:05.000000")
	m.lines = append(m.lines, modelLine{at, fmt.Sprintf("%c%s    4242 %s] ", severity, stamp, caller) + fmt.Sprintf(format, args...)})
}

// relists runs the relist goroutine until end. Trouble is drawn per phase: quick relists, list timeout, refused
// connection, slow list, slow inspection.
func (m *model) relists(t int64) {
	const timeout = 120 * sec
	for t < m.end {
		kind, n := m.rng.Intn(10), 1+m.rng.Intn(4)
		if kind < 6 {
			kind, n = 0, 20+m.rng.Intn(200)
		}
		for ; n > 0 && t < m.end; n-- {
			m.starts = append(m.starts, t)
			if m.verbose {
				m.log(t-20_000, 'I', "generic.go:224", `"GenericPLEG: Relisting"`)
			}
			list, inspect := int64(m.rng.Intn(20)+1)*ms, int64(m.rng.Intn(10))*ms
			fail := ""
			switch kind {
			case 6:
				list, fail = timeout+int64(m.rng.Intn(5))*ms, "DeadlineExceeded"
			case 7:
				list, fail = int64(m.rng.Intn(900))*1000, "Unavailable"
			case 8:
				list = int64(m.rng.Intn(119)) * sec
			case 9:
				inspect = int64(m.rng.Intn(400)) * sec
			}
			t = m.relist(t, list, inspect, fail)
			m.ends = append(m.ends, t)
			t += sec + int64(m.rng.Intn(5))*ms
		}
	}
}

func (m *model) relist(t, list, inspect int64, fail string) int64 {
	if fail != "" {
		err := "rpc error: code = DeadlineExceeded desc = context deadline exceeded"
		if fail == "Unavailable" {
			err = "rpc error: code = Unavailable desc = connection error: dial unix /run/x.sock: connect: connection refused"
		}
		m.log(t+list-50_000, 'E', "remote_runtime.go:294", `"ListPodSandbox with filter from runtime service failed" err="%s" filter="nil"`, err)
		m.log(t+list, 'E', "generic.go:238", `"GenericPLEG: Unable to retrieve pods" err="%s"`, err)
		return t + list
	}
	m.listed = append(m.listed, [2]int64{t, t + list})
	if inspect > sec {
		for at := t + list + sec/2; at < t+list+inspect; at += sec * 7 {
			m.log(at, 'I', "generic.go:334", `"Generic (PLEG): container finished" podID="a" containerID="%d" exitCode=1`, at)
		}
	}
	return t + list + inspect
}

// seen returns the start of the relist that the health check sees; false if none has listed.
func (m *model) seen(at int64) (start int64, ok bool) {
	i, _ := slices.BinarySearchFunc(m.listed, at, func(l [2]int64, t int64) int { return cmp.Compare(l[1], t+1) })
	if i == 0 {
		return 0, false
	}
	return m.listed[i-1][0], true
}

// syncLoop checks health as the kubelet does and logs skipped iterations.
func (m *model) syncLoop(t int64) {
	pause := kubelet.BackoffFirst
	for t < m.end {
		start, ok := m.seen(t)
		switch {
		case !ok:
			m.log(t+80_000, 'E', "kubelet.go:2327", `"Skipping pod synchronization" err="PLEG is not healthy: pleg has yet to be successful"`)
		case t-start > 180*sec:
			m.log(t+150_000, 'E', "kubelet.go:2327",
				`"Skipping pod synchronization" err="PLEG is not healthy: pleg was last seen active %s ago; threshold is 3m0s"`, time.Duration(t-start))
		default:
			pause = kubelet.BackoffFirst
			if m.rng.Intn(5) == 0 {
				m.log(t, 'I', "kubelet_getters.go:187", `"Pod status updated" pod="default/a" status="Running"`)
			}
			t += sec
			continue
		}
		t += int64(pause)
		pause = min(2*pause, kubelet.BackoffMax)
	}
}

// ordinary writes what other goroutines of a kubelet log, independent of PLEG.
func (m *model) ordinary(t int64) {
	for ; t < m.end; t += 2*sec + int64(m.rng.Intn(1000))*ms {
		for k := 0; k < 3; k++ {
			m.log(t+int64(k)*ms, 'I', "reconciler.go:224", `"operationExecutor.VerifyControllerAttachedVolume started" volume="v%d"`, k)
		}
	}
}

// unhealthy returns the true unhealthy intervals, each from the breach until the list that ended it returned.
func (m *model) unhealthy() [][2]int64 {
	var out [][2]int64
	for i, l := range m.listed {
		next := m.end
		if i+1 < len(m.listed) {
			next = m.listed[i+1][1]
		}
		breach := max(l[0]+180*sec, l[1])
		if next <= breach {
			continue
		}
		if k := len(out); k > 0 && out[k-1][1] == breach {
			out[k-1][1] = next
			continue
		}
		out = append(out, [2]int64{l[0] + 180*sec, next})
	}
	return out
}

func runModel(seed int64, verbose bool) *model {
	m := &model{rng: rand.New(rand.NewSource(seed)), verbose: verbose}
	t0 := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC).UnixNano() + seed*7_777_777
	m.end = t0 + 3600*sec
	m.log(t0-sec, 'I', "server.go:467", `"Kubelet version" kubeletVersion="v1.28.0"`)
	m.log(t0-100_000, 'I', "kubelet.go:2303", `"Starting kubelet main sync loop"`)
	m.listed = append(m.listed, [2]int64{t0, t0 + ms}) // the first relist works
	m.starts, m.ends = append(m.starts, t0), append(m.ends, t0+ms)
	if verbose {
		m.log(t0-20_000, 'I', "generic.go:224", `"GenericPLEG: Relisting"`)
	}
	m.relists(t0 + sec + 2*ms)
	m.syncLoop(t0) // its first iteration skips: no relist has listed yet
	m.ordinary(t0)
	slices.SortStableFunc(m.lines, func(a, b modelLine) int { return cmp.Compare(a.at, b.at) })
	m.lines = slices.DeleteFunc(m.lines, func(l modelLine) bool { return l.at >= m.end })
	m.listed = slices.DeleteFunc(m.listed, func(l [2]int64) bool { return l[1] >= m.end })
	return m
}

func (m *model) text() string {
	var b strings.Builder
	for _, l := range m.lines {
		b.WriteString(l.text)
		b.WriteByte('\n')
	}
	return b.String()
}

// TestModel checks the rebuild of random hours: every claimed relist ran, every dated failure is claimed, and
// every reported interval is one episode with the right breach and a recovery that is neither early nor late.
func TestModel(t *testing.T) {
	for seed := int64(0); seed < 24; seed++ {
		m := runModel(seed, seed%2 == 1)
		n := buildOne(t, m.text())
		checkSane(t, n)
		m.checkLedger(t, n, seed)
		m.checkEpisodes(t, n, seed)
		m.checkHealth(t, n, seed, 0.5)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// TestModelCut checks the same hours with logs that begin or end anywhere, also in the middle of a relist: the
// rebuild yields less, but nothing false.
func TestModelCut(t *testing.T) {
	for seed := int64(0); seed < 40; seed++ {
		m := runModel(seed, seed%2 == 1)
		lines := strings.SplitAfter(m.text(), "\n")
		i := m.rng.Intn(len(lines) - 20)
		j := i + 20 + m.rng.Intn(len(lines)-i-19)
		n := buildOne(t, strings.Join(lines[i:j], ""))
		checkSane(t, n)
		m.checkStarts(t, n, seed)
		m.checkEnds(t, n, seed)
		m.checkHealth(t, n, seed, 0)
		if t.Failed() {
			t.Fatalf("seed %d, lines %d to %d", seed, i, j)
		}
	}
}

// TestModelHoles removes intervals from the same hours, as a journal with rate limiting does, or keeps only
// what a search for PLEG finds: no health, recovery or relist may be claimed that was not there.
func TestModelHoles(t *testing.T) {
	for seed := int64(0); seed < 30; seed++ {
		m := runModel(seed, seed%2 == 1)
		holed := slices.Clone(m.lines)
		if seed%3 == 2 {
			holed = slices.DeleteFunc(holed, func(l modelLine) bool {
				return !strings.Contains(l.text, "PLEG") && !strings.Contains(l.text, "rpc error")
			})
		} else {
			for k := 0; k < 8; k++ {
				from := m.lines[0].at + m.rng.Int63n(m.end-m.lines[0].at)
				to := from + 20*sec + m.rng.Int63n(300*sec)
				holed = slices.DeleteFunc(holed, func(l modelLine) bool { return l.at > from && l.at < to })
			}
		}
		var b strings.Builder
		for _, l := range holed {
			b.WriteString(l.text + "\n")
		}
		n := buildOne(t, b.String())
		checkSane(t, n)
		m.checkStarts(t, n, seed)
		m.checkEnds(t, n, seed)
		m.checkHealth(t, n, seed, 0)
		for i := range n.Episodes {
			e := &n.Episodes[i]
			for _, u := range m.unhealthy() {
				if d := e.Breach - u[0]; d > -250*ms && d < 250*ms && e.Recovered.Known() && e.Recovered.At+int64(e.Recovered.Slack) < u[1]-ms {
					t.Errorf("seed %d: recovered %s (%s), truth %s", seed, clock(e.Recovered.At), e.RecoveredBasis, clock(u[1]))
				}
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// checkHealth checks that no health claim is false, and that at least the given share of the healthy time is
// claimed.
func (m *model) checkHealth(t *testing.T, n *Node, seed int64, share float64) {
	t.Helper()
	bad := m.unhealthy()
	lap := func(h HealthSpan, u [2]int64) int64 { return min(h.To, u[1]) - max(h.From, u[0]) }
	well := m.end - m.lines[0].at
	for _, u := range bad {
		well -= u[1] - u[0]
	}
	claimed := int64(0)
	for _, h := range n.Health {
		in := int64(0)
		for _, u := range bad {
			in += max(0, lap(h, u))
		}
		switch h.State {
		case Healthy:
			claimed += h.To - h.From - in
			if in > 5*ms {
				t.Errorf("seed %d: %s to %s is claimed healthy (%s); %v of it was not", seed, clock(h.From), clock(h.To), h.Proof, time.Duration(in))
			}
		case Unhealthy:
			if h.To-h.From-in > 250*ms {
				t.Errorf("seed %d: %s to %s is claimed unhealthy (%s); %v of it was not", seed, clock(h.From), clock(h.To), h.Proof, time.Duration(h.To-h.From-in))
			}
		}
	}
	if float64(claimed) < share*float64(well) {
		t.Errorf("seed %d: of %v of health %v is claimed", seed, time.Duration(well), time.Duration(claimed))
	}
}

// checkEnds checks that each dated relist ended when the ledger says.
func (m *model) checkEnds(t *testing.T, n *Node, seed int64) {
	t.Helper()
	for i := range n.Relists {
		r := &n.Relists[i]
		k := slices.IndexFunc(m.starts, func(s int64) bool { return within(r.Start, s, 3*time.Millisecond) })
		if k < 0 || !r.End.Known() || r.Start.Slack > 400*time.Millisecond || k >= len(m.ends) {
			continue
		}
		if !within(r.End, m.ends[k], 5*time.Millisecond) {
			t.Errorf("seed %d: relist of %s ends %s ±%v (%v), truth %s", seed, clock(r.Start.At), clock(r.End.At), r.End.Slack, r.Basis, clock(m.ends[k]))
		}
	}
}

func (m *model) checkLedger(t *testing.T, n *Node, seed int64) {
	t.Helper()
	m.checkStarts(t, n, seed)
	m.checkEnds(t, n, seed)
	if m.verbose && len(n.Relists) < len(m.starts)-1 {
		t.Errorf("seed %d: %d relists in the ledger, want %d", seed, len(n.Relists), len(m.starts))
	}
}

// checkStarts checks that every relist in the ledger ran.
func (m *model) checkStarts(t *testing.T, n *Node, seed int64) {
	t.Helper()
	for i := range n.Relists {
		r := &n.Relists[i]
		if !slices.ContainsFunc(m.starts, func(s int64) bool { return within(r.Start, s, 3*time.Millisecond) }) {
			t.Errorf("seed %d: no relist ran at %s ±%v (%v)", seed, clock(r.Start.At), r.Start.Slack, r.Basis)
		}
	}
}

func (m *model) checkEpisodes(t *testing.T, n *Node, seed int64) {
	t.Helper()
	matched := 0
	for _, u := range m.unhealthy() {
		var got *Episode
		for i := range n.Episodes {
			if d := n.Episodes[i].Breach - u[0]; d > -250*ms && d < 250*ms {
				got = &n.Episodes[i]
			}
		}
		reports := 0
		for _, a := range m.lines {
			if a.at >= u[0] && a.at <= u[1]+sec && strings.Contains(a.text, "last seen active") {
				reports++
			}
		}
		switch {
		case got == nil && reports > 0 && u[1]-u[0] > 6*sec:
			t.Errorf("seed %d: no episode for %s to %s (%d lines)", seed, clock(u[0]), clock(u[1]), reports)
		case got != nil:
			matched++
			if got.Recovered.Known() && (got.Recovered.At < u[1]-ms || got.Recovered.At > u[1]+16*sec) {
				t.Errorf("seed %d: recovered %s (%s), truth %s", seed, clock(got.Recovered.At), got.RecoveredBasis, clock(u[1]))
			}
			if !got.Recovered.Known() && u[1] < m.end-30*sec {
				t.Errorf("seed %d: recovery at %s not found", seed, clock(u[1]))
			}
		}
	}
	if matched < len(n.Episodes) {
		t.Errorf("seed %d: %d of %d episodes are true", seed, matched, len(n.Episodes))
	}
}
