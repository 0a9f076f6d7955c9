// Package compare finds the differences between two reports, a baseline and an incident, and tells
// significant ones from noise. It does no I/O.
package compare
