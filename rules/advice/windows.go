package advice

import (
	"regexp"
	"strings"
	"time"
)

// onWindows is what collects an input of a node that runs Windows, as Fill takes it: from
// afar, or in PowerShell on the node. It is "" where no command is certain, as logs lie
// where whoever set up the node put them; what is not listed is asked for as of others.
var onWindows = map[string]string{
	"kubelet-log":         queried + duringQuery + "' > kubelet.log" + gated,
	"kubelet-log-before":  queried + duringQuery + "' > kubelet-before.log" + gated,
	"kubelet-log-verbose": queried + "' > kubelet-v5.log" + gated + ", after logging.verbosity: 5 in its configuration and a restart",
	"runtime-log":         "",
	"runtime-stacks":      "",
	"kernel-log":          "Get-WinEvent -FilterHashtable @{LogName='System'" + duringEvents + "} | Format-List > system-events.txt",
	"processes":           "Get-CimInstance Win32_Process | Format-List ProcessId,ParentProcessId,CreationDate,CommandLine > processes.txt",
	"containers":          "crictl --timeout 60s ps -a -o json > ps.json; crictl --timeout 60s pods -o json > pods.json",
}

const (
	queried      = "kubectl get --raw '/api/v1/nodes/NODE/proxy/logs/?query=kubelet"
	gated        = "  # where the kubelet has the feature NodeLogQuery on"
	duringQuery  = "&sinceTime=FROM&untilTime=TO"
	duringEvents = "; StartTime=[datetime]'FROM'; EndTime=[datetime]'TO'"
)

// ofLinux are the inputs that only Linux has.
var ofLinux = map[string]bool{"kernel-stacks": true, "pressure": true, "mounts": true}

// anywhere is how commands begin that say nothing of the system of the node.
var anywhere = regexp.MustCompile(`^(?:kubectl |oc |for i in |Get-|crictl --timeout )`)

// fillWindows fills in the time of a command for a node that runs Windows; it is "" for one
// that such a node does not know.
func (c Commands) fillWindows(s string) string {
	switch {
	case !anywhere.MatchString(s):
		return ""
	case c.from.IsZero():
		return strings.NewReplacer(duringQuery, "", duringEvents, "").Replace(s)
	}
	return strings.NewReplacer("FROM", c.from.Format(time.RFC3339), "TO", c.to.Format(time.RFC3339)).Replace(s)
}
