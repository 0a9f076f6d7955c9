package bundle

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/plegforensics/plegforensics/parse"
)

// in16 returns text in UTF-16 without a byte order mark.
func in16(text string, enc encoding) (out []byte) {
	for _, u := range utf16.Encode([]rune(text)) {
		lo, hi := byte(u), byte(u>>8)
		if enc == inUTF16BE {
			lo, hi = hi, lo
		}
		out = append(out, lo, hi)
	}
	return out
}

// converted returns the text of a file that begins with a byte order mark.
func converted(t testing.TB, r io.Reader, big bool) (string, []turned) {
	t.Helper()
	u := newUTF16(newCounter(r), big)
	text, err := io.ReadAll(u)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), u.turns
}

// linesFrom returns n lines of a log, the first of which is line from.
func linesFrom(from, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "I1120 23:28:%02d.%06d   18503 flags.go:64] FLAG: --node-%d=\"größe Привет 你好世界你好世界\" 😀\r\n", (from+i)%60, 1000*(from+i), from+i)
	}
	return b.String()
}

// TestUTF16Turns: wherever the encoding of a log changes, all of its text is read, and the place is told.
func TestUTF16Turns(t *testing.T) {
	le, be := inUTF16LE, inUTF16BE
	for lead := range 70 { // the change stands at any place of a line and of a block
		a := linesFrom(0, 150) + strings.Repeat("x", lead*3) + "\r\n"
		b := linesFrom(500, 40)
		for _, c := range []struct {
			name   string
			first  encoding
			second []byte
			to     encoding
		}{
			{name: "UTF-8 appended", first: le, second: []byte(b), to: inUTF8},
			{name: "UTF-8 appended to BE", first: be, second: []byte(b), to: inUTF8},
			{name: "UTF-8 with a mark", first: le, second: []byte("\ufeff" + b), to: inUTF8},
			{name: "BE with a mark", first: le, second: in16("\ufeff"+b, be), to: be},
			{name: "LE with a mark", first: be, second: in16("\ufeff"+b, le), to: le},
			{name: "LE without a mark", first: be, second: in16(b, le), to: le},
			{name: "the same with a mark", first: le, second: in16("\ufeff"+b, le), to: le},
		} {
			data := concat(in16("\ufeff"+a, c.first), c.second)
			got, turns := converted(t, bytes.NewReader(data), c.first == be)
			want := []turned{{at: int64(len(in16("\ufeff"+a, c.first))), from: c.first, to: c.to}}
			if c.to == c.first {
				want = nil
			}
			if got != a+b || fmt.Sprint(turns) != fmt.Sprint(want) {
				t.Fatalf("%s, lead %d: %v, want %v; text equal: %v", c.name, lead, turns, want, got == a+b)
			}
		}
	}
	text := linesFrom(0, 20)
	plain := strings.Map(func(r rune) rune { return map[bool]rune{true: r, false: -1}[r < 0x80] }, text)
	if got, turns := converted(t, bytes.NewReader(concat(in16("\ufeff"+plain, le), in16(plain, be))), false); !strings.HasPrefix(strings.ReplaceAll(got, "\x00", ""), (plain + plain)[:2*len(plain)-1]) || len(turns) != 1 {
		t.Errorf("BE without a mark: %v", turns) // the same characters as with a byte less
	}
	back := concat(in16("\ufeff"+text, le), []byte(text), in16(text, le), []byte(text), in16("\ufeff"+text, be))
	if got, turns := converted(t, bytes.NewReader(back), false); len(turns) != 4 || strings.Count(got, text) < 3 || strings.ReplaceAll(got, text, "") != "" {
		t.Errorf("there and back: %v, %d times of 5", turns, strings.Count(got, text))
	}
}

func concat(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// TestUTF16Lost: a byte that is lost or added costs its line, not those behind it.
func TestUTF16Lost(t *testing.T) {
	text := linesFrom(0, 60)
	for _, enc := range []encoding{inUTF16LE, inUTF16BE} {
		whole := in16("\ufeff"+text, enc)
		line := len(in16("\ufeff"+linesFrom(0, 30), enc))
		for at := line; at < line+240; at++ {
			lost := concat(whole[:at], whole[at+1:])
			added := concat(whole[:at], []byte("\x81"), whole[at:])
			for what, data := range map[string][]byte{"lost": lost, "added": added} {
				got, turns := converted(t, bytes.NewReader(data), enc == inUTF16BE)
				if len(turns) == 1 && turns[0].from == inUTF16BE && turns[0].to == inUTF16LE {
					continue // UTF-16LE that is appended without a mark has the same ASCII
				}
				if !strings.HasPrefix(got, linesFrom(0, 30)) || !strings.HasSuffix(got, linesFrom(32, 28)) {
					t.Fatalf("%v, byte %d of the line %s: lines are lost behind it; %v", enc, at-line, what, turns)
				}
				// Behind a character that is not ASCII it is found where ASCII follows.
				if len(turns) == 0 || turns[0].at < int64(at-2) || turns[0].at > int64(at)+120 {
					t.Errorf("%v, byte %d, %s: told at %v", enc, at, what, turns)
				}
			}
		}
	}
}

// TestUTF16Foreign: text that is no ASCII is not taken for damage.
func TestUTF16Foreign(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	drawn := func(from, to rune, n int) string {
		out := make([]rune, n)
		for i := range out {
			out[i] = from + rnd.Int32N(to-from)
		}
		return string(out)
	}
	texts := map[string]string{
		"Chinese":         drawn(0x4e00, 0x9fa5, 300000),
		"Chinese lines":   strings.Repeat(drawn(0x4e00, 0x7e7e, 30)+"\r\n", 3000),
		"Hangul":          drawn(0xac00, 0xd7a3, 300000),
		"Cyrillic":        drawn(0x400, 0x45f, 300000),
		"symbols":         drawn(0x2000, 0x2800, 300000),
		"rows":            strings.Repeat("─", 500) + "\n" + strings.Repeat("═", 500) + strings.Repeat("…", 500) + strings.Repeat("†", 500) + "\n" + strings.Repeat("─┼", 500),
		"beyond the BMP":  strings.Repeat("😀𝄞", 3000),
		"mixed":           linesFrom(0, 3000),
		"NUL":             strings.Repeat("\x00", 100000) + "I1120 23:28:59.991804   18503 flags.go:64] x\n",
		"short":           "ok",
		"short Chinese":   "你好",
		"log in Chinese":  strings.Repeat("I1120 23:28:59.991804 1 x.go:1] 容器运行时状态检查失败，节点未就绪：请求超时（两分钟）\n", 500),
		"log in Russian":  strings.Repeat("I1120 23:28:59.991804 1 x.go:1] Не удалось получить список контейнеров\n", 500),
		"fullwidth forms": strings.Repeat("ＦＵＬＬ，ｗｉｄｔｈ！", 500),
	}
	for name, text := range texts {
		for _, enc := range []encoding{inUTF16LE, inUTF16BE} {
			got, turns := converted(t, bytes.NewReader(in16("\ufeff"+text, enc)), enc == inUTF16BE)
			if got != text || len(turns) > 0 {
				t.Errorf("%s in %v: changed, %v", name, enc, turns)
			}
		}
	}
}

// TestUTF16Warned: the change is told with its place in the file, makes the input partial, and costs no event.
func TestUTF16Warned(t *testing.T) {
	log := testLog(400)
	half := bytes.IndexByte(log[len(log)/2:], '\n') + len(log)/2 + 1
	first := in16("\ufeff"+string(log[:half]), inUTF16LE)
	whole := load(t, Options{}, file(t, "k.log", log))
	b := load(t, Options{}, file(t, "k.log", concat(first, log[half:])))
	want := fmt.Sprintf("the encoding changes from UTF-16LE to UTF-8 at byte %d; what follows is read accordingly", len(first))
	if len(b.Warnings) != 1 || b.Warnings[0].Msg != want || b.Warnings[0].Offset != int64(len(first)) || !parse.Partial(b.Warnings) || !b.Inputs[0].Partial {
		t.Errorf("warnings %v, want %s", b.Warnings, want)
	}
	if len(whole.Events) == 0 || len(b.Events) != len(whole.Events) {
		t.Errorf("%d events, want %d", len(b.Events), len(whole.Events))
	}
	// One byte lost: its line is damaged, which is a place where something is lost.
	data := concat(first, in16(string(log[half:]), inUTF16LE))
	at := len(first) - 20
	b, _ = loaded(t, file(t, "k.log", concat(data[:at], data[at+1:])))
	if !parse.Partial(b.Warnings) || !hasHole(b) {
		t.Errorf("a byte lost: warnings %v", b.Warnings)
	}
}

func hasHole(b *parse.Bundle) bool {
	for _, m := range b.Markers {
		if m.Kind == parse.MarkHole {
			return true
		}
	}
	return false
}

// TestUTF16ManyTurns: what is told of a hostile file is bounded.
func TestUTF16ManyTurns(t *testing.T) {
	var data []byte
	data = append(data, "\xff\xfe"...)
	for range 300 {
		data = append(data, in16(linesFrom(0, 2), inUTF16LE)...)
		data = append(data, linesFrom(0, 2)...)
	}
	u := newUTF16(newCounter(bytes.NewReader(data)), false)
	text, err := io.ReadAll(u)
	if err != nil || len(u.turns) != maxTurns || len(u.turns)+u.more != 599 || string(text) != strings.Repeat(linesFrom(0, 2), 600) {
		t.Errorf("%d changes told, %d not, %v", len(u.turns), u.more, err)
	}
}

// FuzzUTF16: the text does not depend on how the file is read.
func FuzzUTF16(f *testing.F) {
	text := linesFrom(0, 3)
	le, be := in16(text, inUTF16LE), in16(text, inUTF16BE)
	f.Add(concat(le, []byte(text)), false)
	f.Add(concat(le, []byte("\xfe\xff"), be), false)
	f.Add(concat(be[:99], be[100:]), true)
	f.Add(concat([]byte(text), le[:33], le[34:], []byte("\xef\xbb\xbf"), []byte(text)), true)
	f.Add([]byte("\xd8\x00\xd8"), true)
	f.Add(bytes.Repeat([]byte{0}, 200), false)
	f.Fuzz(func(t *testing.T, data []byte, big bool) {
		data = concat([]byte("\xff\xfe"), data)
		want, turns := converted(t, bytes.NewReader(data), big)
		for _, r := range []io.Reader{iotest.OneByteReader(bytes.NewReader(data)), iotest.DataErrReader(iotest.HalfReader(bytes.NewReader(data)))} {
			got, again := converted(t, r, big)
			if got != want || fmt.Sprint(again) != fmt.Sprint(turns) {
				t.Errorf("read in other pieces: %q, %v, want %q, %v", got, again, want, turns)
			}
		}
		if len(want) > 2*len(data)+8 {
			t.Errorf("%d bytes of %d", len(want), len(data))
		}
	})
}

// TestUTF16Blocks: what stands before a change, and so where blocks end, does not matter.
func TestUTF16Blocks(t *testing.T) {
	text := linesFrom(0, 5)
	tail := concat([]byte(text), []byte("\xff\xfe"), in16(text, inUTF16LE)[1:])
	want, _ := converted(t, bytes.NewReader(concat([]byte("\xff\xfe"), in16(text+"\n", inUTF16LE), tail)), false)
	want = strings.TrimPrefix(want, text+"\n")
	for pad := range 200 {
		lead := strings.Repeat("a", block/2-len(text)-pad) + text + "\n"
		got, _ := converted(t, bytes.NewReader(concat([]byte("\xff\xfe"), in16(lead, inUTF16LE), tail)), false)
		if strings.TrimPrefix(got, lead) != want {
			t.Fatalf("%d bytes before the end of the block: %q, want %q", 2*pad, strings.TrimPrefix(got, lead), want)
		}
	}
}
