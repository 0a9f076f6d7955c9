package alerts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

var (
	// The rule file parser prefixes errors with line and column, sometimes with two that contradict
	// each other; the first counts.
	linePrefix = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\d+:\d+): (?:\d+:\d+: )?`) })
	// The YAML library lists errors by line, with names of Go types.
	yamlLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^\s*(?:yaml: )?line (\d+): (.*?)(?: in type \S+| into \S+\.\S+)?$`)
	})
)

// placed formats each error as FILE:LINE:COLUMN: message.
func placed(name string, errs []error) []error {
	var out []error
	for _, err := range errs {
		msg := err.Error()
		if m := linePrefix().FindStringSubmatch(msg); m != nil {
			out = append(out, fmt.Errorf("%s:%s: %s", name, m[1], msg[len(m[0]):]))
			continue
		}
		found := yamlLine().FindAllStringSubmatch(msg, -1)
		for _, m := range found {
			out = append(out, fmt.Errorf("%s:%s: %s", name, m[1], m[2]))
		}
		if len(found) == 0 {
			out = append(out, fmt.Errorf("%s: %s", name, strings.TrimPrefix(msg, "yaml: ")))
		}
	}
	return slices.CompactFunc(out, func(a, b error) bool { return a.Error() == b.Error() })
}

// content returns a rule file without its byte order mark, and the indentation of its first key.
func content(data []byte) ([]byte, int) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	for line := range bytes.Lines(data) {
		text := bytes.TrimLeft(line, " ")
		if t := bytes.TrimSpace(text); len(t) > 0 && t[0] != '#' && t[0] != '%' && !bytes.HasPrefix(t, []byte("---")) {
			return data, len(line) - len(text)
		}
	}
	return data, 0
}

// secondDocument returns the line at which the second document with content begins, 0 if there is
// none.
func secondDocument(data []byte) int {
	mark, seen, n := 0, false, 0
	for line := range bytes.Lines(data) {
		n++
		text := bytes.TrimSpace(line)
		switch {
		case bytes.HasPrefix(line, []byte("---")) && (len(text) == 3 || text[3] == ' ' || text[3] == '\t'):
			if seen {
				mark = n
			}
		case len(text) == 0 || text[0] == '#':
		case mark > 0:
			return mark
		default:
			seen = seen || text[0] != '%'
		}
	}
	return 0
}

// unwrapped extracts the rule groups from a PrometheusRule object of the Prometheus operator. Lines
// and columns are kept, so that errors have the right positions.
func unwrapped(data []byte) []byte {
	data, margin := content(data)
	key := func(pattern string) *regexp.Regexp {
		return regexp.MustCompile(fmt.Sprintf("(?m)^ {%d}", margin) + pattern)
	}
	at := key(`spec:[ \t]*(#.*)?\r?\n`).FindIndex(data)
	if at == nil || !key(`kind:[ \t]*["']?PrometheusRule\b`).Match(data) {
		return unwrappedJSON(data)
	}
	out := bytes.Repeat([]byte("\n"), bytes.Count(data[:at[1]], []byte("\n")))
	indent := -1
	for line := range bytes.Lines(data[at[1]:]) {
		text := bytes.TrimLeft(line, " ")
		n := len(line) - len(text)
		switch {
		case len(bytes.TrimSpace(text)) == 0 || n == 0 && text[0] == '#':
			out = append(out, '\n')
			continue
		case indent < 0:
			indent = n
		}
		if n < indent {
			break // the next key at the level of spec
		}
		out = append(out, line...)
	}
	return out
}

// unwrappedJSON is unwrapped for an object in JSON, as printed by kubectl. The groups remain JSON,
// which is valid YAML.
func unwrappedJSON(data []byte) []byte {
	var doc struct {
		Kind string          `json:"kind"`
		Spec json.RawMessage `json:"spec"`
	}
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) || json.Unmarshal(data, &doc) != nil || doc.Kind != "PrometheusRule" || len(doc.Spec) == 0 {
		return data
	}
	return doc.Spec
}
