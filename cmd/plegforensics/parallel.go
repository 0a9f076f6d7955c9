package main

import (
	"sync"

	"github.com/urfave/cli/v2"
)

// runner returns a function that runs tasks concurrently, nil with a single job.
func runner(c *cli.Context) func(tasks ...func()) {
	if c.Int("jobs") > 1 {
		return parallel
	}
	return nil
}

// parallel runs tasks concurrently and returns when all are done. A panic in a task is raised again
// in the caller.
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
