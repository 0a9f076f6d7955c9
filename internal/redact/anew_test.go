package redact

import "testing"

// TestAnew: a redactor that shares what another has seen of texts knows none of its names.
func TestAnew(t *testing.T) {
	first := New(nil)
	learn := func(r *Redactor) (out []string) {
		for _, l := range lines {
			r.Learn(l.text)
		}
		r.Settle()
		for _, l := range lines {
			out = append(out, r.Text(l.text))
		}
		return out
	}
	learn(first)
	for _, key := range [][]byte{nil, []byte("k")} {
		r := first.Anew(key)
		if r.Settle(); len(r.Replacements()) > 0 || len(r.names) > 0 {
			t.Error("it knows names")
		}
		for i, want := range learn(New(key)) {
			if i == 0 {
				learn(r)
			}
			if got := r.Text(lines[i].text); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
}
