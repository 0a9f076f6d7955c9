package redact

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/plegforensics/plegforensics/rules"
)

// words are the words of our own reports: enumerations, headings, sentences, and the names of files
// in known layouts.
//
//go:embed words.txt
var words string

// vocabulary returns words and those in texts and references of the built-in causes.
var vocabulary = sync.OnceValue(func() map[string]bool {
	known := map[string]bool{}
	add := func(texts ...string) {
		for _, s := range texts {
			for _, w := range letters().FindAllString(s, -1) {
				known[strings.ToLower(w)] = true
			}
		}
	}
	add(words)
	pack, _ := rules.Builtin() // a test of package rules checks the built-in files
	for _, d := range pack.Causes {
		add(d.Title, d.Mechanism, d.Impact)
		add(d.Remediation...)
		add(d.Explanation...)
		add(d.Diagnosis...)
		for _, ref := range d.References {
			for w := range strings.FieldsFuncSeq(ref, func(c rune) bool { return !isNameRune(c) }) {
				known[strings.ToLower(w)] = true
			}
		}
		for _, m := range d.Missing {
			add(m.Text)
		}
	}
	return known
})

var (
	letters = lazy(`[A-Za-z]+`)
	// figures matches numbers, quantities and versions.
	figures = lazy(`^(?:\d+(?:\.\d+)?[a-zA-Z]{0,3}|v\d+(?:\.\d+)*)$`)
)

// ordinary reports whether a name is also a plain word or number of the reports. "critical" as a
// namespace identifies nobody, and replacing it everywhere would turn every critical finding into
// one of ns-3; such a name is replaced only in the position of a name. So are names of one or two
// letters.
func ordinary(k Kind, name string) bool {
	switch k {
	case UID, IP, MAC, Mail:
		return false
	case Path: // a number this long is a case number, not a quantity
		if len(name) >= 6 && strings.Trim(name, "0123456789") == "" {
			return false
		}
	}
	return len(name) < 3 || vocabulary()[strings.ToLower(name)] || figures().MatchString(name)
}

// familiar reports whether a text consists of words of the reports only.
func familiar(s string) bool {
	for _, w := range strings.FieldsFunc(s, func(c rune) bool { return c == '.' || c == '-' || c == '_' || c == '/' || c == ':' }) {
		if !vocabulary()[strings.ToLower(w)] && !figures().MatchString(w) {
			return false
		}
	}
	return true
}

// fixed are words that messages have in the place of a name: those that go on with a sentence, and
// what is wrong.
var fixed = wordSet(`a all an and another any are as at be been being both but by can cannot could did do does each either for from had has have if in into is it its may might more most must
	neither no none nor not now of off on once one only onto or other our over own same shall should since so some such than that the their them then there these they this those to too
	under until up was we were what when where which while who whose why will with within without would yet you your
	aborted absent already alive assigned available bad before behind being blocked broken bound busy cancelled canceled changed closed completed condition connection context conditions corrupt corrupted cordoned created
	dead deadline deleted denied deregistered destroyed detected died disabled disconnected down drained empty enabled error errors evicted exceeded exists exited expired fail failed failing failure false
	fatal finished forbidden found full gone healthy hung ignored inactive incorrect invalid killed known late lost malformed match mismatch missing never nil null offline ok online
	pending permission pleg ready reachable recovered refused registered rejected removed required restarted retrying running skipped skipping started starting status stopped stopping stuck
	succeeded success terminated terminating timed timeout true unable unauthorized unavailable unchanged unhealthy unknown unreachable unready unset unsupported unused updated used using waiting warning wrong yes eof err
	name names namespace namespaces node nodes pod pods container containers image images host hosts service services kubelet runtime volume volumes cluster api server client user users id ids uid uids
	type kind version list lists get set update delete create watch sync relist inspect heartbeat lease key value data field fields file files path error events event info informer cache manager
	controller counting count counter object objects id reference references process processes thread threads request requests response operation operations group groups worker workers level time number size`)

// usual reports whether a text in the place of a name is what a message says there.
func usual(s string) bool {
	return fixed[strings.ToLower(s)] || figures().MatchString(s)
}
