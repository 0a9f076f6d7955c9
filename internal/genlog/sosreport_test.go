package genlog

import (
	"archive/tar"
	"bytes"
	"io"
	"testing"
)

// TestSosreport: the archive is complete, and the kubelet's journal consists of its lines in the
// whole journal.
func TestSosreport(t *testing.T) {
	var b bytes.Buffer
	if err := WriteSosreport(&b, Options{Bytes: 1 << 20, Seed: 1, Errors: 2}); err != nil {
		t.Fatal(err)
	}
	lines, kubelet, files := map[string]int{}, map[string]int{}, 0
	for r := tar.NewReader(&b); ; files++ {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		lines[h.Name] = bytes.Count(data, []byte("\n"))
		kubelet[h.Name] = bytes.Count(data, []byte(" kubelet["))
	}
	const top = "sosreport-worker-3-2026-03-10-genlogs/sos_commands/"
	whole, own := top+"logs/journalctl_--no-pager", top+"kubernetes/journalctl_--no-pager_--unit_kubelet"
	if files < 1500 || lines[whole] < 2000 || lines[own] != kubelet[whole] || kubelet[own] != lines[own] {
		t.Errorf("%d files, %d lines of which %d are the kubelet's, %d in its journal", files, lines[whole], kubelet[whole], lines[own])
	}
}
