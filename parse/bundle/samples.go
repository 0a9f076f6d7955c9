package bundle

import (
	"io"
	"os"

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

// maxSpool bounds what the members of one input may take on disk.
const maxSpool = 64 << 30

// spooled puts a large member of an archive into a nameless file in the
// system's directory for temporary files, never into the input. It is gone
// when the group was decoded, or the process ends.
func (w *walker) spooled(s *slot, m member, buf *buffer) (at io.ReaderAt, size int64, remove func(), err error) {
	defer w.l.give(buf)
	f, err := os.CreateTemp("", "plegforensics-*")
	if err != nil {
		w.u.warn(parse.Pos{File: s.file}, "skipped: %v; set TMPDIR, or give the unpacked directory", err)
		return nil, 0, nil, nil
	}
	os.Remove(f.Name()) // while it is open; where that is impossible, remove does it
	remove = func() { f.Close(); os.Remove(f.Name()) }
	n, werr := f.Write(buf.data())
	more := int64(0)
	if werr == nil {
		more, err = io.Copy(f, io.LimitReader(m.r, maxSpool-w.u.spooled))
	}
	size = int64(n) + more
	if w.u.spooled += size; w.u.spooled >= maxSpool {
		w.u.warn(parse.Pos{File: s.file, Offset: size}, "more than %d bytes wait in temporary files: the rest is skipped", int64(maxSpool))
	}
	return f, size, remove, err
}
