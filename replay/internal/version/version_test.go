package version

import (
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// TestQuotedForm checks that a structured line quoted in backticks is recognized as structured, and so as 1.21
// or later, and a printf line in backticks as printf.
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
