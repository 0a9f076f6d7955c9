package bundle

import (
	"io"
	"os"
)

// rest reads a file from an offset on, up to the size it had when it was opened.
type rest struct {
	*io.SectionReader
	file io.ReaderAt // the file itself
}

func newRest(at, file io.ReaderAt, from, size int64) *rest {
	r := &rest{io.NewSectionReader(at, 0, size), file}
	_, _ = r.Seek(from, io.SeekStart) // cannot fail: from is no less than 0
	return r
}

// skipHole moves r past a hole of a sparse file, of which nothing is stored and which
// reads as zeros, and returns how many bytes it skipped: 0 where no hole begins, and
// where r is not a file that tells.
func skipHole(r io.Reader) int64 {
	switch r := r.(type) {
	case *counter:
		if r.Buffered() > 0 || r.src.err != nil {
			return 0
		}
		n := skipHole(r.src.r)
		r.src.n += n
		return n
	case *input:
		n := skipHole(r.r)
		r.n += n
		r.progress.Read.Add(n)
		return n
	case *rest:
		if f, ok := r.file.(*os.File); ok {
			return skipTo(r, f)
		}
	case *os.File:
		return skipTo(r, r)
	}
	return 0
}

// skipTo moves r, which reads f, to the next data of f.
func skipTo(r io.Seeker, f *os.File) int64 {
	from, err := r.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0
	}
	to := max(nextData(f, from), from)
	if _, err := r.Seek(to, io.SeekStart); err != nil {
		return 0
	}
	return to - from
}
