package hostile

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

func gz(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.Bytes()
}

func zst(data []byte) []byte {
	w, _ := zstd.NewWriter(nil, zstd.WithEncoderCRC(true), zstd.WithEncoderConcurrency(1))
	return w.EncodeAll(data, nil)
}

func lz(data []byte) []byte {
	var b bytes.Buffer
	w := lz4.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

func okTar() []byte { return archive(ok("node/kubelet.log")) }

// flip inverts bits of one byte; a negative at counts from the end.
func flip(data []byte, at int) []byte {
	if at < 0 {
		at += len(data)
	}
	data[at] ^= 0x55
	return data
}

func damageCases() []Case {
	return []Case{
		fixed("checksum-wrong.log.gz", LogLines, func() []byte { return flip(gz(Log()), -8) }),
		fixed("size-wrong.log.gz", LogLines, func() []byte { return flip(gz(Log()), -1) }),
		fixed("checksum-wrong.tar.gz", LogLines, func() []byte { return flip(gz(okTar()), -8) }),
		fixed("checksum-wrong-first-member.gz", 2*LogLines, func() []byte { return append(flip(gz(Log()), -8), gz(Log())...) }),
		fixed("checksum-wrong.log.zst", 0, func() []byte { return flip(zst(Log()), -1) }),
		fixed("checksum-wrong.log.lz4", 0, func() []byte { return flip(lz(Log()), -1) }),
		fixed("damaged-middle.tar.gz", 0, func() []byte { b := gz(okTar()); return flip(b, len(b)/2) }),
		fixed("garbage-behind.log.gz", LogLines, func() []byte { return append(gz(Log()), "this is no gzip data"...) }),
		fixed("header-endless-name.gz", 0, func() []byte {
			return append([]byte("\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\x03"), bytes.Repeat([]byte("n"), 1<<20)...)
		}),
		fixed("empty.gz", 0, func() []byte { return gz(nil) }),
		fixed("empty.tar", 0, func() []byte { return nil }),
		fixed("noise.tar.gz", 0, func() []byte { return noise(1 << 20) }),
		fixed("noise-behind-magic.gz", 0, func() []byte { return append([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"), noise(1<<20)...) }),
		fixed("noise-behind-magic.xz", 0, func() []byte { return append([]byte("\xfd7zXZ\x00\x00\x04"), noise(1<<20)...) }),
		fixed("noise-behind-magic.zst", 0, func() []byte { return append([]byte("\x28\xb5\x2f\xfd"), noise(1<<20)...) }),
		fixed("noise-behind-magic.bz2", 0, func() []byte { return append([]byte("BZh91AY&SY"), noise(1<<20)...) }),
		fixed("damaged-blocks.bz2", 0, func() []byte {
			return append([]byte("BZh9"), bytes.Repeat([]byte("1AY&SY\x00\x01\x02\x03\x00"), 100_000)...)
		}),
		fixed("noise-behind-magic.lz4", 0, func() []byte { return append([]byte("\x04\x22\x4d\x18"), noise(1<<20)...) }),
		fixed("noise-behind-magic.zip", 0, func() []byte { return append([]byte("PK\x03\x04"), noise(1<<20)...) }),
		fixed("sealed.tar.xz.gpg", 0, func() []byte {
			return append([]byte("\x85\x02\x0c\x03\x01\x02\x03\x04\x05\x06\x07\x08\x01"), noise(1000)...)
		}),
		fixed("sealed.tar.age", 0, func() []byte { return append([]byte("age-encryption.org/v1\n-> X25519 abc\n"), noise(1000)...) }),
		fixed("foreign.7z", 0, func() []byte { return append([]byte("7z\xbc\xaf\x27\x1c"), noise(1000)...) }),
	}
}

func noise(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func nestCases() []Case {
	nested := func(n int, wrap func(i int, in []byte) []byte) func() []byte {
		return func() []byte {
			data := Log()
			for i := range n {
				data = wrap(i, data)
			}
			return data
		}
	}
	inTar := func(i int, in []byte) []byte {
		return archive(ok("top.log"), header{name: fmt.Sprintf("%d.tar", i)}.entry(in))
	}
	inZip := func(i int, in []byte) []byte {
		var z zipFile
		z.add(fmt.Sprintf("%d.zip", i), in, nil)
		z.add("top.log", Log(), nil)
		return z.bytes(0, 0)
	}
	return []Case{
		fixed("deep-64.tar", LogLines, nested(64, inTar)),
		fixed("deep-64.gz", 0, nested(64, func(_ int, in []byte) []byte { return gz(in) })),
		fixed("deep-40.zip", LogLines, nested(40, inZip)),
		fixed("bomb-tree.zip", 0, bombTree),
	}
}

// bombTree returns an archive of 16 archives of 16 archives …, with zeros at the bottom: 16^4 times
// 64 MiB.
func bombTree() []byte {
	var leaf zipFile
	leaf.add("0", make([]byte, 64<<20), nil)
	data := leaf.bytes(0, 0)
	for range 4 {
		var z zipFile
		for i := range 16 {
			z.add(fmt.Sprintf("%x.zip", i), data, nil)
		}
		data = z.bytes(0, 0)
	}
	return data
}

// truncationCases truncate each kind of archive at every 1/16. A log comes first, so that something
// is readable from the second one on.
func truncationCases() []Case {
	var out []Case
	kinds := []struct {
		name string
		pack func() []byte
	}{
		{"tar", threeLogs},
		{"tar.gz", func() []byte { return gz(threeLogs()) }},
		{"tar.zst", func() []byte { return zst(threeLogs()) }},
		{"log.gz", func() []byte { return gz(bytes.Repeat(Log(), 20)) }},
		{"zip", func() []byte {
			var z zipFile
			for i := range 3 {
				z.add(fmt.Sprintf("%d.log", i), Log(), nil)
			}
			return z.bytes(0, 0)
		}},
	}
	for _, k := range kinds {
		for i := 1; i < 16; i++ {
			lines := 0
			if i > 8 && k.name != "tar.zst" {
				lines = LogLines / 2
			}
			out = append(out, fixed(fmt.Sprintf("truncated-%02d-of-16.%s", i, k.name), lines, func() []byte {
				b := k.pack()
				return b[:len(b)*i/16]
			}))
		}
	}
	return out
}

func threeLogs() []byte { return archive(ok("0.log"), ok("1.log"), ok("2.log")) }
