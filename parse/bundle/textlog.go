package bundle

import (
	"bytes"

	"github.com/plegforensics/plegforensics/parse"
)

// newLogDecoder is the decoder of text logs.
func newLogDecoder(f *parse.File, head []byte) lineDecoder { return lineCounter{} }

// lineCounter counts lines.
type lineCounter struct{}

func (lineCounter) Cut(buf []byte, eof bool) int {
	if eof {
		return len(buf)
	}
	return bytes.LastIndexByte(buf, '\n') + 1
}

func (lineCounter) Decode(r run) any { return bytes.Count(r.data, newline) }

func (lineCounter) Finish(results []any) (p parse.LogPart) {
	for _, n := range results {
		p.Lines += n.(int)
	}
	return p
}
