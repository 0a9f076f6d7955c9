package main

import (
	"os"
	"path/filepath"
	"strings"
)

// phrases identify licenses by text unique to them, more specific ones first.
var phrases = []struct{ id, phrase string }{
	{"Apache-2.0", "apache license version 2.0"},
	{"MPL-2.0", "mozilla public license version 2.0"},
	{"0BSD", "permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted. the software is provided"},
	{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided"},
	{"ISC", "permission to use, copy, modify, and distribute this software for any purpose with or without fee is hereby granted, provided"},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy of this software"},
	{"BSD-3-Clause", "names of its contributors may be used to endorse"},
	{"BSD-3-Clause", "may be used to endorse or promote products derived from"},
	{"BSD-2-Clause", "redistributions in binary form must reproduce the above copyright notice"},
	{"Unlicense", "this is free and unencumbered software released into the public domain"},
	{"LicenseRef-public-domain", "public domain"},
}

// spdx returns the SPDX IDs of the licenses of a module, recognized by the texts in its top
// directory; none if no text is known.
func spdx(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		name := strings.ToLower(e.Name())
		if e.IsDir() || !licenceFile.MatchString(e.Name()) || strings.HasPrefix(name, "notice") || strings.HasPrefix(name, "patents") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			continue
		}
		text := strings.ReplaceAll(strings.Join(strings.Fields(strings.ToLower(string(data))), " "), "license, version", "license version")
		for _, p := range phrases {
			if strings.Contains(text, p.phrase) {
				out = append(out, p.id)
				break
			}
		}
	}
	return out
}
