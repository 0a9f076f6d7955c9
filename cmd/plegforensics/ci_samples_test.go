package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
	"go.yaml.in/yaml/v3"

	"github.com/plegforensics/plegforensics/internal/schemas"
)

// documents parses a sample and fails on duplicate keys.
func documents(t *testing.T, name string) []map[string]any {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(samples, "ci", name))
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]any
	for d := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var doc map[string]any
		if err := d.Decode(&doc); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out = append(out, doc)
	}
}

// at follows a path through maps (by key) and lists (by index).
func at(t *testing.T, v any, path ...any) any {
	t.Helper()
	for _, p := range path {
		switch x := v.(type) {
		case map[string]any:
			v = x[p.(string)]
		case []any:
			if i := p.(int); i < len(x) {
				v = x[i]
			} else {
				v = nil
			}
		default:
			t.Fatalf("no %v in %T", p, v)
		}
	}
	return v
}

func TestIndexedJobSample(t *testing.T) {
	docs := documents(t, "kubernetes-indexed-job.yaml")
	if len(docs) != 2 {
		t.Fatalf("%d documents", len(docs))
	}
	spec := docs[0]["spec"]
	if at(t, spec, "completionMode") != "Indexed" || at(t, spec, "backoffLimitPerIndex") == nil {
		t.Error("not an Indexed Job with a limit for each index")
	}
	rule := at(t, spec, "podFailurePolicy", "rules", 0)
	if at(t, rule, "action") != "FailIndex" || !slices.Equal(at(t, rule, "onExitCodes", "values").([]any), []any{exitUsage, exitNothing}) {
		t.Errorf("rule %v", rule)
	}
	env := at(t, spec, "template", "spec", "containers", 0, "env", 0)
	if at(t, env, "name") != envName("shard-total")[0] || at(t, env, "value") != "16" || at(t, spec, "completions") != 16 {
		t.Errorf("the total of shards does not equal the completions: %v", env)
	}
	for _, d := range docs {
		if err := schemas.Kubernetes("io.k8s.api.batch.v1.Job", d); err != nil {
			t.Error(err)
		}
		pod := at(t, d, "spec", "template", "spec")
		c := at(t, pod, "containers", 0)
		if d["apiVersion"] != "batch/v1" || d["kind"] != "Job" || at(t, pod, "restartPolicy") != "Never" ||
			at(t, pod, "securityContext", "runAsNonRoot") != true || at(t, c, "securityContext", "readOnlyRootFilesystem") != true {
			t.Errorf("%v", d["metadata"])
		}
		mounted(t, pod, c)
		flagsExist(t, c)
	}
}

// mounted checks that every volume mount of a container has its volume.
func mounted(t *testing.T, pod, container any) {
	t.Helper()
	have := map[any]bool{}
	for _, v := range at(t, pod, "volumes").([]any) {
		have[at(t, v, "name")] = true
	}
	for _, m := range at(t, container, "volumeMounts").([]any) {
		if !have[at(t, m, "name")] {
			t.Errorf("no volume %v", at(t, m, "name"))
		}
	}
}

// flagsExist checks that the sample uses existing commands and flags.
func flagsExist(t *testing.T, container any) {
	t.Helper()
	var words []string
	for _, w := range at(t, container, "args").([]any) {
		words = append(words, w.(string))
	}
	checkCall(t, words)
}

// checkCall checks the command and flags of a call.
func checkCall(t *testing.T, words []string) {
	t.Helper()
	cmds := commands()
	var cmd *cli.Command
	for len(words) > 0 {
		next := find(cmds, words[0])
		if next == nil {
			break
		}
		cmd, cmds, words = next, next.Subcommands, words[1:]
	}
	if cmd == nil {
		t.Fatalf("no command in %v", words)
	}
	for _, w := range words {
		if !strings.HasPrefix(w, "-") {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimLeft(w, "-"), "=")
		if !slices.ContainsFunc(cmd.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) }) {
			t.Errorf("%s has no flag %s", cmd.Name, w)
		}
	}
}

// TestArgoSample checks the Kubernetes objects in the workflow against the Kubernetes schema, and
// the rest by hand; .ci/run checks the whole against Argo's types.
func TestArgoSample(t *testing.T) {
	docs := documents(t, "argo-workflow.yaml")
	spec := docs[0]["spec"]
	if docs[0]["kind"] != "Workflow" || docs[0]["apiVersion"] != "argoproj.io/v1alpha1" {
		t.Error("no workflow")
	}
	names := map[any]bool{}
	core := func(definition string, objects ...any) {
		t.Helper()
		for _, o := range objects {
			if err := schemas.Kubernetes("io.k8s.api.core.v1."+definition, o); err != nil {
				t.Error(err)
			}
		}
	}
	core("Volume", at(t, spec, "volumes").([]any)...)
	for _, c := range at(t, spec, "volumeClaimTemplates").([]any) {
		core("PersistentVolumeClaimSpec", at(t, c, "spec"))
	}
	for _, x := range at(t, spec, "templates").([]any) {
		names[at(t, x, "name")] = true
		if c, ok := x.(map[string]any)["container"]; ok {
			core("Container", c)
			flagsExist(t, c)
		}
	}
	if !names[at(t, spec, "entrypoint")] {
		t.Error("the entrypoint is no template")
	}
	for _, task := range at(t, spec, "templates", 0, "dag", "tasks").([]any) {
		if !names[at(t, task, "template")] {
			t.Errorf("no template %v", at(t, task, "template"))
		}
	}
}

// TestCIScripts: the workflows parse, and each line that calls the program uses existing flags.
func TestCIScripts(t *testing.T) {
	github := documents(t, "github-actions.yml")[0]
	for name, job := range github["jobs"].(map[string]any) {
		if at(t, job, "runs-on") == nil || len(at(t, job, "steps").([]any)) == 0 {
			t.Errorf("job %s", name)
		}
		for _, s := range at(t, job, "steps").([]any) {
			if line, ok := s.(map[string]any)["run"].(string); ok {
				checkLine(t, line)
			}
		}
	}
	if got := at(t, github, "jobs", "map", "strategy", "matrix", "shard").([]any); len(got) != 4 {
		t.Errorf("matrix %v", got)
	}
	gitlab := documents(t, "gitlab-ci.yml")[0]
	if err := schemas.GitLab(gitlab); err != nil {
		t.Error(err)
	}
	for _, job := range []string{"pleg-map", "pleg-reduce"} {
		if !slices.Contains(gitlab["stages"].([]any), at(t, gitlab, job, "stage")) {
			t.Errorf("stage of %s", job)
		}
		for _, line := range at(t, gitlab, job, "script").([]any) {
			checkLine(t, line.(string))
		}
	}
}

// actionlint checks the syntax, expressions and contexts of GitHub workflows. It is run as a
// separate program to keep its dependencies out of this module.
const actionlint = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"

func TestGitHubWorkflow(t *testing.T) {
	if os.Getenv("PLEGFORENSICS_BUILDS") == "" {
		t.Skip("builds a program: the gate sets PLEGFORENSICS_BUILDS")
	}
	if out, err := exec.Command("go", "run", actionlint, "-version").CombinedOutput(); err != nil {
		t.Skipf("no %s to be had: %s", actionlint, out)
	}
	cmd := exec.Command("go", "run", actionlint, "-no-color", "-shellcheck=", "-pyflakes=", filepath.Join(samples, "ci", "github-actions.yml"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func checkLine(t *testing.T, line string) {
	t.Helper()
	if rest, ok := strings.CutPrefix(line, "plegforensics "); ok {
		checkCall(t, strings.Fields(rest))
	}
}

// TestContainerfile: the image contains only the binary and does not run as root.
func TestContainerfile(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(samples, "ci", "Containerfile"))
	if err != nil {
		t.Fatal(err)
	}
	_, last, ok := strings.Cut(string(data), "\nFROM scratch\n")
	if !ok || strings.Contains(last, "RUN") || !strings.Contains(last, "\nUSER 65532:65532\n") || !strings.Contains(string(data), "CGO_ENABLED=0") {
		t.Errorf("%s", last)
	}
}
