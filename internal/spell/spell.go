// Package spell finds the word that was meant where an unknown one stands: a
// flag, a rule id, a metric name.
package spell

import (
	"cmp"
	"slices"
	"strings"
)

// maxWord is how many bytes of a word are compared; names are shorter.
const maxWord = 200

// Nearest returns the word of known that the writer of word most probably
// meant, "" when none is close: at most a third of its letters, and one more,
// differ.
func Nearest(word string, known []string) string {
	if best := Close(word, known, 1); len(best) > 0 {
		return best[0]
	}
	return ""
}

// Close returns up to n words of known that are equally close to word, none when
// none is close. Of a name that is made of parts, as "runtime-hang-global" is,
// the beginning is enough, or one part alone. Capitals do not count.
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

// near is the distance of word to name, or to the parts that name begins with
// where one letter in five differs at most. It is 1 where word is a part.
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
			best = max(d, 1) // a whole name that is as close comes as near
		}
	}
	return best
}

// leastPart is how long the beginning of a name must be to stand for it.
const leastPart = 5

// Within returns up to n words of known that are at most d edits from word,
// nearest first, words of one distance in their order.
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

// Distance is the number of edits of single bytes between two words, and a swap
// of neighbors is one edit: what typing gets wrong most often. It is the optimal
// string alignment distance.
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
