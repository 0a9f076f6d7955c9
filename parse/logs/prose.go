package logs

import (
	"bytes"
	"slices"
	"strings"
	"unicode"

	"github.com/plegforensics/plegforensics/parse"
)

// People quote a PLEG message when they ask about it or describe it, in an issue, a
// chat or a manual. Such a sentence says nothing about the node of the input.

// Words that occur in a sentence before a quotation, that end its introduction, and
// that continue after it. No genuine message about PLEG has them in these places.
var (
	askWords  = []string{"i", "we", "you", "my", "our", "your", "us", "anybody", "anyone", "somebody", "someone", "hi", "hello", "hey", "what", "why", "how", "does", "did"}
	leadWords = []string{"says", "said", "saying", "see", "seeing", "saw", "got", "getting", "get", "like", "about", "of", "means", "the", "a", "an", "this", "these"}
	nextWords = []string{"and", "then", "on", "in", "at", "mean", "means", "meaning", "when", "after", "for", "but", "so", "which", "is", "was", "with", "what", "why", "error", "errors", "message", "messages"}
)

// joinWords continue a sentence.
var joinWords = []string{"or", "and", "but", "which", "that", "because", "so", "then", "where", "while", "since"}

// quotedIn reports whether a PLEG message is quoted in a sentence, judging by the
// text before and behind it.
func quotedIn(before, behind string) bool {
	if ofSyncLoop(before) {
		return false
	}
	if strings.HasSuffix(strings.TrimSuffix(before, "PLEG is not healthy: "), "“") { // no program writes this quote
		return true
	}
	before = strings.TrimRight(strings.TrimSuffix(before, "PLEG is not healthy: "), "`'\"*_([ ")
	words := strings.Fields(strings.ToLower(before))
	for i := range words {
		words[i] = strings.Trim(words[i], ".,:;!?<>()*_`'\"")
	}
	if n := len(words); n > 0 && slices.Contains(leadWords, words[n-1]) {
		return true
	}
	if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(askWords, w) }) {
		return true
	}
	closed := strings.TrimLeft(behind, "`'\"*_)].")
	if next := strings.TrimLeft(closed, " "); next != closed {
		word, _, _ := strings.Cut(next, " ")
		return slices.Contains(nextWords, strings.Trim(word, ".,:;!?"))
	}
	return strings.HasPrefix(closed, "?")
}

// ofSyncLoop reports whether a line begins like one that is certainly not a
// sentence: a structured line, or one of the sync loop.
func ofSyncLoop(line string) bool {
	return strings.HasPrefix(line, `"`) || strings.HasPrefix(line, "{") || strings.HasPrefix(line, "skipping pod synchronization")
}

var timeOfDay = onDemand(`\b\d\d:\d\d:\d\d\b`)

// isProse reports whether a file that mentions the age of PLEG is a text about it:
// it has sentences, and no line contains a time of day.
func isProse(head []byte, sentences int) bool {
	return sentences >= 2 && bytes.Contains(head, []byte("pleg was last seen active")) && !timeOfDay().Match(head)
}

// isSentence reports whether a line is text written by people: it ends like a
// sentence, refers to its writer, or is in a script that no program logs in.
func isSentence(line string) bool {
	if strings.Contains(line, "pleg was last seen active") {
		return false
	}
	han, letters, all := 0, 0, 0
	for _, c := range line {
		all++
		if c > unicode.MaxLatin1 && unicode.In(c, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) {
			han++
		}
		if unicode.IsLetter(c) || c == ' ' {
			letters++
		}
	}
	if han >= 8 || letters*10 < all*8 {
		return han >= 8
	}
	words := strings.Fields(strings.ToLower(line))
	if len(words) < 5 {
		return false
	}
	return strings.ContainsAny(line[len(line)-1:], ".?!") || slices.ContainsFunc(words, func(w string) bool { return slices.Contains(askWords, w) })
}

// extractQuoted accepts a report of an age that is quoted in a sentence.
func extractQuoted(r *record) ([]parse.Field, bool) {
	t, ok := findAge(r.raw)
	return nil, ok && quotedIn(t.before, t.behind)
}

// isQuoted reports whether extractQuoted accepts r. Most lines are the sync loop's.
func isQuoted(r *record) bool {
	if ofSyncLoop(r.raw) {
		return false
	}
	_, ok := extractQuoted(r)
	return ok
}

// unquote turns reports that are only quotations into SigQuoted: in prose, those
// that stand alone without time or writer; and lines from a source file that does
// not report PLEG health, such as an event, probe output or container arguments.
func (m *Merger) unquote() {
	at := slices.IndexFunc(m.d.set.entries, func(e *entry) bool { return e.ID == parse.SigQuoted })
	if at < 0 {
		return
	}
	quoted := &parse.SigSet{Sigs: []*parse.Sig{m.d.set.entries[at].sig}}
	var last *parse.EventKind
	var report, foreign bool
	for _, e := range m.part.Events {
		if e.EventKind != last {
			last = e.EventKind
			report = last.Sigs.Has(parse.SigAge) || last.Sigs.Has(parse.SigNever) || last.Sigs.Has(parse.SigCut)
			foreign = !reportsHealth(last.Caller) && !last.Sigs.Has(parse.SigSkip) && !(last.Origin.Ident == parse.IdentAbout && last.Sigs.Has(parse.SigCondition))
		}
		if !report || !foreign && !(m.d.prose && (last.Sigs.Has(parse.SigAge) || last.Sigs.Has(parse.SigCut)) && bare(e)) {
			continue
		}
		e.Batch = parse.NewBatch(m.kind(e.EventKind, e.Origin, quoted), e.Text())
		e.SetFields(0)
		msg := "the text quotes a report of PLEG; of which node, and of when, it does not tell, so it counts for none"
		if foreign {
			msg = "the line quotes a report of PLEG: it is neither of the sync loop nor of the node status of a kubelet, so it counts for none"
		}
		m.warn([]parse.Warning{{Pos: e.Where(), Note: true, Msg: msg}})
	}
}

// reportsHealth reports whether a line with that caller may report PLEG health of
// its node. The sync loop and the node status do, whose code moved between files
// (1.4 to 1.37). A line without a caller may too.
func reportsHealth(caller string) bool {
	file, _, ok := strings.Cut(caller, ".go:")
	return !ok || file == "kubelet" || file == "setters" || file == "kubelet_node_status"
}

// bare reports whether a report stands alone, without anything a program writes
// around it.
func bare(e *parse.Event) bool {
	msg := strings.TrimLeft(e.Message(), "`'\"*_>([- \t")
	msg = strings.TrimPrefix(msg, "Message:")
	return strings.HasPrefix(msg, "PLEG is not healthy: ") || strings.HasPrefix(msg, "pleg was last seen active ")
}

// ownWords returns the part of a headerless line that is a statement of its own. It
// returns nil for a heading, a template, a command, or a long sentence of what a
// reader might see or somebody reports. It drops code and emphasis within a
// sentence, and the argument of a call in source code. Any other line is returned
// unchanged.
func ownWords(line []byte) []byte {
	if headingRE().Match(line) || supposes(line) || bytes.Contains(line, []byte("${")) || isTold(line) {
		return nil
	}
	if bytes.Contains(line, []byte("(")) {
		line = callRE().ReplaceAll(line, nil)
	}
	for _, mark := range [...]string{"`", "**"} {
		parts := bytes.Split(line, []byte(mark))
		if len(parts) < 3 {
			continue
		}
		var outside []byte
		for i := 0; i < len(parts); i += 2 {
			outside = append(append(outside, parts[i]...), ' ')
		}
		if wordRE().Match(outside) {
			line = outside
		}
	}
	return line
}

// supposes reports whether a line tells what a reader might see or enter, or is a
// command. Few lines contain what the expression asks for.
func supposes(line []byte) bool {
	low := bytes.ToLower(line)
	return (bytes.ContainsAny(line, "|@$#%") || bytes.Contains(low, []byte("you")) || bytes.Contains(low, []byte("textpayload"))) && supposedRE().Match(line)
}

// isTold reports whether a line is a sentence longer than what programs write, or
// the rest of a wrapped one. What it says about PLEG is judged as a quotation
// elsewhere.
func isTold(line []byte) bool {
	const most = 12 // words
	text := strings.TrimSpace(string(line))
	if endsProgram([]byte(text)) { // what a kubelet says of swap has more words
		return false
	}
	if strings.Contains(text, "+0x") && frameRE().MatchString(text) && len(plainWordRE().FindAllString(text, -1)) >= most/3 {
		return true
	}
	if first, rest, ok := strings.Cut(text, " "); ok && strings.HasSuffix(rest, ".") && slices.Contains(joinWords, first) {
		return true
	}
	return (len(text) > 10*most || strings.Count(text, " ") >= most) && !strings.Contains(text, "PLEG") && !strings.Contains(text, "pleg") && isSentence(text)
}

var (
	headingRE  = onDemand(`^#{1,6} `)
	supposedRE = onDemand(`(?i)\b(?:if|when) you (?:see|get|find)\b|\byou(?: may| might| can| could| will| should|['’]ll|['’]d) (?:see|get|find)\b|\| *(?:grep|awk|xargs|jq|tail|head)\b|\|[=~] *["\x60]|textPayload(?::|=~|=)"|@message like |^(?:\[?\w[\w.-]*@[\w.-]+[ :][^%$#]{0,60}[%$#]|\$) `)
	callRE     = onDemand(`\w\([^"()]*"[^"]*"[^"()]*\)[;{} ]*$`)
	wordRE     = onDemand(`\pL{2}`)

	frameRE     = onDemand(`\w\+0x[0-9a-f]+/0x[0-9a-f]+`) // a stack frame; a stack trace has one per line
	plainWordRE = onDemand(`(?:^| )[a-z]{2,}\b[,.]?`)
)
