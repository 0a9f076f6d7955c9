package main

import "path/filepath"

// samples is the directory of sample inputs; absolute, because scripts run elsewhere.
var samples = func() string {
	dir, err := filepath.Abs("../../samples")
	if err != nil {
		panic(err)
	}
	return dir
}()
