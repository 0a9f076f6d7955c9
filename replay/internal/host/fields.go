package host

import "github.com/plegforensics/plegforensics/parse"

// Fields are the fields of a line. If a name occurs twice, the first counts.
type Fields []parse.Field

// Get returns the value of the first field with the name, "" if there is none.
func (f Fields) Get(name string) string { return parse.FieldOf(f, name) }

// Said returns the first non-empty value of the name.
func (f Fields) Said(name string) string {
	for _, x := range f {
		if x.Name == name && x.Value != "" {
			return x.Value
		}
	}
	return ""
}
