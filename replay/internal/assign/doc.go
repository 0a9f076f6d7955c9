// Package assign assigns the records of a bundle to the nodes they are about: units of
// records that belong together whatever their node is called (unit.go), what records say
// of the units (gather.go), which units are of one node (join.go, folders.go), and the
// nodes with their records (split.go, assign.go).
package assign
