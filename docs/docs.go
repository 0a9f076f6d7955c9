// Package docs holds the pages that the program prints itself: topics of how
// PLEG works, for "explain TOPIC".
package docs

import (
	_ "embed"
	"strings"
)

//go:embed how-pleg-works.md
var howPLEGWorks string

// topics are the words by which a section is asked for, in the order of the page.
var topics = []struct{ name, heading string }{
	{"relist", "What a relist is"},
	{"last-seen", `What "last seen active" counts from`},
	{"step", "Which step a relist hangs in"},
	{"health-check", "What the kubelet's health check sees"},
	{"proof", "What proves that PLEG was healthy"},
	{"times", "How times are reconstructed"},
	{"evented", "What evented PLEG changes"},
	{"audit", "How events are audited"},
	{"confidence", "How to read confidence"},
}

// Topic is a section that can be asked for.
type Topic struct{ Name, Heading string }

// Topics are all of them.
func Topics() []Topic {
	var out []Topic
	for _, t := range topics {
		out = append(out, Topic{t.name, t.heading})
	}
	return out
}

// Text is the text of a topic as it stands in the page, false for an unknown one.
func Text(name string) (string, bool) {
	for _, t := range topics {
		if t.name != name {
			continue
		}
		_, after, ok := strings.Cut(howPLEGWorks, "\n## "+t.heading+"\n")
		text, _, _ := strings.Cut(after, "\n## ")
		return t.heading + "\n\n" + strings.TrimSpace(text) + "\n", ok
	}
	return "", false
}
