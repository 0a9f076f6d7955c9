package bundle

import (
	"io"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/metrics"
	"github.com/plegforensics/plegforensics/parse/metrics/tsdb"
)

// sample decodes a metrics file and adds its samples to those of the other files at
// once: each snapshot repeats thousands of series of the others, with new values.
// The resulting set does not depend on the order of files.
func (w *walker) sample(s *slot, data []byte) {
	want := metrics.Want{Asked: w.l.opt.Asked}
	part := metrics.Decode(s.file, data, want)
	if len(part.Warnings) > 0 && w.pasted(s, data) { // other lines may be those of a log
		logged := map[uint32]bool{}
		for _, e := range s.part.Events {
			logged[e.Line] = true
		}
		want.Known = func(line uint32) bool { return logged[line] }
		part = metrics.Decode(s.file, data, want)
	}
	s.used = !part.Empty()
	w.l.sampled(func(set *metrics.Set) { set.Add(part) })
}

// sampled calls add with the shared set, one call at a time, and reports the growth
// to Options.Held.
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

// streamFrom is the size in bytes from which a metrics file in text form is
// streamed, in pieces of that size.
const streamFrom = 4 << 20

// samples reads a metrics file larger than a buffer; buf holds its beginning.
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

// atEnd returns nil if err is an end-of-file error of io.ReadFull, else err.
func atEnd(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil
	}
	return err
}

// series returns the merged content of all metrics files.
func (l *loader) series() *parse.Part {
	if l.samples == nil {
		return &parse.Part{}
	}
	part := l.samples.Finish()
	return &part
}

// tsdbKey returns the root of the Prometheus database that path belongs to.
func tsdbKey(path string) string {
	root, _ := tsdb.Root(path)
	return root
}

// database decodes the files of one Prometheus database.
func database(files []GroupFile) parse.Part {
	fs := make([]tsdb.File, len(files))
	for i, f := range files {
		fs[i] = tsdb.File(f)
	}
	return tsdb.Read(fs, tsdb.Options{})
}
