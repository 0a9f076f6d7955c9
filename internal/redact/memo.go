package redact

import (
	"hash/maphash"
	"slices"
)

// memo caches the positions of names in texts with the same pattern. Log lines follow few patterns
// and differ in numbers and IDs, which no shape looks into: of a word with a digit, only the length
// and the classes of characters matter.
type memo struct {
	seed    maphash.Seed
	known   map[uint64]scanResult
	pattern []byte // of the current text
}

// scanResult is the cached result for a pattern.
type scanResult struct {
	spans  []span
	places int // index of the first span found by places
}

const (
	maxPatterns = 1 << 16
	maxHeard    = 1 << 20 // a report cites the lines of all nodes again after they were learned from
)

func newMemo() memo { return memo{seed: maphash.MakeSeed(), known: map[uint64]scanResult{}} }

// find returns the positions of names in s.
func (m *memo) find(s string) scanResult {
	m.pattern = appendPattern(m.pattern[:0], s)
	key := maphash.Bytes(m.seed, m.pattern)
	f, ok := m.known[key]
	if ok {
		return f
	}
	has := pairsOf(s)
	f.spans = positions(s, &has)
	f.places = len(f.spans)
	for _, sh := range places {
		f.spans = sh.spans(f.spans, s, &has, sure)
	}
	f.spans = slices.Clip(f.spans)
	if len(m.known) >= maxPatterns {
		clear(m.known)
	}
	m.known[key] = f
	return f
}

// spelt are words with digits that occur literally in shapes.
var spelt = map[string]bool{"k8s": true, "v1": true, "v2": true, "s3": true, "tcp4": true, "tcp6": true, "udp4": true, "udp6": true, "sha256": true, "ext4": true, "jbd2": true, "python3": true, "rke2": true, "k3s": true, "k0s": true}

// appendPattern appends a key that is equal for texts with names in the same positions: s, with the
// words whose characters do not matter replaced by their class.
func appendPattern(b []byte, s string) []byte {
	for i := 0; i < len(s); {
		if !isAlnum(s[i]) || s[i] >= 0x80 {
			b = append(b, s[i])
			i++
			continue
		}
		j := i
		if i > 0 && (s[i-1] == '%' || s[i-1] == '\\') { // an escape
			for j < len(s) && j < i+3 && isAlnum(s[j]) {
				b = append(b, s[j])
				j++
			}
			i = j
		}
		var digits, upper, other int
		for j < len(s) && isAlnum(s[j]) && s[j] < 0x80 {
			switch c := s[j]; {
			case c <= '9':
				digits++
			case c <= 'Z':
				upper++
			case c > 'f':
				other++
			}
			j++
		}
		word, inner := s[i:j], i > 0 && (s[i-1] == '-' || s[i-1] == '_')
		var class byte
		switch {
		case spelt[word]:
		case digits == len(word):
			class = 1
		case upper > 0:
			for _, c := range []byte(word) { // shapes may depend on the case of each letter
				switch {
				case digits == 0:
				case c <= '9':
					c = 1
				case c <= 'F':
					c = 2
				case c <= 'Z':
					c = 3
				case c <= 'f':
					c = 4
				default:
					c = 5
				}
				b = append(b, c)
			}
			i = j
			continue
		case other == 0 && inner && (len(word) == 4 || len(word) == 12): // may be a group of a UID
			class = 6
		case digits == 0 && inner && len(word) == 5 && vowelless(word): // may be the suffix of a pod name
			class = 7
		case digits == 0:
		case other == 0:
			class = 8
		default:
			class = 9
		}
		switch {
		case class == 0:
			b = append(b, word...)
		default:
			if class > 7 && word[0] > '9' {
				class += 2
			}
			for range word {
				b = append(b, class)
			}
		}
		i = j
	}
	return b
}

func vowelless(w string) bool {
	for k := range len(w) {
		switch w[k] {
		case 'a', 'e', 'i', 'o', 'u', 'y':
			return false
		}
	}
	return true
}

// shown is a cache of texts as they are shown: a report says many things more than once.
type shown struct {
	texts map[string]shownText
	size  int     // of the texts
	used  []*name // in the current text
}

// shownText is a text as it is shown and the names in it, one for each time.
type shownText struct {
	text  string
	names []*name
}

const maxShown = 4 << 20

func (c *shown) find(s string) (string, []*name, bool) {
	out, known := c.texts[s]
	return out.text, out.names, known
}

// use counts a name that is replaced in the current text.
func (c *shown) use(n *name) {
	n.count++
	c.used = append(c.used, n)
}

func (c *shown) keep(s, out string) {
	const overhead = 100
	if size := len(s) + len(out) + 8*len(c.used) + overhead; size < maxShown/64 {
		if c.size += size; c.size > maxShown || c.texts == nil {
			c.texts, c.size = map[string]shownText{}, size
		}
		c.texts[s] = shownText{out, slices.Clone(c.used)}
	}
}

// forget empties the cache when there is another name.
func (c *shown) forget() {
	if len(c.texts) > 0 {
		c.texts, c.size = nil, 0
	}
}
