package main

import "time"

// clock formats a time of a capture.
func clock(ns int64) string { return time.Unix(0, ns).UTC().Format("15:04:05.000000") }
