package bundle

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEmptyMembers: very many empty members are counted, not kept.
func TestEmptyMembers(t *testing.T) {
	t.Parallel()
	const more = 5
	members := []entry{{"kubelet.log", testLog(10)}}
	for i := range maxUnlisted + more {
		members = append(members, entry{fmt.Sprintf("d%d/kubelet.log", i), nil})
	}
	path := filepath.Join(t.TempDir(), "a.tar")
	if err := os.WriteFile(path, []byte(tarOf(t, members...)), 0o644); err != nil {
		t.Fatal(err)
	}
	b := load(t, Options{}, path)
	if in := b.Inputs[0]; in.Files != len(members) || in.FilesUsed != 1 || in.Partial || len(b.Files) != 1+maxUnlisted {
		t.Errorf("%+v, %d listed", in, len(b.Files))
	}
	if got, want := warnings(b), fmt.Sprintf("a.tar: %d more members are empty or hold nothing but NUL bytes and are not listed note=true\n", more); !strings.HasSuffix(got, want) {
		t.Errorf("warnings %q, want %q", got, want)
	}
}
