package redact

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// What an input says is told in the words of its field: of the kubelet, runtimes,
// the kernel and the system, and in plain English. A word that is none of these is
// a name, whatever stands around it.

// fieldWords are common to the sources of Go, of Kubernetes' libraries and to the
// headers of Linux, or are written by systems and runtimes; without those that
// their stem tells.
//
//go:embed field.txt
var fieldWords string

var field = sync.OnceValue(func() map[string]bool {
	known := wordSet(fieldWords)
	for w := range vocabulary() {
		known[w] = true
	}
	return known
})

// endings are taken off a word to find its stem; with a vowel it may end in e.
var endings = []string{"s", "es", "ed", "ing", "ly"}

// inField reports whether a folded word is one of the field.
func inField(w string) bool {
	known := field()
	if known[w] {
		return true
	}
	for _, e := range endings {
		stem := strings.TrimSuffix(w, e)
		if len(stem) < 3 || len(stem) == len(w) {
			continue
		}
		if known[stem] || e != "s" && known[stem+"e"] || e == "es" && known[strings.TrimSuffix(stem, "i")+"y"] {
			return true
		}
		if n := len(stem); n > 3 && stem[n-1] == stem[n-2] && known[stem[:n-1]] { // stopped
			return true
		}
	}
	return false
}

// strange reports whether a word of letters and digits is a name for what it is.
// Numbers, quantities and ids are none; of words joined by case each must be
// known.
func (r *Redactor) strange(w string) bool {
	if is, seen := r.words[w]; seen {
		return is
	}
	if len(r.words) >= maxPatterns {
		clear(r.words)
	}
	is := isStrange(w)
	r.words[strings.Clone(w)] = is
	return is
}

func isStrange(w string) bool {
	if len(w) < 3 || len(w) > maxName || isID(w) || figures().MatchString(w) {
		return false
	}
	short, long := 0, 0 // runs of letters: of one, of more
	for i := 0; i < len(w); {
		c, n := utf8.DecodeRuneInString(w[i:])
		if !unicode.IsLetter(c) {
			i += n
			continue
		}
		j := i + strings.IndexFunc(w[i:]+"0", func(c rune) bool { return !unicode.IsLetter(c) })
		for part := j; i < j; i, part = part, j {
			if part-i > 1 && !inField(strings.ToLower(w[i:part])) {
				part = partEnd(w[:j], i)
			}
			switch {
			case part-i == 1:
				short++
			case !inField(strings.ToLower(w[i:part])):
				return true
			default:
				long++
			}
		}
	}
	return long == 0 && short > 2 && (!digitAt(w, 0) || strings.Trim(w, "0123456789dhms") != "") // 1h2m3s is none
}

// isID reports whether a word is an id, an address in memory or a hash.
func isID(w string) bool {
	if len(w) > 2 && w[0] == '0' && (w[1] == 'x' || w[1] == 'X') {
		return allHex(w[2:])
	}
	return allHex(w) && (len(w) >= 12 || len(w) >= 7 && strings.ContainsAny(w, "0123456789"))
}

// partEnd returns the end of the part of a word of letters at i: OOM and Killed of
// OOMKilled, sync and Pod of syncPod, UIDs.
func partEnd(w string, i int) int {
	while := func(k int, is func(rune) bool) int {
		for k < len(w) {
			c, n := utf8.DecodeRuneInString(w[k:])
			if !is(c) {
				break
			}
			k += n
		}
		return k
	}
	upper := while(i, unicode.IsUpper)
	end := while(upper, func(c rune) bool { return unicode.IsLetter(c) && !unicode.IsUpper(c) })
	if upper-i > 1 && end > upper && w[upper:end] != "s" {
		return upper - 1 // the last begins the next part
	}
	return end
}

// learnStrange learns the strange word s[i:j] with what dashes join to it.
// Symbols of the kernel tell of programs: they stay.
func (r *Redactor) learnStrange(s string, i, j int) {
	near := s[:min(len(s), j+labelEnd)]
	if strings.HasPrefix(s[run(near, j, "_."):], "+0x") {
		return
	}
	from, to := i, j
	for from > max(0, i-labelEnd) && (s[from-1] == '-' || isAlnum(s[from-1])) {
		from--
	}
	from += escapeAt(s, from)
	for to < len(near) && (s[to] == '-' || isAlnum(s[to])) {
		to++
	}
	text := strings.Trim(s[from:to], "-")
	if len(text) >= labelEnd {
		text = s[i:j]
	}
	r.learn(Word, text)
}

// labelEnd is longer than any label of a DNS name.
const labelEnd = 64
