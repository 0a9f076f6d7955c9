package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxQuote is the length at which a quoted line is cut, in bytes.
const MaxQuote = 1024

// Visible makes a string from an input safe to show: control characters,
// escape sequences, bidirectional overrides and invalid UTF-8 become visible
// escapes, so that nothing in a bundle can act on a terminal, a viewer or a
// reader's eye. A tab stays a tab.
func Visible(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case hidden(r):
			if r < 0x100 {
				fmt.Fprintf(&b, `\x%02x`, r)
			} else {
				fmt.Fprintf(&b, `\u%04x`, r)
			}
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= 0x7f || c < 0x20 && c != '\t' {
			return false
		}
	}
	return true
}

// hidden reports whether r has no face of its own or changes how others look.
func hidden(r rune) bool {
	if r == '\t' {
		return false
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) ||
		unicode.Is(unicode.Zp, r) || unicode.Is(unicode.Co, r) || r >= 0xfff0 && r <= 0xffff
}

// Quote is Visible cut at MaxQuote, with a mark where it was cut.
func Quote(s string) string { return cut(Visible(s), MaxQuote) }

// cut shortens s to at most n bytes at a rune boundary, ending in an ellipsis.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n -= len("…")
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:max(n, 0)] + "…"
}
