package main

import (
	"testing"

	"github.com/plegforensics/plegforensics/docs"
	"github.com/plegforensics/plegforensics/rules"
)

// TestTopicsLead: the causes and rules that a topic names have pages, which name it.
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
		for _, alias := range append([]string{x.Name}, x.Aliases...) {
			if _, ok := pack.Page(alias, pageWidth); ok {
				t.Errorf("%s of topic %s is a page of its own", alias, x.Name)
			}
		}
	}
}
