package schemas

import (
	"bytes"
	_ "embed"
	"encoding/json"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

//go:embed kubernetes-job-1.30.json
var job []byte

// Kubernetes checks an object against a definition in the Kubernetes OpenAPI document:
// "io.k8s.api.batch.v1.Job" or one that a Job consists of. Unknown fields are errors, as with
// strict validation by an API server.
func Kubernetes(definition string, object any) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(job))
	if err != nil {
		return err
	}
	closeObjects(doc)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft4) // the basis of OpenAPI 3.0
	if err := c.AddResource(base+"openapi.json", doc); err != nil {
		return err
	}
	s, err := c.Compile(base + "openapi.json#/components/schemas/" + definition)
	if err != nil {
		return err
	}
	plain, err := generic(object)
	if err != nil {
		return err
	}
	return s.Validate(plain)
}

// closeObjects forbids properties that a definition does not list.
func closeObjects(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, has := v["properties"].(map[string]any); has && v["additionalProperties"] == nil {
			v["additionalProperties"] = false
		}
		for _, x := range v {
			closeObjects(x)
		}
	case []any:
		for _, x := range v {
			closeObjects(x)
		}
	}
}

// generic converts a value to the types that a JSON decoder returns.
func generic(v any) (any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(data))
}
