package bundle

import (
	"io"
	"os"

	"github.com/plegforensics/plegforensics/parse"
)

// maxSpool bounds the bytes of one top-level file in temporary files.
const maxSpool = 64 << 30

// spooled copies a large archive member to an unlinked file in the system's
// temporary directory, never into the input. It is deleted by remove, at the latest
// when the process ends. at is nil if no file can be created; a warning says so.
func (w *walker) spooled(s *slot, m member, buf *buffer) (at io.ReaderAt, size int64, remove func(), err error) {
	defer w.l.give(buf)
	f, err := os.CreateTemp("", "plegforensics-*")
	if err != nil {
		w.u.warn(parse.Pos{File: s.file}, "skipped: %v; set TMPDIR, or give the unpacked directory", err)
		return nil, 0, nil, nil
	}
	os.Remove(f.Name()) // the open file stays usable; where this is impossible, remove deletes it
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
