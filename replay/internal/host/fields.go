package host

import "github.com/plegforensics/plegforensics/parse"

// Fields are the fields of a line; of two of one name the first counts.
type Fields []parse.Field

// Get is the value of the first field of a name, "" for none.
func (f Fields) Get(name string) string { return FieldOf(f, name) }

// Said is the first value of a name that is not empty.
func (f Fields) Said(name string) string {
	for _, x := range f {
		if x.Name == name && x.Value != "" {
			return x.Value
		}
	}
	return ""
}

// FieldOf is the value of the first field of a name, "" for none.
func FieldOf(fields []parse.Field, name string) string {
	for _, f := range fields {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}
