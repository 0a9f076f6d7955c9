package logs

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// TestManyLogs: an archive may contain a hundred thousand small logs. The head of
// each is searched for sentences only once, and content that is not prose is not
// searched for source code.
func TestManyLogs(t *testing.T) {
	export := []byte("__REALTIME_TIMESTAMP=1710000000000001\n_HOSTNAME=node-1\nSYSLOG_IDENTIFIER=kubelet\nMESSAGE=func main() {\n\n")
	line := []byte("2024-03-13T15:30:00Z stderr F if err != nil {\n")
	for _, head := range [][]byte{export, line} {
		most := float64(7 + 3*bytes.Count(head, []byte("\n")))
		if got := testing.AllocsPerRun(20, func() { NewDecoder(&parse.File{Path: "x"}, head, Builtin(), Options{}) }); got > most {
			t.Errorf("%.40q: %v allocations, more than %v", head, got, most)
		}
	}
	code := ""
	for i := range 3 {
		code += fmt.Sprintf("if err := run(%d); err != nil {\n", i)
	}
	if !IsGuide([]byte(code)) || !IsGuide([]byte(code[:len(code)-1])) || IsGuide([]byte(code[len(code)/3:])) {
		t.Error("three lines of code are source code, two are not")
	}
}
