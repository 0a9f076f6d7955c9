package cri

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// Listings reads a file of recorded relists (schema plegforensics/snapshots/v1):
// one JSON object per line. Lines are kept unparsed; package replay decodes them,
// each relative to the one before.
func Listings(f *parse.File, data []byte) parse.Part {
	d := &decoder{f: f, line: 1}
	for off := 0; off < len(data); {
		line, _, _ := bytes.Cut(data[off:], []byte("\n"))
		p := d.pos(data, off)
		off += len(line) + 1
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		l := parse.Listing{Pos: p, Raw: bytes.Clone(line)}
		l.Stamp = listingStamp(line)
		d.part.Listings = append(d.part.Listings, l)
	}
	return d.part
}

// listingStamp returns the time of a line if it is in the first 256 bytes, where
// writers put it; package replay finds it anywhere.
func listingStamp(line []byte) parse.Stamp {
	_, rest, ok := bytes.Cut(line[:min(len(line), 256)], []byte(`"time":`))
	if !ok {
		return parse.Stamp{}
	}
	var s string
	if json.NewDecoder(bytes.NewReader(rest)).Decode(&s) != nil {
		return parse.Stamp{}
	}
	t, err := parse.ParseTime(time.RFC3339Nano, s)
	if err != nil {
		return parse.Stamp{}
	}
	return parse.Stamp{At: t.UnixNano(), Res: parse.ResolutionOf(1), Basis: parse.Stated}
}
