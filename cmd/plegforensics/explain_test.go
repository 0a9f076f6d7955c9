package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/docs"
	"github.com/plegforensics/plegforensics/rules"
)

// TestTopicsLead: causes and rules named by a topic have pages, which refer to the topic.
func TestTopicsLead(t *testing.T) {
	pack, probs := rules.Builtin()
	if len(probs) > 0 {
		t.Fatal(probs)
	}
	for _, x := range docs.Topics() {
		for _, id := range x.Causes {
			if pack.Cause(id) == nil {
				t.Errorf("%s names the cause %s", x.Name, id)
			}
		}
		for _, id := range x.Rules {
			if rules.LookupBreach(id) == nil {
				t.Errorf("%s names the rule %s", x.Name, id)
			}
		}
		for _, id := range append(slices.Clone(x.Causes), x.Rules...) {
			_, back, _ := strings.Cut(must(t, "explain", id), "\nTopics\n")
			if !slices.Contains(strings.FieldsFunc(back, func(r rune) bool { return strings.ContainsRune(", \n", r) }), x.Name) {
				t.Errorf("the page of %s does not lead to %s: %s", id, x.Name, back)
			}
		}
		if all := must(t, "explain"); !strings.Contains(all, "\n"+x.Name+" ") && !strings.HasPrefix(all, x.Name+" ") {
			t.Errorf("%s is not listed", x.Name)
		}
		for _, alias := range append([]string{x.Name}, x.Aliases...) {
			if _, ok := pack.Page(alias, pageWidth); ok {
				t.Errorf("%s of topic %s is a page of its own", alias, x.Name)
			}
		}
	}
}
