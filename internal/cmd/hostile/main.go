// Command hostile writes the archives of package hostile to a directory, to
// run any program against them:
//
//	go run ./internal/cmd/hostile DIR
package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"

	"github.com/plegforensics/plegforensics/internal/hostile"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: hostile DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, c := range hostile.Cases() {
		f, err := os.Create(filepath.Join(dir, c.Name))
		if err != nil {
			return err
		}
		w := bufio.NewWriterSize(f, 1<<20)
		if err := c.Build(w); err != nil {
			return err
		}
		if err := w.Flush(); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}
