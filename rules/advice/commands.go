package advice

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules"
)

// Commands fills in what the commands of the causes leave open: the runtime of
// the node, and when the incident was.
type Commands struct {
	node, unit, daemon string // "" unknown
	from, to           time.Time
	distribution       distribution
	windows            bool
}

// The logs of an incident are asked for from so long before it to so long after.
const (
	before = 10 * time.Minute
	after  = 5 * time.Minute
)

// CommandsFor returns the Commands of a node with its breaches.
func CommandsFor(n *replay.Node, breaches []rules.Breach) Commands {
	var out Commands
	if n.Name != "unknown" && strings.Trim(n.Name, nameRunes) == "" {
		out.node = n.Name
	}
	out.distribution, out.windows = distributionOf(n), n.Kubelet.OS == "windows"
	out.unit, out.daemon = runtimeOf(cmp.Or(n.Kubelet.Runtime, out.distribution.runtime))
	if from, to := incident(n, breaches); from != 0 {
		out.from = time.Unix(0, from).UTC().Add(-before).Truncate(time.Second)
		out.to = time.Unix(0, to).UTC().Add(after).Truncate(time.Second)
	}
	return out
}

// nameRunes are what the name of a node consists of; one with others is none, and
// has no place in a command.
const nameRunes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._"

// runtimeOf is the systemd unit of a runtime and its process, "" for none that is known.
func runtimeOf(runtime string) (unit, daemon string) {
	for _, r := range [][3]string{{"containerd", "containerd", "containerd"}, {"cri-o", "crio", "crio"}, {"docker", "docker", "dockerd"}} {
		if strings.HasPrefix(strings.ToLower(runtime), r[0]) {
			return r[1], r[2]
		}
	}
	return "", ""
}

// incident is when the worst happened: the first to the last episode, or else
// the first breach, or else all that the records cover; 0 where nothing is dated.
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
		from, to = n.Window.Start, n.Window.End
	}
	if day := int64(24 * time.Hour); to-from > day { // the log of a day is as much as anybody reads
		to = from + day
	}
	return from, to
}

var (
	since    = regexp.MustCompile(` --since (?:'TIME'|-\d+(?:min|h|d))`)
	ofPods   = regexp.MustCompile(` --since=\d+h`) // kubectl logs, which knows no end
	nodeName = regexp.MustCompile(`\bNODE\b`)
	// quotedName is a quoted word with the node's name, of which a shell reads a variable.
	quotedName = regexp.MustCompile(`'([^'"$` + "`" + `\\]*\bNODE\b[^'"$` + "`" + `\\]*)'`)
	unitFlags  = regexp.MustCompile(`(?:-u (?:containerd|crio|docker)\b ?){2,}`)
	unitNames  = regexp.MustCompile(`\b(?:containerd|crio|docker|dockerd)(?: (?:containerd|crio|docker|dockerd))+\b`)
)

// toDocker turns commands of crictl into those of a node that may have none.
var toDocker = strings.NewReplacer("crictl inspect --output go-template --template '{{.info.pid}}'", "docker inspect -f '{{.State.Pid}}'",
	"crictl ps -aq --state exited", "docker ps -aq --filter status=exited", "crictl ps", "docker ps", "crictl info", "docker info", "crictl version", "docker version")

// Fill replaces the runtimes that a command may be about by the one that the node has,
// a time before now by the time of the incident, and NODE by the node's name: one that
// the input does not state is asked for, below those of the cluster. Where nothing dates the incident, all is asked for: it need not be of the last hour.
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
	if s = c.distribution.fill(s); c.windows {
		s = c.fillWindows(s)
	}
	if c.from.IsZero() {
		s = ofPods.ReplaceAllString(since.ReplaceAllString(s, ""), "")
	} else {
		s = since.ReplaceAllString(s, fmt.Sprintf(" --since '%s UTC' --until '%s UTC'", c.from.Format(time.DateTime), c.to.Format(time.DateTime)))
		s = ofPods.ReplaceAllString(s, " --since-time="+c.from.Format(time.RFC3339))
	}
	switch {
	case c.node != "":
		s = nodeName.ReplaceAllString(s, c.node)
	case nodeName.MatchString(s):
		s = "kubectl get nodes; read -r node; " + nodeName.ReplaceAllString(quotedName.ReplaceAllString(s, `"$1"`), "$$node")
	}
	return strings.TrimSpace(s)
}
