package rules

import (
	"regexp"
	"strings"
	"testing"
)

// unwritten matches wordings that must not occur on a page, because Kubernetes
// documentation and Go engineers use other terms.
var unwritten = regexp.MustCompile(`(?i)one after the other|stands? (there|before)|speaks? (for|against)|where it bites|time-out|plug-in|roll-out|name space|lock-up|` +
	`r[au]ns? into (its|their) deadline|in vain|(does|do|did) not answer|is not there;|(f|F)ind out who|repair (the|its) way|utilisation|relabell|recognised|holds nothing`)

// TestWords checks the pages of all causes and breach rules and the texts of inputs.
func TestWords(t *testing.T) {
	pack, problems := Builtin()
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, id := range pack.IDs() {
		page, _ := pack.Page(id, 1<<20)
		if d := pack.Cause(id); d != nil {
			page += "\n" + strings.Join(d.Explanation, "\n")
			if all := strings.Join(d.Diagnosis, "\n"); strings.Contains(all, "=NODE") {
				t.Errorf("%s: a diagnosis with a word that nothing fills in: %q", id, all)
			}
		}
		for l := range strings.SplitSeq(page, "\n") {
			if bad := unwritten.FindString(l); bad != "" {
				t.Errorf("%s: %q in %q", id, bad, l)
			}
		}
	}
	for _, x := range inputs {
		if bad := unwritten.FindString(x.What + "; " + x.Why); bad != "" {
			t.Errorf("%s: %q", x.ID, bad)
		}
	}
}
