package hostile

import (
	"archive/tar"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
)

// zeroChunk is an LZMA2 chunk with a reset of dictionary, state and properties, as xz writes it for
// zeros. It can be repeated at will.
const (
	zeroChunk = "//8RAWxdAABv/f//o7f/Rz5IFXI5YVG4kijmo4YH+e7kHoLTL8U6PAFLsX7JiopNL6MN2X+m44wjEVPgWRjFdYrid/i2lH8MasDe" +
		"dElk4ulcU7IE2PdEDKtfDW1G6eXDdoi3llestk3haR1v+0uIEGxCy4g/XACP0E6vJiiUcR89jyThcJ6nI1/sKMuF0ZWYin4qkfIn" +
		"dfcZwAaYTZj92K/VkA/EJVP49ZE2MQWlsO5vwXBNRwzRkRGqrWAdus6xJxhcWYbpZlJYvul2rFnk5VsFCPnH2q38+1IrdM0eWyBC" +
		"+d1TPfgpZAk7gMsqbN+1O/DEvS5fqg8+S2ZCkBMO/xCT+HF4WfgLzf+VKEYPqfx83vuaMC5WwI+F84OBwGXEJVP49ZE2MQWlsO5v" +
		"wXBNRwzRkRGqrWAdus6xJxhcWYbpZlJYvul2rFnk5VsFCPnH2q38+1IrdM0eWyBC+d1TPfgpZAk7gMsqbN+1O/DEvEgn5lg="
	zeroChunkSize = 0x1fff12 // number of bytes it expands to
)

// zeroBzip2 is a bzip2 stream of 45 million zeros. Streams can be repeated.
const zeroBzip2 = "QlpoOTFBWSZTWckBtsgBWKtAIMAAEAAACCAAMMwFKaZSSFJsVJIUni7kinChIZIDbZA="

func decoded(s string) []byte {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		panic(err) // unreachable: constants of this file
	}
	return b
}

// xzBomb writes an xz stream of one block without a check that expands to about n zeros. dict is
// the dictionary size byte of its header.
func xzBomb(w io.Writer, n int64, dict byte) error {
	chunk := decoded(zeroChunk)
	count := n/zeroChunkSize + 1
	head := []byte{2, 0, 0x21, 1, dict, 0, 0, 0}
	head = binary.LittleEndian.AppendUint32(head, crc32.ChecksumIEEE(head))
	unpadded := int64(len(head)) + count*int64(len(chunk)) + 1
	buf := xzFrame(nil, 0)
	buf = append(buf, head...)
	for range count {
		buf = append(buf, chunk...)
		if len(buf) > 1<<20 {
			if _, err := w.Write(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
	}
	buf = append(buf, 0)
	_, err := w.Write(xzEnd(buf, int(unpadded), count*zeroChunkSize))
	return err
}

// xzFrame appends a stream header with the given check type.
func xzFrame(b []byte, check byte) []byte {
	flags := []byte{0, check}
	b = append(append(b, "\xfd7zXZ\x00"...), flags...)
	return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(flags))
}

// zstdBomb returns a frame of blocks that each repeat one byte 128 KiB times.
func zstdBomb(n int64) []byte {
	b := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58} // window of 2 MiB, no content size
	const block = 128 << 10
	for i := int64(0); i < n; i += block {
		h := uint32(block<<3 | 1<<1)
		if i+block >= n {
			h |= 1
		}
		b = append(b, byte(h), byte(h>>8), byte(h>>16), 0)
	}
	return b
}

func bombCases() []Case {
	return []Case{
		{Name: "bomb-8GiB.xz", Build: func(w io.Writer) error { return xzBomb(w, 8<<30, 0x16) }},
		{Name: "bomb-4GiB.tar.xz", Lines: 0, Build: func(w io.Writer) error {
			return xzBomb(w, 4<<30, 0x16)
		}},
		fixed("dictionary-4GiB.xz", 0, func() []byte {
			var b bytes.Buffer
			xzBomb(&b, 1, 40)
			return b.Bytes()
		}),
		fixed("bomb-64GiB.zst", 0, func() []byte { return zstdBomb(64 << 30) }),
		fixed("window-huge.zst", 0, func() []byte { return []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf8, 1, 0, 0} }),
		fixed("bomb-9GB.bz2", 0, func() []byte { return bytes.Repeat(decoded(zeroBzip2), 200) }),
		fixed("bomb-2GiB.gz.gz", 0, func() []byte { return gz(bytes.Repeat(gz(make([]byte, 16<<20)), 128)) }),
		{Name: "bomb-member.tar", Lines: LogLines, Build: bombMember},
		fixed("bomb-ten-members.tar", LogLines, func() []byte {
			var parts [][]byte
			bomb := zstdBomb(64 << 30)
			for i := range 10 {
				parts = append(parts, header{name: fmt.Sprintf("bomb-%d.zst", i)}.entry(bomb))
			}
			return archive(append(parts, ok("node/kubelet.log"))...)
		}),
		{Name: "line-600MiB.gz", Build: func(w io.Writer) error {
			z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
			z.Write(Log())
			line := bytes.Repeat([]byte("no end "), 1<<17)
			for range 680 {
				z.Write(line)
			}
			io.WriteString(z, "\n")
			z.Write(Log())
			return z.Close()
		}, Lines: 2 * LogLines},
	}
}

// deflatedZeros returns a deflate stream of n zeros: one sequence of blocks, repeated.
func deflatedZeros(n int) []byte {
	const run = 16 << 20
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, 9)
	w.Write(make([]byte, run))
	w.Flush() // ends at a byte boundary, without the final block
	out := bytes.Repeat(b.Bytes(), max(1, n/run))
	return append(out, 1, 0, 0, 0xff, 0xff)
}

// bombMember writes an archive with an xz bomb before the readable log.
func bombMember(w io.Writer) error {
	var bomb bytes.Buffer
	if err := xzBomb(&bomb, 16<<30, 0x16); err != nil {
		return err
	}
	t := tar.NewWriter(w)
	t.WriteHeader(&tar.Header{Name: "bomb.xz", Size: int64(bomb.Len()), Mode: 0o644, Typeflag: tar.TypeReg})
	t.Write(bomb.Bytes())
	t.WriteHeader(&tar.Header{Name: "node/kubelet.log", Size: int64(len(Log())), Mode: 0o644, Typeflag: tar.TypeReg})
	t.Write(Log())
	return t.Close()
}

// StoredXZ returns an xz file of data in uncompressed chunks, which is as fast as copying.
func StoredXZ(data []byte) []byte {
	head := []byte{2, 0, 0x21, 1, 8, 0, 0, 0} // one filter, LZMA2, dictionary of 64 KiB
	head = binary.LittleEndian.AppendUint32(head, crc32.ChecksumIEEE(head))
	b := append(xzFrame(nil, 0), head...)
	begin := len(b) - len(head)
	for off := 0; off < len(data); off += 1 << 16 {
		part := data[off:min(len(data), off+1<<16)]
		control := byte(2)
		if off == 0 {
			control = 1 // resets the dictionary
		}
		b = append(b, control, byte((len(part)-1)>>8), byte(len(part)-1))
		b = append(b, part...)
	}
	b = append(b, 0)
	unpadded := len(b) - begin
	return xzEnd(b, unpadded, int64(len(data)))
}

// xzEnd appends what follows the only block of a stream: padding, index, footer.
func xzEnd(b []byte, unpadded int, size int64) []byte {
	for i := unpadded; i%4 != 0; i++ {
		b = append(b, 0)
	}
	index := binary.AppendUvarint(binary.AppendUvarint([]byte{0, 1}, uint64(unpadded)), uint64(size))
	for len(index)%4 != 0 {
		index = append(index, 0)
	}
	index = binary.LittleEndian.AppendUint32(index, crc32.ChecksumIEEE(index))
	tail := append(binary.LittleEndian.AppendUint32(nil, uint32(len(index)/4-1)), 0, 0)
	b = append(b, index...)
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(tail))
	return append(append(b, tail...), "YZ"...)
}
