package fleet

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func somePartial(t *testing.T, n int) []byte {
	t.Helper()
	p := Partial{Header: Header{Schema: Schema, Tool: "v1"}, Shards: []Shard{{1, 2}}}
	for i := range n {
		p.Records = append(p.Records, Record{ID: fmt.Sprintf("sha256:%064d", i*7919), Name: fmt.Sprint(i), Status: Analysed, Nodes: []Node{}})
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestDamagedPartials: a partial that is truncated or followed by other data is refused.
func TestDamagedPartials(t *testing.T) {
	whole := somePartial(t, 3)
	if p, err := Read(bytes.NewReader(whole)); err != nil || len(p.Records) != 3 || len(p.Shards) != 1 {
		t.Fatalf("%v, %+v", err, p)
	}
	for name, junk := range map[string][]byte{"text": []byte("junk"), "another": whole, "zeros": make([]byte, 8)} {
		if p, err := Read(bytes.NewReader(append(bytes.Clone(whole), junk...))); err == nil || p != nil || !strings.Contains(err.Error(), "follows the end") {
			t.Errorf("%s behind the end: %+v, %v", name, p, err)
		}
	}
	many := somePartial(t, 20000)
	if p, err := Read(bytes.NewReader(many[:len(many)*3/4])); err == nil || p != nil || !strings.Contains(err.Error(), "cut") {
		t.Errorf("cut: %+v, %v", p, err)
	}
}

// TestProofOfGroup: a correlation quotes a line of a node that belongs to it.
func TestProofOfGroup(t *testing.T) {
	member := func(name string, at int64) *Member {
		proof := []Quote{{Where: name + ":1", Text: "server 10.0.0.9 is dead, says " + name}}
		c := Cause{ID: "storage-nfs-unresponsive", Title: "dead server", Level: "likely", Confidence: 0.9, Proof: proof}
		return &Member{Name: name, Proof: proof, Causes: []Cause{c}, Objects: []Object{{Kind: "server", Name: "10.0.0.9", At: at}},
			Episodes: []MemberEpisode{{Episode: Episode{Breach: at}, Causes: []Cause{c}}}}
	}
	const hour = int64(3600e9)
	ms := []*Member{member("early", hour), member("late-1", 9*hour), member("late-2", 9*hour+60e9)}
	for _, c := range correlate(ms) {
		if len(c.Nodes) != 2 || len(c.Proof) == 0 || c.Proof[0].Where != "late-1:1" {
			t.Errorf("%s %v quotes %+v", c.Kind, c.Nodes, c.Proof)
		}
	}
	if len(correlate(ms)) == 0 {
		t.Error("no correlation at all")
	}
}
