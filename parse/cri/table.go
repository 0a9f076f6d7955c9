package cri

import (
	"bytes"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// column is one column of a table; at is the offset of its title.
type column struct {
	title string
	at    int
}

// tables reads tables printed by crictl, docker and podman: a header, then rows
// whose cells begin at the offsets of the titles. There may be several tables. Text
// before the first one is ignored, since it is the command; so is text from the prompt
// of the next command on, and a line that is no row.
func (d *decoder) tables(data []byte) {
	var head []column
	var before parse.Pos // first line outside of any table
	gap := false         // a blank line followed the header, and no row since
	found := false       // a header was found
	for off := 0; off < len(data); {
		line, _, _ := bytes.Cut(data[off:], []byte("\n"))
		p := d.pos(data, off)
		off += len(line) + 1
		text := strings.TrimRight(string(line), "\r\n ")
		switch cols := header(text); {
		case text == "" || text == "```":
			gap = true
		case cols != nil:
			head, gap, found = cols, false, true
		case isMessage([]byte(strings.TrimLeft(text, " \t"))):
			d.message(p, strings.TrimLeft(text, " \t"))
		case head == nil:
			if !found && before.File == nil {
				before = p
			}
		case prompted(text):
			head = nil
		case !isID(firstWord(text)) && (gap || len(splitBlanks(head, text)) < 3): // other text
		default:
			gap = false
			if !d.row(p, head, text) {
				return
			}
		}
	}
	if !found && before.File != nil {
		d.warn(before, "not a table of containers")
	}
}

// prompted reports whether a line is a shell prompt with a command.
func prompted(line string) bool {
	_, ok := parse.Prompted(line)
	return ok
}

func firstWord(line string) string {
	word, _, _ := strings.Cut(strings.TrimLeft(line, " \t"), " ")
	return word
}

// titles are the column titles of all tool versions; of two with a common prefix
// the longer comes first.
var titles = []string{"CONTAINER ID", "POD RUNTIME", "CONTAINER", "POD ID", "NAMESPACE", "RUNTIME", "ATTEMPT", "COMMAND",
	"CREATED AT", "CREATED", "STATUS", "STATE", "IMAGE", "PORTS", "NAMES", "LABELS", "SIZE", "NAME", "POD"}

// header parses a header line, nil if it is not one. Titles contain blanks, so they
// are matched by name.
func header(line string) []column {
	if begin := strings.TrimLeft(line, " \t"); !strings.HasPrefix(begin, "CONTAINER") && !strings.HasPrefix(begin, "POD ID") {
		return nil
	}
	var cols []column
	for i := 0; i < len(line); {
		if line[i] == ' ' || line[i] == '\t' {
			i++
			continue
		}
		title := titleAt(line[i:])
		if title == "" {
			return nil
		}
		cols = append(cols, column{title, i})
		i += len(title)
	}
	if len(cols) < 3 {
		return nil
	}
	return cols
}

func titleAt(s string) string {
	for _, t := range titles {
		if strings.HasPrefix(s, t) && (len(s) == len(t) || s[len(t)] == ' ' || s[len(t)] == '\t') {
			return t
		}
	}
	return ""
}

// row reads one row. It returns false once maxContainers is reached.
func (d *decoder) row(p parse.Pos, head []column, text string) bool {
	cells := split(head, text)
	sandbox := head[0].title == "POD ID"
	c := &parse.Container{Pos: p, ID: cells[head[0].title], Sandbox: sandbox, Text: parse.PlainText(text)}
	if !isID(c.ID) {
		d.warn(p, "a row without an id; left out")
		return true
	}
	c.State, c.ExitCode = stateWord(first(cells["STATE"], cells["STATUS"]))
	if c.State == "" {
		d.warn(p, "%q: state is missing or not known; taken as unknown", c.ID)
		c.State = "unknown"
	}
	c.Namespace = cells["NAMESPACE"]
	if sandbox {
		c.PodName = cells["NAME"]
	} else {
		c.Name, c.SandboxID, c.PodName = cells["NAME"], cells["POD ID"], cells["POD"]
		dockerName(c, cells["NAMES"])
	}
	if c.Sandbox {
		c.Name = ""
	}
	return d.add(c)
}

// split splits a row at the offsets of the titles. A cell longer than its column
// shifts the rest to the right; then the row is split at runs of two blanks.
func split(head []column, text string) map[string]string {
	cells := make(map[string]string, len(head))
	for i, c := range head {
		if c.at > 0 && c.at <= len(text) && text[c.at-1] != ' ' && text[c.at-1] != '\t' {
			return splitBlanks(head, text)
		}
		end := len(text)
		if i+1 < len(head) {
			end = min(end, head[i+1].at)
		}
		if c.at < end {
			cells[c.title] = strings.TrimSpace(text[c.at:end])
		}
	}
	return cells
}

func splitBlanks(head []column, text string) map[string]string {
	cells := make(map[string]string, len(head))
	i := 0
	for _, part := range strings.Split(strings.ReplaceAll(text, "\t", "  "), "  ") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		if i < len(head) {
			cells[head[i].title] = part
		}
		i++
	}
	return cells
}

// isID reports whether s is a container ID, possibly truncated.
func isID(s string) bool {
	if len(s) < 8 || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f') {
			return false
		}
	}
	return true
}
