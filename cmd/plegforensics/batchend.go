package main

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/cmd/plegforensics/internal/output"
	"github.com/plegforensics/plegforensics/internal/fleet"
	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/bundle"
)

// finishBatch writes the partial and the reports, and returns the verdict. empty means that this
// shard has no bundles, which is not a failure.
func finishBatch(c *cli.Context, ts []target, partial *output.File, gates []gate, p *fleet.Partial, empty bool) error {
	if partial != nil {
		if err := partial.Write(c.Context, p.Write); err != nil {
			return err
		}
	}
	v := fleet.NewView(p)
	for _, t := range ts {
		if err := writeFleet(c, t, v); err != nil {
			return err
		}
	}
	if n := len(p.Copies); n > 0 {
		fmt.Fprintf(c.App.ErrWriter, "plegforensics: note: equal bundles count once: %s\n", strings.Join(p.Copies[:min(n, 3)], ", ")+map[bool]string{true: fmt.Sprintf(", and %d more", n-3)}[n > 3])
	}
	told(c)
	return batchVerdict(c, gates, v, empty)
}

func writeFleet(c *cli.Context, t target, v *fleet.View) error {
	for _, f := range fleet.Formats {
		if f.Name != t.format.Name {
			continue
		}
		v.Links = reportLinks(c, t, v)
		opt, err := t.options(c)
		if err == nil {
			err = t.write(c, func(w io.Writer) error { return f.Write(w, v, opt) })
		}
		return err
	}
	return nil
}

// reportLinks returns the links from the fleet page to the pages of the bundles, if all are files.
func reportLinks(c *cli.Context, t target, v *fleet.View) map[string]string {
	place := t.file.Regular()
	if t.format.Name != "html" || place == "" {
		return nil
	}
	dir := c.String("out-dir")
	if dir == "" { // merge: look beside the page
		dir = filepath.Dir(place)
	}
	out := map[string]string{}
	for _, r := range v.Names {
		page := filepath.Join(dir, reportName(report.Lookup(report.Formats, "html"), r.Name, r.ID))
		if _, err := os.Stat(page); err != nil {
			continue
		}
		from, err := filepath.Abs(filepath.Dir(place))
		if err != nil {
			continue
		}
		to, err := filepath.Abs(page)
		if err != nil {
			continue
		}
		if rel, err := filepath.Rel(from, to); err == nil {
			out[r.Name] = (&url.URL{Path: "./" + filepath.ToSlash(rel)}).EscapedPath()
		}
	}
	return out
}

func batchVerdict(c *cli.Context, gates []gate, v *fleet.View, empty bool) error {
	if v.By[fleet.Analysed]+v.By[fleet.Partly] == 0 && !empty {
		return &exitError{code: exitNothing, msg: "no bundle could be analyzed", hint: "inspect INPUT tells what was found in one"}
	}
	if c.Bool("strict") && len(v.Problems) > 0 {
		return &exitError{code: exitPartial, msg: "not analyzed whole: " + parse.Plural(len(v.Problems), "bundle"), hint: "the report lists them"}
	}
	return held(gates, fleetFindings(v))
}

// mergeAction merges partials into one report.
func mergeAction(c *cli.Context) error {
	ts, err := targets(c, fleetFormats())
	if err != nil {
		return err
	}
	if !c.Args().Present() {
		return usage("plegforensics batch merge out/*.plegp", "no partials given")
	}
	partial, err := claimFlag(c, "partial", false)
	if err != nil {
		return err
	}
	names := partialFiles(c.Args().Slice())
	if err := spare(c, names...); err != nil {
		return err
	}
	ps, err := readPartials(c, names)
	if err != nil {
		return err
	}
	p, err := fleet.Merge(ps...)
	if errors.Is(err, fleet.ErrMixed) {
		return usage("run all shards with one version and the same flags", "%v", err)
	}
	if err != nil {
		return err
	}
	if redacting(c) && !p.Redacted { // set by PLEGFORENSICS_REDACT or a flag before merge
		return usage("write them anew with batch --partial PATH --redact-key SECRET; merge shows the names that partials hold", "the partials were not redacted")
	}
	gates, err := gatesOf(c, func() ([]string, error) { return strings.Fields(p.Causes), nil })
	if err != nil {
		return err
	}
	missing := p.Missing()
	if len(missing) > 0 && !c.Bool("quiet") {
		fmt.Fprintf(c.App.ErrWriter, "plegforensics: warning: no partial of shard %s: the report lacks their bundles\n", shardList(missing))
	}
	if err := finishBatch(c, ts, partial, gates, p, false); err != nil || len(missing) == 0 || !c.Bool("strict") {
		return err
	}
	return &exitError{code: exitPartial, msg: "no partial of shard " + shardList(missing), hint: "run these shards again"}
}

// readPartials reads partials. A damaged one is an error with --strict; otherwise it is reported
// and left out.
func readPartials(c *cli.Context, names []string) ([]*fleet.Partial, error) {
	var out []*fleet.Partial
	var first error
	for _, path := range names {
		p, err := readPartial(path)
		if err == nil {
			out = append(out, p)
			continue
		}
		if c.Bool("strict") {
			return nil, &exitError{exitPartial, fmt.Sprintf("%s: %v", path, err), "write it again, or merge without --strict what there is"}
		}
		if first == nil {
			first = fmt.Errorf("%s: %w", path, err)
		}
		if !c.Bool("quiet") {
			fmt.Fprintf(c.App.ErrWriter, "plegforensics: warning: %s: %v; it is left out\n", path, err)
		}
	}
	if len(out) == 0 {
		return nil, &exitError{exitNothing, first.Error(), "batch --partial PATH writes partials"}
	}
	return out, nil
}

// shardList formats up to 20 shards.
func shardList(ss []fleet.Shard) string {
	const most = 20
	var words []string
	for _, s := range ss[:min(len(ss), most)] {
		words = append(words, s.String())
	}
	if len(ss) > most {
		words = append(words, fmt.Sprintf("and %d more", len(ss)-most))
	}
	return strings.Join(words, ", ")
}

// partialFiles expands directories to the partials in them; files are kept.
func partialFiles(args []string) []string {
	var out []string
	for _, arg := range args {
		names, _ := filepath.Glob(filepath.Join(arg, "*.plegp"))
		if len(names) == 0 {
			names = []string{arg}
		}
		out = append(out, names...)
	}
	return out
}

func readPartial(path string) (*fleet.Partial, error) {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return nil, errors.New("holds no *.plegp files")
	}
	f, err := bundle.OpenAside(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return fleet.Read(f)
}
