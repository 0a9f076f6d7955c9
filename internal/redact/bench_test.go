package redact

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkLine measures learning and replacing the names of log lines.
func BenchmarkLine(b *testing.B) {
	var log []string
	for _, sample := range []string{"stuck-pods", "hang-list", "frozen-kubelet"} {
		data, err := os.ReadFile(filepath.Join("../../samples", sample, "kubelet.log"))
		if err != nil {
			b.Fatal(err)
		}
		log = append(log, strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")...)
	}
	for _, l := range lines {
		log = append(log, l.text)
	}
	r := New(nil)
	pass := func(l string) {
		r.Learn(l)
		r.Settle()
		r.Text(l)
	}
	for _, l := range log {
		pass(l)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		pass(log[i%len(log)])
	}
}

// BenchmarkJoined redacts a record of words joined by dashes, each of which may begin a mail address.
func BenchmarkJoined(b *testing.B) {
	s := strings.Repeat("a-", 16000)
	b.SetBytes(int64(len(s)))
	for range b.N {
		r := New(nil)
		r.Learn(s)
		r.Settle()
		r.Text(s)
	}
}
