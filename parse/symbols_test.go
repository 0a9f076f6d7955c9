package parse

import (
	"fmt"
	"sync"
	"testing"
)

// TestSymbols wants one number for a text, whoever asks, and the text back.
func TestSymbols(t *testing.T) {
	const texts, workers = 20000, 4
	syms := NewSymbols()
	if syms.Of(nil) != 0 || syms.OfString("") != 0 || syms.Text(0) != "" {
		t.Error("the empty text is not 0")
	}
	var got [workers][texts]Sym
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range texts {
				k := (i*7919 + w*613) % texts // each in its own order
				if w%2 == 0 {
					got[w][k] = syms.OfString(fmt.Sprint("pod-", k))
				} else {
					got[w][k] = syms.Of(fmt.Append(nil, "pod-", k))
				}
			}
		})
	}
	wg.Wait()
	seen := map[Sym]bool{}
	for k := range texts {
		sym := got[0][k]
		for w := range workers {
			if got[w][k] != sym {
				t.Fatalf("text %d is %d and %d", k, sym, got[w][k])
			}
		}
		if text := syms.Text(sym); text != fmt.Sprint("pod-", k) {
			t.Fatalf("text %d comes back as %q", k, text)
		}
		if sym == 0 || int(sym) >= syms.Bound() || seen[sym] {
			t.Fatalf("text %d has the number %d of %d", k, sym, syms.Bound())
		}
		seen[sym] = true
	}
	if syms.Bound() != texts+1 {
		t.Errorf("%d numbers for %d texts", syms.Bound()-1, texts)
	}
}

// TestShapes wants one number for a list of names.
func TestShapes(t *testing.T) {
	syms := NewSymbols()
	a, b := syms.Shape([]string{"id", "type"}), syms.Shape([]string{"id"})
	if a == b || syms.Shape([]string{"id", "type"}) != a || len(syms.Names(a)) != 2 || len(syms.Names(b)) != 1 {
		t.Errorf("shapes %d %d: %q %q", a, b, syms.Names(a), syms.Names(b))
	}
}

// plainEvent has a signature that finds one field.
func plainEvent() *Event {
	sig := &Sig{ID: "x", Extract: func(msg string, dst []Field) []Field { return append(dst, Field{"id", msg}) }}
	return &Event{EventKind: &EventKind{Sigs: &SigSet{Sigs: []*Sig{sig}}}, Text: PlainText("abc")}
}

// TestFieldsByNumber wants the fields of an event that keeps none from its text,
// and those of one that does in the columns of their names.
func TestFieldsByNumber(t *testing.T) {
	syms := NewSymbols()
	r := NewColumns(syms, "pod", "id")
	row := make([]Sym, 2)
	for range 2 { // the second time from what is known about the shape
		for _, e := range []*Event{plainEvent(), keptEvent(syms)} {
			r.Read(e, row)
			if row[0] != 0 || syms.Text(row[1]) != "abc" {
				t.Errorf("got %v", row)
			}
		}
	}
}

// keptEvent keeps two ids, of which the first counts, and something else.
func keptEvent(syms *Symbols) *Event {
	row := []Sym{0, syms.Shape([]string{"id", "x", "id"}), syms.OfString("abc"), syms.OfString("y"), syms.OfString("z")}
	e := plainEvent()
	e.Text = NewText(&Shelf{Store: &rowStore{row, syms}}, 0, 3)
	e.SetFields(1)
	return e
}

type rowStore struct {
	rows []Sym
	of   *Symbols
}

func (r *rowStore) Slice(off, n uint32) string     { return "abc"[off : off+n] }
func (r *rowStore) Row(n uint32) ([]Sym, *Symbols) { return r.rows[n:], r.of }

// TestFieldsOfReplacedText wants the fields of the text that an event has now.
func TestFieldsOfReplacedText(t *testing.T) {
	e := plainEvent()
	e.SetFields(7) // of a store that is no longer there
	if f := e.Fields(); len(f) != 1 || f[0].Value != "abc" {
		t.Errorf("got %v", f)
	}
}

func BenchmarkSymbols(b *testing.B) {
	texts := make([][]byte, 1<<14)
	for i := range texts {
		texts[i] = fmt.Appendf(nil, "%064x", i)
	}
	syms := NewSymbols()
	for i := 0; b.Loop(); i++ {
		syms.Of(texts[i%len(texts)])
	}
}
