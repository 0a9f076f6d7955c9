package logs

import (
	"encoding/json"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// conditionRE reads a node condition printed with %+v. Times may carry the
// zone's name and a monotonic reading. The message ends with the condition: lines of
// others may follow.
var conditionRE = onDemand(`(?s)\{Type:(\w+)[ ,]Status:(\w+)(?:[ ,]LastHeartbeatTime:(.*?))?(?:[ ,]LastTransitionTime:(.*?))?[ ,]Reason:([^ ,]*)[ ,]Message:(.*?),?(?:\}?[\s"]*$|\}[ \t]*\n)`)

// condition is a v1.NodeCondition. encoding/json matches its keys without
// regard to case, so the upper-case ones of ≥ 1.23 JSON logs fit too.
type condition struct {
	Type               string `json:"type"`
	Status             string `json:"status"`
	LastHeartbeatTime  string `json:"lastHeartbeatTime"`
	LastTransitionTime string `json:"lastTransitionTime"`
	Reason             string `json:"reason"`
	Message            string `json:"message"`
}

func (c condition) fields(node string) []parse.Field {
	out := addField(nil, "node", node)
	out = addField(out, "status", c.Status)
	out = addField(out, "heartbeat", c.LastHeartbeatTime)
	out = addField(out, "transition", c.LastTransitionTime)
	out = addField(out, "reason", c.Reason)
	return addField(out, "message", c.Message)
}

// extractCondition reads the condition of "Node became not ready": %+v in a
// printf line (≤ 1.20) or a key (≤ 1.27), JSON from 1.28 on.
func extractCondition(r *record) ([]parse.Field, bool) {
	text, node := r.raw, ""
	if r.form != formPrintf {
		text, node = r.first("condition"), r.first("node")
		if node != "" && node[0] == '{' {
			_, node, _ = jsonPod(node)
		}
	}
	var c condition
	if json.Unmarshal([]byte(text), &c) == nil && c.Type != "" {
		return c.fields(node), true
	}
	m := conditionRE().FindStringSubmatch(text)
	if m == nil {
		return addField(nil, "node", node), true
	}
	return condition{m[1], m[2], m[3], m[4], m[5], m[6]}.fields(node), true
}

// describeRE is a condition row of "kubectl describe node": type, status, two
// RFC 1123 times, reason, message.
var describeRE = onDemand(`^\s*Ready\s+(True|False|Unknown)\s+(\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [-+]\d{4})\s+(\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [-+]\d{4})\s+(\w+)\s+(.*?)\s*$`)

// cutRowRE is what a narrow window left of such a row.
var cutRowRE = onDemand(`^\s*(Kubelet(?:Not)?Ready|NodeStatusUnknown)\s{2,}(\S.*?)\s*$`)

// extractDescribe reads a Ready condition as kubectl prints it: a row of
// "describe node" or a JSON object on one line.
func extractDescribe(r *record) ([]parse.Field, bool) {
	if m := describeRE().FindStringSubmatch(r.raw); m != nil {
		return condition{"Ready", m[1], m[2], m[3], m[4], m[5]}.fields(""), true
	}
	if m := cutRowRE().FindStringSubmatch(r.raw); m != nil {
		return condition{Reason: m[1], Message: m[2]}.fields(""), true
	}
	if m := conditionRE().FindStringSubmatch(r.raw); m != nil && m[1] == "Ready" && strings.Contains(r.raw, "Last Ready is") {
		return condition{m[1], m[2], m[3], m[4], m[5], m[6]}.fields(""), true
	}
	var c condition
	if r.raw == "" || r.raw[0] != '{' || json.Unmarshal([]byte(r.raw), &c) != nil || c.Type != "Ready" {
		return nil, false
	}
	return c.fields(""), true
}
