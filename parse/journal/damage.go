package journal

import "bytes"

// klogForm is the beginning of a klog header, with zeros for digits.
const klogForm = "I0000 00:00:00.000000 "

// TornHeader reports whether a message without a header begins like one of klog, which goes on as none does: something
// was cut out, or is overwritten. Columns that were left out in copying end at blanks.
func TornHeader(msg []byte) bool {
	n := klogBegins(msg)
	return n >= len("I0000 00:") && n < min(len(msg), len(klogForm)) && bytes.IndexByte([]byte(" .]\""), msg[n]) < 0 && msg[n] < 0x80
}

// CutHeader reports whether a message is the beginning of a klog header.
func CutHeader(msg []byte) bool {
	return klogBegins(msg) == len(msg) && len(msg) >= len("I0000 0")
}

// klogBegins returns how many bytes of a message are as in a klog header.
func klogBegins(msg []byte) int {
	if len(msg) == 0 || !klogLetter(msg[0]) {
		return 0
	}
	n := 1
	for n < len(klogForm) && n < len(msg) && (msg[n] == klogForm[n] || klogForm[n] == '0' && msg[n]-'0' <= 9) {
		n++
	}
	return n
}

// Text returns the bytes of a record that are text: all but, in an export, those that tell the lengths of fields.
func (f *Framing) Text(rec []byte) []byte {
	if f.Block != ExportBlock || bytes.IndexByte(rec, 0) < 0 {
		return rec
	}
	var text []byte
	for i := 0; i < len(rec); {
		end := lineEnd(rec, i)
		if end == 0 {
			end = len(rec)
		}
		line := rec[i:end]
		text = append(text, line...)
		if i = end; bytes.IndexByte(line, '=') < 0 {
			if n, ok := binaryField(rec[i:]); ok && n > 0 {
				i += n
			}
		}
	}
	return text
}

// Closed reports whether b is one JSON object, to its end. It does not validate the values.
func Closed(b []byte) bool {
	o, ok := openObject(b)
	for ok {
		_, _, ok = o.next()
	}
	return o.closed()
}

// closed reports whether the object ends where it was read to, and is followed by no more than what separates objects.
func (o *object) closed() bool {
	o.blanks()
	return o.i < len(o.b) && o.b[o.i] == '}' && len(bytes.Trim(o.b[o.i+1:], ", ]\t\r\n\x00")) == 0
}
