package bundle

import (
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"testing"
)

// bzip2Log returns a text of numbered lines that fills several blocks of level 1,
// and its stream.
func bzip2Log(t *testing.T) (text, packed []byte) {
	t.Helper()
	var b bytes.Buffer
	for i := range 9000 {
		fmt.Fprintf(&b, "I1120 23:40:31.801000    5203 x.go:%d] line %d of the log, %x\n", i%97, i, i*2654435761)
	}
	return b.Bytes(), pipe(t, b.Bytes(), "bzip2", "-1", "-c")
}

func readBzip2(packed []byte) ([]byte, error) {
	z, err := newBzip2(newCounter(bytes.NewReader(packed)))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// TestBzip2Whole: of sound streams the same is read as by the library, also of
// several ones and of blocks that are longer than may be held.
func TestBzip2Whole(t *testing.T) {
	text, log := bzip2Log(t)
	zeros := pipe(t, make([]byte, 20<<20), "bzip2", "-c")
	none := pipe(t, nil, "bzip2", "-c")
	for what, packed := range map[string][]byte{
		"log": log, "two": append(bytes.Clone(log), log...), "zeros": append(bytes.Clone(zeros), log...), "none": none, "none before": append(bytes.Clone(none), log...),
		"one line": pipe(t, text[:70], "bzip2", "-c"), "level 9": pipe(t, bytes.Repeat(text, 3), "bzip2", "-9", "-c"),
	} {
		want, err := io.ReadAll(bzip2.NewReader(bytes.NewReader(packed)))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := readBzip2(packed); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d of %d bytes, %v", what, len(got), len(want), err)
		}
	}
}

// TestBzip2Damage: a flipped bit costs the text of its block alone, wherever it is.
func TestBzip2Damage(t *testing.T) {
	text, packed := bzip2Log(t)
	whole := map[string]bool{}
	for line := range bytes.Lines(text) {
		whole[string(line)] = true
	}
	for at := 20; at < len(packed)-10; at += len(packed)/60 + 1 {
		bad := bytes.Clone(packed)
		bad[at] ^= 4
		got, err := readBzip2(bad)
		var lost *bzip2Lost
		if !errors.As(err, &lost) || lost.blocks > 2 || lost.rest || lost.from > int64(at) || lost.to < int64(at) {
			t.Fatalf("flipped at %d: %v", at, err)
		}
		left := 0
		for line := range bytes.Lines(got) {
			line = bytes.TrimLeft(line, "\x00")
			switch {
			case whole[string(line)]:
				left++
			case bytes.HasPrefix(line, []byte("I1")) && bytes.Contains(text, bytes.TrimSpace(line)): // cut by the lost block
			default:
				t.Fatalf("flipped at %d: line %q", at, line)
			}
		}
		if left < len(whole)-2*100_000/60 || left == len(whole) {
			t.Errorf("flipped at %d: %d of %d lines are left", at, left, len(whole))
		}
	}
}

// TestBzip2DamagedArchive: what follows a lost block in an archive has no place, and
// no member gets text of another one.
func TestBzip2DamagedArchive(t *testing.T) {
	text, _ := bzip2Log(t)
	tared := tarOf(t, entry{"a.log", text[:200_000]}, entry{"b.log", bytes.ReplaceAll(text[200_000:], []byte("of the log"), []byte("of another"))})
	packed := pipe(t, tared, "bzip2", "-1", "-c")
	for at := 20; at < len(packed)-10; at += len(packed)/20 + 1 {
		bad := bytes.Clone(packed)
		bad[at] ^= 4
		got, err := readBzip2(bad)
		if err == nil || at > 20_000 && !bytes.HasPrefix(tared, got) {
			t.Errorf("flipped at %d: %v, and %d bytes that are not the beginning", at, err, len(got))
		}
		if bytes.Contains(got, []byte("of the log")) && bytes.Contains(got, []byte("of another")) && !bytes.HasPrefix(tared, got) {
			t.Errorf("flipped at %d: two members in one", at)
		}
	}
}

// TestBzip2Cut: of a stream that is cut short, the blocks before are used.
func TestBzip2Cut(t *testing.T) {
	text, packed := bzip2Log(t)
	got, err := readBzip2(packed[:len(packed)/2])
	if !errors.Is(err, io.ErrUnexpectedEOF) || len(got) < 100_000 || !bytes.HasPrefix(text, got) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	bad := bytes.Clone(packed[:len(packed)/2])
	bad[100] ^= 4
	var lost *bzip2Lost
	if got, err = readBzip2(bad); !errors.As(err, &lost) || !lost.rest || len(got) < 100_000 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	junk := append(bytes.Clone(packed), "junk behind the end"...)
	if got, err = readBzip2(junk); err == nil || err == io.EOF || !bytes.Equal(got, text) {
		t.Errorf("junk behind the end: %d bytes, %v", len(got), err)
	}
}

// TestBzip2ManyLost: many damaged blocks end the stream.
func TestBzip2ManyLost(t *testing.T) {
	bad := []byte("BZh91AY&SY")
	for range 5 * bzip2MostLost {
		bad = append(bad, "\x00\x01\x02\x031AY&SY"...)
	}
	var lost *bzip2Lost
	if _, err := readBzip2(bad); !errors.As(err, &lost) || !lost.rest || lost.blocks != bzip2MostLost {
		t.Errorf("%v", err)
	}
}

// TestBzip2End: what is damaged behind the last block costs no text.
func TestBzip2End(t *testing.T) {
	text, packed := bzip2Log(t)
	for _, of := range [][]byte{text, text[:500], text[:501], text[:777]} {
		if len(of) < len(text) {
			packed = pipe(t, of, "bzip2", "-c")
		}
		for n := 1; n <= 10; n++ {
			if got, err := readBzip2(packed[:len(packed)-n]); err == nil || !bytes.Equal(got, of) {
				t.Errorf("%d bytes cut from the end: %d of %d bytes of text, %v", n, len(got), len(of), err)
			}
			bad := bytes.Clone(packed)
			bad[len(bad)-n] ^= 0x10
			if got, err := readBzip2(bad); n > 1 && err == nil || !bytes.Equal(got, of) { // the last byte may be padding
				t.Errorf("flipped %d bytes before the end: %d of %d bytes of text, %v", n, len(got), len(of), err)
			}
		}
		two := append(bytes.Clone(packed), packed...)
		two[len(packed)-8] ^= 0x10
		if got, err := readBzip2(two); err == nil || len(got) < len(of) || !bytes.HasPrefix(got, of) {
			t.Errorf("flipped between two streams: %d of %d bytes of text, %v", len(got), 2*len(of), err)
		}
	}
	if got, err := readBzip2(packed[:len(packed)-14]); err == nil || len(got) > 0 {
		t.Errorf("a block without its end gave %d bytes, %v", len(got), err)
	}
}
