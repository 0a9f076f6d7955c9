package logs

import (
	"slices"
	"strconv"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// codeNames are the gRPC status codes by number. Kubelets up to 1.8 print the
// number.
var codeNames = [...]string{
	"OK", "Canceled", "Unknown", "InvalidArgument", "DeadlineExceeded", "NotFound", "AlreadyExists", "PermissionDenied",
	"ResourceExhausted", "FailedPrecondition", "Aborted", "OutOfRange", "Unimplemented", "Internal", "Unavailable", "DataLoss", "Unauthenticated",
}

const tooLarge = "message larger than max ("

var sizeRE = onDemand(`message larger than max \((\d+) vs\. (\d+)\)`)

// errorCode names the gRPC code of an error text. An Unknown code, or a text
// without a code, is judged by the timeout or connection error it wraps, because
// the dockershim has no codes of its own.
func errorCode(err string) string {
	code := statedCode(err)
	if code != "" && code != "Unknown" {
		return code
	}
	switch {
	case strings.Contains(err, "operation timeout: context deadline exceeded"):
		return "DeadlineExceeded"
	case strings.Contains(err, "Cannot connect to the Docker daemon"),
		strings.Contains(err, "cannot connect to Docker endpoint"),
		strings.Contains(err, "grpc: the connection is unavailable"),
		strings.Contains(err, "connect: connection refused"),
		strings.Contains(err, ".sock: connect: no such file or directory"):
		return "Unavailable"
	case code == "" && strings.Contains(err, "context deadline exceeded"):
		return "DeadlineExceeded"
	}
	return code
}

// statedCode names the code of the first "code = X desc" in an error, allowing for
// the blanks and the comma that gRPC versions put there.
func statedCode(err string) string {
	for s := err; ; {
		_, rest, ok := strings.Cut(s, "code")
		if !ok {
			return ""
		}
		s = rest
		rest, ok = strings.CutPrefix(strings.TrimPrefix(rest, " "), "=")
		if !ok {
			continue
		}
		rest = strings.TrimPrefix(rest, " ")
		n := 0
		for n < len(rest) && isWord(rest[n]) {
			n++
		}
		code := rest[:n]
		rest = strings.TrimPrefix(strings.TrimPrefix(rest[n:], ","), " ")
		if n > 0 && strings.HasPrefix(rest, "desc") {
			return codeName(code)
		}
	}
}

// codeName returns the name of a code. A one- or two-digit number without a name is
// kept. Any other word is not a code and yields "", because there may be as many
// such words as lines.
func codeName(s string) string {
	if n, err := strconv.ParseUint(s, 10, 8); err == nil && len(s) <= 2 {
		if n < uint64(len(codeNames)) {
			return codeNames[n]
		}
		return s
	}
	if slices.Contains(codeNames[:], s) {
		return s
	}
	return ""
}

// errFields appends the fields of an error: err, code, and for a message above the
// size limit got and max, both in bytes.
func errFields(out []parse.Field, err string) []parse.Field {
	out = addField(out, "err", err)
	out = addField(out, "code", errorCode(err))
	if !strings.Contains(err, tooLarge) {
		return out
	}
	if m := sizeRE().FindStringSubmatch(err); m != nil {
		out = addField(addField(out, "got", m[1]), "max", m[2])
	}
	return out
}
