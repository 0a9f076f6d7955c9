//go:build race

package bundle

// raceDetector tells that times and memory are several times what they are.
const raceDetector = true
