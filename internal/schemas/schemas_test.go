package schemas

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const suites = `<testsuites name="x"><testsuite name="a" tests="1"><properties><property name="p" value="v"/></properties>` +
	`<testcase name="c" time="0"><skipped>why</skipped></testcase><system-out>o</system-out></testsuite></testsuites>`

// TestJUnit: the checker agrees with the schema on a valid document and on one of each kind of
// error, and with xmllint if available.
func TestJUnit(t *testing.T) {
	for want, doc := range map[string]string{
		"":              suites,
		"not in the":    `<results/>`,
		"is not allo":   strings.Replace(suites, `time="0"`, `duration="0"`, 1),
		"tests is miss": strings.Replace(suites, ` tests="1"`, "", 1),
		"text":          strings.Replace(suites, "<properties>", "<properties>x", 1),
		"times prop":    strings.Replace(suites, `<property name="p" value="v"/>`, "", 1),
		"may not stand": strings.Replace(suites, "<testcase", "<system-err/><testcase", 1),
	} {
		err := JUnit([]byte(doc))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", doc, err, want)
		}
		if lint, err := exec.LookPath("xmllint"); err == nil {
			if ok := xmllint(t, lint, doc); ok != (want == "") {
				t.Errorf("xmllint says %v: %s", ok, doc)
			}
		}
	}
}

func xmllint(t *testing.T, lint, doc string) bool {
	t.Helper()
	path := filepath.Join(t.TempDir(), "doc.xml")
	if err := os.WriteFile(path, []byte(doc), 0o644); err != nil {
		t.Fatal(err)
	}
	return exec.Command(lint, "--noout", "--schema", "junit-4.xsd", path).Run() == nil
}

func TestSARIF(t *testing.T) {
	const good = `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"results":[{"message":{"text":"m"}}]}]}`
	if err := SARIF([]byte(good)); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{
		strings.Replace(good, `"text":"m"`, "", 1),
		strings.Replace(good, `"name":"x"`, `"name":"x","informationUri":"a b"`, 1),
		strings.Replace(good, `"results"`, `"findings"`, 1),
		strings.Replace(good, "2.1.0", "2.2.0", 1),
	} {
		if SARIF([]byte(bad)) == nil {
			t.Errorf("%s is taken for valid", bad)
		}
	}
}

// TestKubernetes: the schema is that of the API, and unknown fields are detected.
func TestKubernetes(t *testing.T) {
	job := func(spec map[string]any) error {
		return Kubernetes("io.k8s.api.batch.v1.Job", map[string]any{"apiVersion": "batch/v1", "kind": "Job", "spec": spec})
	}
	pod := map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "c"}}}}
	if err := job(map[string]any{"template": pod, "completions": 3}); err != nil {
		t.Error(err)
	}
	for _, bad := range []map[string]any{
		{"completions": 3},
		{"template": pod, "completions": "3"},
		{"template": pod, "backOffLimit": 3},
		{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"image": "c"}}}}},
	} {
		if job(bad) == nil {
			t.Errorf("%v is taken for valid", bad)
		}
	}
}

func TestGitLab(t *testing.T) {
	if err := GitLab(map[string]any{"job": map[string]any{"script": []any{"true"}, "parallel": 4}}); err != nil {
		t.Error(err)
	}
	if GitLab(map[string]any{"job": map[string]any{"script": []any{"true"}, "parallel": "x"}}) == nil {
		t.Error("a job with parallel: x is taken for valid")
	}
}
