package advice

import (
	"maps"
	"regexp"
	"strings"
	"time"
)

// onWindows maps inputs to the commands that collect them from a Windows node, remotely or in
// PowerShell on the node, as Fill expects them. It is "" if no command is certain to work, because
// the location of logs depends on the setup. Inputs that are not listed are collected as on other
// nodes.
var onWindows = map[string]string{
	"kubelet-log":         queried + duringQuery + "' > kubelet.log" + gated,
	"kubelet-log-before":  queried + duringQuery + "' > kubelet-before.log" + gated,
	"kubelet-log-verbose": queried + "' > kubelet-v5.log" + gated + ", after logging.verbosity: 5 in its configuration and a restart",
	"runtime-log":         "", // see windowsRuntime
	"runtime-stacks":      "",
	"kernel-log":          "Get-WinEvent -FilterHashtable @{LogName='System'" + duringEvents + "} | Format-List > system-events.txt",
	"containers":          "crictl --timeout 60s ps -a -o json > ps.json; crictl --timeout 60s pods -o json > pods.json",
}

// windowsRuntime maps process names of runtimes to the command for their log: dockerd writes events, containerd a
// file that the command line of its service names.
var windowsRuntime = map[string]string{
	"dockerd":    "Get-WinEvent -FilterHashtable @{LogName='Application'; ProviderName='docker'" + duringEvents + "} | Format-List > runtime.log",
	"containerd": `Get-Content ((Get-CimInstance Win32_Service -Filter "Name='containerd'").PathName -replace '.*--log-file[= ]"?([^" ]+).*','$1') > runtime.log  # where its service has --log-file`,
}

const (
	queried      = "kubectl get --raw '/api/v1/nodes/NODE/proxy/logs/?query=kubelet"
	gated        = "  # where the kubelet has the feature NodeLogQuery on"
	duringQuery  = "&sinceTime=FROM&untilTime=TO"
	duringEvents = "; StartTime=[datetime]'FROM'; EndTime=[datetime]'TO'"
)

// ofLinux are the inputs that exist only on Linux.
var ofLinux = map[string]bool{"processes": true, "kernel-stacks": true, "wait-channels": true, "pressure": true, "mounts": true}

// windows returns Windows, whose nodes have neither systemd nor the programs of Linux, for a node with a runtime.
func windows(runtime string) distribution {
	collect := maps.Clone(onWindows)
	_, daemon := runtimeOf(runtime)
	collect["runtime-log"] = windowsRuntime[daemon]
	return distribution{only: regexp.MustCompile(`^(?:kubectl |oc |for i in |Get-|crictl --timeout )`), collect: collect}
}

// fillQuery fills in the time in a command for a Windows node.
func (c Commands) fillQuery(s string) string {
	if c.from.IsZero() {
		return strings.ReplaceAll(strings.ReplaceAll(s, duringQuery, ""), duringEvents, "")
	}
	if !strings.Contains(s, "FROM") && !strings.Contains(s, "TO") {
		return s
	}
	return strings.NewReplacer("FROM", c.from.Format(time.RFC3339), "TO", c.to.Format(time.RFC3339)).Replace(s)
}
