package bundle

import (
	"context"
	"slices"
	"sync"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/exports"
)

// slot is a member and the result of its decoder.
type slot struct {
	file    *parse.File
	part    parse.Part
	lines   lineDecoder
	laid    *exports.Reader // reader of the extracted lines of an export, else nil
	used    bool            // gave records that are not in part
	log     bool            // is a log that was decoded
	guessed bool            // counts as a log only if the decoder finds something in it
	named   bool            // given on the command line

	mu     sync.Mutex
	runs   []*runResult // runs that are not joined yet, in file order
	ended  bool         // no more runs follow
	before int          // lines of the runs joined so far
	cut    *runResult   // the run in which the file ended early, else nil
	close  func()       // closes the file, if runs read it themselves
}

// runResult is the result of one run.
type runResult struct {
	done    bool
	result  any
	lines   int
	failure string         // panic of the decoder, formatted
	long    *parse.Warning // warning about an overlong line; its line number counts from the start of the run
	err     error          // error that ended the file within the run
	end     int64          // file offset where the run ends
}

// add appends a run that is being decoded.
func (s *slot) add(r *runResult) *runResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs = append(s.runs, r)
	return r
}

// finish marks a run as done.
func (s *slot) finish(ctx context.Context, r *runResult) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.done = true
	s.advance(ctx)
}

// end records that no more runs follow.
func (s *slot) end(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.advance(ctx)
}

// advance joins finished runs in order, up to the first unfinished one, and
// completes the slot after the last. The caller must hold s.mu.
func (s *slot) advance(ctx context.Context) {
	for len(s.runs) > 0 && s.runs[0].done {
		if ctx.Err() == nil && s.cut == nil {
			s.join(s.runs[0])
		}
		s.runs[0] = nil
		s.runs = s.runs[1:]
	}
	if !s.ended || len(s.runs) > 0 {
		return
	}
	if s.close != nil {
		s.close()
	}
	if ctx.Err() == nil {
		s.conclude()
	}
}

// join adds the result of the next run.
func (s *slot) join(r *runResult) {
	defer s.survive()
	if r.long != nil {
		r.long.Line += uint32(s.before)
		s.lose(*r.long)
	}
	if r.failure != "" {
		s.fail(r.failure)
	}
	if r.err != nil {
		if s.cut = r; s.laid != nil {
			r.end = s.laid.Size()
		}
		s.lose(parse.Warning{Pos: parse.Pos{File: s.file, Offset: r.end}, Msg: "ends here because " + because(r.err)})
	}
	if r.result != nil {
		s.lines.Join(r.result, uint32(s.before))
	}
	s.before += r.lines
}

// conclude stores the merged result of all runs in the slot.
func (s *slot) conclude() {
	var found parse.LogPart
	func() {
		defer s.survive()
		found = s.lines.Finish()
	}()
	found.Facts = append(found.Facts, s.part.Facts...)
	none := s.guessed && !tells(&found)
	if none {
		found.Warnings = nil // what is wrong with it as a log says nothing of another file
	}
	found.Warnings = append(found.Warnings, s.part.Warnings...)
	if none {
		s.file.Role, s.file.Unused = parse.RoleUnknown, whyUnknown
		if found.Coverage = nil; s.named {
			found.Warnings = append(found.Warnings, parse.Warning{Pos: parse.Pos{File: s.file}, Msg: sayUnknown})
		}
	}
	if s.laid != nil {
		relocate(&found, s.laid)
		if x := s.laid.Found(); x.Line > 0 && !none {
			found.Markers = append(found.Markers, &parse.Marker{Pos: parse.Pos{File: s.file, Line: x.Line, Offset: x.Offset}, Kind: parse.MarkExcerpt, Text: parse.PlainText(x.Text)})
		}
		if d := s.laid.Damage(); d.Line > 0 {
			found.Warnings = append(found.Warnings, parse.Warning{Pos: parse.Pos{File: s.file, Line: d.Line, Offset: d.Offset}, Msg: d.Why})
		}
	}
	s.part.LogPart, s.lines, s.laid, s.runs = found, nil, nil, nil
}

// tells reports whether a log has a record or a line with a timestamp.
func tells(p *parse.LogPart) bool {
	return len(p.Events)+len(p.Markers)+len(p.Facts)+len(p.Containers) > 0 ||
		slices.ContainsFunc(p.Coverage, func(c *parse.Coverage) bool { return c.FirstLine.Raw.Set })
}

// survive, when deferred, turns a panic of a decoder into a warning, so that one
// hostile member does not cost the report on all others.
func (s *slot) survive() {
	if f := failure(recover()); f != "" {
		s.fail(f)
	}
}

func (s *slot) fail(what string) {
	s.lose(parse.Warning{Pos: parse.Pos{File: s.file}, Msg: what})
}

func (s *slot) lose(w parse.Warning) {
	s.part.Warnings = append(s.part.Warnings, w)
}
