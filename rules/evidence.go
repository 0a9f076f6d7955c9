package rules

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// State is the result of looking for a piece of evidence.
type State uint8

// States.
const (
	CannotLook State = iota // the input has no source where it would appear
	NotThere                // looked for and not found
	Found
)

// keepMax is how many records of one piece of evidence a finding quotes.
const keepMax = 4

// enough is the number of matching lines of one clause after which counting stops: more
// lines would change nothing but the running time.
const enough = 500

// mostRead is the maximum number of lines that one clause reads of a window, or of a whole
// log. Beyond it the clause proves neither presence nor absence.
const mostRead = 5 * parse.Many

// outcome is the result of evaluating one clause.
type outcome struct {
	clause  *Clause
	state   State
	factor  float64 // share of the weight that counts, 0 … 1
	records []replay.Evidence
	count   int
	apart   bool // more such lines stand outside the window
	source  string
	writers []string          // of all records of a clause on signatures, up to mostWriters; source is one of them
	vars    map[string]string // fields of one record, for sentences
	objects []string
	late    bool // only after the breach
	undated bool
}

// eval evaluates one clause for the subject.
func (s *subject) eval(c *Clause) outcome {
	var o outcome
	switch {
	case c.Cond != "":
		o = s.evalCond(c)
	case c.Fact != "":
		o = s.evalFact(c)
	case c.Metric != "":
		o = s.evalMetric(c)
	default:
		o = s.evalSig(c)
	}
	o.clause = c
	if c.Absent {
		o = s.invert(o)
	}
	if c.Source != "" {
		o.source, o.writers = c.Source, nil
	}
	return o
}

// invert turns "looked and not there" into the finding. Its record proves that the source
// was there to look at.
func (s *subject) invert(o outcome) outcome {
	switch o.state {
	case Found:
		o.state = NotThere
	case NotThere:
		o.state, o.factor, o.count = Found, 1, 0
		o.records = s.proofOfSight(o.clause)
	}
	return o
}

// proofOfSight quotes a record that shows where the search was.
func (s *subject) proofOfSight(c *Clause) []replay.Evidence {
	note := "the search was around this line, which itself says nothing of it"
	if c.Cond != "" {
		if s.ep != nil && len(s.ep.Evidence) > 0 {
			return []replay.Evidence{{Record: s.ep.Evidence[0].Record, Note: note}}
		}
		return s.profile(note)
	}
	if c.Fact != "" {
		prefix, _, _ := strings.Cut(c.Fact, ".")
		for _, k := range s.facts {
			if strings.HasPrefix(k, prefix+".") {
				return []replay.Evidence{{Record: s.byFact[k][0], Note: note}}
			}
		}
		return nil
	}
	at := len(s.n.Events)
	for _, src := range c.Looks {
		if i, ok := s.first[src]; ok {
			at = min(at, i)
		}
	}
	if at == len(s.n.Events) {
		return nil
	}
	return []replay.Evidence{{Record: s.n.Events[at], Note: note}}
}

// evalSig evaluates a clause on signatures.
func (s *subject) evalSig(c *Clause) outcome {
	o := outcome{state: CannotLook}
	if s.looked(c.Looks) {
		o.state = NotThere
	}
	late := s.lateness(c)
	best := outside
	prev := (*parse.Event)(nil)
	read, tries := 0, 0
	es := s.candidates(c, late)
	ofAll := s.ep != nil && (c.Any || !s.oneClock) // shared by other windows
	if ofAll {
		var unread *parse.Event
		if es, unread = s.matching.of(s.view, c, es); unread != nil {
			s.leave(c, unread, &o)
		}
	}
	for _, e := range es {
		lag := c.lagField(e)
		if lag == "" && !c.Any && s.timing(e, late) == outside {
			if tries++; !o.apart && tries <= few {
				o.apart = ofAll || c.matches(s.view, e)
			}
			continue
		}
		if read++; read > mostRead {
			s.leave(c, e, &o)
			break
		}
		after := late
		if lag != "" {
			stated, _ := duration(e.Field(lag))
			after = max(late, stated)
		}
		t := s.timing(e, after)
		if t != outside && s.blockedBefore(c, e) {
			t = outside
		}
		if e == prev || t == outside && !c.Any || !ofAll && !c.matches(s.view, e) {
			continue
		}
		prev = e
		best = better(best, t)
		if o.add(e); o.count >= enough && best == before {
			break
		}
	}
	o.judge(s.view, c, best)
	return o
}

// leave notes that a clause stopped reading at the line from.
func (s *subject) leave(c *Clause, from *parse.Event, o *outcome) {
	s.unread[c.Sigs[slices.IndexFunc(c.Sigs, from.Is)]] = from
	o.state = CannotLook
}

// matching caches the lines that match each clause. It is shared by all views of a node and
// safe for concurrent use.
type matching struct {
	mu      sync.Mutex
	clauses map[*Clause]*matched
}

type matched struct {
	once   sync.Once
	events []*parse.Event
	unread *parse.Event // the first line not read; nil if all were
}

// of returns the candidates that match the clause, and the first that was not read.
func (m *matching) of(v *view, c *Clause, candidates []*parse.Event) (es []*parse.Event, unread *parse.Event) {
	m.mu.Lock()
	x := m.clauses[c]
	if x == nil {
		x = new(matched)
		m.clauses[c] = x
	}
	m.mu.Unlock()
	x.once.Do(func() {
		if len(candidates) > mostRead {
			x.unread, candidates = candidates[mostRead], candidates[:mostRead]
		}
		for _, e := range candidates {
			if c.matches(v, e) {
				x.events = append(x.events, e)
			}
		}
	})
	return x.events, x.unread
}

// candidates returns the events of the clause's signatures that may count, ordered by time
// and place.
func (s *subject) candidates(c *Clause, late int64) []*parse.Event {
	var lists [][]*parse.Event
	for _, id := range c.Sigs {
		es := s.sig(id)
		if g := s.holder(id).sig; !c.Any && g != nil {
			es, _ = s.reach(es, late, g.LagField == "")
		}
		if len(es) > 0 {
			lists = append(lists, es)
		}
	}
	switch {
	case len(lists) == 0:
		return nil
	case len(c.Sigs) == 1:
		return lists[0]
	case !slices.ContainsFunc(lists, disordered):
		return merged(lists)
	}
	got := slices.Concat(lists...)
	sortEvents(got)
	return got
}

// disordered reports whether events are not sorted by time and place. Nearly all are,
// except events of the same instant in several journals.
func disordered(es []*parse.Event) bool {
	for i := 1; i < len(es); i++ {
		if earlier(es[i], es[i-1]) {
			return true
		}
	}
	return false
}

// merged merges ordered lists of events, which it consumes.
func merged(lists [][]*parse.Event) []*parse.Event {
	if len(lists) == 1 {
		return lists[0]
	}
	n := 0
	for _, l := range lists {
		n += len(l)
	}
	out := make([]*parse.Event, 0, n)
	for len(out) < n {
		least := -1
		for i, l := range lists {
			if len(l) > 0 && (least < 0 || l[0] != lists[least][0] && earlier(l[0], lists[least][0])) {
				least = i
			}
		}
		out = append(out, lists[least][0])
		lists[least] = lists[least][1:]
	}
	return out
}

// lateness returns how long after its beginning the clause's signal is logged, ns.
func (s *subject) lateness(c *Clause) int64 {
	if c.Late >= 0 {
		return c.Late
	}
	for _, id := range c.Sigs {
		switch g := s.holder(id).sig; {
		case g == nil:
		case g.Lag == parse.LagCall:
			return s.t
		case g.Lag > 0:
			return int64(g.Lag)
		}
	}
	return 0
}

// blockedBefore reports whether a hung task reported by the kernel was already blocked
// while the node still worked, which means that it did not cause the incident.
func (s *subject) blockedBefore(c *Clause, e *parse.Event) bool {
	if e.Basis <= parse.FileTime || e.From() != parse.SrcKernel || s.otherClock(e) {
		return false
	}
	for _, id := range c.Sigs {
		if g := s.holder(id).sig; g != nil && g.Lag > 0 && e.Is(id) {
			began := e.At - int64(g.Lag)
			return s.began() != 0 && began < s.began()-30*second-int64(e.Res.Duration())
		}
	}
	return false
}

// lagField returns the name of the field in which a line of the clause's signatures states
// how long after the trouble began it was logged, or "".
func (c *Clause) lagField(e *parse.Event) string {
	for _, g := range e.Sigs.Sigs {
		if g.LagField != "" && slices.Contains(c.Sigs, g.ID) {
			return g.LagField
		}
	}
	return ""
}

// better returns the timing that supports a cause more.
func better(a, b timing) timing {
	rank := [...]int{undated: 2, before: 3, during: 1, outside: 0}
	if rank[b] > rank[a] {
		return b
	}
	return a
}

func sortEvents(es []*parse.Event) {
	sort.SliceStable(es, func(i, j int) bool { return earlier(es[i], es[j]) })
}

// matches reports whether a line passes the clause's tests.
func (c *Clause) matches(v *view, e *parse.Event) bool {
	if len(c.From) > 0 && !slices.Contains(c.From, e.Origin.Source) {
		return false
	}
	// Parsing fields costs more than searching the text.
	if c.testsText() && !v.texts.pass(c, e) {
		return false
	}
	return !slices.ContainsFunc(c.Where, func(t FieldTest) bool { return !t.matchesField(e.Field(t.Name)) })
}

func (t *FieldTest) matchesField(v string) bool {
	if t.Num != nil {
		x, ok := number(v)
		return ok && t.Num.OK(x)
	}
	return t.Re.MatchString(v)
}

// few is how many lines outside the window are tried for being such lines, too.
const few = 16

// mostWriters is how many different writers of a clause's records are noted.
const mostWriters = 4

// add adds a record. It keeps the first keepMax-1 and the latest, and counts all.
func (o *outcome) add(r parse.Record) {
	o.count++
	if w := string(r.From()); len(o.writers) < mostWriters && !slices.Contains(o.writers, w) {
		o.writers = append(o.writers, w)
	}
	o.records = append(o.records[:min(len(o.records), keepMax-1)], replay.Evidence{Record: r})
}

// judge sets the state, the factor and the description from what was collected.
func (o *outcome) judge(v *view, c *Clause, t timing) {
	if o.count < max(c.Min, 1) || c.Span != 0 && o.records[len(o.records)-1].When().At-o.records[0].When().At < c.Span {
		o.records, o.count = nil, 0 // undated records, as in a boot-relative dmesg, measure Span by their own clock
		return
	}
	o.state, o.factor = Found, 1
	o.late, o.undated = t == during, t == undated
	if o.late && !c.Any {
		o.factor = 0.4
	}
	beside := v.n.Window.Lines.To != 0 && o.records[0].When().Basis <= parse.FileTime // dated lines, which may be of another time
	if o.undated && (v.toExplain || v.have[parse.SrcKubelet] || beside) && o.records[0].From() == parse.SrcKernel {
		o.factor = undatedKernel
	}
	if c.Repeat && o.count >= 3 {
		o.factor *= 1 + min(0.3, 0.1*math.Log2(float64(o.count)))
	}
	o.describe(v, c.Say, nil)
}

// describe sets source, fields and objects from the records. The fields come from a single
// record, so that a sentence never mixes two lines: the first whose fields, with those in
// known, complete the sentence, or else the first record.
func (o *outcome) describe(v *view, say string, known map[string]string) {
	if len(o.records) == 0 {
		return
	}
	o.source = string(o.records[0].From())
	told := false
	for i, ev := range o.records {
		fields := map[string]string{"writer": string(ev.From())}
		for _, f := range v.fieldsOf(ev.Record) {
			if fields[f.Name] == "" {
				fields[f.Name] = f.Value
			}
			if obj := objectOf(f); obj != "" && !slices.Contains(o.objects, obj) {
				o.objects = append(o.objects, obj)
			}
		}
		if !told && (i == 0 || fill(say, known, fields) != "") {
			told = i > 0 || fill(say, known, fields) != ""
			o.vars = fields
		}
	}
	_, line := o.records[0].Record.(*parse.Event)
	if o.count > len(o.records) || line && len(o.writers) > 0 && o.count > 2 {
		such := " such lines recognized"
		if strings.Contains(say, "{") { // what is said of the first need not hold for the others
			such = " like it recognized"
		}
		note := strconv.Itoa(o.count) + such
		if o.count >= enough {
			note = "at least " + note
		}
		if o.apart {
			note += " in the incident"
		}
		o.records[0].Note = joinNote(o.records[0].Note, note)
	}
}

func joinNote(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// fieldsOf returns the fields of a record. It caches those of events, since many causes
// cite the same few.
func (v *view) fieldsOf(r parse.Record) []parse.Field {
	switch r := r.(type) {
	case *parse.Event:
		fs, known := v.told[r]
		if !known {
			fs = r.Fields()
			v.told[r] = fs
		}
		return fs
	case *parse.Fact:
		value := strings.TrimSuffix(r.Value, "%") // sentences add their own percent sign
		if r.Key == "goroutine.wait" {            // its value is a state; sentences need the duration
			value = strconv.Itoa(int(r.Num/60)) + " min"
		}
		fs := append([]parse.Field{{Name: "value", Value: value}}, r.Attrs...)
		for _, a := range r.Attrs { // a name unique to this kind of record, such as stopped_pid
			fs = append(fs, parse.Field{Name: r.Key[strings.LastIndexByte(r.Key, '.')+1:] + "_" + a.Name, Value: a.Value})
		}
		return fs
	case *parse.Object:
		return r.Fields
	}
	return nil
}

// objectOf returns the object that a field names, in a form comparable across sources
// (container IDs are cut to 12 characters), or "".
func objectOf(f parse.Field) string {
	switch f.Name {
	case "id", "sandbox", "container":
		if len(f.Value) >= 12 {
			return "id:" + f.Value[:12]
		}
	case "pod_uid":
		if len(f.Value) >= 8 {
			return "uid:" + f.Value
		}
	}
	if kind := namedThings[f.Name]; kind != "" && f.Value != "" {
		return kind + ":" + f.Value
	}
	return ""
}

// namedThings maps the fields that hold a full name to the kind of object.
var namedThings = map[string]string{"pod_name": "pod", "server": "server", "srv": "server", "device": "device", "dev": "device"}

// evalFact evaluates a clause on a fact or a family of facts. It can look if any fact of
// the same area is in the input.
func (s *subject) evalFact(c *Clause) outcome {
	o := outcome{state: CannotLook, source: string(parse.SrcFacts)}
	area, _, _ := strings.Cut(c.Fact, ".")
	for _, k := range s.facts {
		if strings.HasPrefix(k, area+".") {
			o.state = NotThere
		}
		if k != c.Fact && !familyHas(c.Fact, k) {
			continue
		}
		for _, f := range s.byFact[k] {
			if c.matchesFact(f) {
				o.add(f)
			}
		}
	}
	o.judge(s.view, c, undated)
	return o
}

func (c *Clause) matchesFact(f *parse.Fact) bool {
	if c.Num != nil && !c.Num.OK(f.Num) {
		return false
	}
	if c.Text != nil && !c.Text.MatchString(f.Text.String()) && !c.Text.MatchString(f.Value) {
		return false
	}
	return !slices.ContainsFunc(c.Where, func(t FieldTest) bool {
		if t.Name == "value" {
			return !t.matchesField(f.Value)
		}
		return !t.matchesField(f.Attr(t.Name))
	})
}

func (s *subject) evalCond(c *Clause) outcome {
	o := conditionByName(c.Cond).Look(s, c.Args)
	if o.state == Found {
		o.factor = cmp.Or(o.factor, 1)
		src, vars := o.source, o.vars
		o.count = max(o.count, len(o.records))
		o.describe(s.view, c.Say, vars)
		o.source = cmp.Or(src, "timeline")
		if o.vars == nil {
			o.vars = map[string]string{}
		}
		maps.Copy(o.vars, vars)
	}
	return o
}

// number parses a field as a plain number or as a duration, which it converts to seconds.
func number(s string) (float64, bool) {
	if x, err := strconv.ParseFloat(s, 64); err == nil {
		return x, true
	}
	if d, ok := duration(s); ok {
		return float64(d) / float64(second), true
	}
	return 0, false
}
