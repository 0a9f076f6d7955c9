package waits

// Functions returns all function names, or prefixes of names, that the tables look for
// in stacks.
func Functions() (out []string) {
	for _, a := range asks {
		out = append(out, a.name)
	}
	for _, l := range locks {
		out = append(append(out, l.wants...), l.left...)
		for _, sets := range [][][]string{l.held, l.reads} {
			for _, set := range sets {
				out = append(out, set...)
			}
		}
	}
	for name := range ends {
		out = append(out, name)
	}
	return out
}
