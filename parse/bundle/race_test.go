//go:build race

package bundle

// raceDetector reports whether the race detector inflates time and memory
// measurements.
const raceDetector = true
