package host

import (
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// Mentions reports whether the value of a fact or one of its attributes contains the text.
func Mentions(f *parse.Fact, text string) bool {
	return strings.Contains(f.Value, text) || slices.ContainsFunc(f.Attrs, func(a parse.Field) bool { return strings.Contains(a.Value, text) })
}
