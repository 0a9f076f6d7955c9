package bundle

import (
	"io"
	"os"

	"github.com/plegforensics/plegforensics/parse"
)

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
