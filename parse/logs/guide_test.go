package logs

import (
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// TestGuide checks that lines of an explanatory text count for no node, whatever
// their layout, and that lines of people who report what they saw do count.
func TestGuide(t *testing.T) {
	line := `Jun 10 03:42:17 n1 kubelet[1234]: E0610 03:42:17.528113    1234 kubelet.go:2040] "Skipping pod synchronization" err="PLEG is not healthy: pleg was last seen active 3m10.1s ago; threshold is 3m0s"`
	const prose = "\nThe kubelet lists all containers each second.\nA node whose runtime is slow becomes NotReady.\n"
	for _, tt := range []struct {
		name, text string
		guide      bool
	}{
		{"headings and a name left blank", "# Runbook\n" + prose + "## Symptoms\n" + line + "\nkubectl describe node <node-name>\n", true},
		{"headings and orders", "## Diagnosis\n" + prose + line + "\n## Resolution\n- Check the runtime.\n- Restart the runtime.\n- Reboot the node.\n", true},
		{"a page of a manual", "The following command lists the conditions of a node:\n" + prose + "\n    Example output\n\n" + line + "\n\n    Example output\n\n" + line + "\n", true},
		{"a page that speaks to its reader", "Your node works, but you see this in its log.\nIt is benign for the first seconds, and you can ignore it then.\n" + line + "\nWhere it stays, your runtime is slow.\n", true},
		{"an article with its data in front", "---\nid: KB1\nproducts:\n  - Platform\n---\n\n## 问题\n一个工作节点变为未就绪状态，并且节点状态中报告如下消息。\n" + line + "\n## 根本原因\n每次重新列出的工作量与节点上的容器数量成正比例关系。\n", true},
		{"an example laid out as a line, below a title", "# How the kubelet reports PLEG\n\nThe kubelet asks for the state of PLEG each time.\nWhen PLEG is unhealthy, it writes a line such as:\n\n```\n" + line + "\n```\n", true},
		{"a title of a question", "How to mend a node that is not ready?\n" + prose + line + "\n", false},
		{"lines of a node like these", prose + "The kubelet of a node writes lines like these:\n" + line + "\n", false},
		{"it calls itself one", "This guide walks through each of the causes in depth.\n" + prose + line + "\n", true},
		{"digits counted up", prose + strings.ReplaceAll(line, "528113", "123456") + "\n", true},
		{"in Chinese", "问题原因：\n节点上的运行时进程异常会导致节点变成未就绪状态。\n问题现象：\n在日志中可看到如下的错误信息，节点无法调度。\n" + line + "\n解决方案：\n依次重启节点关键组件，重启后检查节点是否恢复正常。\n", true},
		{"logs of two kubelets as an example", "In the log you will see lines of this form, of whichever node.\n" + prose + strings.TrimPrefix(line, "Jun 10 03:42:17 n1 kubelet[1234]: ") + "\n" + strings.ReplaceAll(strings.TrimPrefix(line, "Jun 10 03:42:17 n1 kubelet[1234]: "), "1234 ", "9575 ") + "\n", true},
		{"in Korean, with numbered headings", "노드의 상태와 컨테이너 런타임의 로그를 확인해야 합니다\n증상은 파드에, 원인은 노드에 있는 경우가 많습니다\n### 4.1 Pull\nkubectl describe node <node>\n### 4.2 PLEG\n" + line + "\n### 4.3 CNI\n", true},
		{"source code", "class TestKubelet:\n    def test_pleg(self):\n        lines = parser.parse(\n            \"PLEG is not healthy: pleg was last seen active 4m5s ago\",\n        )\n        assert len(lines) == 1\n", true},
		{"entries of a program", "  {\n    id: \"node\",\n    clues: [\n      {\n        cmd: \"kubectl describe node\",\n        output: [\"PLEG is not healthy: pleg was last seen active 12m0s ago\"],\n      },\n    ],\n", true},
		{"a diff", "+\tfor {\n+\t\tif tries >= most {\n+\t\t\t// PLEG is not healthy: pleg was last seen active 4m5s ago\n", true},
		{"a stack", "goroutine 12 [chan send, 9 minutes]:\nk8s.io/kubernetes/pkg/kubelet/pleg.(*GenericPLEG).relist(0xc0)\n\t/go/generic.go:261 +0x74e\n" + line + "\n", false},
		{"a log", line + "\n" + line + "\n", false},
		{"an issue", "### What happened\n" + prose + line + "\n### Summary\nThe node <node-name> is not ready, see above.\n", false},
		{"people who tell", "## Symptoms\n" + prose + "We saw this on our node.\n" + line + "\n## Fix\nWe restarted the runtime.\n", false},
		{"prose around a log", prose + line + "\n", false},
	} {
		p := decodeString(tt.text)
		counts := false
		for _, e := range p.Events {
			counts = counts || e.Is(parse.SigAge) || e.Origin.Host != ""
		}
		if counts == tt.guide || tt.guide != (len(p.Warnings) > 0 && strings.Contains(p.Warnings[0].Msg, "examples of no node")) || tt.guide && len(p.Coverage) > 0 {
			t.Errorf("%s: counts %v: %v", tt.name, counts, p.Warnings)
		}
	}
}
