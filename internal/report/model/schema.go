package model

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Document is a kind of JSON document or NDJSON line. It is encoded from one of Types.
type Document struct {
	Kind, About string
	Types       []any
}

// Documents is a list of document kinds.
type Documents []Document

// Written lists the documents that commands write from types of this package.
var Written = Documents{
	{"report", "what analyze writes", []any{Report{}}},
	{"timeline", "what timeline writes", []any{Timeline{}}},
	{"events", "what events writes", []any{Events{}}},
	{"event", "a line of events -o ndjson", []any{PodEvent{}}},
	{"inspect", "what inspect writes", []any{Inspect{}}},
	{"compare", "what compare writes", []any{Comparison{}}},
	{"replay", "what replay writes", []any{Replay{}}},
	{"query", "what query writes", []any{QueryResult{}}},
	{"metrics", "what query --list writes", []any{MetricList{}}},
	{"alerts", "what query --alerts writes", []any{AlertList{}}},
	{"fleet", "what batch writes", []any{Fleet{}}},
	{"fleet-line", "a line of batch -o ndjson", []any{FleetNode{}, FleetCause{}, FleetCorrelation{}, FleetProblem{}}},
}

// SchemaName returns the value of the field "schema" in documents of a kind.
func SchemaName(kind string) string { return "plegforensics/" + kind + "/v1" }

// Kinds returns the names of all kinds.
func (ds Documents) Kinds() []string {
	return list(ds, func(d Document) string { return d.Kind })
}

// Schema returns the JSON Schema (draft 2020-12) of a kind of document, or nil if there is no such
// kind. It is derived from the encoded structs, so the two cannot diverge.
func (ds Documents) Schema(kind string) []byte {
	i := slices.IndexFunc(ds, func(d Document) bool { return d.Kind == kind })
	if i < 0 {
		return nil
	}
	s := schemer{}
	top := map[string]any{"type": "object", "properties": map[string]any{}, "required": []string{}}
	if types := ds[i].Types; len(types) == 1 {
		top = s.object(reflect.TypeOf(types[0]))
	} else {
		top["anyOf"] = list(types, func(v any) map[string]any { return s.of(reflect.TypeOf(v)) })
	}
	top["properties"].(map[string]any)["schema"] = map[string]any{"const": SchemaName(kind)}
	if names := top["required"].([]string); !slices.Contains(names, "schema") { // NDJSON lines get the field when they are written
		top["required"] = append(names, "schema")
	}
	top["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	top["$id"] = "urn:plegforensics:schema:" + kind + ":v1"
	top["title"] = SchemaName(kind) + ", " + ds[i].About
	top["description"] = "Times are RFC 3339 with nanoseconds in UTC, durations seconds. Unknown is null or absent, never a zero. " +
		"Fields may be added, so unknown ones are to be ignored."
	top["$defs"] = s
	out, err := json.MarshalIndent(top, "", "  ")
	if err != nil {
		panic(err) // unreachable: the maps hold only strings and lists
	}
	return append(out, '\n')
}

// schemer derives schemas. It maps the name of each struct to its schema.
type schemer map[string]any

// object returns the schema of a struct, with the fields that encoding/json would encode.
func (s schemer) object(t reflect.Type) map[string]any {
	props, required := map[string]any{}, []string{}
	for _, f := range reflect.VisibleFields(t) {
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() || f.Anonymous && name == "": // not encoded; fields of an embedded struct follow by themselves
		case name == "":
			panic(fmt.Sprintf("%s.%s has no JSON name", t, f.Name))
		default:
			props[name] = s.of(f.Type)
			if !strings.Contains(opts, "omit") {
				required = append(required, name)
			}
		}
	}
	slices.Sort(required)
	return map[string]any{"type": "object", "properties": props, "required": required}
}

// scalars maps Go kinds to JSON Schema types.
var scalars = map[reflect.Kind]string{reflect.Bool: "boolean", reflect.Int: "integer", reflect.Int64: "integer", reflect.Uint32: "integer", reflect.Float64: "number", reflect.String: "string"}

func (s schemer) of(t reflect.Type) map[string]any {
	switch t {
	case reflect.TypeFor[Time]():
		return map[string]any{"type": []string{"string", "null"}, "format": "date-time"}
	case reflect.TypeFor[Proof]():
		return map[string]any{"type": "array", "items": s.of(reflect.TypeFor[Evidence]())}
	case reflect.TypeFor[json.RawMessage]():
		return map[string]any{"type": "array"} // a sample: [time, value]
	}
	if strings.HasPrefix(t.Name(), "Seq[") {
		yield := t.In(0) // func(yield func(T) bool)
		return map[string]any{"type": "array", "items": s.of(yield.In(0))}
	}
	if name := scalars[t.Kind()]; name != "" {
		return map[string]any{"type": name}
	}
	switch t.Kind() {
	case reflect.Pointer:
		if x := s.of(t.Elem()); t.Elem().Kind() == reflect.Struct {
			return map[string]any{"anyOf": []any{x, map[string]any{"type": "null"}}}
		} else if name, ok := x["type"].(string); ok {
			x["type"] = []string{name, "null"}
			return x
		}
	case reflect.Slice:
		elem := t.Elem()
		if elem.Kind() == reflect.Pointer { // lists hold no null
			elem = elem.Elem()
		}
		return map[string]any{"type": "array", "items": s.of(elem)}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Struct:
		if t.Name() == "" {
			return s.object(t)
		}
		return s.define(t)
	case reflect.Interface:
		return map[string]any{}
	}
	panic("no schema for " + t.String())
}

func (s schemer) define(t reflect.Type) map[string]any {
	def := strings.ToLower(t.Name()[:1]) + t.Name()[1:]
	if _, known := s[def]; !known {
		s[def] = nil // set before the fields are visited, to end recursion
		s[def] = s.object(t)
	}
	return map[string]any{"$ref": "#/$defs/" + def}
}
