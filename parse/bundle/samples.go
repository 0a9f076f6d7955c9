package bundle

import (
	"runtime/debug"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/metrics"
	"github.com/plegforensics/plegforensics/parse/metrics/tsdb"
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
	l.sampled += part.Samples()
	l.samples.Add(part)
	if l.sampled > manySamples && !l.thrifty {
		l.thrifty = true
		collectOften()
	}
}

// manySamples is from how many samples on memory is collected more often: what
// is held grows with each snapshot, and half of it again as garbage is enough.
const manySamples = 50_000

// collectOften lets garbage grow to half of what is held only, unless the user
// has said how far it may grow.
func collectOften() {
	const usual = 100
	if was := debug.SetGCPercent(50); was != usual {
		debug.SetGCPercent(was)
	}
}

// series returns what the metrics files hold together.
func (l *loader) series() *parse.Part {
	if l.samples == nil {
		return &parse.Part{}
	}
	part := l.samples.Finish()
	return &part
}

// tsdbKey is the database that a path belongs to.
func tsdbKey(path string) string {
	root, _ := tsdb.Root(path)
	return root
}

// database reads the files of one Prometheus database.
func database(files []GroupFile) parse.Part {
	fs := make([]tsdb.File, len(files))
	for i, f := range files {
		fs[i] = tsdb.File(f)
	}
	return tsdb.Read(fs, tsdb.Options{})
}
