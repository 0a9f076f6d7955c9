package redact

import (
	"encoding/base64"
	"strings"
)

// random appends words that look random: keys, tokens, password hashes, whatever they are called.
// IDs that a report needs are recognized by their form and kept: those of containers and images
// (12, 13 or 64 hexadecimal digits), UIDs and others of 32 digits (they get pseudonyms), numbers,
// and what consists of words, such as Go identifiers.
func random(out []cut, s string) []cut {
	for i := 0; i < len(s); {
		if !isAlnum(s[i]) || s[i] >= 0x80 {
			i++
			continue
		}
		// First a token of base64 in any of its alphabets, then its words.
		end := i
		for end < len(s) && (isBase64(s[end]) || s[end] == '_' || s[end] == '-') {
			end++
		}
		padded := end
		for padded < len(s) && s[padded] == '=' && padded-end < 2 {
			padded++
		}
		if isRandom(s[i:end], true) || isEncoded(s[i:padded]) {
			out = append(out, cut{i, padded})
			i = padded
			continue
		}
		for i < end {
			j := i
			for j < end && isAlnum(s[j]) {
				j++
			}
			if isRandom(s[i:j], false) {
				out = append(out, cut{i, j})
			} else if j-i == 6 && j < len(s) && s[j] == '.' && (i == 0 || !isAlnum(s[i-1])) {
				// A bootstrap token: 6 and 16 lowercase letters and digits.
				if k := wordEnd(s, j+1); k == j+17 && smallOnly(s[i:j]) && smallOnly(s[j+1:k]) && opaque(s[j+1:k]) {
					out = append(out, cut{i, k})
					end = max(end, k)
					j = k
				}
			}
			i = max(j, i+1)
		}
		i = end
	}
	return out
}

func smallOnly(s string) bool {
	for k := range len(s) {
		if c := s[k]; (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// isRandom reports whether a text of letters and digits is random. If joined is set, it may contain
// separators.
func isRandom(w string, joined bool) bool {
	if len(w) < 16 || joined && len(w) < 24 || len(w) > 1<<16 {
		return false
	}
	if rest := strings.TrimPrefix(w, "pod"); len(rest) == 32 && allHex(rest) {
		return false // the UID of a static pod
	}
	const (
		none = iota
		lower
		upper
		digit
	)
	var count [4]int
	changes, inWords, hex := 0, 0, true
	last, run, bare := none, 0, 0 // the current run of one class, and the letters in it since the last vowel
	longestBare := 0
	closeRun := func(capital bool) {
		if last == lower && run >= 3 {
			inWords += run
			if capital {
				inWords++
			}
		} else if last == none || last == upper && run >= 4 {
			inWords += run
		}
	}
	capital := false // the current run follows an uppercase letter
	for i := range len(w) {
		c, class := w[i], none
		switch {
		case c >= 'a' && c <= 'z':
			class = lower
		case c >= 'A' && c <= 'Z':
			class = upper
		case c >= '0' && c <= '9':
			class = digit
		}
		count[class]++
		hex = hex && isHex(c)
		if class != last {
			closeRun(capital)
			capital = last == upper && class == lower
			if last != none && class != none {
				changes++
			}
			last, run = class, 0
			if class == none || class == digit {
				bare = 0
			}
		}
		run++
		if class == lower || class == upper {
			if strings.IndexByte("aeiouyAEIOUY", c) >= 0 {
				bare = 0
			} else if bare++; bare > longestBare {
				longestBare = bare
			}
		}
	}
	closeRun(capital)
	n := len(w)
	classes := min(count[lower], 1) + min(count[upper], 1) + min(count[digit], 1)
	switch {
	case count[lower]+count[upper] == 0:
		return false // a number
	case joined: // joined words and numbers are names
		return classes == 3 && changes*20 >= 9*n && inWords*100 < 35*n
	case longestBare >= 14:
		return true
	case hex && (count[lower] == 0 || count[upper] == 0):
		return n >= 20 && n != 32 && n != 64 && count[digit] > 0 && changes >= n/5
	case classes == 3:
		return inWords*10 < 7*n && changes >= 5
	case count[digit] == 0: // letters of both cases
		return classes == 2 && inWords*2 < n && changes*20 >= 9*n
	}
	return n >= 20 && changes*4 >= n // digits and letters of one case
}

// isEncoded reports whether a text is base64 of readable text.
func isEncoded(w string) bool {
	if len(w) < 12 || len(w)%4 != 0 || !opaque(w) {
		return false
	}
	text, err := base64.StdEncoding.DecodeString(w)
	if err != nil {
		return false
	}
	for _, c := range text {
		if (c < 0x20 || c >= 0x7f) && c != '\n' {
			return false
		}
	}
	return true
}
