// Package blame attributes the time of long relists: by phase, by runtime operation, by
// pod, and what no evidence explains.
package blame
