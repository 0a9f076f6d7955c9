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
