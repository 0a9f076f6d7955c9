// Package genlog writes large journals of a node for benchmarks: a kubelet at verbosity 2 among
// containerd, systemd, the kernel, sshd, audit and NetworkManager, with pods that come and go, and
// occasionally a runtime that hangs until PLEG is unhealthy. Equal seeds give equal bytes.
package genlog

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"time"
)

// Options configure Write.
type Options struct {
	Bytes int64  // stop after the line that reaches this size
	Seed  uint64 // seed of everything random
	// Errors is the percentage of errors among the kubelet's routine lines: 2 for a typical node,
	// 19 for one in trouble.
	Errors int
}

// start is the time of the first line.
var start = time.Date(2026, 3, 9, 0, 0, 0, 0, time.UTC)

// Timing of hangs and relists.
const (
	hangEvery = 2 * time.Hour
	hangFor   = 9 * time.Minute
	threshold = 3 * time.Minute
	rpcLimit  = 2 * time.Minute
	period    = time.Second // from the end of a relist to the start of the next
)

// host is the node of all lines.
const host = "worker-3.example.com "

// Write writes a journal in the format of journalctl -o short.
func Write(w io.Writer, opt Options) error {
	g := &gen{
		w: bufio.NewWriterSize(w, 1<<20), r: rand.New(rand.NewPCG(opt.Seed, 1)),
		now: start, errors: opt.Errors, nextHang: start.Add(40 * time.Minute),
	}
	for range 60 {
		g.pods = append(g.pods, g.newPod())
	}
	for g.n < opt.Bytes {
		g.step()
		if g.err != nil {
			return g.err
		}
	}
	return g.w.Flush()
}

// gen is a journal being written.
type gen struct {
	w      *bufio.Writer
	r      *rand.Rand
	n      int64
	err    error
	now    time.Time
	errors int
	pods   []pod
	buf    []byte

	nextHang  time.Time
	hangStart time.Time // start of the hanging relist, zero if none hangs
	nextRPC   time.Time // when its CRI call times out
	nextSkip  time.Time // when the sync loop reports again
}

type pod struct{ ns, name, uid, id string }

var (
	namespaces = []string{"default", "kube-system", "monitoring", "shop", "batch", "openshift-ingress"}
	bases      = []string{"web", "api", "cart-service", "node-exporter", "coredns", "report", "worker", "queue-consumer"}
)

func (g *gen) newPod() pod {
	return pod{
		ns:   namespaces[g.r.IntN(len(namespaces))],
		name: fmt.Sprintf("%s-%08x-%05x", bases[g.r.IntN(len(bases))], g.r.Uint32(), g.r.Uint32()&0xfffff),
		uid:  fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", g.r.Uint32(), g.r.Uint32()&0xffff, g.r.Uint32()&0xfff, g.r.Uint32()&0xfff, g.r.Uint64()&0xffffffffffff),
		id:   fmt.Sprintf("%016x%016x%016x%016x", g.r.Uint64(), g.r.Uint64(), g.r.Uint64(), g.r.Uint64()),
	}
}

// step writes the next lines.
func (g *gen) step() {
	g.now = g.now.Add(time.Duration(g.r.IntN(140)) * time.Millisecond)
	g.hang()
	switch k := g.r.IntN(1000); {
	case k < 650:
		g.chatter()
	case k < 690:
		g.lifecycle()
	default:
		g.others(k)
	}
}

// hang simulates the episodes in which the runtime is unresponsive.
func (g *gen) hang() {
	if g.hangStart.IsZero() {
		if g.now.Before(g.nextHang) {
			return
		}
		g.hangStart = g.now
		g.nextRPC = g.now.Add(period + rpcLimit)
		g.nextSkip = g.now.Add(threshold)
	}
	if g.now.After(g.nextRPC) {
		g.klog('E', "remote_runtime.go:277", `"ListPodSandbox with filter from runtime service failed" err="rpc error: code = DeadlineExceeded desc = context deadline exceeded" filter="nil"`)
		g.klog('E', "kuberuntime_sandbox.go:285", `"Failed to list pod sandboxes" err="rpc error: code = DeadlineExceeded desc = context deadline exceeded"`)
		g.klog('E', "generic.go:238", `"GenericPLEG: Unable to retrieve pods" err="rpc error: code = DeadlineExceeded desc = context deadline exceeded"`)
		g.nextRPC = g.now.Add(period + rpcLimit)
	}
	if g.now.After(g.nextSkip) {
		g.klog('E', "kubelet.go:2327", fmt.Sprintf(`"Skipping pod synchronization" err="PLEG is not healthy: pleg was last seen active %v ago; threshold is %v"`, g.now.Sub(g.hangStart), threshold))
		g.nextSkip = g.nextSkip.Add(5 * time.Second)
	}
	if g.now.Sub(g.hangStart) > hangFor {
		g.hangStart = time.Time{}
		g.nextHang = g.now.Add(hangEvery)
	}
}

// lifecycle starts or stops a container, as logged by the kubelet and the runtime.
func (g *gen) lifecycle() {
	i := g.r.IntN(len(g.pods))
	p := &g.pods[i]
	kind, verb := "ContainerStarted", "StartContainer"
	if g.r.IntN(2) == 0 {
		kind, verb = "ContainerDied", "StopContainer"
		*p = g.newPod()
	}
	g.line("containerd[655]", fmt.Sprintf(`time="%s" level=info msg="%s for \"%s\" returns successfully"`, g.now.Format(time.RFC3339Nano), verb, p.id))
	if g.hangStart.IsZero() {
		g.klog('I', "kubelet.go:2250", fmt.Sprintf(`"SyncLoop (PLEG): event for pod" pod="%s/%s" event=&{ID:%s Type:%s Data:%s}`, p.ns, p.name, p.uid, kind, p.id))
		g.klog('I', "kubelet.go:2250", fmt.Sprintf(`"SyncLoop (PLEG): event for pod" pod="%s/%s" event=&{ID:%s Type:%s Data:%s}`, p.ns, p.name, p.uid, kind, p.uid))
	}
}

// chatter writes a routine line of the kubelet.
func (g *gen) chatter() {
	p := &g.pods[g.r.IntN(len(g.pods))]
	if g.r.IntN(100) < g.errors {
		g.trouble(p)
		return
	}
	switch g.r.IntN(6) {
	case 0:
		g.klog('I', "reconciler_common.go:245", fmt.Sprintf(`"operationExecutor.VerifyControllerAttachedVolume started for volume \"kube-api-access-%s\" (UniqueName: \"kubernetes.io/projected/%s-kube-api-access\") pod \"%s\" (UID: \"%s\") " pod="%s/%s"`, p.id[:5], p.uid, p.name, p.uid, p.ns, p.name))
	case 1:
		g.klog('I', "operation_generator.go:722", fmt.Sprintf(`"MountVolume.SetUp succeeded for volume \"config-volume\" (UniqueName: \"kubernetes.io/configmap/%s-config-volume\") pod \"%s\" (UID: \"%s\") " pod="%s/%s"`, p.uid, p.name, p.uid, p.ns, p.name))
	case 2:
		g.klog('I', "kubelet_getters.go:182", fmt.Sprintf(`"Pod status updated" pod="%s/%s" status="Running"`, p.ns, p.name))
	case 3:
		g.klog('I', "prober.go:107", fmt.Sprintf(`"Probe succeeded" probeType="Readiness" pod="%s/%s" podUID="%s" containerName="main"`, p.ns, p.name, p.uid))
	case 4:
		g.klog('I', "scope.go:117", fmt.Sprintf(`"RemoveContainer" containerID="%s"`, p.id))
	default:
		g.klog('I', "pod_startup_latency_tracker.go:102", fmt.Sprintf(`"Observed pod startup duration" pod="%s/%s" podStartSLOduration=%d.%09d podStartE2EDuration="2.41s" podCreationTimestamp="%s" firstStartedPulling="0001-01-01 00:00:00 +0000 UTC"`, p.ns, p.name, g.r.IntN(9), g.r.IntN(1e9), g.now.Format("2006-01-02 15:04:05 +0000 UTC")))
	}
}

// trouble writes an error unrelated to PLEG.
func (g *gen) trouble(p *pod) {
	switch g.r.IntN(3) {
	case 0:
		g.klog('E', "pod_workers.go:1294", fmt.Sprintf(`"Error syncing pod, skipping" err="failed to \"StartContainer\" for \"main\" with CrashLoopBackOff: \"back-off 5m0s restarting failed container=main pod=%s_%s(%s)\"" pod="%s/%s" podUID="%s"`, p.name, p.ns, p.uid, p.ns, p.name, p.uid))
	case 1:
		g.klog('W', "reflector.go:535", fmt.Sprintf(`object-"%s"/"kube-root-ca.crt": failed to list *v1.ConfigMap: Get "https://10.0.0.1:6443/api/v1/namespaces/%s/configmaps": net/http: TLS handshake timeout`, p.ns, p.ns))
	default:
		g.klog('E', "remote_image.go:180", fmt.Sprintf(`"PullImage from image service failed" err="rpc error: code = NotFound desc = failed to pull and unpack image \"registry.local/%s:latest\": not found" image="registry.local/%s:latest"`, p.name, p.name))
	}
}

// others writes a line of another unit.
func (g *gen) others(k int) {
	p := &g.pods[g.r.IntN(len(g.pods))]
	switch {
	case k < 850:
		g.line("containerd[655]", fmt.Sprintf(`time="%s" level=info msg="ImageUpdate event &ImageUpdate{Name:registry.local/%s@sha256:%s,Labels:map[string]string{io.cri-containerd.image: managed,},XXX_unrecognized:[],}"`, g.now.Format(time.RFC3339Nano), p.name, p.id))
	case k < 900:
		g.line("systemd[1]", fmt.Sprintf("run-containerd-runc-k8s.io-%s-runc.%s.mount: Deactivated successfully.", p.id, p.id[:6]))
	case k < 930:
		g.line("kernel", fmt.Sprintf("IPv6: ADDRCONF(NETDEV_CHANGE): veth%s: link becomes ready", p.id[:8]))
	case k < 950:
		g.line("sshd["+strconv.Itoa(2000+g.r.IntN(9000))+"]", fmt.Sprintf("Accepted publickey for core from 10.1.%d.%d port %d ssh2: ED25519 SHA256:%s", g.r.IntN(255), g.r.IntN(255), 1024+g.r.IntN(60000), p.id[:43]))
	case k < 980:
		g.line("audit[1]", fmt.Sprintf(`SERVICE_START pid=1 uid=0 auid=4294967295 ses=4294967295 subj=system_u:system_r:init_t:s0 msg='unit=logrotate comm="systemd" exe="/usr/lib/systemd/systemd" hostname=? addr=? terminal=? res=success' seq=%d`, g.n))
	default:
		g.line("NetworkManager[801]", fmt.Sprintf("<info>  [%d.%04d] device (veth%s): carrier: link connected", g.now.Unix(), g.r.IntN(10000), p.id[:8]))
	}
}

// klog writes a line of the kubelet.
func (g *gen) klog(severity byte, caller, msg string) {
	g.prefix("kubelet[812]")
	g.buf = append(g.buf, severity)
	g.buf = g.now.AppendFormat(g.buf, "0102 15:04:05.000000")
	g.buf = append(g.buf, "     812 "...)
	g.buf = append(g.buf, caller...)
	g.buf = append(g.buf, "] "...)
	g.end(msg)
}

func (g *gen) line(who, msg string) {
	g.prefix(who)
	g.end(msg)
}

func (g *gen) prefix(who string) {
	g.buf = g.now.AppendFormat(g.buf[:0], "Jan 02 15:04:05 ")
	g.buf = append(g.buf, host...) // not in the layout, because its digit would be taken for a part of the time
	g.buf = append(g.buf, who...)
	g.buf = append(g.buf, ": "...)
}

func (g *gen) end(msg string) {
	g.buf = append(g.buf, msg...)
	g.buf = append(g.buf, '\n')
	n, err := g.w.Write(g.buf)
	g.n += int64(n)
	if err != nil {
		g.err = err
	}
}
