package metrics

import (
	"encoding/binary"
	"fmt"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
)

// decodeProto reads length-delimited MetricFamily messages. Each is parsed
// separately, so that a damaged one costs only itself.
func decodeProto(p *Part, data []byte) {
	symbols := labels.NewSymbolTable()
	for off := 0; off < len(data); {
		size, n := binary.Uvarint(data[off:])
		if n <= 0 || size > uint64(len(data)-off-n) {
			p.warnAt(int64(off), fmt.Sprintf("protobuf cut off: %d bytes skipped", len(data)-off))
			return
		}
		end := off + n + int(size)
		if err := protoFamily(p, data[off:end], symbols); err != nil {
			p.warnAt(int64(off), "damaged metric family skipped: "+clip([]byte(err.Error()), 120))
		}
		off = end
	}
}

// protoFamily reads one message.
func protoFamily(p *Part, msg []byte, symbols *labels.SymbolTable) error {
	pp := textparse.NewProtobufParser(msg, false, true, false, false, symbols)
	first := true
	for {
		e, err := pp.Next()
		if err != nil {
			if isEOF(err) {
				return nil
			}
			return err
		}
		switch e {
		case textparse.EntryType:
			name, typ := pp.Type()
			p.types[string(name)] = string(typ)
			protoBegin(p, string(name))
		case textparse.EntrySeries, textparse.EntryHistogram:
			protoSample(p, pp, e, first)
			first = false
		}
	}
}

// protoBegin starts a new snapshot when a family occurs again.
func protoBegin(p *Part, name string) {
	s := p.open(0)
	if _, again := s.families[name]; again && s.samples() > 0 {
		s = p.begin(0)
	}
	s.families[name] = struct{}{}
}

func protoSample(p *Part, pp textparse.Parser, e textparse.Entry, first bool) {
	var ls labels.Labels
	pp.Labels(&ls)
	key := keyOf(nil, ls)
	s := p.open(0)
	if !p.room(key, 0) {
		return
	}
	if e == textparse.EntryHistogram {
		_, ts, h, fh := pp.Histogram()
		if h != nil {
			fh = h.ToFloat(nil)
		}
		p.addHistogram(s, key, fh.Copy(), stampOf(ts), 0)
	} else {
		_, ts, v := pp.Series()
		p.add(s, key, v, stampOf(ts), 0)
		s.noteFirst(first, ls.Get(nameLabel), key, v)
	}
	s.noteFirst(first, ls.Get(nameLabel), key, 0)
}

// noteFirst extracts clues from the first sample of a family.
func (s *snapshot) noteFirst(first bool, name string, key []byte, v float64) {
	if first && v != 0 {
		s.learn([]byte(name), key, v)
	} else if first && name != "" {
		s.exporters.learn([]byte(name))
	}
}

func stampOf(ms *int64) int64 {
	if ms == nil || *ms < firstTime {
		return noStamp
	}
	return *ms * 1e6
}
