package bundle

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

const runtimeLog = `Mar 09 00:00:00 worker-3 containerd[655]: time="2026-03-09T00:00:00.1Z" level=info msg="StartContainer for \"c0ffee01\" returns successfully"
Mar 09 00:00:01 worker-3 containerd[655]: time="2026-03-09T00:00:01.1Z" level=info msg="RunPodSandbox for &PodSandboxMetadata{Name:web-0,Uid:0d1c,Namespace:default,Attempt:0,} returns sandbox id \"5a11cafe\""
Mar 09 00:00:02 worker-3 containerd[655]: time="2026-03-09T00:00:02.1Z" level=info msg="StopContainer for \"c0ffee01\" with timeout 30 (s)"
`

// longValues has more long values than are interned: names of pods, each with two events,
// and at last an error that is too long by itself.
func longValues() string {
	var log strings.Builder
	for i := range 10_000 {
		name := fmt.Sprintf("%05d-%s", i, strings.Repeat("abcdefg-", 10))
		for range 2 {
			fmt.Fprintf(&log, "I0309 00:00:00.100000    1234 kubelet.go:2453] \"SyncLoop (PLEG): event for pod\" pod=\"default/%s\""+
				" event=&{ID:0d1c0d1c-0000-4000-8000-000000000001 Type:ContainerDied Data:c0ffee01}\n", name)
		}
	}
	fmt.Fprintf(&log, "E0309 00:00:01.100000    1234 remote_runtime.go:334] \"ContainerStatus from runtime service failed\""+
		" err=\"rpc error: code = Unknown desc = %s\" containerID=\"c0ffee01\"\n", strings.Repeat("abcdefg-", 150))
	return log.String()
}

// TestFieldsTaken: the interned fields of each event equal those parsed from its
// text.
func TestFieldsTaken(t *testing.T) {
	samples, err := filepath.Glob("../../samples/*")
	if err != nil {
		t.Fatal(err)
	}
	runtime := filepath.Join(t.TempDir(), "containerd.log")
	if err := os.WriteFile(runtime, []byte(runtimeLog), 0o600); err != nil {
		t.Fatal(err)
	}
	kubelet := filepath.Join(t.TempDir(), "long-values.log.gz")
	log := longValues()
	if err := os.WriteFile(kubelet, gz(t, []byte(log)), 0o600); err != nil { // so that the text is kept in memory
		t.Fatal(err)
	}
	samples = append(samples, runtime, kubelet)
	b, err := Load(context.Background(), samples, Options{})
	if err != nil {
		t.Fatal(err)
	}
	taken := b.Interned.Bound()
	row := make([]parse.StringID, 1)
	lines, long := 0, 0
	for _, e := range b.Events {
		if q := e.Quote(); strings.HasPrefix(e.File.Path, "long-values.log") && log[e.Offset:][:len(q)] != q {
			t.Fatalf("%s: not the line of the log: %s", e.Where(), q)
		}
		got, want := e.Fields(), e.Extract(nil)
		if !slices.Equal(got, want) {
			t.Fatalf("%s: kept %q, in the text %q", e.Where(), got, want)
		}
		for _, f := range want {
			parse.NewColumns(b.Interned, f.Name).Read(e, row)
			if b.Interned.Text(row[0]) != firstValue(want, f.Name) {
				t.Fatalf("%s: by number %q, in the text %q", e.Where(), b.Interned.Text(row[0]), want)
			}
			// A field that was interned only now, from the text, has a higher
			// number.
			if len(f.Value) > 80 {
				long++
			} else if e.Is(parse.SigEvent) || e.Is(parse.SigCtrLife) {
				if lines++; int(row[0]) >= taken {
					t.Fatalf("%s: %s was not kept", e.Where(), f.Name)
				}
			}
		}
	}
	if long < 20_001 {
		t.Errorf("%d long values", long)
	}
	if lines < 100 {
		t.Errorf("only %d fields of events and containers", lines)
	}
}

// firstValue returns the first non-empty value of the named field.
func firstValue(fields []parse.Field, name string) string {
	for _, f := range fields {
		if f.Name == name && f.Value != "" {
			return f.Value
		}
	}
	return ""
}
