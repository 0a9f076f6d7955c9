package kubelet

import (
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// TestQuotedForm: a structured line that a thread quotes in backticks is a structured
// one, and so of 1.21 or later; a printf line in backticks is none.
func TestQuotedForm(t *testing.T) {
	for _, tt := range []struct {
		msg  string
		form form
	}{
		{"`\"Skipping pod synchronization\" err=\"PLEG is not healthy\"`", structured},
		{" `\"Skipping pod synchronization\" err=\"PLEG is not healthy\"`", structured},
		{"\"Skipping pod synchronization\" err=\"PLEG is not healthy\"", structured},
		{"`skipping pod synchronization - PLEG is not healthy`", printf},
		{"", printf},
	} {
		for _, f := range []form{printf, structured} {
			c := clue{parse.SigSkip, "", f, 0, 0, 0}
			if got := c.fits(tt.msg, 'E'); got != (f == tt.form) {
				t.Errorf("%q: form %d: %v", tt.msg, f, got)
			}
		}
	}
}
