package bundle

import (
	"bytes"
	"io"
)

// tarHead is a tar header without extensions.
type tarHead struct {
	name  string
	size  int64
	mtime int64 // Unix seconds
	typ   byte  // '0' file, '5' directory
}

// plainTarHead parses the header of an ordinary file or directory: octal numbers,
// no extensions. Most headers of a large archive are of this kind, and parsing them
// here is several times faster than package archive/tar, which handles the rest. ok
// is false for those.
func plainTarHead(b []byte) (h tarHead, ok bool) {
	magic := string(b[257:265])
	if magic != "ustar\x0000" && magic != "ustar  \x00" || b[0] == 0 {
		return h, false
	}
	h.typ = b[156]
	if h.typ == 0 {
		h.typ = '0'
	}
	sum, sumOK := octal(b[148:156])
	size, sizeOK := octal(b[124:136])
	mtime, mtimeOK := octal(b[136:148])
	if h.typ != '0' && h.typ != '5' || !sumOK || !sizeOK || !mtimeOK || sum != tarSum(b) {
		return h, false
	}
	name := text(b[:100])
	if p := b[345:500]; p[0] != 0 {
		if magic != "ustar\x0000" {
			return h, false // old GNU format uses these bytes differently
		}
		name = append(append(bytes.Clone(text(p)), '/'), name...)
	}
	h.name, h.size, h.mtime = string(name), size, mtime
	if h.typ == '5' {
		h.size = 0
	}
	return h, h.typ == '5' || name[len(name)-1] != '/'
}

// text returns a field up to its first NUL.
func text(b []byte) []byte {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return b[:i]
	}
	return b
}

// octal parses a number field: blanks, octal digits, then blanks or NULs.
func octal(b []byte) (v int64, ok bool) {
	i := 0
	for i < len(b) && b[i] == ' ' {
		i++
	}
	for ; i < len(b) && b[i] >= '0' && b[i] <= '7'; i++ {
		v = v<<3 | int64(b[i]-'0')
		ok = true
	}
	for ; i < len(b); i++ {
		if b[i] != 0 && b[i] != ' ' {
			return 0, false
		}
	}
	return v, ok
}

// tarSum returns the checksum of a header block; the checksum field counts as
// blanks.
func tarSum(b []byte) (sum int64) {
	for _, c := range b[:148] {
		sum += int64(c)
	}
	for _, c := range b[156:tarBlock] {
		sum += int64(c)
	}
	return sum + 8*' '
}

// tarBody reads the data of one member.
type tarBody struct {
	src  *counter
	left int64
}

func (b *tarBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	n, err := b.src.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	if err == io.EOF && b.left > 0 {
		err = io.ErrUnexpectedEOF
	} else if err == io.EOF {
		err = nil
	}
	return n, err
}

// skip advances to the next block boundary after the data.
func (b *tarBody) skip() error {
	left := b.left + (tarBlock-(b.src.consumed()+b.left)%tarBlock)%tarBlock
	for left > 0 {
		n, err := b.src.Discard(int(min(left, 1<<30)))
		left -= int64(n)
		if err == io.EOF {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
	}
	return nil
}
