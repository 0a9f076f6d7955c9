package pleg

// Gauges are the values that the generator sets for kubelet_running_pods and
// kubelet_running_containers. They are updated incrementally.
type Gauges struct {
	Listed     int // pods listed: the pod gauge of 1.16–1.18
	Pods       int // pods with a running sandbox: the pod gauge from 1.19
	Containers [numRaw]int
}

// replace subtracts a pod's old sighting and adds its new one.
func (g *Gauges) replace(old, cur *Pod) {
	g.add(old, -1)
	g.add(cur, 1)
}

func (g *Gauges) add(p *Pod, by int) {
	if p == nil {
		return
	}
	g.Listed += by
	for i := range p.Containers {
		g.Containers[p.Containers[i].State%numRaw] += by
	}
	for i := range p.Sandboxes {
		if p.Sandboxes[i].State == RawRunning {
			g.Pods += by
			return
		}
	}
}
