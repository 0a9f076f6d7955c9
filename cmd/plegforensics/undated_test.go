package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/plegforensics/plegforensics/internal/report"
)

// TestTimesComeFromTheInput: no command or format shows a time around the Unix epoch, which
// represents an unknown time, or one computed from it.
func TestTimesComeFromTheInput(t *testing.T) {
	epoch := regexp.MustCompile(`.{0,60}\b(?:1969-12|1970-01|12-31 2[0-3]:|01-01 0\d:).{0,60}`)
	inputs := map[string][]string{}
	for _, name := range sampleNames(t) {
		inputs[name] = inputsOf(t, name)
	}
	paste := filepath.Join(t.TempDir(), "paste.log")
	if err := os.WriteFile(paste, []byte(undated), 0o600); err != nil {
		t.Fatal(err)
	}
	inputs["a paste"] = []string{paste}
	if cases, _ := filepath.Glob("../../../shared/data/cases/*.log"); !testing.Short() { // if available
		for _, path := range cases {
			inputs[path] = []string{path}
		}
	}
	for name, in := range inputs {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			args := []string{"analyze", "--verbose", "--quiet"}
			for _, f := range report.Formats {
				args = append(args, "-o", f.Name+"="+filepath.Join(dir, "analyze."+f.Name))
			}
			runTool(append(args, in...)...)
			for command, formats := range map[string][]string{"timeline": {"text", "json"}, "events": {"text"}, "inspect": {"text", "json"}, "replay": {"json"}} {
				for _, f := range formats {
					_, out, _ := runTool(append([]string{command, "--quiet", "-o", f}, in...)...)
					if m := epoch.FindString(out); m != "" {
						t.Errorf("%s -o %s: %s", command, f, m)
					}
				}
			}
			written, _ := filepath.Glob(filepath.Join(dir, "*"))
			if len(written) < len(report.Formats) {
				t.Errorf("%d of %d formats written", len(written), len(report.Formats))
			}
			for _, path := range written {
				out, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if m := epoch.Find(bytes.ToValidUTF8(out, nil)); m != nil {
					t.Errorf("%s: %s", filepath.Base(path), m)
				}
			}
		})
	}
}

// undated are lines without a time that mention times relative to their own.
const undated = `skipping pod synchronization - [container runtime is down PLEG is not healthy: pleg was last seen active 3m10.1s ago; threshold is 3m0s]
container runtime is down
"Housekeeping took longer than expected" err="housekeeping took too long" expected="1s" actual="17s"
GenericPLEG: Unable to retrieve pods: rpc error: code = DeadlineExceeded desc = context deadline exceeded
"ListPodSandbox with filter from runtime service failed" err="rpc error: code = DeadlineExceeded desc = context deadline exceeded" filter="nil"
"StopPodSandbox from runtime service failed" err="rpc error: code = DeadlineExceeded desc = context deadline exceeded" podSandboxID="f00df00df00df00df00df00df00df00df00df00df00df00df00df00df00df00d"
INFO: task containerd-shim:4711 blocked for more than 120 seconds.
`
