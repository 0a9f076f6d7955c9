package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

// TestEncode: documents are indented as encoding/json does it, with moments and sequences as JSON.
func TestEncode(t *testing.T) {
	type part struct {
		Name  string          `json:"name"`
		Empty []int           `json:"empty,omitempty"`
		None  []int           `json:"none"`
		Raw   json.RawMessage `json:"raw,omitempty"`
		Parts []part          `json:"parts"`
		Map   map[string]any  `json:"map"`
		Of    *float64        `json:"of"`
		At    Time            `json:"-"`
		All   Seq[part]       `json:"-"`
	}
	third := 1e21 / 3
	for _, v := range []any{
		nil, 1e-7, 1e21, -0.5, "<&>\u2028\x00\"\\", []any{}, map[string]any{}, part{}, &part{Name: "<a>", Of: &third, Raw: json.RawMessage(`{"a" : [ ]}`), Parts: []part{{Empty: []int{1}}, {}}},
		map[string]any{"b": 1, "a": []string{"x", strings.Repeat(`\"x`, 5_000)}},
	} {
		var want, got bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
		if err := Encode(&got, v); err != nil || got.String() != want.String() {
			t.Errorf("%v: %v\n%.2000s\nwant\n%.2000s", v, err, got.String(), want.String())
		}
	}
	b, err := Compact([]any{Time(0), Time(1_795_217_460_000_000_001), Seq[int](nil), Seq[int](func(yield func(int) bool) { _ = yield(1) && yield(2) }), Proof{}})
	if want := `[null,"2026-11-20T23:31:00.000000001Z",[],[1,2],[]]`; string(b) != want || err != nil {
		t.Errorf("%s, %v, want %s", b, err, want)
	}
}

// TestEncodeAsItGoes: what was made of a sequence is written before the rest of it is made.
func TestEncodeAsItGoes(t *testing.T) {
	var out counted
	before := 0
	doc := struct{ Nodes []struct{ Relists Seq[int] } }{[]struct{ Relists Seq[int] }{{func(yield func(int) bool) {
		for i := range 100_000 {
			if before = int(out); !yield(i) {
				return
			}
		}
	}}}}
	if err := Encode(&out, &doc); err != nil || before < int(out)*9/10 {
		t.Errorf("%v: %d of %d bytes", err, before, out)
	}
}

// counted counts what is written to it.
type counted int

func (c *counted) Write(b []byte) (int, error) { *c += counted(len(b)); return len(b), nil }

// TestEncodeFails: what cannot be encoded or written is an error.
func TestEncodeFails(t *testing.T) {
	if err := Encode(io.Discard, []float64{1, math.Inf(1)}); err == nil {
		t.Error("an infinite number is encoded")
	}
	full := errors.New("full")
	for _, v := range []any{1, strings.Repeat("x", 1<<20), make([]int, 1<<20)} {
		if err := Encode(broken{full}, v); !errors.Is(err, full) {
			t.Errorf("%v", err)
		}
	}
}

type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }
