package bundle

import (
	"io"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/metrics"
	"github.com/plegforensics/plegforensics/parse/metrics/tsdb"
)

// sample decodes a metrics file and joins its samples with those of the other
// files at once: a snapshot has thousands of lines of which every other
// snapshot repeats all but the values. The set does not depend on the order in
// which files arrive.
func (l *loader) sample(s *slot, data []byte) {
	part := metrics.Decode(s.file, data, metrics.Want{Asked: l.opt.Asked})
	s.used = !part.Empty()
	l.sampled(func(set *metrics.Set) { set.Add(part) })
}

// sampled lets add put samples into the set of all.
func (l *loader) sampled(add func(set *metrics.Set)) {
	l.samplesMu.Lock()
	defer l.samplesMu.Unlock()
	if l.samples == nil {
		l.samples = metrics.NewSet()
	}
	before := l.samples.Len()
	add(l.samples)
	if l.opt.Held != nil {
		l.opt.Held(l.samples.Len() - before)
	}
}

// streamFrom is from how many bytes on a metrics file in text form is read in
// pieces of that size, without ever being held whole.
const streamFrom = 4 << 20

// samples reads a metrics file that is larger than a buffer: buf is how it
// begins.
func (w *walker) samples(s *slot, d *decoder, m member, buf *buffer) error {
	w.l.big <- struct{}{}
	release := func() { <-w.l.big }
	piece := make([]byte, 0, streamFrom)
	piece = append(piece, buf.data()...)
	w.l.give(buf)
	n, err := io.ReadFull(m.r, piece[len(piece):cap(piece)])
	piece = piece[:len(piece)+n]
	if err != nil {
		w.decodeWhole(s, d, piece, release)
		return atEnd(err)
	}
	defer release()
	defer s.survive()
	st := metrics.NewStream(s.file, metrics.Want{Most: w.b.lim.Series, Asked: w.l.opt.Asked})
	size := int64(0)
	for len(piece) > 0 {
		size += int64(len(piece))
		st.Feed(piece)
		w.l.sampled(st.Flush)
		if err != nil {
			break
		}
		n, err = io.ReadFull(m.r, piece[:cap(piece)])
		piece = piece[:n]
	}
	left := 0
	w.l.sampled(func(set *metrics.Set) { s.used, left = st.Close(set) })
	s.file.Size = size
	w.u.bytes += size
	if left > 0 {
		w.u.cut(parse.Pos{File: s.file}, "%d samples are left out: a snapshot of it holds more than %d, of which those of metrics that rules look at are kept first; --max-series raises the limit", left, w.b.lim.Series)
	}
	return atEnd(err)
}

// atEnd is what io.ReadFull says of the end of a file.
func atEnd(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil
	}
	return err
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
