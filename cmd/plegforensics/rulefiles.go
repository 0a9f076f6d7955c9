package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"

	"github.com/urfave/cli/v2"
)

// ruleKind is the kind of content of a rule file.
type ruleKind int

const (
	causeFile ruleKind = iota // definitions of causes
	alertFile                 // groups of Prometheus rules
	testFile                  // unit tests in promtool's format
)

// ruleFile is a file named on the command line.
type ruleFile struct {
	name string
	data []byte
	kind ruleKind
	part bool // found in a directory that was named
}

// namedRuleFiles reads the files named by the arguments, and the .yaml and .yml files of the
// directories among them.
func namedRuleFiles(c *cli.Context) ([]ruleFile, error) {
	var out []ruleFile
	for _, path := range c.Args().Slice() {
		names, err := ruleFiles(path)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			data, err := readRuleFile(name)
			if err != nil {
				return nil, usage("", "%s", plainly(err))
			}
			out = append(out, ruleFile{name, data, kindOfRules(data), name != path})
		}
	}
	return out, nil
}

// ruleFiles returns a rule file, or all .yaml and .yml files of a directory.
func ruleFiles(path string) ([]string, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, usage("", "%s", plainly(err))
	}
	if !st.IsDir() {
		return []string{path}, nil
	}
	names, _ := filepath.Glob(filepath.Join(path, "*.yaml"))
	more, _ := filepath.Glob(filepath.Join(path, "*.yml"))
	names = append(names, more...)
	if len(names) == 0 {
		return nil, usage("a rule file ends in .yaml or .yml", "no rule files in %s", path)
	}
	slices.Sort(names)
	return names, nil
}

var topKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^( *)["']?([A-Za-z_]+)["']?[ \t]*:`)
})

// kindOfRules determines the kind by the keys at the left margin, which is that of the first key.
// That also works if the file is not valid YAML. JSON is the response of a Prometheus server.
func kindOfRules(data []byte) ruleKind {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if text := bytes.TrimSpace(data); len(text) > 0 && text[0] == '{' && bytes.Contains(text, []byte("groups")) {
		return alertFile
	}
	keys := map[string]bool{}
	margin := -1
	for _, m := range topKey().FindAllSubmatch(data, -1) {
		if margin < 0 {
			margin = len(m[1])
		}
		if len(m[1]) == margin {
			keys[string(m[2])] = true
		}
	}
	switch {
	case keys["id"]:
		return causeFile
	case keys["rule_files"], keys["evaluation_interval"], keys["group_eval_order"], keys["tests"]:
		return testFile
	case keys["groups"], keys["spec"]:
		return alertFile
	}
	return causeFile
}

// filesOf returns the names of the files of a kind, never nil.
func filesOf(files []ruleFile, kind ruleKind) []string {
	names := []string{}
	for i := range files {
		if files[i].kind == kind {
			names = append(names, files[i].name)
		}
	}
	return names
}
