package bundle

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// damagedHead reports whether b is the header of a file that is damaged in one place: data
// follow it as if it were not.
func damagedHead(b []byte) bool {
	if isTarHeader(b) || !likeTarHeader(b) || strings.IndexByte("xgXLKDVNS5", b[156]) >= 0 {
		return false
	}
	size, ok := octal(b[124:136])
	return size > 0 || !ok
}

// extension returns the length of an extension of the header of a file that is damaged itself,
// 0 if b is none. The extension is whole, and of no use without the header.
func (t *tarWalk) extension(b []byte) int {
	size, ok := octal(b[124:136])
	if !ok || size > 8<<10 || strings.IndexByte("xLK", b[156]) < 0 || !isTarHeader(b) {
		return 0
	}
	n := int(tarBlock + (size+tarBlock-1)/tarBlock*tarBlock)
	if next := t.src.peek(n + tarBlock); len(next) < n+tarBlock || !damagedHead(next[n:]) {
		return 0
	}
	return n
}

// headless reads a member of which the header b is damaged. Its name and its size may be what
// is wrong in it, and its time is not believed.
func (t *tarWalk) headless(b []byte) error {
	if err := t.w.b.member(); err != nil {
		return err
	}
	body := &damagedBody{src: t.src}
	body.left, _ = octal(b[124:136])
	if t.name == "" {
		t.name = fmt.Sprintf("member at byte %d", t.at)
	} else if dir := legible(b[345:500]); dir != "" && string(b[257:263]) == "ustar\x00" {
		t.name = dir + "/" + t.name
	}
	t.body = true
	t.links.name(t.name)
	t.src.Discard(tarBlock)
	err := t.w.member(t.m.inner(t.m.path+"!"+t.name, body))
	if err == nil {
		err = drain(body)
	}
	if err == nil {
		t.w.warnAt(t.m, t.at, "tar: the header of %q at byte %d is damaged: what follows it is read as its data, to byte %d", t.name, t.at, t.src.consumed())
	}
	return err
}

// damagedBody reads the data behind a damaged header: as much as it states, if a header or
// zeros stand there, else all up to the next header, or zeros.
type damagedBody struct {
	src   *tarSource
	left  int64 // of what the header states
	buf   [tarBlock]byte
	block []byte // what is left of buf
	ended bool
}

// Read implements io.Reader.
func (d *damagedBody) Read(p []byte) (int, error) {
	if len(d.block) == 0 {
		if err := d.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, d.block)
	d.block = d.block[n:]
	return n, nil
}

// next reads the next block.
func (d *damagedBody) next() error {
	b := d.src.peek(2 * tarBlock)
	if len(b) == 0 && !d.ended {
		return d.src.fault()
	}
	if d.ended || isTarHeader(b) || leadingNUL(b) == len(b) && d.left <= 0 {
		d.ended = true
		return io.EOF
	}
	n := min(len(b), tarBlock)
	if after := b[n:]; leadingNUL(after) == len(after) || isTarHeader(after) || damagedHead(after) {
		used := len(bytes.TrimRight(b[:n], "\x00"))
		switch whole := d.left > 0 && d.left <= int64(n) && int64(used) <= d.left; {
		case (whole || d.left <= 0 || isTarHeader(after)) && isText(b[:used]):
			n, d.ended = used, whole // what stands behind text is padding, whatever its size is said to be
		case whole:
			n, d.ended = int(d.left), true
		}
	}
	d.block = d.buf[:copy(d.buf[:], b[:n])]
	d.left -= int64(n)
	d.src.Discard(min(len(b), tarBlock))
	if n == 0 {
		return d.next()
	}
	return nil
}
