package hostile

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
)

// zipFile is a zip archive being written, parts of which can be falsified.
type zipFile struct {
	b   bytes.Buffer
	dir bytes.Buffer
	n   int
}

// zipEntry has the fields of both headers of a member.
type zipEntry struct {
	name, dirName string
	method, flags uint16
	crc           uint32
	packed, size  uint32
	attrs         uint32
}

// local writes the local header and the compressed data.
func (z *zipFile) local(e zipEntry, data []byte) {
	z.b.WriteString("PK\x03\x04")
	for _, v := range []any{uint16(20), e.flags, e.method, uint16(0x7b6d), uint16(0x526d), e.crc, e.packed, e.size, uint16(len(e.name)), uint16(0)} {
		binary.Write(&z.b, binary.LittleEndian, v)
	}
	z.b.WriteString(e.name)
	z.b.Write(data)
}

// entry writes the central directory entry.
func (z *zipFile) entry(e zipEntry, offset int64) {
	name := e.name
	if e.dirName != "" {
		name = e.dirName
	}
	z.dir.WriteString("PK\x01\x02")
	for _, v := range []any{uint16(0x0314), uint16(20), e.flags, e.method, uint16(0x7b6d), uint16(0x526d), e.crc, e.packed, e.size,
		uint16(len(name)), uint16(0), uint16(0), uint16(0), uint16(0), e.attrs, uint32(offset)} {
		binary.Write(&z.dir, binary.LittleEndian, v)
	}
	z.dir.WriteString(name)
	z.n++
}

// add writes a correctly deflated member whose headers are falsified by bend.
func (z *zipFile) add(name string, data []byte, bend func(*zipEntry)) {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, 6)
	w.Write(data)
	w.Close()
	e := zipEntry{name: name, method: 8, crc: crc32.ChecksumIEEE(data), packed: uint32(b.Len()), size: uint32(len(data))}
	if bend != nil {
		bend(&e)
	}
	at := int64(z.b.Len())
	z.local(e, b.Bytes())
	z.entry(e, at)
}

// bytes ends the archive. count and at falsify the number of entries and the offset of the central
// directory.
func (z *zipFile) bytes(count, at int) []byte {
	out := append([]byte(nil), z.b.Bytes()...)
	off := len(out) + at
	out = append(out, z.dir.Bytes()...)
	var end bytes.Buffer
	end.WriteString("PK\x05\x06")
	for _, v := range []any{uint16(0), uint16(0), uint16(z.n + count), uint16(z.n + count), uint32(z.dir.Len()), uint32(off), uint16(0)} {
		binary.Write(&end, binary.LittleEndian, v)
	}
	return append(out, end.Bytes()...)
}

// bent returns an archive with one falsified member, followed by the readable log.
func bent(name string, lines int, data []byte, bend func(*zipEntry)) Case {
	return fixed(name, lines, func() []byte {
		var z zipFile
		z.add("x.log", data, bend)
		z.add("node/kubelet.log", Log(), nil)
		return z.bytes(0, 0)
	})
}

func zipCases() []Case {
	text := []byte("just some text\n")
	return []Case{
		bent("names-dotdot.zip", LogLines, text, func(e *zipEntry) { e.name = "../../../escaped" }),
		bent("names-absolute.zip", LogLines, text, func(e *zipEntry) { e.name = "/etc/escaped" }),
		bent("names-control.zip", LogLines, text, func(e *zipEntry) { e.name = "../\x1b[2J\r\n\x07" }),
		bent("link-out.zip", LogLines, []byte("/etc/passwd"), func(e *zipEntry) { e.attrs = 0o120777 << 16 }),
		bent("device.zip", LogLines, nil, func(e *zipEntry) { e.attrs = uint32(0o020666) << 16 }),
		bent("size-lies-small.zip", LogLines, Log(), func(e *zipEntry) { e.size = 10 }),
		bent("size-lies-large.zip", LogLines, Log(), func(e *zipEntry) { e.size = 1 << 31 }),
		bent("packed-size-lies.zip", LogLines, Log(), func(e *zipEntry) { e.packed -= 20 }),
		bent("checksum-wrong.zip", 2*LogLines, Log(), func(e *zipEntry) { e.crc ^= 1 }),
		bent("encrypted.zip", LogLines, Log(), func(e *zipEntry) { e.flags = 1 }),
		bent("method-unknown.zip", LogLines, Log(), func(e *zipEntry) { e.method = 77 }),
		bent("names-disagree.zip", 2*LogLines, Log(), func(e *zipEntry) { e.dirName = "../other.log" }),
		bent("duplicates.zip", 2*LogLines, Log(), func(e *zipEntry) { e.name = "node/kubelet.log" }),
		fixed("directory-torn.zip", LogLines, func() []byte {
			b := okZip()
			return b[:len(b)-30]
		}),
		fixed("directory-gone.zip", LogLines, func() []byte {
			b := okZip()
			return b[:bytes.LastIndex(b, []byte("PK\x01\x02"))-40]
		}),
		fixed("directory-elsewhere.zip", LogLines, func() []byte {
			var z zipFile
			z.add("node/kubelet.log", Log(), nil)
			return z.bytes(0, 1<<30)
		}),
		fixed("directory-count-lies.zip", LogLines, func() []byte {
			var z zipFile
			z.add("node/kubelet.log", Log(), nil)
			return z.bytes(60000, 0)
		}),
		fixed("directory-zeroed.zip", LogLines, func() []byte {
			b := okZip()
			clear(b[bytes.Index(b, []byte("PK\x01\x02")):])
			return b
		}),
		fixed("bomb-overlap.zip", LogLines, overlap),
		fixed("bomb-2GiB.zip", LogLines, func() []byte {
			var z zipFile
			data := deflatedZeros(2 << 30)
			e := zipEntry{name: "zeros", method: 8, packed: uint32(len(data)), size: 1 << 31}
			z.local(e, data)
			z.entry(e, 0)
			z.add("node/kubelet.log", Log(), nil)
			return z.bytes(0, 0)
		}),
		{Name: "members-100000.zip", Lines: LogLines, Quiet: true, Build: func(w io.Writer) error {
			z := zip.NewWriter(w)
			for i := range 100000 {
				z.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("d/%d", i)})
			}
			f, _ := z.Create("node/kubelet.log")
			f.Write(Log())
			return z.Close()
		}},
	}
}

func okZip() []byte {
	var z zipFile
	z.add("a.txt", []byte("x\n"), nil)
	z.add("node/kubelet.log", Log(), nil)
	return z.bytes(0, 0)
}

// overlap returns an archive whose central directory lists the same compressed zeros 5,000 times:
// 1.25 TB from a quarter of a megabyte.
func overlap() []byte {
	var z zipFile
	data := deflatedZeros(256 << 20)
	e := zipEntry{name: "z", method: 8, packed: uint32(len(data)), size: 256 << 20}
	at := int64(z.b.Len())
	z.local(e, data)
	z.add("node/kubelet.log", Log(), nil)
	for range 5000 {
		z.entry(e, at)
	}
	return z.bytes(0, 0)
}
