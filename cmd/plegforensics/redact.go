package main

import (
	"encoding/json"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/internal/redact"
	"github.com/plegforensics/plegforensics/internal/report"
)

// redactFlags belong to every command that writes names.
func redactFlags() []cli.Flag {
	return []cli.Flag{
		boolFlag(catOutput, "redact", "replace names of pods, namespaces, nodes, images, IPs, UIDs by stable pseudonyms in every output"),
		stringFlag(catOutput, "redact-key", "`SECRET` that makes the pseudonyms of several reports agree; implies --redact"),
		stringFlag(catOutput, "redact-map", "write what was replaced by what to `PATH`; keep it to yourself"),
	}
}

func redacting(c *cli.Context) bool { return c.Bool("redact") || c.String("redact-key") != "" }

func newRedactor(c *cli.Context) *redact.Redactor {
	var key []byte
	if k := c.String("redact-key"); k != "" {
		key = []byte(k)
	}
	return redact.New(key)
}

// redacted replaces the names of the report where the flags ask for it.
func redacted(c *cli.Context, r *report.Report) (*report.Report, error) {
	if !redacting(c) {
		return r, nil
	}
	red := newRedactor(c)
	out := red.Report(r)
	if !c.Bool("quiet") {
		warn(c.App.ErrWriter, out.Warnings)
	}
	return out, writeMap(c, red)
}

// writeMap writes what was replaced.
func writeMap(c *cli.Context, red *redact.Redactor) error {
	path := c.String("redact-map")
	if path == "" {
		return nil
	}
	return writeFile(path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(red.Replacements())
	})
}
