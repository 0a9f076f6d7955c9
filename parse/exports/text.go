package exports

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/plegforensics/plegforensics/parse/journal"
)

// decoration describes what a terminal, browser or log shipper put around the lines
// of a log: colors, an HTML page, names and numbers before each line, line breaks
// at the window width.
type decoration struct {
	colours bool
	tags    bool // HTML
	marks   bool // characters are escaped as in HTML
	prefix  bool // lines have a prefix
	printed bool // timestamps before the lines were added by printing
	wrapped int  // width in bytes at which lines were wrapped; 0: not wrapped
	launch  bool // lines of a launcher contain those of its components
	typeset bool // quotes and blanks are typographic
	escapes bool // lines are contents of quoted strings
	slashes bool // characters special in Markdown are escaped
	arrows  bool // records use Ruby syntax: {"key"=>"value"}
	frames  bool // lines stand between the sides of a box
	walls   bool // syslogd wrote to terminals: the time is in a heading above each message
}

func (d decoration) any() bool { return d != decoration{} }

// stripper removes the decoration from the lines of a log.
type stripper struct {
	*source
	decoration
	look   prefixFinder
	before []byte // prefix removed from the last line
	wall   []byte // stamp and host of a heading whose message has not come yet
}

func (u *stripper) step() {
	n := u.lineLen()
	whole := n
	line := bytes.TrimRight(u.win[:n], "\r\n")
	if u.wrapped > 0 {
		line, whole = u.joined(n)
	}
	u.level(u.line)
	if line = u.bare(line); u.walls {
		line = u.walled(line)
	}
	u.out = append(append(u.out, line...), '\n')
	u.lines++
	u.skip(max(whole, 1))
}

// bare returns a line without its decoration.
func (u *stripper) bare(line []byte) []byte {
	if u.colours {
		line = stripColours(line)
	}
	if u.frames {
		line, _ = unframed(line)
	}
	if u.tags {
		line = stripTags(line)
	}
	if u.tags || u.marks {
		line = unescapeHTML(line)
	}
	if u.typeset && bytes.ContainsAny(line, "\u201c\u201d\u201e\u2018\u2019\u00a0\u202f\u2007") {
		line = []byte(typewriter.Replace(string(line)))
	}
	if u.escapes && insideString(line) {
		if s, err := strconv.Unquote(`"` + string(line) + `"`); err == nil {
			line = bytes.ReplaceAll([]byte(s), newline, []byte(" "))
		}
	}
	if u.slashes {
		line = stripSlashes(line)
	}
	if u.arrows && bytes.Contains(line, []byte(`"=>`)) {
		line = bytes.ReplaceAll(line, []byte(`"=>`), []byte(`":`))
	}
	if u.launch {
		line = u.launched(line)
	}
	if !u.prefix && !u.printed {
		return line
	}
	at := u.look.start(line, u.printed)
	switch {
	case at.at > 0:
		u.before = append(u.before[:0], line[:at.at]...)
		return at.taken(line, u.printed)
	case at.at < 0 && len(u.before) > 0 && bytes.HasPrefix(line, u.before):
		return line[len(u.before):]
	}
	return line
}

// maxJoined bounds the pieces of a wrapped line.
const maxJoined = 64

// joined joins the line of n bytes with the wrapped lines that continue it. It
// returns the total length of these.
func (u *stripper) joined(n int) (line []byte, whole int) {
	line = append([]byte(nil), bytes.TrimRight(u.win[:n], "\r\n")...)
	whole = n
	for last := len(line); last == u.wrapped && whole < maxRecord; {
		end := u.lineAfter(whole)
		next := bytes.TrimRight(u.win[whole:end], "\r\n")
		if len(next) == 0 || u.look.native(next) || len(line) > maxJoined*u.wrapped {
			break
		}
		line, last, whole = append(line, next...), len(next), end
	}
	return line, whole
}

// lineAfter returns the end of the line that begins at from.
func (s *source) lineAfter(from int) int {
	for i := from; ; i++ {
		if c := s.at(i); c == '\n' || c == 0 && i >= len(s.win) || i-from > maxRecord {
			return min(i+1, len(s.win))
		}
	}
}

// boxSides are the characters between which a line in a box stands.
var boxSides = []string{"\u2502", "\u2503", "\u2551"}

// unframed returns a line without the sides of a box, and whether it has both.
func unframed(line []byte) ([]byte, bool) {
	for _, side := range boxSides {
		if in, ok := bytes.CutPrefix(line, []byte(side)); ok {
			in, both := bytes.CutSuffix(bytes.TrimRight(in, " "), []byte(side))
			return bytes.TrimRight(in, " "), both
		}
	}
	return line, false
}

// wallHead returns stamp and host of the heading under which syslogd writes a message to all terminals,
// "Message from syslogd@HOST at Mar 13 15:41:18 ...", as they stand before a line of a log; nil if line
// is none.
func wallHead(line []byte) []byte {
	rest, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("Message from syslogd@"))
	host, stamp, at := bytes.Cut(rest, []byte(" at "))
	stamp = bytes.TrimSuffix(stamp, []byte(" ..."))
	if !ok || !at || len(host) == 0 || bytes.IndexByte(host, ' ') >= 0 || !shortStamp(append(stamp[:len(stamp):len(stamp)], ' ')) {
		return nil
	}
	return append(append(append([]byte{}, stamp...), ' '), host...)
}

// walled returns a message below such a heading as the line of a log, nothing for the heading itself.
func (u *stripper) walled(line []byte) []byte {
	if head := wallHead(line); head != nil {
		u.wall = head
		return nil
	}
	text := bytes.TrimSpace(line)
	tag, msg, ok := bytes.Cut(text, []byte(":"))
	if len(text) == 0 || u.wall == nil {
		return line
	}
	head := u.wall
	if u.wall = nil; !ok || len(tag) == 0 || bytes.ContainsAny(tag, " \t") {
		return line
	}
	return slices.Concat(head, []byte(" "), tag, []byte(": "), bytes.TrimLeft(msg, " "))
}

// stripColours removes terminal control sequences: "ESC [ … letter", "ESC ] … BEL".
func stripColours(line []byte) []byte {
	if bytes.IndexByte(line, 0x1b) < 0 {
		return line
	}
	out := make([]byte, 0, len(line))
	for i := 0; i < len(line); i++ {
		if line[i] != 0x1b {
			out = append(out, line[i])
			continue
		}
		i += steering(line[i:]) - 1
	}
	return out
}

// steering returns the length of the control sequence at the start of b.
func steering(b []byte) int {
	if len(b) < 2 {
		return len(b)
	}
	switch b[1] {
	case '[':
		for i := 2; i < len(b) && i < 40; i++ {
			if b[i] >= 0x40 && b[i] <= 0x7e {
				return i + 1
			}
		}
	case ']':
		for i := 2; i < len(b) && i < 300; i++ {
			if b[i] == 7 {
				return i + 1
			}
			if b[i] == 0x1b {
				return min(i+2, len(b))
			}
		}
	case '(', ')':
		return min(3, len(b))
	}
	return 2
}

// maxTag is the maximum length of an HTML tag.
const maxTag = 500

// stripTags removes HTML tags. Tags that separate columns are replaced by a blank.
func stripTags(line []byte) []byte {
	if bytes.IndexByte(line, '<') < 0 {
		return line
	}
	out := make([]byte, 0, len(line))
	for i := 0; i < len(line); i++ {
		if line[i] == '<' && i+1 < len(line) && (letter(line[i+1]) || line[i+1] == '/' || line[i+1] == '!') {
			if n := bytes.IndexByte(line[i:min(len(line), i+maxTag)], '>'); n > 0 {
				if tag := line[i : i+n]; bytes.HasPrefix(tag, []byte("</a")) || bytes.HasPrefix(tag, []byte("</t")) {
					out = append(out, ' ')
				}
				i += n
				continue
			}
		}
		out = append(out, line[i])
	}
	return out
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// entities are the HTML entities that occur in logs.
var entities = []struct{ name, text string }{
	{"&quot;", `"`}, {"&#34;", `"`}, {"&#39;", "'"}, {"&#x27;", "'"}, {"&apos;", "'"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&nbsp;", " "}, {"&#x2F;", "/"}, {"&amp;", "&"},
}

func unescapeHTML(line []byte) []byte {
	if bytes.IndexByte(line, '&') < 0 {
		return line
	}
	out := make([]byte, 0, len(line))
next:
	for i := 0; i < len(line); i++ {
		if line[i] == '&' {
			for _, e := range entities {
				if bytes.HasPrefix(line[i:], []byte(e.name)) {
					out = append(out, e.text...)
					i += len(e.name) - 1
					continue next
				}
			}
		}
		out = append(out, line[i])
	}
	return out
}

// typewriter replaces typographic quotes and blanks by their ASCII forms.
var typewriter = strings.NewReplacer("\u201c", `"`, "\u201d", `"`, "\u201e", `"`, "\u2018", "'", "\u2019", "'", "\u00a0", " ", "\u202f", " ", "\u2007", " ")

// typesetMarks are characters that indicate typographic text.
var typesetMarks = [][]byte{[]byte("\u201c"), []byte("\u201d"), []byte("\u00a0"), []byte("\u202f")}

func isTypeset(line []byte) bool {
	return slices.ContainsFunc(typesetMarks, func(m []byte) bool { return bytes.Contains(line, m) })
}

// insideString reports whether the first quote in a line is escaped, which means
// that the line was part of a quoted string.
func insideString(line []byte) bool {
	i := bytes.IndexByte(line, '"')
	return i > 0 && line[i-1] == '\\'
}

// markdown are the characters that converters to Markdown escape by a backslash.
const markdown = "_[]*#<>()`~|!+-.&"

func stripSlashes(line []byte) []byte {
	if bytes.IndexByte(line, '\\') < 0 {
		return line
	}
	out := make([]byte, 0, len(line))
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' && i+1 < len(line) && strings.IndexByte(markdown, line[i+1]) >= 0 {
			i++
		}
		out = append(out, line[i])
	}
	return out
}

// unquoted returns the line from at on, without surrounding quotes if it is an
// element of a list of strings.
func unquoted(line []byte, at int) []byte {
	rest := line[at:]
	if line[at-1] != '"' && line[at-1] != '\'' {
		return rest
	}
	end := bytes.TrimRight(rest, ", \t")
	if n := len(end); n == 0 || end[n-1] != line[at-1] {
		return rest
	}
	end = end[:len(end)-1]
	if line[at-1] == '"' {
		if s, err := strconv.Unquote(`"` + string(end) + `"`); err == nil {
			return bytes.ReplaceAll([]byte(s), newline, []byte(" "))
		}
	}
	return end
}

// launched converts a line of k0s, which logs the output of its components as the
// msg of its own lines: `time="…" level=info msg="I1120 …" component=kubelet
// stream=stderr`. The component replaces the launcher as source, whose name is kept before it;
// a journal's line that was cut before its component keeps the launcher.
func (u *stripper) launched(line []byte) []byte {
	i := bytes.Index(line, []byte(` msg="`))
	j := bytes.LastIndex(line, []byte(`" component=`))
	k := bytes.Index(line, []byte("time="))
	if i < 0 || k < 0 || k > i {
		return line
	}
	quoted, component := string(bytes.TrimRight(line[i+len(" msg="):], `\`))+`"`, []byte(nil)
	if j >= i+len(` msg="`) {
		quoted = string(line[i+len(" msg=") : j+1])
		component, _, _ = bytes.Cut(line[j+len(`" component=`):], []byte(" "))
	} else if !cutLaunch(line) {
		return line
	}
	msg, err := strconv.Unquote(quoted)
	if err != nil {
		return line
	}
	out := append([]byte(nil), line[:k]...)
	if k == 0 {
		stamp := bytes.Trim(line[len("time="):bytes.Index(line, []byte(" level="))+1], `" `)
		out = append(append(out, stamp...), ' ')
	} else if open := bytes.LastIndexByte(out, ' '); open > 0 && bytes.HasSuffix(out, []byte(": ")) {
		out = out[:bytes.LastIndexByte(out[:len(out)-1], ' ')+1]
	}
	if out = append(out, "k0s"...); component != nil {
		out = append(append(out, '/'), component...)
	}
	return append(append(out, ": "...), bytes.ReplaceAll([]byte(msg), newline, []byte(" "))...)
}

// cutLaunch reports whether a line of k0s in a journal has a klog line as its msg; what follows
// may be cut off.
func cutLaunch(line []byte) bool {
	head, msg, ok := bytes.Cut(line, []byte(` msg="`))
	return ok && len(msg) > 6 && bytes.IndexByte([]byte("IWEF"), msg[0]) >= 0 && msg[1]-'0' <= 1 && msg[5] == ' ' &&
		(bytes.Contains(head, []byte(" k0s[")) || bytes.Contains(head, []byte(" k0s: ")))
}

// prefixFinder finds where a log line begins within a line. It is not safe for
// concurrent use.
type prefixFinder struct {
	parser *journal.Parser
	entry  journal.Entry
}

func newPrefixFinder() prefixFinder {
	return prefixFinder{parser: journal.NewParser(&journal.Framing{})}
}

// native reports whether package journal recognizes a line as a log line.
func (l *prefixFinder) native(line []byte) bool {
	l.parser.Parse(line, &l.entry)
	e := &l.entry
	switch {
	case e.Header.Kind != journal.NoHeader && e.Header.Kind != journal.KlogBare:
		return e.Header.Kind != journal.JSONLog || line[0] == '{' || e.Form >= journal.BSD && e.Who.PID > 0
	case e.Form == journal.Stamped, e.Form == journal.Bare, e.Form == journal.Blank:
		return false
	case e.Form == journal.Ident, e.Form == journal.ISO:
		return e.Who.PID > 0
	}
	return true
}
