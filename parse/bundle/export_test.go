package bundle

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExportCited: a quoted line is found at the cited line of the export.
func TestExportCited(t *testing.T) {
	message := func(clock, age string) string {
		return `E0304 ` + clock + `    2114 kubelet.go:2347] \"Skipping pod synchronization\" err=\"PLEG is not healthy: pleg was last seen active ` + age + ` ago; threshold is 3m0s\"`
	}
	for name, form := range map[string][3]string{
		"one-line":  {`{"events":[`, `{"timestamp":1772618585000,"message":"MSG"},`, `{"timestamp":1772618590000,"message":"MSG"}],"searchedLogStreams":[]}`},
		"objects":   {"", `{"_time":"2026-03-04T10:03:05Z","@message":"MSG"}` + "\n", `{"_time":"2026-03-04T10:03:10Z","@message":"MSG"}` + "\n"},
		"many-runs": {`{"events":[` + strings.Repeat(`{"timestamp":1772618580000,"message":"I0304 10:03:00.000000    2114 x.go:1] \"quiet\""},`, 20000), `{"timestamp":1772618585000,"message":"MSG"},`, `{"timestamp":1772618590000,"message":"MSG"}]}`},
	} {
		text := form[0] + strings.Replace(form[1], "MSG", message("10:03:05.000000", "3m5s"), 1) + strings.Replace(form[2], "MSG", message("10:03:10.000000", "3m10s"), 1)
		path := filepath.Join(t.TempDir(), name+".json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		b, err := Load(context.Background(), []string{path}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(b.Events) != 2 || len(b.Coverage) == 0 {
			t.Fatalf("%s: %d events, %d origins", name, len(b.Events), len(b.Coverage))
		}
		lines := strings.Split(text, "\n")
		for _, e := range b.Events {
			if e.Line < 1 || int(e.Line) > len(lines) || !strings.Contains(lines[e.Line-1], e.Quote()) || !strings.HasPrefix(e.Quote(), "E0304") {
				t.Errorf("%s: line %d does not hold %q", name, e.Line, e.Quote())
			}
			if !strings.HasPrefix(e.Message(), `"Skipping pod`) {
				t.Errorf("%s: message %q", name, e.Message())
			}
		}
		for _, m := range []string{b.Coverage[0].FirstLine.Text.String(), b.Coverage[0].LastLine.Text.String()} {
			if !strings.Contains(text, m) || strings.Contains(m, "MESSAGE") {
				t.Errorf("%s: mark %q", name, m)
			}
		}
		f := b.Events[0].File
		if !f.Export || f.Size != int64(len(text)) || b.Inputs[0].Bytes != f.Size {
			t.Errorf("%s: size %d, of the input %d, are %d", name, f.Size, b.Inputs[0].Bytes, len(text))
		}
		if at := b.Coverage[0].LastLine.Line; int(at) > len(lines) {
			t.Errorf("%s: last line %d of %d", name, at, len(lines))
		}
	}
}
