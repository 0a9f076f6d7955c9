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
