package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/pleg"
)

func tree(t *testing.T, text string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "pkg/kubelet/pleg/generic.go")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("package pleg\n"+text), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := fingerprints(dir)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestCompare(t *testing.T) {
	was := tree(t, "const a = 1\n// doc\nfunc f() {\n\t// why\n\tg()\n}\nfunc g() {}\nfunc (x *T) h() {}\n")
	same := tree(t, "const a = 1\n// other words\nfunc f() {\n\tg()\n}\nfunc g() {}\nfunc (x *T) h() {}\n")
	var b bytes.Buffer
	if n := compare(&b, was, same); n != 0 {
		t.Errorf("comments count: %s", b.String())
	}
	is := tree(t, "const a = 2\nfunc f() {\n\tg()\n\tg()\n}\nfunc (x *T) h() {}\nfunc i() {}\n")
	b.Reset()
	n := compare(&b, was, is)
	for _, want := range []string{"changed  pkg/kubelet/pleg/generic.go consts\n", "changed  pkg/kubelet/pleg/generic.go f\n",
		"gone     pkg/kubelet/pleg/generic.go g\n", "new      pkg/kubelet/pleg/generic.go i\n", "4 of 4 watched functions differ"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%d: no %q in\n%s", n, want, b.String())
		}
	}
	if _, err := fingerprints(t.TempDir()); err == nil {
		t.Error("an empty folder is a kubelet")
	}
}

// TestKnown: the fingerprints are those of the newest release known to package pleg.
func TestKnown(t *testing.T) {
	p, err := pleg.New(strings.TrimPrefix(strings.Fields(known)[2], "v"))
	if err != nil || p.Minor != pleg.NewestMinor {
		t.Errorf("known.txt is of %q, the table of rules ends with v1.%d", strings.SplitN(known, "\n", 2)[0], pleg.NewestMinor)
	}
	m := parse(known)
	for _, name := range []string{"pkg/kubelet/pleg/generic.go generateEvents", "pkg/kubelet/pleg/generic.go GenericPLEG.Healthy", "pkg/kubelet/pleg/evented.go EventedPLEG.processCRIEvents",
		"pkg/kubelet/kubelet.go consts", "pkg/kubelet/kuberuntime/kuberuntime_manager.go kubeGenericRuntimeManager.GetPodStatus"} {
		if m[name] == "" {
			t.Errorf("no fingerprint of %s", name)
		}
	}
}
