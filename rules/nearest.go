package rules

import "github.com/plegforensics/plegforensics/internal/spell"

// nearest returns the word of all that is most similar to the misspelled s, or "".
func nearest(s string, all []string) string { return spell.Nearest(s, all) }
