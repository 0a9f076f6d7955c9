package bundle

import (
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/logs"
)

// textLogs makes the decoders of text logs; all share one set of signatures.
func textLogs(set *logs.Set) func(*parse.File, []byte) lineDecoder {
	return func(f *parse.File, head []byte) lineDecoder {
		return logDecoder{logs.NewDecoder(f, head, set, logs.Options{Source: writer[f.Role]})}
	}
}

// writer is who writes the logs of a role: the source of lines that do not tell.
var writer = map[parse.Role]parse.Source{
	parse.RoleKubeletLog: parse.SrcKubelet,
	parse.RoleKernelLog:  parse.SrcKernel,
}

// logDecoder lets package logs decode the runs that this package cuts.
type logDecoder struct{ *logs.Decoder }

func (d logDecoder) Decode(r run) any {
	return d.Decoder.Decode(logs.Run{Data: r.data, Offset: r.offset, Line: r.line, Keep: r.keep, Last: r.last})
}

func (d logDecoder) Finish(results []any) parse.LogPart {
	rs := make([]logs.Result, len(results))
	for i, r := range results {
		rs[i] = r.(logs.Result)
	}
	return d.Decoder.Finish(rs)
}
