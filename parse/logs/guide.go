package logs

import (
	"bytes"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// A runbook, a guide or a page of a manual shows how lines of a log would look. They may
// be laid out as such, stamp and all, but no kubelet wrote them.

const (
	mostGuide = 128 << 10 // more than a page of a manual has
	soon      = 40        // lines among which a text has a sentence
)

// Signs of a text that explains. People who tell of their own cluster write these too, but
// not without a word of themselves.
var (
	guideHead = onDemand(`(?im)^[ \t•]*(?:#{1,6} +|\*\*)?(?:\d+[.)] *)?(?:(?:the |full |example )?(?:symptoms?|diagnos\w+(?: \w+)?|resolution|mitigation|remediation|prevention|prerequisites|overview|impact|meaning|verification|` +
		`procedure|additional resources|best practices|quick fix\w*|fix\w*|solutions?|outputs?|examples?(?: \d+)?|how (?:to|it|do|does)\b.*|what (?:\S+ ){1,3}means?|what (?:this|it|is|does|the|to)\b.*|(?:common|possible|root|likely) causes?.*|` +
		`steps?(?: \d+)?\b.*|summary|investigation|further reading|references|exact error message)|(?:.* )?(?:runbook|troubleshoot(?:ing)?|guide|playbook)\b.*|` +
		`(?:问题|故障)?(?:原因|现象|描述)(?:分析)?|(?:解决|处理|排查|修复)(?:方案|方法|步骤|思路|办法)|问题|根本原因|根因|诊断流程|准备工作|操作步骤|前提条件|背景信息|示例(?:输出)?)(?:\*\*)?[:：?]?\**[ \t\r]*$`)
	orderRE    = onDemand("(?im)^[ \t]*(?:[-*•+]|\\d+[.)])?[ \t]*(?:\\*\\*)?(?:(?:check|verify|confirm|run|restart|use|look|ensure|inspect|identify|drain|increase|review|monitor|collect|reboot|set|see|find|start|stop|remove|reduce|investigate|examine|determine|configure|upgrade|delete|cordon|ssh|make sure)\\b|检查|查看|确认|执行|重启|依次重启|登录|请参)")
	blankedRE  = onDemand(`<(?:your[-_ ])?(?:node|host|pod|container|cluster|instance|namespace|ip|id|uid|worker|kubelet)[-_ a-zA-Z]*>|\b(?:NODE_NAME|NODENAME|YOUR_NODE|POD_NAME|CLUSTER_NAME|PROJECT_ID)\b`)
	sayingRE   = onDemand(`(?im)\b(?:such as|for (?:example|instance)|like (?:this|these))[:,]?[ \t\r]*$|\bthis (?:guide|article|page|document|runbook|playbook|tutorial|alert|section|lab) |本文|\bthe following (?:example|command|output|table)s? |(?:output|one|it) (?:is|looks?|should look) (?:similar|like)|(?:输出)?类似(?:于|如下|以下)|可(?:以)?看到如下|\byou(?:'ll| will| should| can| may| might)? see\b`)
	plainRE    = onDemand(`\d:\d\d\.(?:123456|123456789)\b|\b\d+m\d+\.(?:123456|123456789)s ago|(?i:\bthis (?:guide|article|runbook|playbook|tutorial) (?:covers|explains|describes|walks|shows|provides|helps)\b|\byou will (?:be able to|learn)\b)`)
	ownRE      = onDemand(`(?i)\b(?:i|i'm|i've|we|we're|we've|my|our|us)\b|我|우리|저희|私`)
	askedRE    = onDemand(`(?i)what happened|what (?:did )?you expect|to reproduce|(?:expected|actual|current) behaviou?r|anything else we need|· (?:comment|description|issue)|/kind |/sig `)
	numberedRE = onDemand(`(?m)^#{1,6} +\d+(?:\.\d+)*[.)]? +\S`)
	titleRE    = onDemand(`\A\s*#{1,3} +(?i:how (?:to|it|the|do|does)|what|why|understanding|when)\b`)
	readerRE   = onDemand(`(?i)\byou(?:r|'re)?\b`)
	frontRE    = onDemand(`\A(?:\x{feff})?---\r?\n(?:[^\n]*\n){0,15}?(?i:title|kind|layout|category|tags|id|description): *(?:\S[^\n]*)?\n(?:[^\n]*\n){0,15}?---\r?\n`)
	klogPID    = onDemand(`(?m)^[ \t>]*[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +(\d+) `)
)

// Lines that only source code has, in whichever language, and not a document in JSON: a statement, a
// call with a text, an entry whose key is not quoted, a comment, a piece of a diff.
var codeRE = onDemand("(?m)^(?:[+-]\\t.*|[+-]?[ \\t]*(?:(?:func|def|class|assert|const|let|var|return|import|package|export|if|for|while|elif|else|switch|case|try|except|catch)\\b.*[({:;,)}\\]]|return\\b.*|[\\w., ]+ :=.*|[\\w.,\\[\\] ]+ \\+?= .*[({;)]|[\\w.]+\\([^()]*[\"'\x60].*|[\\w.]+\\(|\\{? *\\w+: [\\[{\"'\x60].*[,{\\[]|\\w+: \\w+,(?: \\w+: \\w+,?)*|(?://|/\\*|\\*/).*|@@ -\\d.*))[ \\t\\r]*$")

// isCode reports whether a file is source code: a third of it are lines of code, and no log stands in it.
func isCode(head []byte) bool {
	const least = 3 // lines of code
	if len(head) >= mostGuide || bytes.Count(head, []byte("\n"))+1 < least || !codeRE().Match(head) || klogPID().Match(head) {
		return false
	}
	lines := 0
	for line := range bytes.Lines(head) {
		if len(bytes.TrimSpace(line)) > 3 {
			lines++
		}
	}
	code := len(codeRE().FindAll(head, -1))
	return code >= least && code*3 >= lines
}

// sentencesOf counts the sentences of people in a text and its lines, none where it begins as a log.
func sentencesOf(head []byte) (sentences, lines int) {
	for line := range strings.Lines(string(head)) {
		if lines++; lines == soon && sentences == 0 {
			return 0, lines
		}
		line = strings.TrimSpace(line)
		if said, leads := strings.CutSuffix(line, ":"); leads {
			line = said + "." // to what comes below
		}
		if isSentence(line) {
			sentences++
		}
	}
	return sentences, lines
}

// isTelling reports whether people tell something in a file of so many sentences and lines: at least
// every twentieth line is one.
func isTelling(sentences, lines int) bool { return sentences >= 2 && sentences*20 >= lines }

// IsGuide reports whether a text explains what one may see rather than tells what
// somebody saw: it has sentences, and of headings of a guide, orders to its reader, names left
// blank and words about itself at least two, a question as its title, or calls itself one, or counts digits up. So does source code.
func IsGuide(head []byte) bool {
	sentences, _ := sentencesOf(head)
	return isGuide(head, sentences)
}

func isGuide(head []byte, sentences int) bool {
	if len(head) >= mostGuide {
		return false
	}
	if sentences < 2 || len(ownRE().FindAll(head, -1))*8 > sentences || askedRE().Match(head) {
		return isCode(head)
	}
	headings, writers := len(guideHead().FindAll(head, 3)), map[string]bool{}
	for _, m := range klogPID().FindAllSubmatch(head, 100) {
		writers[string(m[1])] = true
	}
	signs := 0
	for _, sign := range [...]bool{headings > 1, headings > 2, len(orderRE().FindAll(head, 3)) == 3, len(numberedRE().FindAll(head, 3)) == 3, len(readerRE().FindAll(head, 4)) == 4, frontRE().Match(head), titleRE().Match(head), len(writers) > 1, blankedRE().Match(head), sayingRE().Match(head)} {
		if sign {
			signs++
		}
	}
	return signs > 1 || plainRE().Match(head) || isCode(head)
}

// explained leaves of the lines of a guide the reports of PLEG, as quotations.
func (j *Merger) explained() {
	quoted := slices.IndexFunc(j.d.set.entries, func(e *entry) bool { return e.ID == parse.SigQuoted })
	if quoted < 0 || len(j.part.Events) == 0 {
		return
	}
	sigs, nobody := &parse.SigSet{Sigs: []*parse.Sig{j.d.set.entries[quoted].sig}}, &parse.Origin{}
	j.warn([]parse.Warning{{Pos: j.part.Events[0].Where(), Msg: "the text explains how such lines look, or is source code; they are examples of no node, so none of them counts"}})
	j.part.Events = slices.DeleteFunc(j.part.Events, func(e *parse.Event) bool {
		report := e.Is(parse.SigAge) || e.Is(parse.SigNever) || e.Is(parse.SigCut) || e.Is(parse.SigQuoted)
		if report {
			e.Batch = parse.NewBatch(j.kind(e.EventKind, nobody, sigs), e.Text())
			e.SetFields(0)
			e.SetRaw(parse.RawClocks{})
		}
		return !report
	})
	j.part.Coverage, j.part.Markers, j.part.Facts, j.part.Containers = nil, nil, nil, nil
}
