package schemas

import (
	"bytes"
	_ "embed"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

//go:embed sarif-2.1.0-rtm.5.json
var sarif []byte

//go:embed gitlab-ci.json
var gitlab []byte

// SARIF checks a SARIF 2.1.0 log.
func SARIF(doc []byte) error { return JSON(sarif, doc) }

// GitLab checks a parsed .gitlab-ci.yml.
func GitLab(doc any) error {
	s, err := compile(map[string][]byte{"schema.json": gitlab}, "schema.json")
	if err != nil {
		return err
	}
	plain, err := generic(doc)
	if err != nil {
		return err
	}
	return s.Validate(plain)
}

// JSON checks a JSON document against a self-contained JSON Schema.
func JSON(schema, doc []byte) error {
	return JSONWith(map[string][]byte{"schema.json": schema}, "schema.json", doc)
}

// JSONWith checks a JSON document against the schema called main, which may
// refer to the others by name.
func JSONWith(schemas map[string][]byte, main string, doc []byte) error {
	s, err := compile(schemas, main)
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

// base makes schema names absolute, as required for references between them.
const base = "https://schemas.test/"

func compile(schemas map[string][]byte, main string) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	for name, data := range schemas {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if m, ok := v.(map[string]any); ok { // it is found by the name given here
			delete(m, "id")
			delete(m, "$id")
		}
		if err := c.AddResource(base+name, v); err != nil {
			return nil, err
		}
	}
	return c.Compile(base + main)
}
