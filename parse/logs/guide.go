package logs

import (
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
	guideHead = onDemand(`(?im)^(?:#{1,6} +|\*\*)?(?:\d+[.)] +)?(?:symptoms?|diagnos\w+|resolution|mitigation|remediation|prevention|prerequisites|overview|impact|meaning|verification|` +
		`best practices|quick fix\w*|(?:the )?fix\w*|solutions?|examples?(?: output| \d+)?|how (?:to|it)\b.*|what (?:this|it|is|does|to)\b.*|runbook\b.*|troubleshooting\b.*|steps?(?: \d+)?\b.*|` +
		`(?:common|possible|root|likely) causes?.*|summary|investigation|further reading|references)(?:\*\*)?:?\**[ \t\r]*$`)
	orderRE   = onDemand("(?im)^[ \t]*(?:[-*•+]|\\d+[.)])?[ \t]*(?:\\*\\*)?(?:check|verify|run|restart|use|look|ensure|inspect|identify|drain|increase|confirm|review|monitor|collect|reboot|set|see|find|start|stop|remove|reduce|investigate|examine|determine|configure|upgrade|delete|cordon|ssh|make sure)\\b")
	blankedRE = onDemand(`<(?:your[-_ ])?(?:node|host|pod|container|cluster|instance|namespace|ip|id|uid|worker|kubelet)[-_ a-zA-Z]*>|\b(?:NODE_NAME|NODENAME|YOUR_NODE)\b`)
	madeUpRE  = onDemand(`\d:\d\d\.(?:123456|123456789)\b|\b\d+m\d+\.(?:123456|123456789)s ago`)
	ownRE     = onDemand(`(?i)\b(?:i|i'm|i've|we|we're|we've|my|our|us)\b|我们?的?|what happened|what you expected|how to reproduce|anything else we need|· (?:comment|description|issue)`)
)

// IsGuide reports whether a text explains what one may see rather than tells what
// somebody saw: it has sentences, and of headings of a guide, orders to its reader, names
// left blank and digits counted up at least two, or the last alone.
func IsGuide(head []byte) bool {
	if len(head) >= mostGuide {
		return false
	}
	sentences, lines := 0, 0
	for line := range strings.Lines(string(head)) {
		if lines++; lines == soon && sentences == 0 {
			return false // as in a log
		}
		if isSentence(strings.TrimSpace(line)) {
			sentences++
		}
	}
	if sentences < 2 || len(ownRE().FindAll(head, -1))*8 > sentences {
		return false
	}
	signs := 0
	for _, sign := range [...]bool{blankedRE().Match(head), len(guideHead().FindAll(head, 2)) == 2, len(orderRE().FindAll(head, 3)) == 3} {
		if sign {
			signs++
		}
	}
	return signs >= 2 || madeUpRE().Match(head)
}

// explained leaves of the lines of a guide the reports of PLEG, as quotations.
func (j *Joiner) explained() {
	quoted := slices.IndexFunc(j.d.set.entries, func(e *entry) bool { return e.ID == parse.SigQuoted })
	if quoted < 0 || len(j.part.Events) == 0 {
		return
	}
	sigs, nobody := &parse.SigSet{Sigs: []*parse.Sig{j.d.set.entries[quoted].sig}}, &parse.Origin{}
	j.warn([]parse.Warning{{Pos: j.part.Events[0].Where(), Msg: "the text explains how such lines look; they are examples of no node, so none of them counts"}})
	j.part.Events = slices.DeleteFunc(j.part.Events, func(e *parse.Event) bool {
		report := e.Is(parse.SigAge) || e.Is(parse.SigNever) || e.Is(parse.SigCut) || e.Is(parse.SigQuoted)
		if report {
			e.Lot = parse.NewLot(j.kind(e.EventKind, nobody, sigs), e.Text())
			e.SetFields(0)
			e.SetRaw(parse.RawClocks{})
		}
		return !report
	})
	j.part.Coverage, j.part.Markers, j.part.Facts, j.part.Containers = nil, nil, nil, nil
}
