package main

import "github.com/plegforensics/plegforensics/internal/report"

// visible makes text from inputs and arguments safe for the terminal.
func visible(s string) string { return report.Visible(s) }
