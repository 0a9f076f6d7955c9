package main

import "github.com/plegforensics/plegforensics/internal/report/model"

// visible makes a string that comes from outside safe for a terminal: messages
// on standard error hold names of files and values of flags.
func visible(s string) string { return model.NewCleaner(nil).Text(s) }
