package main

import (
	"sync"

	"github.com/urfave/cli/v2"
)

// runner is what runs tasks at once, nil where one worker is to do it all.
func runner(c *cli.Context) func(tasks ...func()) {
	if c.Int("jobs") > 1 {
		return parallel
	}
	return nil
}

// parallel runs tasks at once and returns when all are done. A task that breaks
// down does so in the caller, who may know what to do.
func parallel(tasks ...func()) {
	var wg sync.WaitGroup
	failures := make([]any, len(tasks))
	for i, task := range tasks {
		wg.Go(func() {
			defer func() { failures[i] = recover() }()
			task()
		})
	}
	wg.Wait()
	for _, f := range failures {
		if f != nil {
			panic(f)
		}
	}
}
