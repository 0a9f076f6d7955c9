package bundle

import (
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/logs"
)

// textLogs returns a constructor of text log decoders that share one set of
// signatures.
func textLogs(set *logs.Set) func(*parse.File, []byte) lineDecoder {
	return func(f *parse.File, head []byte) lineDecoder {
		d := logs.NewDecoder(f, head, set, logs.Options{Source: writer[f.Role], Own: isOwnLine})
		return logDecoder{d, d.NewMerger()}
	}
}

// writer is the source of a role's log lines that do not name their own.
var writer = map[parse.Role]parse.Source{
	parse.RoleKubeletLog: parse.SrcKubelet,
	parse.RoleKernelLog:  parse.SrcKernel,
}

// logDecoder adapts logs.Decoder to lineDecoder.
type logDecoder struct {
	*logs.Decoder
	merger *logs.Merger
}

func (d logDecoder) Decode(r run) (any, int) {
	res := d.Decoder.Decode(logs.Run{Data: r.data, Offset: r.offset, Keep: r.keep, Last: r.last})
	return &res, res.Lines()
}

func (d logDecoder) Join(result any, before uint32) { d.merger.Add(result.(*logs.Result), before) }

func (d logDecoder) Finish() parse.LogPart { return d.merger.End() }
