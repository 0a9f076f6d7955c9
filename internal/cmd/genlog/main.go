// Command genlog writes a large journal of a node to standard output:
//
//	go run ./internal/cmd/genlog -bytes 1073741824 > k.log
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/plegforensics/plegforensics/internal/genlog"
)

func main() {
	bytes := flag.Int64("bytes", 1<<30, "size to reach")
	seed := flag.Uint64("seed", 1, "seed")
	errors := flag.Int("errors", 2, "percent of the kubelet's lines that are errors")
	flag.Parse()
	if err := genlog.Write(os.Stdout, genlog.Options{Bytes: *bytes, Seed: *seed, Errors: *errors}); err != nil {
		fmt.Fprintln(os.Stderr, "genlog:", err)
		os.Exit(1)
	}
}
