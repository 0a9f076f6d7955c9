package rules

import "fmt"

func sprintf(format string, args ...any) string {
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}

// nearest returns the word of all that a writer of s most probably meant, ""
// when none is close: at most a third of its letters, and one more, differ.
func nearest(s string, all []string) string {
	best, least := "", len(s)/3+2
	for _, a := range all {
		if d := editDistance(s, a); d < least {
			best, least = a, d
		}
	}
	return best
}

// editDistance is the Levenshtein distance in bytes; inputs are short names,
// longer ones are cut.
func editDistance(a, b string) int {
	a, b = a[:min(len(a), 64)], b[:min(len(b), 64)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		prev := row[0]
		row[0] = i + 1
		for j := range b {
			cost := prev
			if a[i] != b[j] {
				cost = 1 + min(prev, row[j], row[j+1])
			}
			prev, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
