// Package spell finds the word that was probably meant by an unknown one: a flag, a rule ID, a
// metric name.
package spell

import (
	"cmp"
	"slices"
	"strings"
)

// maxWord is the maximum number of bytes compared; names are shorter.
const maxWord = 200

// Nearest returns the word of known that was most probably meant by word, "" if none is close.
// Close means that at most a third of the letters, plus one, differ.
func Nearest(word string, known []string) string {
	if best := Close(word, known, 1); len(best) > 0 {
		return best[0]
	}
	return ""
}

// Close returns up to n words of known that are equally close to word, none if none is close. Of a
// name such as "runtime-hang-global", the beginning or a single part is sufficient. Case is
// ignored.
func Close(word string, known []string, n int) []string {
	limit, best := len(word)/3+1, len(word)/3+2
	var out []string
	for _, k := range known {
		switch d := near(strings.ToLower(word), strings.ToLower(k)); {
		case d > limit || d > best:
		case d < best:
			out, best = []string{k}, d
		case len(out) < n && !slices.Contains(out, k):
			out = append(out, k)
		}
	}
	return out
}

// near returns the distance of word to name, or to parts at its beginning if at most one letter in
// five differs. It is 1 if word is a part of name.
func near(word, name string) int {
	best := Distance(word, name)
	if word != "" && strings.Contains("-"+name+"-", "-"+word+"-") || len(word) >= leastPart && strings.Contains(name, word) {
		best = min(best, 1)
	}
	for i := range len(name) {
		if name[i] != '-' || i < leastPart {
			continue
		}
		if d := Distance(word, name[:i]); d < best && d <= i/5 {
			best = max(d, 1) // at least 1, so that an equally close whole name is not worse
		}
	}
	return best
}

// leastPart is the minimum length of the beginning of a name to be matched.
const leastPart = 5

// Within returns up to n words of known that are at most d edits from word, nearest first,
// otherwise in their order.
func Within(word string, known []string, d, n int) []string {
	type near struct {
		word string
		d    int
	}
	var all []near
	for _, k := range known {
		if e := Distance(word, k); e <= d {
			all = append(all, near{k, e})
		}
	}
	slices.SortStableFunc(all, func(a, b near) int { return cmp.Compare(a.d, b.d) })
	var out []string
	for _, x := range all[:min(len(all), n)] {
		out = append(out, x.word)
	}
	return out
}

// Distance returns the optimal string alignment distance of two words: the number of single-byte
// edits, where swapping neighbors, a common typing error, is one edit.
func Distance(a, b string) int {
	a, b = a[:min(len(a), maxWord)], b[:min(len(b), maxWord)]
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
