package report

import (
	"bytes"
	"encoding/json"
	"testing"
)

// TestIndenter wants what json.Indent gives.
func TestIndenter(t *testing.T) {
	for _, doc := range []string{"{}", "[]", `{"a":[],"b":{},"c":[{}]}`, `{"a\"b\\":"{[,:]}","n":[1,-2.5e3,null,true],"o":{"p":{"q":"\\"}}}`,
		"[[[1],[2,[3]]]]", `"text"`, "12", "{\"u\":\"\u00fc\u2028\"}\n"} {
		var want, got bytes.Buffer
		if err := json.Indent(&want, []byte(doc), "", "  "); err != nil {
			t.Fatal(err)
		}
		if n, err := (indenter{&got}).Write([]byte(doc)); err != nil || n != len(doc) {
			t.Fatal(n, err)
		}
		if got.String() != want.String() {
			t.Errorf("%s: got\n%s\nwant\n%s", doc, &got, &want)
		}
	}
}
