package report

import "github.com/plegforensics/plegforensics/internal/report/model"

// MaxQuote is the length at which a quoted line is cut, in bytes.
const MaxQuote = model.MaxQuote

// Visible is model.Visible for the writers that are not over the model yet.
func Visible(s string) string { return model.Visible(s) }

// Quote is Visible cut at MaxQuote.
func Quote(s string) string { return model.Cut(model.Visible(s), MaxQuote) }

func cut(s string, n int) string { return model.Cut(s, n) }

func plain(s string) bool { return model.Visible(s) == s }
