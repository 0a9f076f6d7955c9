package indent

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// TestEncode: every value is indented as by json.Encoder.
func TestEncode(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var value func(deep int) any
	value = func(deep int) any {
		switch n := r.IntN(8); {
		case n < 2 && deep > 0:
			list := make([]any, r.IntN(4))
			for i := range list {
				list[i] = value(deep - 1)
			}
			return list
		case n < 4 && deep > 0:
			object := map[string]any{}
			for range r.IntN(4) {
				object[[]string{"a", `b"{[`, "c\\", "", "<&>"}[r.IntN(5)]] = value(deep - 1)
			}
			return object
		case n == 4:
			return []any{nil, true, -1.5e300, 7}[r.IntN(4)]
		}
		return []string{"", `"`, `\`, `\"`, "{", "a,b:]}", "line\nline", "ü\u2028\x00", strings.Repeat(`\"x`, 5_000)}[r.IntN(9)]
	}
	deep := any(struct{}{})
	for range 200 {
		deep = []any{deep}
	}
	for i := range 500 {
		v := value(6)
		if i == 0 {
			v = deep
		}
		likeEncoder(t, v)
	}
}

// likeEncoder checks that v is written as by json.Encoder.
func likeEncoder(t *testing.T, v any) {
	t.Helper()
	var want, got bytes.Buffer
	e := json.NewEncoder(&want)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	if err := Encode(&got, v); err != nil || got.String() != want.String() {
		t.Fatalf("%v: %v\n%.2000s\nwant\n%.2000s", v, err, got.String(), want.String())
	}
}

type part struct {
	Name  string    `json:"name"`
	Empty []int     `json:"empty,omitempty"`
	Zero  time.Time `json:"zero,omitzero"`
	Own   ownText   `json:"own"`
	List  numbers   `json:"list"`
	Parts []*part   `json:"parts"`
	Any   any       `json:"any,omitempty"`
	Fn    func()    `json:"-"`
	Outer *joined
	bare  int
}

// joined has members of an embedded struct.
type joined struct {
	Outer
	Parts []part
}

type document struct {
	Schema string
	Parts  []part         `json:"parts"`
	Map    map[string]any `json:"map,omitempty"`
	None   *part
	Bytes  []byte `json:",omitempty"`
	Many   numbers
}

type Outer struct{ Inner int }

// ownText encodes itself by a method of its pointer.
type ownText struct{ s string }

func (o *ownText) MarshalJSON() ([]byte, error) { return json.Marshal("<" + o.s + ">") }

// numbers is a list of as many.
type numbers int

func (n numbers) Elements(yield func(any) bool) {
	for i := 0; i < int(n) && yield(&i); i++ {
	}
}

func (n numbers) MarshalJSON() ([]byte, error) {
	all := []int{}
	n.Elements(func(x any) bool { all = append(all, *x.(*int)); return true })
	return json.Marshal(all)
}

// TestEncodeParts: what is written by its parts is what json.Encoder writes.
func TestEncodeParts(t *testing.T) {
	inner := part{Name: "<a>", Own: ownText{"x"}, List: 2, Any: []int{}, Outer: &joined{Outer{1}, []part{{}}}, bare: 1}
	type twice struct {
		Outer
		Parts []part
		Again int `json:"Inner"`
	}
	for _, v := range []any{
		&joined{Outer{1}, []part{{}}}, &twice{Outer{1}, nil, 2}, nil, inner, &inner, []part{inner, {}}, &[]*part{&inner, nil}, numbers(0), numbers(3), (*part)(nil),
		document{}, &document{}, &document{Schema: "s", Parts: []part{inner, inner}, Many: 3},
		&document{Parts: []part{}, Map: map[string]any{"b": numbers(1), "a": inner}, None: &part{Parts: []*part{&inner, nil}}, Bytes: []byte("<>")},
	} {
		likeEncoder(t, v)
	}
}

// watched is a list that tells how much was written before its last element.
type watched struct {
	to     *bytes.Buffer
	before *int
}

func (w watched) Elements(yield func(any) bool) {
	for i := range 100_000 {
		*w.before = w.to.Len()
		if !yield(&i) {
			return
		}
	}
}

// TestEncodeAsItGoes: what was made of a list is written before the rest of it is.
func TestEncodeAsItGoes(t *testing.T) {
	var out bytes.Buffer
	var before int
	doc := struct{ Nodes []struct{ Relists watched } }{[]struct{ Relists watched }{{watched{&out, &before}}}}
	if err := Encode(&out, &doc); err != nil || before < out.Len()*9/10 {
		t.Errorf("%v: %d of %d bytes", err, before, out.Len())
	}
	type input struct {
		Outer
		Warnings watched
	}
	out.Reset()
	beside := struct{ Inputs []input }{[]input{{Outer{1}, watched{&out, &before}}}}
	if err := Encode(&out, &beside); err != nil || before < out.Len()*9/10 {
		t.Errorf("beside an embedded struct, %v: %d of %d bytes", err, before, out.Len())
	}
}

// TestEncodeFails: nothing is written for a value that cannot be encoded, and write errors are
// returned.
func TestEncodeFails(t *testing.T) {
	var b bytes.Buffer
	if err := Encode(&b, []float64{1, math.Inf(1)}); err == nil || b.Len() > 0 {
		t.Errorf("%v, %q", err, b.String())
	}
	full := errors.New("full")
	for _, v := range []any{1, strings.Repeat("x", 1<<20), make([]int, 1<<20)} {
		if err := Encode(broken{full}, v); err != full {
			t.Errorf("%v", err)
		}
	}
}

type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

// TestEncodeOnce: memory use is that of json.Marshal, without the indentation.
func TestEncodeOnce(t *testing.T) {
	list := make([]struct{ A, B, C, D, E, F int }, 100_000)
	r := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			if err := Encode(io.Discard, list); err != nil {
				b.Fatal(err)
			}
		}
	})
	// 4 MB without indentation, in a buffer that doubles.
	if r.AllocedBytesPerOp() > 12<<20 {
		t.Errorf("%d bytes", r.AllocedBytesPerOp())
	}
}
