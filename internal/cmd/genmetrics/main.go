// Command genmetrics writes the metrics of a simulated kubelet to a directory:
//
//	go run ./internal/cmd/genmetrics -series 3000 -scrapes 100 DIR
//	go run ./internal/cmd/genmetrics -tsdb -series 1000 -scrapes 10000 DIR
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/plegforensics/plegforensics/internal/genmetrics"
)

func main() {
	db := flag.Bool("tsdb", false, "write a Prometheus database instead of snapshots")
	series := flag.Int("series", 3000, "series per scrape")
	scrapes := flag.Int("scrapes", 100, "scrapes, 15 s apart")
	flag.Parse()
	write := genmetrics.Snapshots
	if *db {
		write = genmetrics.Database
	}
	err := os.MkdirAll(flag.Arg(0), 0o755)
	if err == nil {
		err = write(flag.Arg(0), genmetrics.Options{Series: *series, Scrapes: *scrapes})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "genmetrics:", err)
		os.Exit(1)
	}
}
