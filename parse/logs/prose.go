package logs

import (
	"slices"
	"strings"
)

// People quote a message of PLEG where they ask about it or tell of it, in an issue, a
// chat, a manual. Such a sentence says nothing of the node that the input is of.

// Words that stand in a sentence before a quotation, that end what leads to it, and that
// go on behind it. No message that holds one of PLEG has them in these places.
var (
	askWords  = []string{"i", "we", "you", "my", "our", "your", "us", "anybody", "anyone", "somebody", "someone", "hi", "hello", "hey", "what", "why", "how", "does", "did"}
	leadWords = []string{"says", "said", "saying", "see", "seeing", "saw", "got", "getting", "get", "like", "about", "of", "means", "the", "a", "an", "this", "these"}
	nextWords = []string{"and", "then", "on", "in", "at", "mean", "means", "meaning", "when", "after", "for", "but", "so", "which", "is", "was", "with", "what", "why", "error", "errors", "message", "messages"}
)

// quotedIn reports whether a message of PLEG stands in a sentence, by what is written
// before and behind it.
func quotedIn(before, behind string) bool {
	if ofSyncLoop(before) {
		return false
	}
	before = strings.TrimRight(strings.TrimSuffix(before, "PLEG is not healthy: "), "`'\"*_([ ")
	words := strings.Fields(strings.ToLower(before))
	for i := range words {
		words[i] = strings.Trim(words[i], ".,:;!?<>()*_`'\"")
	}
	if n := len(words); n > 0 && slices.Contains(leadWords, words[n-1]) {
		return true
	}
	if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(askWords, w) }) {
		return true
	}
	closed := strings.TrimLeft(behind, "`'\"*_)].")
	if next := strings.TrimLeft(closed, " "); next != closed {
		word, _, _ := strings.Cut(next, " ")
		return slices.Contains(nextWords, strings.Trim(word, ".,:;!?"))
	}
	return strings.HasPrefix(closed, "?")
}

// ofSyncLoop reports whether a line begins as those do that are no sentence for sure:
// structured, or the sync loop's.
func ofSyncLoop(line string) bool {
	return strings.HasPrefix(line, `"`) || strings.HasPrefix(line, "{") || strings.HasPrefix(line, "skipping pod synchronization")
}
