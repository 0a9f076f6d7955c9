package bundle

import "github.com/plegforensics/plegforensics/parse"

// describe sets the kind of each input: its layout, else the role of its only file,
// else "directory" or "archive".
func describe(b *parse.Bundle, units []*unit) {
	for i := range b.Inputs {
		b.Inputs[i].Kind = kindOfInput(i, b.Files, units)
	}
}

func kindOfInput(input int, files []*parse.File, units []*unit) string {
	var only *parse.File
	n := 0
	for _, f := range files {
		if f.Input == input {
			only = f
			n++
		}
	}
	if k := layoutOf(input, units); k != "" {
		return k
	}
	if n == 1 && isLone(input, units) {
		return kindOfRole(only.Role)
	}
	return wrapping(input, units)
}

// layoutOf returns the layout of the first unit of the input that has one.
func layoutOf(input int, units []*unit) string {
	for _, u := range units {
		if u.input == input && u.ids.kind() != "" {
			return u.ids.kind()
		}
	}
	return ""
}

func isLone(input int, units []*unit) bool {
	for _, u := range units {
		if u.input == input && u.lone && u.kind != fmtTar && u.kind != fmtZip {
			return true
		}
	}
	return false
}

func wrapping(input int, units []*unit) string {
	for _, u := range units {
		if u.input == input && u.close != nil {
			return "directory"
		}
	}
	for _, u := range units {
		if u.input == input && u.kind != fmtNone {
			return "archive"
		}
	}
	return "unknown"
}

func kindOfRole(r parse.Role) string {
	if r == parse.RoleUnknown {
		return "unknown"
	}
	return string(r)
}
