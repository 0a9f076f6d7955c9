package redact

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/plegforensics/plegforensics/rules"
)

// words are those that the reports themselves are written in: enumerations,
// headings, sentences.
//
//go:embed words.txt
var words string

// vocabulary is words and what the built-in causes say.
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
	pack, _ := rules.Builtin() // a test of package rules holds the built-in files to be right
	for _, d := range pack.Causes {
		add(d.Title, d.Mechanism, d.Impact)
		add(d.Remediation...)
		add(d.Explanation...)
		add(d.Diagnosis...)
		for _, m := range d.Missing {
			add(m.Text)
		}
	}
	return known
})

var (
	letters = lazy(`[A-Za-z]+`)
	// figures are numbers, quantities and versions.
	figures = lazy(`^(?:\d+(?:\.\d+)?[a-zA-Z]{0,3}|v\d+(?:\.\d+)*)$`)
)

// ordinary reports whether a name is also a plain word or number of the
// reports. "critical" as a namespace tells nobody anything, and replacing it
// wherever it stands would turn every critical finding into one of ns-3; such
// a name is replaced only where its surroundings say that it is a name.
func ordinary(k Kind, name string) bool {
	switch k {
	case Node, Namespace, Pod, Container, Volume:
		return vocabulary()[strings.ToLower(name)] || figures().MatchString(name)
	}
	return false
}

// pair is ns/pod without anything else that says so.
var pair = lazy(`([A-Za-z0-9][A-Za-z0-9-]*)/([a-z0-9][a-z0-9.-]*)`)

// places are surroundings that tell an ordinary name but would learn too much:
// the host in front of a line, the node in front of a sentence.
var places = []shape{
	{lazy(`^(?:[A-Z][a-z]{2} [ \d]\d [\d:.]+|\d{4}-\d\d-\d\d[T ][\d:.,+Z-]+) ([A-Za-z0-9][A-Za-z0-9.-]*) `), []Kind{Node}, " "},
	{lazy(`^([A-Za-z0-9][A-Za-z0-9.-]*): `), []Kind{Node}, ": "},
	{lazy(`_HOSTNAME"?\s*[=:]\s*"?([A-Za-z0-9][A-Za-z0-9.-]*)`), []Kind{Node}, "_HOSTNAME"},
	{lazy(`/nodes/([A-Za-z0-9][A-Za-z0-9.-]*)`), []Kind{Node}, "/nodes/"},
	{lazy(`/namespaces/([a-z0-9][a-z0-9-]*)(?:/pods/([a-z0-9][a-z0-9.-]*))?`), []Kind{Namespace, Pod}, "/namespaces/"},
}

// inContext replaces ordinary names where they stand as names.
func (r *Redactor) inContext(s string) string {
	for _, list := range [][]shape{shapes, places} {
		for _, sh := range list {
			if strings.Contains(s, sh.hint) {
				s = r.groups(s, sh)
			}
		}
	}
	if strings.Contains(s, "/") {
		s = r.pairs(s)
	}
	return s
}

// groups replaces what the groups of a shape match, if that is an ordinary
// name of the group's kind.
func (r *Redactor) groups(s string, sh shape) string {
	return edit(s, sh.re().FindAllStringSubmatchIndex(s, -1), func(i int, m string) string {
		if i > len(sh.kinds) || sh.kinds[i-1] == "" || r.kinds[m] != sh.kinds[i-1] {
			return ""
		}
		return r.spare(m)
	})
}

// pairs replaces ns/pod where both are known names and one is ordinary.
func (r *Redactor) pairs(s string) string {
	found := slices.DeleteFunc(pair().FindAllStringSubmatchIndex(s, -1), func(m []int) bool {
		ns, pod := r.kinds[s[m[2]:m[3]]], r.kinds[s[m[4]:m[5]]]
		return ns != Namespace || pod != Pod && pod != Container
	})
	return edit(s, found, func(_ int, m string) string { return r.spare(m) })
}

// spare is the pseudonym of an ordinary name, "" for all others: they are
// replaced later, wherever they stand.
func (r *Redactor) spare(name string) string {
	if !r.plain[name] {
		return ""
	}
	r.count[name]++
	return r.names[name]
}

// edit replaces groups of matches by what with returns, "" leaves them.
func edit(s string, found [][]int, with func(group int, text string) string) string {
	var b strings.Builder
	last := 0
	for _, m := range found {
		for i := 1; 2*i+1 < len(m); i++ {
			from, to := m[2*i], m[2*i+1]
			if from < last {
				continue
			}
			if p := with(i, s[from:to]); p != "" {
				b.WriteString(s[last:from])
				b.WriteString(p)
				last = to
			}
		}
	}
	if last == 0 {
		return s
	}
	b.WriteString(s[last:])
	return b.String()
}

// Name replaces a string that is one name and nothing else, ordinary or not.
func (r *Redactor) Name(s string) string {
	if p := r.spare(s); p != "" {
		return p
	}
	return r.Text(s)
}
