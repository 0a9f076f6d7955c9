package bundle

import (
	"bytes"
	"encoding/binary"
)

// format is a kind of compression, archive or encoding that is unwrapped.
type format string

const (
	fmtNone    format = ""
	fmtGzip    format = "gzip"
	fmtXZ      format = "xz"
	fmtZstd    format = "zstd"
	fmtBzip2   format = "bzip2"
	fmtLZ4     format = "lz4"
	fmtZip     format = "zip"
	fmtTar     format = "tar"
	fmtUTF16LE format = "UTF-16LE"
	fmtUTF16BE format = "UTF-16BE"
)

// peekLen is how many bytes detect gets to see.
const peekLen = 4096

// magics are tested in this order, all at offset 0.
var magics = []struct {
	magic  string
	format format
}{
	{"\x1f\x8b\x08", fmtGzip},
	{"\xfd7zXZ\x00", fmtXZ},
	{"\x28\xb5\x2f\xfd", fmtZstd},
	{"\x04\x22\x4d\x18", fmtLZ4},
	{"\x02\x21\x4c\x18", fmtLZ4}, // legacy frame
	{"PK\x03\x04", fmtZip},
	{"PK\x05\x06", fmtZip}, // empty
	{"PK\x07\x08", fmtZip}, // spanned
	{"\xff\xfe\x00\x00", fmtNone},
	{"\xff\xfe", fmtUTF16LE},
	{"\xfe\xff", fmtUTF16BE},
}

// detect recognizes the format by the first bytes of a stream.
func detect(head []byte) format {
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.magic)) {
			return m.format
		}
	}
	switch {
	case isBzip2(head):
		return fmtBzip2
	case isTarHeader(head):
		return fmtTar
	}
	return unmarked(head)
}

func isBzip2(h []byte) bool {
	if len(h) < 10 || string(h[:3]) != "BZh" || h[3] < '1' || h[3] > '9' {
		return false
	}
	sign := string(h[4:10])
	return sign == "1AY&SY" || sign == "\x17\x72\x45\x38\x50\x90"
}

// isSkippable reports whether h begins with a skippable frame, with which zstd and
// lz4 files may begin.
func isSkippable(h []byte) bool {
	return len(h) >= 8 && h[0]&0xf0 == 0x50 && h[1] == 0x2a && h[2] == 0x4d && h[3] == 0x18
}

// isTarHeader reports whether h begins with a tar header of any variant (v7, ustar,
// GNU, pax): the checksum must match, a magic is not needed.
func isTarHeader(h []byte) bool {
	if len(h) < 512 || h[0] == 0 {
		return false
	}
	want, ok := octal(h[148:156])
	if !ok {
		return false
	}
	var unsigned, signed int64
	for i, c := range h[:512] {
		if i >= 148 && i < 156 {
			c = ' '
		}
		unsigned += int64(c)
		signed += int64(int8(c))
	}
	return want == unsigned || want == signed
}

// likeTarHeader reports whether h looks like a tar header with at most one damaged
// field; the checksum need not match.
func likeTarHeader(h []byte) bool {
	if len(h) < tarBlock || bytes.IndexByte(h[:tarBlock], 0) < 0 {
		return false
	}
	odd := 0
	for _, field := range [][]byte{h[100:108], h[108:116], h[116:124], h[124:136], h[136:148], h[148:156]} { // mode to checksum
		if _, ok := octal(field); !ok && field[0]&0x80 == 0 { // base-256 numbers are valid too
			odd++
		}
	}
	if string(h[257:262]) != "ustar" {
		odd++
	}
	return odd <= 1
}

// sealed returns what an encrypted file or one in an unsupported packing is and
// what to do about it; "" if it is neither.
func sealed(h []byte) string {
	switch {
	case bytes.HasPrefix(h, []byte("age-encryption.org/v1")), bytes.HasPrefix(h, []byte("-----BEGIN AGE ENCRYPTED FILE-----")):
		return "is encrypted with age: decrypt it first"
	case bytes.HasPrefix(h, []byte("-----BEGIN PGP MESSAGE-----")), isPGP(h):
		return "is encrypted with OpenPGP: decrypt it first"
	case bytes.HasPrefix(h, []byte("Salted__")):
		return "is encrypted with openssl enc: decrypt it first"
	case bytes.HasPrefix(h, []byte("7z\xbc\xaf\x27\x1c")):
		return "is a 7z archive, which is not supported: unpack it first"
	case bytes.HasPrefix(h, []byte("Rar!\x1a\x07")):
		return "is a RAR archive, which is not supported: unpack it first"
	case bytes.HasPrefix(h, []byte("LZIP")) && len(h) > 4 && h[4] <= 1:
		return "is packed with lzip, which is not supported: unpack it first (lzip -d)"
	case isLZMA(h):
		return "is packed with lzma, the format before xz, which is not supported: unpack it first (xz -d)"
	case bytes.HasPrefix(h, []byte("MSCF\x00\x00\x00\x00")):
		return "is a cabinet (.cab), which is not supported: unpack it first (cabextract, or expand on Windows)"
	case bytes.HasPrefix(h, []byte("\x1f\x9d")):
		return "is packed with compress (.Z), which is not supported: unpack it first"
	case bytes.HasPrefix(h, []byte("\x89LZO\x00\r\n\x1a\n")):
		return "is packed with lzop, which is not supported: unpack it first (lzop -d)"
	case bytes.HasPrefix(h, []byte("ElfFile\x00")):
		return "is a Windows event log in its binary form (.evtx), which is not supported: export it first (Get-WinEvent -Path FILE | Export-Csv)"
	}
	return ""
}

// program returns what an executable, a self-extracting script, a package or an image is
// and what to do about it; "" if it is none of these. Only inputs named by the user are
// checked: bundles contain irrelevant programs.
func program(h []byte) string {
	for _, p := range packages {
		if bytes.HasPrefix(h, []byte(p.magic)) && (p.magic[0] != '0' || len(bytes.TrimLeft(h[:min(len(h), 76)], "0123456789abcdefABCDEF")) == 0) {
			return "is " + p.what + ", which is not supported: unpack it first (" + p.by + ")"
		}
	}
	switch {
	case bytes.HasPrefix(h, []byte("MZ")) && len(h) > 0x40 && h[0x3f] == 0:
		return "is a program for Windows, maybe an archive that extracts itself: unpack it first (unzip, 7z x)"
	case bytes.HasPrefix(h, []byte("\x7fELF")):
		return "is a program, maybe an archive that extracts itself: unpack it first"
	case isScript(h) && carriesArchive(h):
		return "is a shell script that extracts an archive: unpack it first, where it can do no harm (makeself: --noexec --target DIR)"
	}
	return ""
}

// packages are the first bytes of packages and images, which may hold logs, and what
// unpacks them.
var packages = []struct{ magic, what, by string }{
	{"!<arch>\n", "an ar archive or a Debian package", "ar x, dpkg-deb -x"},
	{"\xed\xab\xee\xdb", "an RPM package", "rpm2cpio FILE | cpio -id"},
	{"0707", "a cpio archive", "cpio -id"}, // its header, of at least 76 bytes, has only hexadecimal digits
	{"\xc7\x71", "a cpio archive", "cpio -id"},
	{"hsqs", "a squashfs image", "unsquashfs"},
	{"MSWIM\x00\x00\x00", "a Windows image (.wim)", "wimextract, 7z x"},
	{"QFI\xfb", "a disk image (qcow)", "guestfish, qemu-nbd"},
	{"SQLite format 3\x00", "an SQLite database", "sqlite3 FILE .dump"},
}

// isLZMA recognizes the header of an .lzma file: properties, dictionary size, data
// size, and the first byte of the range coder, which is zero. The format has no
// magic number, so all fields must have usual values.
func isLZMA(h []byte) bool {
	if len(h) < 14 || h[0] != 0x5d || h[13] != 0 {
		return false
	}
	le := binary.LittleEndian
	dict, size := le.Uint32(h[1:]), le.Uint64(h[5:])
	return dict >= 1<<12 && dict&(dict-1) == 0 && (size == 1<<64-1 || size < 1<<40)
}

// scriptLen is how far into a script its archive may begin; makeself writes about
// 20 KiB.
const scriptLen = 64 << 10

func isScript(h []byte) bool { return bytes.HasPrefix(h, []byte("#!")) }

// carriesArchive reports whether a script carries an archive: by markers that
// makeself and similar tools write in the first lines, or by an archive that begins
// at the start of a line.
func carriesArchive(h []byte) bool {
	for _, sign := range []string{"Makeself", "makeself", "__ARCHIVE_BELOW__", "__ARCHIVE__", "ARCHIVE_START", "PAYLOAD:", "__PAYLOAD"} {
		if bytes.Contains(h, []byte(sign)) {
			return true
		}
	}
	for {
		i := bytes.IndexByte(h, '\n')
		if i < 0 {
			return false
		}
		h = h[i+1:]
		if f := detect(h); f != fmtNone && f != fmtUTF16LE && f != fmtUTF16BE || len(h) > 0 && h[0] >= 0x20 && sealed(h) != "" {
			return true
		}
	}
}

// isPGP recognizes the first packet of an encrypted OpenPGP message (RFC 4880), a
// session key for a public key or a passphrase. Its version and algorithm octets
// make a false match unlikely.
func isPGP(h []byte) bool {
	if len(h) < 16 {
		return false
	}
	body := 0
	switch h[0] {
	case 0x84, 0x8c, 0xc1, 0xc3: // one length octet
		body = 2
	case 0x85, 0x8d: // two
		body = 3
	default:
		return false
	}
	v := h[body]
	if h[0] == 0x8c || h[0] == 0x8d || h[0] == 0xc3 {
		return (v == 4 || v == 5) && h[body+1] >= 1 && h[body+1] <= 13 && h[body+2] <= 3
	}
	algo := h[body+9]
	return v == 3 && (algo >= 1 && algo <= 3 || algo >= 16 && algo <= 25)
}
