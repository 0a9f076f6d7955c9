package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/plegforensics/plegforensics/rules/alerts"
	"github.com/plegforensics/plegforensics/rules/promtest"
)

// promRules is the content of the Prometheus rule and test files.
type promRules struct {
	groups   int
	rules    int
	suites   []suite
	tests    int
	mistakes []string // with positions
}

// suite is a test file with the groups of the rule files it names.
type suite struct {
	file   *promtest.File
	groups []alerts.Group
}

// readPromRules reads rule files and test files, and the rule files that the latter name.
func readPromRules(files []ruleFile) promRules {
	var p promRules
	for i := range files {
		switch f := &files[i]; f.kind {
		case alertFile:
			gs, errs := alerts.Parse(f.name, f.data)
			p.count(gs)
			p.wrong(errs)
		case testFile:
			t, errs := promtest.Parse(f.name, f.data)
			p.wrong(errs)
			if t != nil {
				gs := p.ruleFilesOf(t)
				p.suites, p.tests = append(p.suites, suite{t, gs}), p.tests+len(t.Tests)
			}
		}
	}
	return p
}

func (p *promRules) count(gs []alerts.Group) {
	p.groups += len(gs)
	for i := range gs {
		p.rules += len(gs[i].Rules)
	}
}

func (p *promRules) wrong(errs []error) {
	for _, err := range errs {
		p.mistakes = append(p.mistakes, err.Error())
	}
}

// ruleFilesOf reads the rule files named by a test file; relative paths are relative to it.
func (p *promRules) ruleFilesOf(t *promtest.File) []alerts.Group {
	var out []alerts.Group
	for _, pattern := range t.RuleFiles {
		path := pattern.Text
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(t.Name), path)
		}
		names, err := filepath.Glob(path)
		if err != nil || len(names) == 0 {
			p.mistakes = append(p.mistakes, fmt.Sprintf("%s:%d: no rule file matches %q", t.Name, pattern.Line, pattern.Text))
		}
		for _, name := range names {
			data, err := readRuleFile(name)
			if err != nil {
				p.mistakes = append(p.mistakes, fmt.Sprintf("%s:%d: %v", t.Name, pattern.Line, err))
				continue
			}
			gs, errs := alerts.Parse(name, data)
			p.wrong(errs)
			out = append(out, gs...)
		}
	}
	return out
}

// run runs the tests of all test files, prints each result, and returns the numbers of tests and
// failures.
func (p *promRules) run(ctx context.Context, w io.Writer) (run, failed int) {
	for _, s := range p.suites {
		for _, o := range s.file.Run(ctx, s.groups) {
			run++
			if len(o.Fails) > 0 {
				failed++
			}
			printTest(w, s.file, &o)
		}
	}
	return run, failed
}

// printTest prints the result of a test; for failed expectations what is missing, "-", and what was
// found instead, "+".
func printTest(w io.Writer, f *promtest.File, o *promtest.Outcome) {
	word, name := "PASS", o.Test.Name
	if len(o.Fails) > 0 {
		word = "FAIL"
	}
	if name == "" {
		name = "unnamed"
	}
	fmt.Fprintln(w, word, fmt.Sprintf("%s:%d: %s", f.Name, o.Test.Line, name))
	for _, x := range o.Fails {
		line := fmt.Sprintf("%s:%d: %s", f.Name, x.Line, x.What)
		if x.Err != "" {
			line += ": " + x.Err
		}
		fmt.Fprintln(w, "    ", line)
		for _, d := range x.Diff {
			sign := "-"
			if d.Got {
				sign = "+"
			}
			fmt.Fprintln(w, "      ", sign, d.Text)
		}
	}
}
