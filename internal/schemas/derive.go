package schemas

import (
	"encoding/json"
	"reflect"
	"strings"
)

// Document is a JSON document of ours and the type that is encoded as it.
type Document struct {
	Name string
	Type reflect.Type
}

// Derive makes a JSON Schema (2020-12) of documents. A document that has a
// field "schema" states there plegforensics/NAME/v1.
func Derive(title string, docs ...Document) []byte {
	defs := map[string]any{}
	var anyOf []any
	for _, d := range docs {
		s := object(d.Type, defs)
		props := s["properties"].(map[string]any)
		if props["schema"] != nil {
			props["schema"] = map[string]any{"const": "plegforensics/" + d.Name + "/v1"}
		}
		defs[d.Name] = s
		anyOf = append(anyOf, map[string]any{"$ref": "#/$defs/" + d.Name})
	}
	out, err := json.MarshalIndent(map[string]any{
		"$schema":     "https://json-schema.org/draft/2020-12/schema",
		"title":       title,
		"description": "Times are RFC 3339 with nanoseconds in UTC, durations seconds. Unknown is null or absent. Fields may be added.",
		"anyOf":       anyOf,
		"$defs":       defs,
	}, "", "  ")
	if err != nil {
		panic(err)
	}
	return append(out, '\n')
}

func object(t reflect.Type, defs map[string]any) map[string]any {
	props := map[string]any{}
	required := []string{}
	addFields(t, props, &required, defs)
	return map[string]any{"type": "object", "properties": props, "required": required}
}

func addFields(t reflect.Type, props map[string]any, required *[]string, defs map[string]any) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			addFields(f.Type, props, required, defs)
			continue
		}
		props[name] = typeOf(f.Type, name, defs)
		if !strings.Contains(opts, "omitempty") {
			*required = append(*required, name)
		}
	}
}

func typeOf(t reflect.Type, name string, defs map[string]any) any {
	switch t.Kind() {
	case reflect.Pointer:
		return map[string]any{"anyOf": []any{typeOf(t.Elem(), name, defs), map[string]any{"type": "null"}}}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": typeOf(t.Elem(), name, defs)}
	case reflect.Struct:
		def := strings.ToLower(strings.TrimPrefix(t.Name(), "json"))
		if _, ok := defs[def]; !ok {
			defs[def] = true // ends recursion
			defs[def] = object(t, defs)
		}
		return map[string]any{"$ref": "#/$defs/" + def}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int64, reflect.Uint32:
		return map[string]any{"type": "integer"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.String:
		return map[string]any{"type": "string"}
	}
	panic("no schema for " + t.String())
}
