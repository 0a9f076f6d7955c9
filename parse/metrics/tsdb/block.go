package tsdb

import (
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/tsdb/index"

	"github.com/plegforensics/plegforensics/parse"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// block reads one block: its index, the chunks that the index refers to, and its
// tombstones.
func (r *reader) block(files []File) {
	b := blockFiles{}
	for _, f := range files {
		switch _, base := cut(f.File.Path); {
		case base == "index":
			b.index = &f
		case base == "tombstones":
			b.tombstones = &f
		case base != "meta.json":
			b.segments = append(b.segments, f)
		}
	}
	switch {
	case b.index == nil:
		r.warn(files[0].File, 0, "block without index skipped")
		return
	case b.index.Size > r.opt.Index:
		r.warn(b.index.File, 0, "index of %d bytes exceeds the limit of %d: block skipped", b.index.Size, r.opt.Index)
		return
	}
	data := make([]byte, b.index.Size)
	if _, err := io.ReadFull(io.NewSectionReader(b.index.At, 0, b.index.Size), data); err != nil {
		r.warn(b.index.File, 0, "index cut off: block skipped")
		return
	}
	ix, err := index.NewReader(memory(data), index.DecodePostingsRaw)
	if err != nil {
		r.warn(b.index.File, 0, "damaged index, block skipped: %v", err)
		return
	}
	defer ix.Close()
	r.indexed(ix, &b)
}

type blockFiles struct {
	index, tombstones *File
	segments          []File
}

// memory implements index.ByteSlice.
type memory []byte

func (m memory) Len() int                    { return len(m) }
func (m memory) Range(start, end int) []byte { return m[start:end] }

// indexed reads all series of a block.
func (r *reader) indexed(ix *index.Reader, b *blockFiles) {
	name, value := index.AllPostingsKey()
	all, err := ix.Postings(background, name, value)
	if err != nil {
		r.warn(b.index.File, 0, "damaged index, block skipped: %v", err)
		return
	}
	deleted := r.tombstones(b.tombstones)
	src := r.scrape(b.index.File)
	w := &segmentReader{r: r, files: b.segments}
	var builder labels.ScratchBuilder
	var metas []chunks.Meta
	bad := 0
	for all.Next() {
		if err := ix.Series(all.At(), &builder, &metas); err != nil {
			bad++
			continue
		}
		if e := r.get(builder.Labels()); e != nil {
			e.deleted = append(e.deleted, deleted[all.At()]...)
			r.chunksOf(e, metas, w, src)
		}
	}
	if err := all.Err(); err != nil || bad > 0 {
		r.warn(b.index.File, 0, "%d damaged series of the index skipped", bad)
	}
	if w.bad > 0 {
		r.warn(w.badFile, w.badAt, "%d damaged or missing chunks skipped, the first here", w.bad)
	}
}

// chunksOf reads the chunks of one series.
func (r *reader) chunksOf(e *entry, metas []chunks.Meta, w *segmentReader, src *parse.Scrape) {
	for _, m := range metas {
		enc, data, ok := w.chunk(m.Ref)
		if !ok {
			continue
		}
		r.keep(e, parse.Chunk{Min: m.MinTime * 1e6, Max: m.MaxTime * 1e6, Encoding: enc, Data: data, Src: src})
	}
}

// segmentReader reads chunks by reference.
type segmentReader struct {
	r       *reader
	files   []File
	window  []byte // bytes of file cur from off on
	cur     int
	off     int64
	bad     int
	badFile *parse.File
	badAt   int64
}

// windowLen is how many bytes of a segment are read at once: chunks of one series
// are adjacent.
const windowLen = 256 << 10

// maxChunk bounds the stated size of a chunk, in bytes.
const maxChunk = 16 << 20

// chunk returns the encoding and a copy of the data of a chunk. A chunk consists of
// its length, the encoding, the data, and a CRC-32C of encoding and data.
func (w *segmentReader) chunk(ref chunks.ChunkRef) (enc byte, data []byte, ok bool) {
	seg, off := chunks.BlockChunkRef(ref).Unpack()
	if seg >= len(w.files) {
		return w.fail(nil, 0)
	}
	f := &w.files[seg]
	head := w.read(seg, int64(off), binary.MaxVarintLen32)
	n, k := binary.Uvarint(head)
	if k <= 0 || n > maxChunk {
		return w.fail(f.File, int64(off))
	}
	body := w.read(seg, int64(off+k), int(n)+1+crc32.Size)
	if len(body) < int(n)+1+crc32.Size {
		return w.fail(f.File, int64(off))
	}
	if crc32.Checksum(body[:n+1], castagnoli) != binary.BigEndian.Uint32(body[n+1:]) {
		return w.fail(f.File, int64(off))
	}
	return body[0], append([]byte(nil), body[1:n+1]...), true
}

func (w *segmentReader) fail(f *parse.File, off int64) (byte, []byte, bool) {
	if w.bad == 0 {
		w.badFile, w.badAt = f, off
	}
	w.bad++
	return 0, nil, false
}

// read returns up to n bytes at off of a segment, valid until the next call.
func (w *segmentReader) read(seg int, off int64, n int) []byte {
	if seg != w.cur || w.window == nil || off < w.off || off+int64(n) > w.off+int64(len(w.window)) {
		f := w.files[seg]
		size := min(int64(max(n, windowLen)), f.Size-off)
		if size <= 0 {
			return nil
		}
		if int64(cap(w.window)) < size {
			w.window = make([]byte, size)
		}
		w.window = w.window[:size]
		k, _ := f.At.ReadAt(w.window, off)
		w.window, w.cur, w.off = w.window[:k], seg, off
	}
	from := off - w.off
	return w.window[from:min(from+int64(n), int64(len(w.window)))]
}

// interval is a range of deleted samples in Unix milliseconds, both ends included.
type interval struct{ from, to int64 }

func meets(ivs []interval, from, to int64) bool {
	for _, iv := range ivs {
		if iv.from <= to && iv.to >= from {
			return true
		}
	}
	return false
}

// tombstones reads the deleted intervals of a block by series.
func (r *reader) tombstones(f *File) map[storage.SeriesRef][]interval {
	const header, magic = 5, 0x0130BA30
	if f == nil || f.Size < header+crc32.Size || f.Size > r.opt.Index {
		return nil
	}
	b := make([]byte, f.Size)
	if _, err := io.ReadFull(io.NewSectionReader(f.At, 0, f.Size), b); err != nil || binary.BigEndian.Uint32(b) != magic {
		r.warn(f.File, 0, "damaged tombstones: deleted samples are shown")
		return nil
	}
	body := b[header : len(b)-crc32.Size]
	if crc32.Checksum(body, castagnoli) != binary.BigEndian.Uint32(b[len(b)-crc32.Size:]) {
		r.warn(f.File, 0, "damaged tombstones: deleted samples are shown")
		return nil
	}
	out := map[storage.SeriesRef][]interval{}
	for len(body) > 0 {
		ref, n := binary.Uvarint(body)
		from, m := binary.Varint(body[max(n, 0):])
		to, k := binary.Varint(body[max(n, 0)+max(m, 0):])
		if n <= 0 || m <= 0 || k <= 0 {
			r.warn(f.File, 0, "tombstones cut off")
			return out
		}
		body = body[n+m+k:]
		out[storage.SeriesRef(ref)] = append(out[storage.SeriesRef(ref)], interval{from, to})
	}
	return out
}

// drop removes deleted samples from a series, in blocks and in the log, which may
// still hold samples deleted from a block. If no chunk is affected and the series
// has no histograms, it stays packed.
func (r *reader) drop(e *entry) {
	touched := len(e.Histograms) > 0
	for _, c := range e.Chunks {
		touched = touched || meets(e.deleted, c.Min/1e6, c.Max/1e6)
	}
	if !touched {
		return
	}
	hs := e.Histograms[:0]
	for _, h := range e.Histograms {
		if !meets(e.deleted, h.At/1e6, h.At/1e6) {
			hs = append(hs, h)
		}
	}
	cs := e.Chunks
	e.Histograms, e.Chunks = hs, nil
	for _, c := range cs {
		r.unpackInto(e.Series, c, e.deleted)
	}
	settle(e.Series)
}

// unpack turns the chunks of a series into points and histograms and returns the
// number of samples. If that exceeds budget it does nothing and returns 0.
func (r *reader) unpack(x *parse.Series, budget int) int {
	n := 0
	for _, c := range x.Chunks {
		n += sampleCount(c)
	}
	if n > budget {
		return 0
	}
	cs := x.Chunks
	x.Chunks = nil
	for _, c := range cs {
		r.unpackInto(x, c, nil)
	}
	settle(x)
	return n
}

// sampleCount returns the number of samples in the header of a chunk.
func sampleCount(c parse.Chunk) int {
	if len(c.Data) < 2 {
		return 0
	}
	return int(binary.BigEndian.Uint16(c.Data))
}

// unpackInto appends the samples of a chunk, except deleted ones.
func (r *reader) unpackInto(x *parse.Series, c parse.Chunk, deleted []interval) {
	ch, err := chunkenc.FromData(chunkenc.Encoding(c.Encoding), c.Data)
	if err != nil {
		r.warn(c.Src.File, 0, "chunk of %s skipped: %v", x.Name, err)
		return
	}
	it := ch.Iterator(nil)
	for k := it.Next(); k != chunkenc.ValNone; k = it.Next() {
		t := it.AtT()
		if meets(deleted, t, t) {
			continue
		}
		at := t * 1e6
		seen(c.Src, at)
		if k == chunkenc.ValFloat {
			_, v := it.At()
			x.Points = append(x.Points, parse.Point{At: at, V: v, Src: c.Src})
			continue
		}
		_, h := it.AtFloatHistogram(nil)
		x.Histograms = append(x.Histograms, parse.HistogramPoint{At: at, H: h, Src: c.Src})
	}
	if err := it.Err(); err != nil {
		r.warn(c.Src.File, 0, "chunk of %s cut off: %v", x.Name, err)
	}
}
