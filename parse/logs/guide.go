package logs

import (
	"bytes"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// A runbook, guide or manual page shows what log lines look like. Its examples may
// be formatted as log lines, including timestamps, but no kubelet wrote them.

const (
	mostGuide = 128 << 10 // exceeds the length of a manual page
	soon      = 40        // a text written by people has a sentence within this many lines
)

// Signs of an explanatory text. People describing their own cluster write these
// too, but not without referring to themselves.
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

// statements are words that begin a statement, as a regular expression.
const statements = "func|def|class|assert|const|let|var|return|import|package|export|if|for|while|elif|else|switch|case|try|except|catch"

// codeRE matches lines that occur only in source code, in any language, and not in
// JSON documents: a statement, a call with a string, an entry with an unquoted key,
// a comment, a line of a diff.
var codeRE = onDemand("(?m)^(?:[+-]\\t.*|[+-]?[ \\t]*(?:(?:" + statements + ")\\b.*[({:;,)}\\]]|return\\b.*|[\\w., ]+ :=.*|[\\w.,\\[\\] ]+ \\+?= .*[({;)]|[\\w.]+\\([^()]*[\"'\x60].*|[\\w.]+\\(|\\{? *\\w+: [\\[{\"'\x60].*[,{\\[]|\\w+: \\w+,(?: \\w+: \\w+,?)*|(?://|/\\*|\\*/).*|@@ -\\d.*))[ \\t\\r]*$")

// isCode reports whether a file is source code: at least a third of its lines are
// code and it contains no klog lines.
func isCode(head []byte) bool {
	const least = 3 // lines of code required
	if len(head) >= mostGuide || bytes.Count(head, []byte("\n"))+1 < least {
		return false
	}
	lines, likely := 0, 0
	for line := range bytes.Lines(head) {
		if len(bytes.TrimSpace(line)) > 3 {
			lines++
		}
		if mayBeCode(line) {
			likely++
		}
	}
	if likely < least || likely*3 < lines || klogPID().Match(head) {
		return false
	}
	code := len(codeRE().FindAll(head, -1))
	return code >= least && code*3 >= lines
}

// mayBeCode reports whether a match of codeRE can begin in the line. It saves matching
// logs: hardly any of their lines begin as code does.
func mayBeCode(line []byte) bool {
	rest := bytes.TrimLeft(line, " \t")
	if len(rest) == 0 {
		return false
	}
	switch rest[0] {
	case '+', '-', '/', '*', '@':
		return true
	case '{':
		rest = bytes.TrimLeft(rest[1:], " ")
	}
	word := 0
	for word < len(rest) && (rest[word] == '_' || rest[word] == '.' || '0' <= rest[word] && rest[word] <= '9' || 'a' <= rest[word]|0x20 && rest[word]|0x20 <= 'z') {
		word++
	}
	if word < len(rest) && (rest[word] == '(' || rest[word] == ':') {
		return true
	}
	first, _, _ := bytes.Cut(rest[:word], []byte("."))
	return codeWords[string(first)] || bytes.Contains(line, []byte("= ")) || bytes.Contains(line, []byte(" :="))
}

// codeWords are the words by which codeRE knows statements.
var codeWords = func() map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.Split(statements, "|") {
		words[w] = true
	}
	return words
}()

// sentencesOf counts the sentences written by people, and the lines, of a text. It
// gives up with 0 sentences if the first lines have none, as in a log.
func sentencesOf(head []byte) (sentences, lines int) {
	for line := range strings.Lines(string(head)) {
		if lines++; lines == soon && sentences == 0 {
			return 0, lines
		}
		line = strings.TrimSpace(line)
		if said, leads := strings.CutSuffix(line, ":"); leads {
			line = said + "." // introduces what comes below
		}
		if isSentence(line) {
			sentences++
		}
	}
	return sentences, lines
}

// isTelling reports whether a file with that many sentences and lines is an account
// written by people: at least every twentieth line is a sentence.
func isTelling(sentences, lines int) bool { return sentences >= 2 && sentences*20 >= lines }

// IsGuide reports whether a text explains what a reader may see, rather than
// reporting what somebody saw. It has sentences and at least two signs of a guide
// (headings, instructions to the reader, placeholder names, references to itself),
// or has a question as its title, or calls itself a guide, or contains made-up
// timestamps such as .123456. Source code counts as a guide too.
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

// explained keeps only the PLEG reports among the events of a guide, as quotations.
func (m *Merger) explained() {
	quoted := slices.IndexFunc(m.d.set.entries, func(e *entry) bool { return e.ID == parse.SigQuoted })
	if quoted < 0 || len(m.part.Events) == 0 {
		return
	}
	sigs, nobody := &parse.SigSet{Sigs: []*parse.Sig{m.d.set.entries[quoted].sig}}, &parse.Origin{}
	m.warn([]parse.Warning{{Pos: m.part.Events[0].Where(), Note: true, Msg: "the text explains how such lines look, or is source code; they are examples of no node, so none of them counts"}})
	m.part.Events = slices.DeleteFunc(m.part.Events, func(e *parse.Event) bool {
		report := e.Is(parse.SigAge) || e.Is(parse.SigNever) || e.Is(parse.SigCut) || e.Is(parse.SigQuoted)
		if report {
			e.Batch = parse.NewBatch(m.kind(e.EventKind, nobody, sigs), e.Text())
			e.SetFields(0)
			e.SetRaw(parse.RawClocks{})
		}
		return !report
	})
	m.part.Coverage, m.part.Markers, m.part.Facts, m.part.Containers = nil, nil, nil, nil
}
