// Command capturereplay checks the reference PLEG against real kubelets. A capture is a directory
// with recordings of a kubelet that ran against a scripted runtime: the state changes of containers
// and sandboxes, the runtime's calls, and each relist with the events it sent. The command
// reconstructs the listing of each relist from the state changes, replays the listings, and
// compares the events of each relist:
//
//	go run ./internal/cmd/capturereplay DIR...
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: capturereplay DIR...")
		os.Exit(2)
	}
	var sum score
	for _, dir := range os.Args[1:] {
		c, err := readCapture(dir)
		if err != nil {
			fmt.Fprintln(os.Stderr, "capturereplay:", err)
			os.Exit(1)
		}
		s := compare(c)
		fmt.Printf("%-36s %s\n", filepath.Base(dir), s)
		for _, d := range s.differ {
			fmt.Printf("    %s\n", d)
		}
		sum.add(s)
	}
	fmt.Printf("%-36s %s\n", "all", &sum)
}
