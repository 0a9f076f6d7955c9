package rules

import (
	"fmt"

	"github.com/plegforensics/plegforensics/internal/spell"
)

func sprintf(format string, args ...any) string {
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}

// nearest returns the word of all that a writer of s most probably meant.
func nearest(s string, all []string) string { return spell.Nearest(s, all) }
