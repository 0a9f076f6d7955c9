package bundle

import "testing"

// TestLogLines: lines by which a log is recognized whatever its file name.
func TestLogLines(t *testing.T) {
	for _, line := range []string{
		"Apr 12 09:15:07 node-7 kubelet[4242]: hello",
		`generic.go:238] "GenericPLEG: Unable to retrieve pods" err="x"`,
		"__REALTIME_TIMESTAMP=1712913308000000",
		`time="2024-04-12T09:15:08Z" level=info msg=x`,
		"[   39.798436] eth0: link up",
	} {
		if !isLogLine([]byte(line)) {
			t.Errorf("%q is taken for no log line", line)
		}
	}
	for _, line := range []string{
		"panic at main.go:12] in the middle of prose",
		"see kubelet.go:abc] for more",
		"Name:               node-7",
	} {
		if isLogLine([]byte(line)) {
			t.Errorf("%q is taken for a log line", line)
		}
	}
}
