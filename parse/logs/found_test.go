package logs

import (
	"slices"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// TestFound: what the extractor of an entry found when it accepted a message is not extracted again for its fields.
func TestFound(t *testing.T) {
	const msg = `"Node became not ready" node="n" condition={Type:Ready Status:False LastHeartbeatTime:2023-11-14 22:13:20 +0000 UTC LastTransitionTime:2023-11-14 22:13:20 +0000 UTC Reason:KubeletNotReady Message:x}`
	m := Builtin().NewMatcher()
	if m.Match(parse.SrcKubelet, 'I', []byte(msg)) == nil {
		t.Fatal("not matched")
	}
	all := m.appendFields([]byte(msg), nil)
	calls := 0
	for _, e := range m.hits {
		extract := e.extract
		e.extract = func(r *record) ([]parse.Field, bool) { calls++; return extract(r) }
		r := readRecord(msg)
		if !e.accepts(r) {
			t.Errorf("%s does not accept it", e.ID)
		}
		fields := e.fieldsOf(r, nil)
		e.extract = extract
		if len(fields) < 5 || !slices.Equal(fields, e.fields(msg, nil)) {
			t.Errorf("%s: %v", e.ID, fields)
		}
		for _, f := range fields {
			if !slices.Contains(all, f) {
				t.Errorf("%v is missing in %v", f, all)
			}
		}
	}
	if calls != len(m.hits) {
		t.Errorf("%d extractions for %d entries", calls, len(m.hits))
	}
}
