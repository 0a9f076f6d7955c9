package parse

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// TestSymbols checks that all goroutines get the same StringID for a string, and that
// the string can be read back.
func TestSymbols(t *testing.T) {
	const texts, workers = 20000, 4
	interned := NewStringTable()
	if a, b := interned.OfPair(nil, nil); a != 0 || b != 0 || interned.Of(nil) != 0 || interned.OfString("") != 0 || interned.Text(0) != "" {
		t.Error("the empty text is not 0")
	}
	var got [workers][texts]StringID
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range texts {
				k := (i*7919 + w*613) % texts // each in its own order
				switch w {
				case 0:
					got[w][k] = interned.OfString(fmt.Sprint("pod-", k))
				case 2:
					var also StringID
					if got[w][k], also = interned.OfPair(fmt.Append(nil, "pod-", k), fmt.Append(nil, "pod-", k)); also != got[w][k] {
						t.Errorf("text %d is %d and %d", k, got[w][k], also)
					}
				default:
					got[w][k] = interned.Of(fmt.Append(nil, "pod-", k))
				}
			}
		})
	}
	wg.Wait()
	seen := map[StringID]bool{}
	for k := range texts {
		sid := got[0][k]
		for w := range workers {
			if got[w][k] != sid {
				t.Fatalf("text %d is %d and %d", k, sid, got[w][k])
			}
		}
		if text := interned.Text(sid); text != fmt.Sprint("pod-", k) {
			t.Fatalf("text %d comes back as %q", k, text)
		}
		if sid == 0 || int(sid) >= interned.Bound() || seen[sid] {
			t.Fatalf("text %d has the number %d of %d", k, sid, interned.Bound())
		}
		seen[sid] = true
	}
	if interned.Bound() != int(InLine)+texts+1 {
		t.Errorf("%d numbers for %d texts", interned.Bound()-1-int(InLine), texts)
	}
}

// TestLongSymbols reads back strings that fill a slab, including as the very first
// string.
func TestLongSymbols(t *testing.T) {
	for _, first := range []int{symSlab - symHead, symSlab>>6 - symHead, symSlab >> 6, 3 * symSlab} {
		interned := NewStringTable()
		for _, n := range []int{first, 1, symSlab - symHead, symSlab, 2, symSlab>>3 - symHead} {
			text := strings.Repeat("x", n)
			if got := interned.Text(interned.OfString(text)); got != text {
				t.Errorf("%d after %d: got %d bytes back", n, first, len(got))
			}
		}
	}
}

// TestShapes checks that a list of names always has the same number.
func TestShapes(t *testing.T) {
	interned := NewStringTable()
	a, b := interned.Shape([]string{"id", "type"}), interned.Shape([]string{"id"})
	if a == b || interned.Shape([]string{"id", "type"}) != a || len(interned.Names(a)) != 2 || len(interned.Names(b)) != 1 {
		t.Errorf("shapes %d %d: %q %q", a, b, interned.Names(a), interned.Names(b))
	}
}

// plainEvent returns an event with a signature that extracts one field.
func plainEvent() *Event {
	sig := &Sig{ID: "x", Extract: func(msg string, dst []Field) []Field { return append(dst, Field{"id", msg}) }}
	return NewEvent(&EventKind{Sigs: &SigSet{Sigs: []*Sig{sig}}}, PlainText("abc"), Event{})
}

// TestFieldsByNumber checks that the fields of an event without stored fields come
// from its text, and that stored ones are assigned to the columns of their names.
func TestFieldsByNumber(t *testing.T) {
	interned := NewStringTable()
	r := NewColumns(interned, "pod", "id")
	row := make([]StringID, 2)
	for range 2 { // the second time, the shape is already known
		for _, e := range []*Event{plainEvent(), keptEvent(interned)} {
			r.Read(e, row)
			if row[0] != 0 || interned.Text(row[1]) != "abc" {
				t.Errorf("got %v", row)
			}
		}
	}
}

// keptEvent returns an event with stored fields: two IDs, of which the first
// counts, and another.
func keptEvent(interned *StringTable) *Event {
	store := &rowStore{of: interned}
	n := store.rows.Add([]StringID{interned.Shape([]string{"id", "x", "id"}), interned.OfString("abc"), interned.OfString("y"), interned.OfString("z")})
	e := plainEvent()
	e = NewEvent(e.EventKind, NewText(&Arena{Store: store}, 0, 3), Event{})
	e.SetFields(n)
	return e
}

type rowStore struct {
	rows Rows
	of   *StringTable
}

func (r *rowStore) Slice(off, n uint32) string       { return "abc"[off : off+n] }
func (r *rowStore) Row(n uint32) (Row, *StringTable) { return r.rows.At(n), r.of }

// TestFieldsOfReplacedText checks that fields come from the current text of an
// event.
func TestFieldsOfReplacedText(t *testing.T) {
	e := plainEvent()
	e.SetFields(7) // of a store that no longer exists
	if f := e.Fields(); len(f) != 1 || f[0].Value != "abc" {
		t.Errorf("got %v", f)
	}
}

// symTexts returns strings of all kinds, some of them almost IDs.
func symTexts() []string {
	id := strings.Repeat("0123456789abcdef", 4)
	uuid := "0d1c6d2e-7f0a-4a55-9a53-6a3b8f0e9af1"
	out := []string{id, uuid, "a", strings.Repeat("x", symLong-1), strings.Repeat("y", symLong), strings.Repeat("z", 3*symSlab)}
	for _, s := range []string{id, uuid} {
		out = append(out, s[1:], s+"0", strings.ToUpper(s), strings.ReplaceAll(s, "-", ""))
		for i := range s {
			for _, c := range "-0fgG/:\x60@O\x00\x80\xf0\xff" {
				out = append(out, s[:i]+string(c)+s[i+1:], s[:i]+string([]byte{byte(c)})+s[i+1:])
			}
		}
	}
	// Strings that pack to the same bytes must stay distinct.
	raw, _ := hex.DecodeString(id)
	return append(out, string(raw), string(raw[:16]))
}

// TestSymbolTexts checks that each string is read back unchanged and ordered
// correctly.
func TestSymbolTexts(t *testing.T) {
	interned := NewStringTable()
	byText := map[string]StringID{}
	for range 2 {
		for _, s := range symTexts() {
			sid := interned.OfString(s)
			if have, ok := byText[s]; ok && have != sid {
				t.Fatalf("%q is %d and %d", s, have, sid)
			}
			byText[s] = sid
			if got := interned.Text(sid); got != s {
				t.Fatalf("%q comes back as %q", s, got)
			}
		}
	}
	if interned.Bound() != int(InLine)+len(byText)+1 {
		t.Errorf("%d numbers for %d texts", interned.Bound()-1-int(InLine), len(byText))
	}
	byText[""] = 0
	for a, x := range byText {
		for b, y := range byText {
			if got, want := interned.Compare(x, y), strings.Compare(a, b); got != want {
				t.Fatalf("%q and %q compare as %d, want %d", a, b, got, want)
			}
		}
	}
}

// TestEightDigits checks decoding eight digits at a time against decoding each.
func TestEightDigits(t *testing.T) {
	for i := range 8 {
		for c := range 256 {
			s := []byte("a0f19c3e")
			s[i] = byte(c)
			want, err := hex.DecodeString(string(s))
			v, ok := eightDigits(binary.LittleEndian.Uint64(s))
			if ok != (err == nil && strings.ToLower(string(s)) == string(s)) || ok && v != binary.LittleEndian.Uint32(want) {
				t.Fatalf("%q: %x %v", s, v, ok)
			}
		}
	}
}

// BenchmarkSymbols looks up known IDs in an order that defeats caches.
func BenchmarkSymbols(b *testing.B) {
	for _, n := range []int{1 << 10, 1 << 18} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			texts := make([][hexLen]byte, n)
			interned := NewStringTable()
			for i := range texts {
				copy(texts[i][:], fmt.Appendf(nil, "%064x", i))
				interned.Of(texts[i][:])
			}
			for i := 0; b.Loop(); i++ {
				interned.Of(texts[i*7919%n][:])
			}
		})
	}
}

// BenchmarkNewSymbols adds IDs.
func BenchmarkNewSymbols(b *testing.B) {
	var interned *StringTable
	text := make([]byte, hexLen)
	for i := 0; b.Loop(); i++ {
		if i%(1<<18) == 0 {
			interned = NewStringTable()
		}
		text = fmt.Appendf(text[:0], "%064x", i)
		interned.Of(text)
	}
}
