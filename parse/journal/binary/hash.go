package binary

import (
	"encoding/binary"
	"math/bits"
)

// sum returns the hash that journald stores of a payload, as a field is written: SipHash-2-4 keyed with the
// ID of the file, or lookup3 in files without a key.
func (h *Header) sum(b []byte) uint64 {
	if h.Keyed {
		return sipHash(binary.LittleEndian.Uint64(h.File[:]), binary.LittleEndian.Uint64(h.File[8:]), b)
	}
	return lookup3(b)
}

// sipHash is SipHash-2-4 of Aumasson and Bernstein.
func sipHash(k0, k1 uint64, b []byte) uint64 {
	v0, v1, v2, v3 := k0^0x736f6d6570736575, k1^0x646f72616e646f6d, k0^0x6c7967656e657261, k1^0x7465646279746573
	last := uint64(len(b)) << 56
	for {
		m := last
		if len(b) >= 8 {
			m = binary.LittleEndian.Uint64(b)
		} else {
			for i, c := range b {
				m |= uint64(c) << (8 * i)
			}
		}
		v3 ^= m
		for range 2 {
			v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
		}
		v0 ^= m
		if len(b) < 8 {
			break
		}
		b = b[8:]
	}
	v2 ^= 0xff
	for range 4 {
		v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	}
	return v0 ^ v1 ^ v2 ^ v3
}

func sipRound(v0, v1, v2, v3 uint64) (a, b, c, d uint64) {
	v0 += v1
	v1 = bits.RotateLeft64(v1, 13) ^ v0
	v0 = bits.RotateLeft64(v0, 32)
	v2 += v3
	v3 = bits.RotateLeft64(v3, 16) ^ v2
	v0 += v3
	v3 = bits.RotateLeft64(v3, 21) ^ v0
	v2 += v1
	v1 = bits.RotateLeft64(v1, 17) ^ v2
	v2 = bits.RotateLeft64(v2, 32)
	return v0, v1, v2, v3
}

// lookup3 is Jenkins' hashlittle2 with both seeds zero, its first result in the upper half.
func lookup3(data []byte) uint64 {
	a := 0xdeadbeef + uint32(len(data))
	b, c := a, a
	if len(data) == 0 {
		return uint64(c)<<32 | uint64(b)
	}
	le := binary.LittleEndian
	for ; len(data) > 12; data = data[12:] {
		a += le.Uint32(data)
		b += le.Uint32(data[4:])
		c += le.Uint32(data[8:])
		a = (a - c) ^ bits.RotateLeft32(c, 4)
		c += b
		b = (b - a) ^ bits.RotateLeft32(a, 6)
		a += c
		c = (c - b) ^ bits.RotateLeft32(b, 8)
		b += a
		a = (a - c) ^ bits.RotateLeft32(c, 16)
		c += b
		b = (b - a) ^ bits.RotateLeft32(a, 19)
		a += c
		c = (c - b) ^ bits.RotateLeft32(b, 4)
		b += a
	}
	var tail [12]byte
	copy(tail[:], data)
	a += le.Uint32(tail[:])
	b += le.Uint32(tail[4:])
	c += le.Uint32(tail[8:])
	c = (c ^ b) - bits.RotateLeft32(b, 14)
	a = (a ^ c) - bits.RotateLeft32(c, 11)
	b = (b ^ a) - bits.RotateLeft32(a, 25)
	c = (c ^ b) - bits.RotateLeft32(b, 16)
	a = (a ^ c) - bits.RotateLeft32(c, 4)
	b = (b ^ a) - bits.RotateLeft32(a, 14)
	c = (c ^ b) - bits.RotateLeft32(b, 24)
	return uint64(c)<<32 | uint64(b)
}
