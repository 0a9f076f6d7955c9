package rules

import "github.com/plegforensics/plegforensics/internal/spell"

// nearest returns the word of all that a writer of s most probably meant.
func nearest(s string, all []string) string { return spell.Nearest(s, all) }
