package main

import "sync"

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
