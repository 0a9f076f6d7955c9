package logs

import (
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// condition is a v1.NodeCondition.
type condition struct{ Type, Status, LastHeartbeatTime, LastTransitionTime, Reason, Message string }

// jsonCondition reads a condition that is a JSON object. Its keys are capitalized in
// JSON logs from 1.23 on.
func jsonCondition(text string) (c condition, ok bool) {
	if !strings.HasPrefix(text, "{") || !strings.HasSuffix(strings.TrimRight(text, " \t\r\n"), "}") {
		return c, false
	}
	for _, f := range jsonPairs(text) {
		if !strings.HasPrefix(f.Value, `"`) {
			continue // null
		}
		switch f.Name {
		case "type", "Type":
			c.Type = jsonText(f.Value)
		case "status", "Status":
			c.Status = jsonText(f.Value)
		case "lastHeartbeatTime", "LastHeartbeatTime":
			c.LastHeartbeatTime = jsonText(f.Value)
		case "lastTransitionTime", "LastTransitionTime":
			c.LastTransitionTime = jsonText(f.Value)
		case "reason", "Reason":
			c.Reason = jsonText(f.Value)
		case "message", "Message":
			c.Message = jsonText(f.Value)
		}
	}
	return c, c.Type != ""
}

// printedCondition finds the first condition printed with %+v. Times may include the
// zone name and a monotonic reading. The message ends with the condition, because
// text of other lines may follow.
func printedCondition(text string) (c condition, ok bool) {
	for !ok {
		if _, text, ok = strings.Cut(text, "{Type:"); !ok {
			return c, false
		}
		c, ok = readPrinted(text)
	}
	return c, true
}

// readPrinted reads a printed condition from after "{Type:".
func readPrinted(s string) (c condition, ok bool) {
	c.Type, s = wordOf(s)
	if s, ok = member(s, "Status:"); !ok || c.Type == "" {
		return c, false
	}
	if c.Status, s = wordOf(s); c.Status == "" {
		return c, false
	}
	if at, ok := member(s, "LastHeartbeatTime:"); ok {
		c.LastHeartbeatTime, s = beforeMember(at, "LastTransitionTime:", "Reason:")
	}
	if at, ok := member(s, "LastTransitionTime:"); ok {
		c.LastTransitionTime, s = beforeMember(at, "Reason:")
	}
	if s, ok = member(s, "Reason:"); !ok {
		return c, false
	}
	n := max(0, strings.IndexAny(s, " ,"))
	c.Reason = s[:n]
	if s, ok = member(s[n:], "Message:"); !ok {
		return c, false
	}
	c.Message = ofCondition(s)
	return c, true
}

// ofCondition returns the message of a condition that s begins with, without the
// end of the condition and what follows it.
func ofCondition(s string) string {
	for at := 0; ; at++ {
		n := strings.IndexByte(s[at:], '}')
		if n < 0 {
			break
		}
		at += n
		if strings.HasPrefix(strings.TrimLeft(s[at+1:], " \t"), "\n") {
			return strings.TrimSuffix(s[:at], ",")
		}
	}
	s = strings.TrimRight(s, " \t\n\f\r\"")
	return strings.TrimSuffix(strings.TrimSuffix(s, "}"), ",")
}

// wordOf splits off the word, possibly empty, that s begins with.
func wordOf(s string) (word, rest string) {
	n := 0
	for n < len(s) && isWord(s[n]) {
		n++
	}
	return s[:n], s[n:]
}

// member returns the text after the name of the next struct member. If that has
// another name, it returns s and false.
func member(s, name string) (value string, ok bool) {
	if s == "" || s[0] != ' ' && s[0] != ',' {
		return s, false
	}
	if value, ok = strings.CutPrefix(s[1:], name); !ok {
		return s, false
	}
	return value, true
}

// beforeMember splits s before the first member that has one of the names.
func beforeMember(s string, names ...string) (value, rest string) {
	end := len(s)
	for _, name := range names {
		for at := 0; at < end; at++ {
			n := strings.Index(s[at:end], name)
			if n < 0 {
				break
			}
			if at += n; at > 0 && (s[at-1] == ' ' || s[at-1] == ',') {
				end = at - 1
			}
		}
	}
	return s[:end], s[end:]
}

func (c condition) fields(node string) []parse.Field {
	out := addField(nil, "node", node)
	out = addField(out, "status", c.Status)
	out = addField(out, "heartbeat", c.LastHeartbeatTime)
	out = addField(out, "transition", c.LastTransitionTime)
	out = addField(out, "reason", c.Reason)
	return addField(out, "message", c.Message)
}

// extractCondition reads the condition of "Node became not ready": %+v in a printf
// line (≤ 1.20) or in a key (≤ 1.27), JSON from 1.28 on.
func extractCondition(r *record) ([]parse.Field, bool) {
	text, node := r.raw, ""
	if r.form != formPrintf {
		text, node = r.first("condition"), r.first("node")
		if node != "" && node[0] == '{' {
			_, node, _ = jsonPod(node)
		}
	}
	if c, ok := jsonCondition(text); ok {
		return c.fields(node), true
	}
	if c, ok := printedCondition(text); ok {
		return c.fields(node), true
	}
	return addField(nil, "node", node), true
}

// describeRE matches a condition row of "kubectl describe node": type, status, two
// RFC 1123 times, reason, message.
var describeRE = onDemand(`^\s*Ready\s+(True|False|Unknown)\s+(\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [-+]\d{4})\s+(\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [-+]\d{4})\s+(\w+)\s+(.*?)\s*$`)

// cutRowRE matches the part of such a row that a narrow window shows.
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
	c, ok := jsonCondition(r.raw)
	if !ok && strings.Contains(r.raw, "Last Ready is") {
		c, ok = printedCondition(r.raw)
	}
	if !ok || c.Type != "Ready" {
		return nil, false
	}
	return c.fields(""), true
}
