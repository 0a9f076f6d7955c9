package report

import (
	"bufio"
	"io"
)

// indenter writes JSON documents that come without any blanks, each in one
// piece, as json.Indent with two blanks gives them, but holds no copy of them.
type indenter struct{ w io.Writer }

func (x indenter) Write(doc []byte) (int, error) {
	out := bufio.NewWriterSize(x.w, 32<<10)
	depth := 0
	line := func() {
		out.WriteByte('\n')
		for range depth {
			out.WriteString("  ")
		}
	}
	for i := 0; i < len(doc); i++ {
		switch c := doc[i]; c {
		case '"':
			end := endOfString(doc, i)
			out.Write(doc[i:end])
			i = end - 1
		case '{', '[':
			out.WriteByte(c)
			if i+1 < len(doc) && doc[i+1] == c+2 { // its counterpart, in ASCII
				out.WriteByte(c + 2)
				i++
				continue
			}
			depth++
			line()
		case '}', ']':
			depth--
			line()
			out.WriteByte(c)
		case ',':
			out.WriteByte(c)
			line()
		case ':':
			out.WriteString(": ")
		default:
			out.WriteByte(c)
		}
	}
	return len(doc), out.Flush()
}

// endOfString is where the string that begins at i ends, behind its quotation
// mark.
func endOfString(doc []byte, i int) int {
	for i++; i < len(doc) && doc[i] != '"'; i++ {
		if doc[i] == '\\' {
			i++
		}
	}
	return min(i+1, len(doc))
}
