package bundle

import (
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/metrics"
)

// sample decodes a metrics file and joins its samples with those of the other
// files at once: a snapshot has thousands of lines of which every other
// snapshot repeats all but the values. The set does not depend on the order in
// which files arrive.
func (l *loader) sample(s *slot, data []byte) {
	part := metrics.Decode(s.file, data)
	s.used = !part.Empty()
	l.samplesMu.Lock()
	defer l.samplesMu.Unlock()
	if l.samples == nil {
		l.samples = metrics.NewSet()
	}
	l.samples.Add(part)
}

// series returns what the metrics files hold together.
func (l *loader) series() *parse.Part {
	if l.samples == nil {
		return &parse.Part{}
	}
	part := l.samples.Finish()
	return &part
}
