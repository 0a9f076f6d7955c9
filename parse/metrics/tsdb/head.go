package tsdb

import (
	"cmp"
	"context"
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/tsdb/record"
	"github.com/prometheus/prometheus/tsdb/tombstones"

	"github.com/plegforensics/plegforensics/parse"
)

// background is for library calls that need a context; nothing here blocks.
var background = context.Background()

// logs reads what is not in blocks yet: the last checkpoint of the write-ahead log
// and the segments after it, the out-of-order log, and those head chunks that the
// log does not cover.
func (r *reader) logs(files []File) {
	h := &head{r: r, refs: map[chunks.HeadSeriesRef]*headSeries{}, dec: record.NewDecoder(labels.NewSymbolTable(), promslog.NewNopLogger())}
	segments, headChunks := sortLogs(files)
	for _, f := range segments {
		h.segment(f)
	}
	for _, f := range headChunks {
		r.guard(f, func() { h.chunkFile(f) })
	}
	h.flush()
}

// sortLogs returns segments in writing order. Segments up to the number of the last
// checkpoint are contained in it and are left out.
func sortLogs(files []File) (segments, headChunks []File) {
	last, lastDir := int64(-1), ""
	for _, f := range files {
		dir, _ := cut(f.File.Path)
		_, parent := cut(dir)
		if n, ok := strings.CutPrefix(parent, "checkpoint."); ok {
			if k, err := strconv.ParseInt(n, 10, 64); err == nil && k > last {
				last, lastDir = k, dir
			}
		}
	}
	var checkpoint, wal, wbl []File
	for _, f := range files {
		dir, base := cut(f.File.Path)
		_, parent := cut(dir)
		n, err := strconv.ParseInt(base, 10, 64)
		switch {
		case err != nil:
		case parent == "chunks_head":
			headChunks = append(headChunks, f)
		case dir == lastDir:
			checkpoint = append(checkpoint, f)
		case parent == "wal" && n > last:
			wal = append(wal, f)
		case parent == "wbl":
			wbl = append(wbl, f)
		}
	}
	return slices.Concat(checkpoint, wal, wbl), headChunks
}

// head is the part of the database that a running server keeps in memory.
type head struct {
	r       *reader
	refs    map[chunks.HeadSeriesRef]*headSeries
	dec     record.Decoder
	src     *parse.Scrape
	orphans int // samples whose series has no record

	series  []record.RefSeries
	samples []record.RefSample
	hists   []record.RefHistogramSample
	floats  []record.RefFloatHistogramSample
	stones  []tombstones.Stone
}

// headSeries packs samples as they arrive.
type headSeries struct {
	e        *entry
	chunk    *chunkenc.XORChunk
	app      chunkenc.Appender
	src      *parse.Scrape
	min, max int64 // time range of the open chunk in ms
	first    int64 // time of the first sample in the log, ms
	any      bool
}

// chunkSamples is the number of samples at which a server closes a chunk.
const chunkSamples = 120

func (h *head) segment(f File) {
	h.src = h.r.scrape(f.File)
	s := &segment{f: f, record: h.record}
	h.r.guard(f, s.read)
	if s.zstd != nil {
		s.zstd.Close()
	}
	if s.bad > 0 {
		h.r.warn(f.File, s.badAt, "%d damaged places in the log, the first here; reading went on at the next page", s.bad)
	}
	if h.orphans > 0 {
		h.r.warn(f.File, 0, "%d samples of series that the log does not name skipped", h.orphans)
		h.orphans = 0
	}
}

// record processes one record of the log. Records without samples, series or
// tombstones, and unknown types, are ignored.
func (h *head) record(rec []byte) (err error) {
	switch h.dec.Type(rec) {
	case record.Series:
		h.series, err = h.dec.Series(rec, h.series[:0])
		for _, s := range h.series {
			if e := h.r.get(s.Labels); e != nil {
				h.refs[s.Ref] = &headSeries{e: e}
			}
		}
	case record.Samples, record.SamplesV2:
		h.samples, err = h.dec.Samples(rec, h.samples[:0])
		for _, s := range h.samples {
			h.add(s.Ref, s.T, s.V)
		}
	case record.Tombstones:
		h.stones, err = h.dec.Tombstones(rec, h.stones[:0])
		for _, s := range h.stones {
			h.remove(s)
		}
	case record.HistogramSamples, record.CustomBucketsHistogramSamples, record.HistogramSamplesV2:
		h.hists, err = h.dec.HistogramSamples(rec, h.hists[:0])
		for _, s := range h.hists {
			h.addHistogram(s.Ref, s.T, s.H.ToFloat(nil))
		}
	case record.FloatHistogramSamples, record.CustomBucketsFloatHistogramSamples, record.FloatHistogramSamplesV2:
		h.floats, err = h.dec.FloatHistogramSamples(rec, h.floats[:0])
		for _, s := range h.floats {
			h.addHistogram(s.Ref, s.T, s.FH.Copy())
		}
	}
	return err
}

// add packs one sample. A time that does not increase starts a new chunk; overlaps
// are resolved when the chunks are read.
func (h *head) add(ref chunks.HeadSeriesRef, t int64, v float64) {
	s := h.refs[ref]
	if s == nil {
		h.orphans++
		return
	}
	if s.chunk != nil && (s.chunk.NumSamples() >= chunkSamples || t <= s.max) {
		h.close(s)
	}
	if s.chunk == nil {
		s.chunk = chunkenc.NewXORChunk()
		s.app, _ = s.chunk.Appender() // fails only for a chunk read from disk
		s.min, s.src = t, h.src
	}
	if !s.any {
		s.first, s.any = t, true
	}
	s.app.Append(0, t, v)
	s.max = t
}

// remove records deleted intervals of a series.
func (h *head) remove(s tombstones.Stone) {
	x := h.refs[chunks.HeadSeriesRef(s.Ref)]
	if x == nil {
		return
	}
	for _, iv := range s.Intervals {
		x.e.deleted = append(x.e.deleted, interval{iv.Mint, iv.Maxt})
	}
}

func (h *head) close(s *headSeries) {
	if s.chunk == nil {
		return
	}
	s.chunk.Compact()
	h.r.keep(s.e, parse.Chunk{Min: s.min * 1e6, Max: s.max * 1e6, Encoding: byte(s.chunk.Encoding()), Data: s.chunk.Bytes(), Src: s.src})
	s.chunk, s.app = nil, nil
}

func (h *head) addHistogram(ref chunks.HeadSeriesRef, t int64, fh *histogram.FloatHistogram) {
	s := h.refs[ref]
	if s == nil {
		h.orphans++
		return
	}
	s.e.Histograms = append(s.e.Histograms, parse.HistogramPoint{At: t * 1e6, H: fh, Src: h.src})
	seen(h.src, t*1e6)
}

// flush closes all open chunks, in the order of series references.
func (h *head) flush() {
	refs := make([]chunks.HeadSeriesRef, 0, len(h.refs))
	for ref := range h.refs {
		refs = append(refs, ref)
	}
	slices.Sort(refs)
	for _, ref := range refs {
		h.close(h.refs[ref])
	}
	for _, ref := range refs {
		if x := h.refs[ref].e.Series; len(x.Histograms) > 0 {
			settle(x)
		}
	}
}

// chunkFile reads a file of head chunks. After a file header of 8 bytes it holds,
// for each chunk: series reference, first and last time, encoding, length, data and
// CRC-32C.
func (h *head) chunkFile(f File) {
	const fileHeader, chunkHeader = 8, 8 + 8 + 8 + 1
	if f.Size > maxHeadFile || f.Size < fileHeader {
		h.r.warn(f.File, 0, "file of head chunks of %d bytes skipped", f.Size)
		return
	}
	b := make([]byte, f.Size)
	n, _ := io.ReadFull(io.NewSectionReader(f.At, 0, f.Size), b)
	b = b[:n]
	src := h.r.scrape(f.File)
	for off := fileHeader; off+chunkHeader+1 <= len(b); {
		c := b[off:]
		ref := chunks.HeadSeriesRef(binary.BigEndian.Uint64(c))
		if ref == 0 {
			return // preallocated space
		}
		size, k := binary.Uvarint(c[chunkHeader:])
		end := chunkHeader + k + int(min(size, maxChunk))
		if k <= 0 || size > maxChunk || end+crc32.Size > len(c) || crc32.Checksum(c[:end], castagnoli) != binary.BigEndian.Uint32(c[end:]) {
			h.r.warn(f.File, int64(off), "damaged head chunk: the rest of the file is skipped")
			return
		}
		h.headChunk(ref, c[:end], chunkHeader+k, src)
		off += end + crc32.Size
	}
}

// maxHeadFile is the maximum size of a head chunk file, in bytes: the size at which
// a server starts a new one, with some margin.
const maxHeadFile = 160 << 20

// headChunk keeps a chunk that is older than the samples in the log.
func (h *head) headChunk(ref chunks.HeadSeriesRef, c []byte, data int, src *parse.Scrape) {
	const outOfOrder = 0x80
	s := h.refs[ref]
	from, to := int64(binary.BigEndian.Uint64(c[8:])), int64(binary.BigEndian.Uint64(c[16:]))
	if s == nil || s.any && from >= s.first {
		return
	}
	h.r.keep(s.e, parse.Chunk{Min: from * 1e6, Max: to * 1e6, Encoding: c[24] &^ outOfOrder, Data: slices.Clone(c[data:]), Src: src})
}

// settle sorts the unpacked samples of a series and drops repeated times.
func settle(x *parse.Series) {
	slices.SortStableFunc(x.Points, func(a, b parse.Point) int { return cmp.Compare(a.At, b.At) })
	x.Points = slices.CompactFunc(x.Points, func(a, b parse.Point) bool { return a.At == b.At })
	slices.SortStableFunc(x.Histograms, func(a, b parse.HistogramPoint) int { return cmp.Compare(a.At, b.At) })
	x.Histograms = slices.CompactFunc(x.Histograms, func(a, b parse.HistogramPoint) bool { return a.At == b.At })
}
