package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var repository = filepath.Join("..", "..")

// pages returns the documents whose command lines are run.
func pages(t *testing.T) []string {
	t.Helper()
	out := glob(t, filepath.Join(repository, "docs"), "*.md")
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md"} {
		out = append(out, filepath.Join(repository, name))
	}
	return out
}

var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// TestPages runs every command line of the documents and of --help in a directory that has files of
// the names they use. Commands with outside effects (go, git, kubectl, journalctl, …) are replaced
// by testdata/docs/outside.bash, which checks their arguments.
func TestPages(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash")
	}
	dir := t.TempDir()
	prepare(t, dir)
	for _, i := range []string{"1", "2", "3", "4"} { // inputs of a merge
		cmd := process("batch", "--quiet", "bundles/", "--shard", i+"/4", "--partial", i+".plegp")
		cmd.Dir, cmd.Env = dir, append(cmd.Env, "PLEGFORENSICS_TZ=UTC", "PLEGFORENSICS_YEAR=2026")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	for _, path := range pages(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range shellBlock.FindAllSubmatch(data, -1) {
			play(t, dir, filepath.Base(path), string(m[1]))
		}
	}
	for _, e := range examples {
		play(t, dir, "--help of "+e.command, e.line+"\n")
	}
}

// play runs a block in bash. Only a gate may make it fail, and there may be no error messages.
func play(t *testing.T, dir, where, block string) {
	t.Helper()
	if strings.Contains(block, "jq ") {
		if _, err := exec.LookPath("jq"); err != nil {
			t.Logf("%s: no jq to run %s", where, block)
			return
		}
	}
	script, err := filepath.Abs(filepath.Join("testdata", "docs", "outside.bash"))
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(repository)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", "-c", "source '"+script+"'\n"+block)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "REPOSITORY="+root, "PLEGFORENSICS_TZ=UTC", "PLEGFORENSICS_YEAR=2026")
	out, err := cmd.CombinedOutput()
	failed := regexp.MustCompile(`(?m)^FAILED .*$|^plegforensics: error: .*$|command not found|^plegforensics: warning: .*$|^plegforensics: no series: .*$`)
	for _, line := range failed.FindAllString(string(out), -1) {
		if !strings.HasPrefix(line, "plegforensics: error: --fail-on: ") {
			t.Errorf("%s: %s\nin\n%s\n%s", where, line, block, out)
			return
		}
	}
	if err != nil && !strings.Contains(block, "--fail-on") {
		t.Errorf("%s: %v in\n%s\n%s", where, err, block, out)
	}
}

// prepare creates the files that the documents mention.
func prepare(t *testing.T, dir string) {
	t.Helper()
	read := func(parts ...string) []byte {
		data, err := os.ReadFile(filepath.Join(append([]string{samples}, parts...)...))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	bad, good := read("hang-list", "kubelet.log"), read("healthy", "kubelet.log")
	cause, err := os.ReadFile(filepath.Join(repository, "rules", "causes", "runtime-down.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{
		"kubelet.log": bad, "sosreport.tar.xz": packedLog(t, "n1/kubelet.log", bad), "good.tar.xz": packedLog(t, "n1/kubelet.log", good),
		"bad.tar.xz": packedLog(t, "n1/kubelet.log", bad), "bundles/one.tar.xz": packedLog(t, "n1/kubelet.log", bad),
		"bundles/two.tar.xz":     packedLog(t, "n2/kubelet.log", good),
		"containerd.log":         []byte("time=\"2026-11-20T23:30:00.000000001Z\" level=info msg=\"Start subscribing containerd event\"\n"),
		"metrics/kubelet.prom":   []byte("# TYPE kubelet_running_pods gauge\nkubelet_running_pods 3 1795217400000\nkubelet_running_pods 3 1795217460000\n"),
		"alerts.yaml":            []byte("groups:\n- name: g\n  rules:\n  - alert: Few\n    expr: kubelet_running_pods < 1\n"),
		"snapshots.jsonl":        []byte("{\"time\":\"2026-01-02T03:00:00Z\",\"list_seconds\":0.01,\"pods\":[]}\n{\"time\":\"2026-01-02T03:00:01Z\",\"list_seconds\":0.01,\"pods\":[]}\n"),
		"my-rules/my-cause.yaml": bytes.Replace(cause, []byte("id: runtime-down"), []byte("id: my-cause"), 1),
	}
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// packedLog returns an archive of one file; its name does not matter.
func packedLog(t *testing.T, name string, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(data))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sampleLines is the maximum number of lines of a report in the README.
const sampleLines = 40

var sampleBlock = regexp.MustCompile("(?s)(<!-- sample: .*? -->\n```text\n)(.*?)(```\n)")

// TestReadme: the report in the README is what the program prints. Review it before you accept a
// change with -update.
func TestReadme(t *testing.T) {
	t.Setenv("COLUMNS", "100")
	lines := strings.SplitAfter(string(printed(t, "analyze", "--quiet", filepath.Join(samples, "hang-list", "kubelet.log"))), "\n")
	want := strings.Join(lines, "")
	if len(lines) > sampleLines {
		want = strings.Join(lines[:sampleLines], "") + "…\n"
	}
	path := filepath.Join(repository, "README.md")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m := sampleBlock.FindStringSubmatch(string(data))
	if m == nil {
		t.Fatal("no sample in the README")
	}
	if m[2] == want {
		return
	}
	if !*update {
		t.Fatalf("the README shows\n%s\nand the program prints\n%s", m[2], want)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(data), m[0], m[1]+want+m[3], 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

var relativeLink = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)

// TestPageLinks: relative links in the documents have targets.
func TestPageLinks(t *testing.T) {
	for _, path := range pages(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range relativeLink.FindAllStringSubmatch(string(data), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), m[1])); err != nil {
				t.Errorf("%s: %v", filepath.Base(path), err)
			}
		}
	}
}
