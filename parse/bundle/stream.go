package bundle

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// input counts the stored bytes read from a top-level file and stops on
// cancellation and limits.
type input struct {
	r        io.Reader
	b        *budget
	progress *Progress
	n        int64
}

func (s *input) Read(p []byte) (int, error) {
	if err := s.b.alive(); err != nil {
		return 0, err
	}
	n, err := s.r.Read(p)
	s.n += int64(n)
	s.progress.Read.Add(int64(n))
	if s.b.stored < 0 && s.n > s.b.lim.Bytes {
		return n, &limitError{fmt.Sprintf("is a stream of more than the limit of %d bytes (max-bytes): the rest is skipped", s.b.lim.Bytes), true}
	}
	return n, err
}

// reached records that the file was read up to offset n by other means.
func (s *input) reached(n int64) {
	if n > s.n {
		s.progress.Read.Add(n - s.n)
		s.n = n
	}
}

// counter is a buffered reader that counts what was consumed. Decoders that need an
// io.ByteReader get the bufio.Reader itself: the libraries have fast paths for that
// type and then do not read past the end of their data.
type counter struct {
	*bufio.Reader
	src countingReader
}

type countingReader struct {
	r   io.Reader
	n   int64
	err error // sticky
}

func (c *countingReader) Read(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.r.Read(p)
	c.n += int64(n)
	c.err = err
	return n, err
}

func newCounter(r io.Reader) *counter {
	c := &counter{src: countingReader{r: r}}
	c.Reader = bufio.NewReaderSize(&c.src, 64<<10)
	return c
}

// consumed returns the number of bytes consumed so far.
func (c *counter) consumed() int64 { return c.src.n - int64(c.Buffered()) }

// peek returns the next n bytes without consuming them, fewer at the end.
func (c *counter) peek(n int) []byte {
	b, _ := c.Peek(n)
	return b
}

// fault returns the error that ended the source, io.EOF at its regular end.
func (c *counter) fault() error {
	if c.src.err == nil {
		return io.EOF
	}
	return c.src.err
}

// expander reads the output of a decompressor or of anything else that expands its
// input. It counts against the budget and wraps errors of its own layer in a
// streamError.
type expander struct {
	r    io.Reader
	b    *budget
	path string       // file that is being expanded
	what string       // "gzip", "zip", …
	in   func() int64 // bytes consumed so far
	n    int64        // bytes returned so far
	err  error
}

func (e *expander) Read(p []byte) (int, error) {
	if e.err != nil {
		return 0, e.err
	}
	n, err := e.r.Read(p)
	e.n += int64(n)
	if lerr := e.b.expand(n, e.in(), e.n); lerr != nil {
		err = &streamError{path: e.path, what: e.what, in: e.in(), out: e.n, err: lerr}
	} else if err != nil && err != io.EOF {
		err = e.mark(err)
	} else if err == nil {
		err = e.b.alive()
	}
	e.err = err
	return n, err
}

// mark wraps errors that arise in this layer. Errors of the layers outside it are
// wrapped already and pass unchanged.
func (e *expander) mark(err error) error {
	var s *streamError
	if errors.As(err, &s) || e.b.ctx.Err() != nil {
		return err
	}
	var l *limitError
	if errors.As(err, &l) && l.final {
		return err
	}
	return &streamError{path: e.path, what: e.what, in: e.in(), out: e.n, err: err}
}

// streamError reports a stream that ended early.
type streamError struct {
	path    string
	what    string
	in, out int64 // compressed and decompressed offset
	err     error
	warned  bool
}

func (e *streamError) Error() string {
	var l *limitError
	if errors.As(e.err, &l) {
		return l.msg
	}
	var lost *bzip2Lost
	if errors.As(e.err, &lost) {
		return e.what + ": " + lost.Error()
	}
	at := "at" // the end of the data
	if !errors.Is(e.err, io.ErrUnexpectedEOF) {
		at = "at or before" // decoders read ahead
	}
	return fmt.Sprintf("%s: %s %s compressed byte %d; what was readable before it is used", e.what, plain(e.err), at, e.in)
}

func (e *streamError) Unwrap() error { return e.err }

// plain returns the text of a read error for users.
func plain(err error) string {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return "data is cut short"
	}
	return Told(err).Error()
}

// because is like plain, as a clause: a limit is told of the file that hit it.
func because(err error) string {
	var l *limitError
	if errors.As(err, &l) {
		return "it " + plain(err)
	}
	return plain(err)
}

// isFinal reports whether err ends reading of the whole top-level file.
func isFinal(err error) bool {
	var l *limitError
	return errors.As(err, &l) && l.final
}
