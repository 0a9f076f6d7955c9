package advice

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules"
)

// Commands fills in the placeholders in the commands of causes: the runtime of the node, its name,
// and the time of the incident.
type Commands struct {
	node, unit, daemon string // "" if unknown
	from, to           time.Time
	span               string // from and to as flags of journalctl
	distribution       distribution
}

// Logs of an incident are requested with this margin around it.
const (
	before = 10 * time.Minute
	after  = 5 * time.Minute
)

// CommandsFor returns the Commands for a node with its breaches.
func CommandsFor(n *replay.Node, breaches []rules.Breach) Commands {
	var out Commands
	if n.Name != "unknown" && strings.Trim(n.Name, nameRunes) == "" {
		out.node = n.Name
	}
	out.distribution = distributionOf(n)
	out.unit, out.daemon = runtimeOf(cmp.Or(n.Kubelet.Runtime, out.distribution.runtime))
	if from, to := incident(n, breaches); from != 0 {
		out.from = time.Unix(0, from).UTC().Add(-before).Truncate(time.Second)
		out.to = time.Unix(0, to).UTC().Add(after).Truncate(time.Second)
		out.span = fmt.Sprintf(" --since '%s UTC' --until '%s UTC'", out.from.Format(time.DateTime), out.to.Format(time.DateTime))
	}
	return out
}

// nameRunes are the characters of node names; a name with any other character is not used in
// commands.
const nameRunes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._"

// runtimeOf returns the systemd unit and the process name of a runtime, "" if it is unknown.
func runtimeOf(runtime string) (unit, daemon string) {
	for _, r := range [][3]string{{"containerd", "containerd", "containerd"}, {"cri-o", "crio", "crio"}, {"docker", "docker", "dockerd"}} {
		if strings.HasPrefix(strings.ToLower(runtime), r[0]) {
			return r[1], r[2]
		}
	}
	return "", ""
}

// incident returns the span of the worst trouble: from the first to the last episode, else the
// first breach, else the reports of PLEG that state no age, else the whole window; 0 if nothing is dated. It is at most a
// day long: the first one of a trouble, and the last one of a window that shows none, as its end is when somebody looked.
func incident(n *replay.Node, breaches []rules.Breach) (from, to int64) {
	see := func(a, b int64) {
		if a != 0 && (from == 0 || a < from) {
			from = a
		}
		to = max(to, a, b)
	}
	for i := range n.Episodes {
		e := &n.Episodes[i]
		see(e.LastStart.At, max(e.Recovered.At, e.LastReport))
		see(e.FirstReport, e.LastReport)
	}
	if from == 0 {
		for i := range breaches {
			see(breaches[i].Start, breaches[i].End)
			if from != 0 {
				break
			}
		}
	}
	if from == 0 {
		for _, e := range n.Events {
			if e.Is(parse.SigCut) {
				see(e.At, e.At)
			}
		}
	}
	const day = int64(24 * time.Hour) // nobody reads the log of more than a day
	if from == 0 {
		return max(n.Window.Start, n.Window.End-day), n.Window.End
	}
	to = min(to, from+day)
	return from, to
}

var (
	since    = regexp.MustCompile(` --since (?:'TIME'|-\d+(?:min|h|d))`)
	ofPods   = regexp.MustCompile(` --since=\d+h`) // kubectl logs, which has no end time
	nodeName = regexp.MustCompile(`\bNODE\b`)
	// quotedName matches a single-quoted word with the node's name, in which a shell would not
	// expand a variable.
	quotedName = regexp.MustCompile(`'([^'"$` + "`" + `\\]*\bNODE\b[^'"$` + "`" + `\\]*)'`)
	unitFlags  = regexp.MustCompile(`(?:-u (?:containerd|crio|docker)\b ?){2,}`)
	unitNames  = regexp.MustCompile(`\b(?:containerd|crio|docker|dockerd)(?: (?:containerd|crio|docker|dockerd))+\b`)
)

// toDocker translates crictl commands for a node that may not have it.
var toDocker = strings.NewReplacer("crictl inspect --output go-template --template '{{.info.pid}}'", "docker inspect -f '{{.State.Pid}}'",
	"crictl ps -aq --state exited", "docker ps -aq --filter status=exited", "crictl ps", "docker ps", "crictl info", "docker info", "crictl version", "docker version")

// Fill replaces alternatives for the runtime by the node's runtime, a time before now by the time
// of the incident, and NODE by the node's name. If the input does not state the name, the command
// lists the cluster's nodes and reads it. If nothing dates the incident, the time restriction is
// dropped, because the incident need not be recent.
func (c Commands) Fill(s string) string {
	if c.unit != "" {
		s = unitFlags.ReplaceAllString(s, "-u "+c.unit+" ")
		s = unitNames.ReplaceAllStringFunc(s, func(all string) string {
			if name := c.daemon; slices.Contains(strings.Fields(all), name) {
				return name
			}
			return c.unit
		})
	}
	if c.unit == "docker" {
		s = toDocker.Replace(s)
	}
	s = c.fillQuery(c.distribution.fill(s))
	if c.from.IsZero() {
		s = ofPods.ReplaceAllString(since.ReplaceAllString(s, ""), "")
	} else if strings.Contains(s, " --since") {
		s = since.ReplaceAllString(s, c.span)
		s = ofPods.ReplaceAllString(s, " --since-time="+c.from.Format(time.RFC3339))
	}
	switch {
	case !strings.Contains(s, "NODE"): // in haste: there may be thousands of nodes
	case c.node != "":
		s = nodeName.ReplaceAllString(s, c.node)
	case nodeName.MatchString(s):
		s = "kubectl get nodes; read -r node; " + nodeName.ReplaceAllString(quotedName.ReplaceAllString(s, `"$1"`), "$$node")
	}
	return strings.TrimSpace(s)
}
