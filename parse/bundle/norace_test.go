//go:build !race

package bundle

// raceDetector reports whether the race detector distorts time and memory
// measurements.
const raceDetector = false
