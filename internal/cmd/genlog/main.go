// Command genlog writes a large journal of a node to standard output, or a sosreport that contains
// it:
//
//	go run ./internal/cmd/genlog -bytes 1073741824 > k.log
//	go run ./internal/cmd/genlog -sosreport -bytes 629145600 | xz -3 > sosreport.tar.xz
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"

	"github.com/plegforensics/plegforensics/internal/genlog"
)

func main() {
	bytes := flag.Int64("bytes", 1<<30, "size of the journal")
	seed := flag.Uint64("seed", 1, "seed")
	errors := flag.Int("errors", 2, "percent of the kubelet's lines that are errors")
	sosreport := flag.Bool("sosreport", false, "write a tar archive: the journal, the kubelet's own, and small files")
	flag.Parse()
	opt := genlog.Options{Bytes: *bytes, Seed: *seed, Errors: *errors}
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	write := genlog.Write
	if *sosreport {
		write = genlog.WriteSosreport
	}
	err := write(out, opt)
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "genlog:", err)
		os.Exit(1)
	}
}
