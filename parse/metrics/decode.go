package metrics

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/plegforensics/plegforensics/parse"
)

// Decode decodes one metrics file. It never fails: what cannot be read becomes a
// warning with its position, and an error page instead of metrics becomes a failed
// scrape. Decode is safe for concurrent use on different files. It does not retain
// data, but may write a line feed where there is one already. Want applies to the
// text format only; of other formats all samples are kept.
func Decode(f *parse.File, data []byte, w Want) *Part {
	p := newPart(f, w)
	data = toUTF8(data)
	format := Sniff(data[:min(len(data), 64<<10)])
	switch format {
	case FormatProto:
		decodeProto(p, data)
	case FormatAPI:
		decodeAPI(p, data)
	case FormatVictoria:
		decodeVictoria(p, data)
	case FormatDump:
		decodeDump(p, p.wholeLines(cleanLines(data), 1))
	default:
		format = FormatText
		decodeText(p, unfence(cleanLines(data)), 1)
	}
	p.Format = string(format)
	p.finish(data)
	return p
}

// finish dates the snapshots and classifies a file without samples.
func (p *Part) finish(data []byte) {
	if p.Samples() == 0 && len(p.scrapes) == 0 || p.allEmpty() {
		p.failWhole(data)
	}
	p.scrapes = slices.DeleteFunc(p.scrapes, func(s *snapshot) bool { return s.samples() == 0 && s.scrape.Failed == "" })
	count := map[string]int{} // by exporter
	for _, s := range p.scrapes {
		count[s.exporters.job()]++
	}
	for i, s := range p.scrapes {
		p.close(s, place{only: count[s.exporters.job()] == 1, last: i == len(p.scrapes)-1})
	}
	p.closeWarnings()
}

func (p *Part) allEmpty() bool {
	for _, s := range p.scrapes {
		if s.samples() > 0 || s.scrape.Failed != "" {
			return false
		}
	}
	return true
}

// failWhole handles a file without any metric. If its role is metrics and it is
// empty, or if it begins like an error page, it is one failed scrape; otherwise a
// warning says that it holds no metrics.
func (p *Part) failWhole(data []byte) {
	if len(p.bare) > 0 {
		return
	}
	text := bytes.TrimSpace(data)
	first, _, _ := bytes.Cut(text, []byte("\n"))
	first = bytes.TrimSpace(first)
	if p.File.Role == parse.RoleMetrics && len(text) == 0 {
		first = []byte("empty file")
	} else if failure(first) == "" {
		p.Warnings, p.bad = nil, badLines{}
		p.warnLine(1, "no metrics found: "+clip(first, 80))
		return
	}
	said := reading{}
	if s := p.current(); s != nil {
		said = s.clue.said
	}
	s := p.begin(1)
	s.clue.said = said
	s.scrape.Failed = clip(first, maxFailedText)
}

// close completes a snapshot after its last sample.
func (p *Part) close(s *snapshot, at place) {
	c := &s.clue
	for _, r := range p.rows[s.from:s.to] {
		c.stampSeen(r.stamp)
	}
	for _, r := range p.hists[s.hfrom:s.hto] {
		c.stampSeen(r.stamp)
	}
	s.scrape.Samples = s.samples() + s.scrape.Passed
	s.scrape.Stamp, s.scrape.Why = c.resolve(p.File, at)
	if !s.own {
		s.scrape.Job = s.exporters.job()
	}
	if s.scrape.Node == "" && !s.own {
		s.scrape.Node = p.File.Node
	}
	s.families, s.sampled = nil, nil
}

func (c *clues) stampSeen(at int64) {
	if at == noStamp {
		c.unstamped = true
	} else if at > c.maxStamp {
		c.maxStamp = at
	}
}

// cleanLines removes a byte order mark and carriage returns. Line numbers do not
// change.
func cleanLines(data []byte) []byte {
	data = trimBOM(data)
	if bytes.IndexByte(data, '\r') < 0 {
		return data
	}
	return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
}

// toUTF8 decodes UTF-16 with a byte order mark, as written by output redirection in
// Windows PowerShell.
func toUTF8(data []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	default:
		return data
	}
	units := make([]uint16, 0, len(data)/2)
	for i := 2; i+1 < len(data); i += 2 {
		units = append(units, order.Uint16(data[i:]))
	}
	var b strings.Builder
	for _, r := range utf16.Decode(units) {
		b.WriteRune(r)
	}
	return []byte(b.String())
}
