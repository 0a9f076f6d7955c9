package fleet

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// TestNameOfBundle: the name of a bundle is as untrusted as its contents. It is escaped in the record
// and in the positions of its quotes, as the report escapes the names of its files.
func TestNameOfBundle(t *testing.T) {
	const name, escaped = "b/\x1b[31m\n::error::x\u202e.log", `b/\x1b[31m\n::error::x\u202e.log`
	r := Reduce(name, name, &model.Report{Nodes: []*model.Node{{Name: "n", History: &model.History{}, Causes: []model.Cause{{ID: "c",
		For: model.ProofOf(model.Evidence{File: strings.TrimPrefix(escaped, "b/"), Line: 3})}}}}})
	if r.Name != escaped || r.ID != escaped {
		t.Errorf("name %q, ID %q", r.Name, r.ID)
	}
	all, err := json.Marshal(r)
	if err != nil || strings.ContainsAny(string(all), "\x1b\n\u202e") || strings.Contains(string(all), `\u001b`) {
		t.Errorf("%s, %v", all, err)
	}
	if got := r.Nodes[0].Causes[0].Proof[0].Where; got != escaped+":3" {
		t.Errorf("position %q", got)
	}
}
