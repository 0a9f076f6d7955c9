// Package compare says what differs between two reports, a baseline and an
// incident, and which differences are no more than noise. It is pure.
package compare
