package model

import (
	"bufio"
	"io"
	"iter"
	"math"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	legacy "github.com/go-json-experiment/json/v1"
)

// Time is a moment in Unix nanoseconds. 0 means unknown and is null in JSON; other values are RFC
// 3339 in UTC with nanoseconds.
type Time int64

const timeLayout = "2006-01-02T15:04:05.000000000Z"

// UTC returns the moment as a time.Time.
func (t Time) UTC() time.Time { return time.Unix(0, int64(t)).UTC() }

// String formats the moment as in JSON; "" if unknown.
func (t Time) String() string {
	if t == 0 {
		return ""
	}
	return t.UTC().Format(timeLayout)
}

// Sub returns the duration from u to t.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t - u) }

// MarshalJSONTo implements json.MarshalerTo.
func (t Time) MarshalJSONTo(e *jsontext.Encoder) error {
	if t == 0 {
		return e.WriteToken(jsontext.Null)
	}
	b := t.UTC().AppendFormat(append(e.AvailableBuffer(), '"'), time.RFC3339) // faster than other layouts
	b = append(b[:len(b)-len("Z")], '.')
	for ns, unit := t.UTC().Nanosecond(), 100_000_000; unit > 0; unit /= 10 {
		b = append(b, byte('0'+ns/unit%10))
	}
	return e.WriteValue(append(b, `Z"`...))
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Time) UnmarshalJSON(b []byte) error {
	var s *string
	if err := json.Unmarshal(b, &s); err != nil || s == nil {
		*t = 0
		return err
	}
	at, err := time.Parse(time.RFC3339Nano, *s)
	*t = Time(at.UnixNano())
	return err
}

// Seconds converts a duration to the unit of the documents.
func Seconds(d time.Duration) float64 { return float64(d) / 1e9 }

// Given returns &v, or nil if the value is not known.
func Given[T any](known bool, v T) *T {
	if !known {
		return nil
	}
	return &v
}

// Number returns f, or nil if JSON cannot represent it (NaN and infinities).
func Number(f float64) *float64 { return Given(!math.IsNaN(f) && !math.IsInf(f, 0), f) }

// Long returns d in seconds, or nil if it is negative, which means unknown.
func Long(d time.Duration) *float64 { return Given(d >= 0, Seconds(d)) }

// Duration is the inverse of Long; it returns -1 for nil.
func Duration(s *float64) time.Duration {
	if s == nil {
		return -1
	}
	return time.Duration(math.Round(*s * 1e9))
}

// Longer returns d in seconds, or nil if it is not positive, for values where 0 means unknown.
func Longer(d time.Duration) *float64 { return Given(d > 0, Seconds(d)) }

// count returns n, or nil if it is negative, which means unknown.
func count(n int) *int { return Given(n >= 0, n) }

// some returns s, or nil for "".
func some(s string) *string { return Given(s != "", s) }

// list maps f over in; never nil.
func list[A, B any](in []A, f func(A) B) []B {
	out := make([]B, len(in))
	for i := range in {
		out[i] = f(in[i])
	}
	return out
}

// InBrackets returns s in parentheses after a space, to be appended; "" for "".
func InBrackets(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// asWritten are the options of all documents: JSON as encoding/json writes it, without escaping < and >.
var asWritten = json.JoinOptions(legacy.DefaultOptionsV1(), jsontext.EscapeForHTML(false))

// Compact encodes v as one line of JSON without escaping < and >.
func Compact(v any) ([]byte, error) { return json.Marshal(v, asWritten) }

// CompactTo writes what Compact returns. A pointer as v saves a copy of what it points to.
func CompactTo(w io.Writer, v any) error { return json.MarshalWrite(w, v, asWritten) }

// Encode writes v as an indented JSON document. What it holds is written as it is made.
func Encode(w io.Writer, v any) error {
	to := bufio.NewWriterSize(w, 1<<16) // the encoder writes less at a time
	if err := json.MarshalWrite(to, v, asWritten, jsontext.WithIndent("  ")); err != nil {
		return err
	}
	to.WriteByte('\n')
	return to.Flush()
}

// Seq is a sequence whose elements are made on demand, in the same order each time. A nil Seq is
// empty.
type Seq[T any] iter.Seq[T]

// Each calls f for each element.
func (s Seq[T]) Each(f func(T)) {
	if s != nil {
		s(func(x T) bool { f(x); return true })
	}
}

// seqOf maps f over all.
func seqOf[A, B any](all iter.Seq2[int, A], f func(A) B) Seq[B] {
	return func(yield func(B) bool) {
		for _, x := range all {
			if !yield(f(x)) {
				return
			}
		}
	}
}

// MarshalJSONTo implements json.MarshalerTo.
func (s Seq[T]) MarshalJSONTo(e *jsontext.Encoder) error {
	var one T
	return encodeList(e, func(yield func(*T) bool) {
		if s != nil {
			s(func(x T) bool { one = x; return yield(&one) })
		}
	})
}

// encodeList writes elements as they are made.
func encodeList[T any](e *jsontext.Encoder, all iter.Seq[*T]) error {
	err := e.WriteToken(jsontext.BeginArray)
	if err != nil {
		return err
	}
	for x := range all {
		if err = json.MarshalEncode(e, x); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndArray)
}
