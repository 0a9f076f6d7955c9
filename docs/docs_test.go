package docs

import (
	"strings"
	"testing"
)

// TestTopics: every section of the page is a topic, and every topic a section.
func TestTopics(t *testing.T) {
	if got, want := strings.Count(howPLEGWorks, "\n## "), len(topics); got != want {
		t.Errorf("%d sections, %d topics", got, want)
	}
	for _, x := range Topics() {
		text, ok := Text(x.Name)
		if !ok || len(text) < 200 || strings.Contains(text, "\n## ") {
			t.Errorf("%s: %v, %d bytes", x.Name, ok, len(text))
		}
		for _, line := range strings.Split(text, "\n") {
			if len([]rune(line)) > 80 {
				t.Errorf("%s: longer than 80 columns: %s", x.Name, line)
			}
		}
	}
	if _, ok := Text("nosuch"); ok {
		t.Error("nosuch")
	}
}
