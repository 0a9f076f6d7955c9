//go:build !race

package bundle

// raceDetector tells that times and memory are what they are.
const raceDetector = false
