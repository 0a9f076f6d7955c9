package fleet

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// Schema is the schema of a partial.
const Schema = "plegforensics/partial/v1"

// Header says how the records of a partial were made. Records with different headers are not
// comparable and cannot be merged.
type Header struct {
	Schema  string `json:"schema"`
	Tool    string `json:"tool"`            // version
	Rules   string `json:"rules"`           // hash of the rule pack
	Causes  string `json:"causes"`          // IDs of its causes, separated by spaces
	Options string `json:"options"`         // hash of the options that affect results
	Build   string `json:"build,omitempty"` // hash of the program, if the version is not a release

	Redacted bool `json:"redacted,omitempty"` // names are pseudonyms
}

// Partial holds the results for some of the bundles.
type Partial struct {
	Header
	Shards  []Shard  // shards it consists of, sorted, unique; empty if the run was not sharded
	Records []Record // sorted by ID, unique
	Copies  []string // sentences that name bundles with the same content as another, which is kept
}

// Shard is one part of a sharded run. Index counts from 1.
type Shard struct {
	Index int `json:"index"`
	Of    int `json:"of"`
}

// String formats the shard as INDEX/OF.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Of) }

func compareShards(a, b Shard) int { return cmp.Or(a.Of-b.Of, a.Index-b.Index) }

// Missing returns the shards that are not in the partial, for each number of shards that occurs in
// it.
func (p *Partial) Missing() []Shard {
	var out []Shard
	for i, s := range p.Shards {
		if i > 0 && p.Shards[i-1].Of == s.Of {
			continue // this number of shards is done
		}
		for k := 1; k <= s.Of; k++ {
			if !slices.Contains(p.Shards, Shard{k, s.Of}) {
				out = append(out, Shard{k, s.Of})
			}
		}
	}
	return out
}

// maxShards is far above any sensible number of shards.
const maxShards = 100_000

func (s Shard) valid() bool { return s.Index >= 1 && s.Index <= s.Of && s.Of <= maxShards }

// shardLine is the second line of a partial that consists of shards.
type shardLine struct {
	Shards []Shard `json:"shards"`
}

// Limits for reading a partial, which is untrusted like any other input: bytes per line and in all.
const (
	maxLine    = 256 << 20
	maxPartial = 8 << 30
)

// end is the last line. A partial without it is truncated.
type end struct {
	End int `json:"end"` // number of records
}

// Write writes p as NDJSON compressed by zstd: the header, the shards if any, the records by ID,
// and a line with their number. Equal partials give equal bytes.
func (p *Partial) Write(w io.Writer) error {
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true))
	if err != nil {
		return err
	}
	lines := []any{p.Header}
	if len(p.Shards) > 0 {
		lines = append(lines, shardLine{p.Shards})
	}
	for _, r := range p.Records {
		lines = append(lines, r)
	}
	for _, l := range append(lines, end{len(p.Records)}) {
		b, err := model.Compact(l)
		if err == nil {
			_, err = z.Write(append(b, '\n'))
		}
		if err != nil {
			return errors.Join(err, z.Close())
		}
	}
	return z.Close()
}

// Read reads a partial. It fails if the partial is damaged, truncated, followed by other data, or
// of another schema: a report that silently covers fewer bundles is worse than none.
func Read(in io.Reader) (*Partial, error) {
	z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20), zstd.WithDecoderMaxMemory(maxPartial))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	s := bufio.NewScanner(io.LimitReader(z, maxPartial))
	s.Buffer(make([]byte, 0, 64<<10), maxLine)
	p := &Partial{}
	if !s.Scan() {
		if errors.Is(s.Err(), zstd.ErrMagicMismatch) {
			return nil, errors.New("is no partial of batch")
		}
		if s.Err() != nil {
			return nil, fmt.Errorf("no header: %w", s.Err())
		}
		return nil, errors.New("no header")
	}
	if err := json.Unmarshal(s.Bytes(), &p.Header); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	if p.Schema != Schema {
		return nil, fmt.Errorf("schema %q, want %s", model.Cut(p.Schema, 100), Schema)
	}
	p.Header.clean()
	if err := p.body(s); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Partial) body(s *bufio.Scanner) error {
	var records []Record
	for line := 2; s.Scan(); line++ {
		var last end
		if strings.HasPrefix(s.Text(), `{"end":`) {
			if err := json.Unmarshal(s.Bytes(), &last); err != nil || last.End != len(records) {
				return fmt.Errorf("line %d counts %d records, %d came", line, last.End, len(records))
			}
			p.Records = join(records)
			if s.Scan() || s.Err() != nil {
				return errors.New("something follows the end of the partial")
			}
			return nil
		}
		if line == 2 && strings.HasPrefix(s.Text(), `{"shards":`) {
			if err := p.shards(s.Bytes()); err != nil {
				return err
			}
			continue
		}
		var r Record
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			if s.Err() != nil {
				break // half a line: the file is truncated
			}
			return fmt.Errorf("line %d: %w", line, err)
		}
		if r.ID == "" || !slices.Contains(statuses, r.Status) {
			return fmt.Errorf("line %d: record without id or of unknown status", line)
		}
		r.clean()
		records = append(records, r)
	}
	return errors.New("the partial is cut: its last line is missing")
}

func (p *Partial) shards(line []byte) error {
	var l shardLine
	if err := json.Unmarshal(line, &l); err != nil {
		return fmt.Errorf("shards: %w", err)
	}
	for _, s := range l.Shards {
		if !s.valid() {
			return fmt.Errorf("there is no shard %s", s)
		}
	}
	p.Shards = joinShards(l.Shards)
	return nil
}

func joinShards(ss []Shard) []Shard {
	slices.SortFunc(ss, compareShards)
	return slices.Compact(ss)
}

// ErrMixed is returned by Merge for partials that were made in different ways.
var ErrMixed = errors.New("the partials were made by different versions, rules or options")

// Merge joins partials. It is commutative, associative and idempotent: the result depends only on
// the set of records. It returns ErrMixed if the headers differ.
func Merge(ps ...*Partial) (*Partial, error) {
	out := &Partial{}
	for i, p := range ps {
		if i == 0 {
			out.Header = p.Header
		}
		if p.Header != out.Header {
			return nil, fmt.Errorf("%w: %s", ErrMixed, difference(out.Header, p.Header))
		}
		out.Shards = append(out.Shards, p.Shards...)
		out.Records = append(out.Records, p.Records...)
	}
	out.Shards = joinShards(out.Shards)
	all := out.Records
	out.Records = join(all)
	kept := map[string]string{}
	for i := range out.Records {
		kept[out.Records[i].ID] = out.Records[i].Name
	}
	for i := range all {
		if r := &all[i]; r.Name != kept[r.ID] {
			out.Copies = append(out.Copies, r.Name+" holds the same as "+kept[r.ID])
		}
	}
	slices.Sort(out.Copies)
	out.Copies = slices.Compact(out.Copies)
	return out, nil
}

func difference(a, b Header) string {
	switch {
	case a.Tool != b.Tool:
		return "tool " + a.Tool + " and " + b.Tool
	case a.Build != b.Build:
		return "builds " + cmp.Or(a.Build, "unknown") + " and " + cmp.Or(b.Build, "unknown") + " of tool " + a.Tool
	case a.Rules != b.Rules:
		return "rule packs"
	}
	return "options"
}

// join sorts records by ID and keeps one of each: the one of the best status, or of those the first
// by encoded bytes. The order of rs does not matter.
func join(rs []Record) []Record {
	best := map[string]Record{}
	for _, r := range rs {
		if old, have := best[r.ID]; !have || better(&r, &old) {
			best[r.ID] = r
		}
	}
	out := make([]Record, 0, len(best))
	for _, r := range best {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Record) int { return strings.Compare(a.ID, b.ID) })
	return out
}

func better(a, b *Record) bool {
	ra, rb := slices.Index(statuses, a.Status), slices.Index(statuses, b.Status)
	if ra != rb {
		return ra < rb
	}
	return bytesOf(a) < bytesOf(b)
}

func bytesOf(r *Record) string {
	b, err := model.Compact(r)
	if err != nil {
		return r.Name // unreachable: only a NaN cannot be encoded
	}
	return string(b)
}

// clean escapes the strings of a header: a partial is untrusted like any other input. Record.clean
// does the same, also for records of bundles that have no report.
func (h *Header) clean() {
	model.In(&h.Schema, &h.Tool, &h.Rules, &h.Causes, &h.Options)
}

// escaped returns the name of a bundle, which is part of no report, with its control characters
// escaped.
func escaped(name string) string {
	model.In(&name)
	return name
}

func (r *Record) clean() {
	see := model.In
	seeAll := func(qs []Quote) {
		for i := range qs {
			see(&qs[i].Where, &qs[i].Text)
		}
	}
	see(&r.ID, &r.Name, &r.Error, &r.Kind)
	for i := range r.Nodes {
		n := &r.Nodes[i]
		see(&n.Name, &n.Status, &n.Summary, &n.Kubelet, &n.Runtime, &n.Kernel, &n.OS)
		seeAll(n.Proof)
		for k := range n.Episodes {
			see(&n.Episodes[k].Stuck)
		}
		for k := range n.Causes {
			see(&n.Causes[k].ID, &n.Causes[k].Title, &n.Causes[k].Level)
			seeAll(n.Causes[k].Proof)
		}
		for k := range n.Breaches {
			see(&n.Breaches[k].Rule, &n.Breaches[k].Severity)
			seeAll(n.Breaches[k].Proof)
		}
		for k := range n.Undecided {
			see(&n.Undecided[k].Rule, &n.Undecided[k].Reason)
		}
		for k := range n.Objects {
			see(&n.Objects[k].Kind, &n.Objects[k].Name)
		}
	}
}
