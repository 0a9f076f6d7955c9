package metrics

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
)

// Format is a file format of metrics.
type Format string

// Formats.
const (
	FormatNone     Format = ""
	FormatText     Format = "exposition text" // Prometheus text and OpenMetrics
	FormatProto    Format = "exposition protobuf"
	FormatAPI      Format = "Prometheus API JSON"
	FormatVictoria Format = "VictoriaMetrics export"
	FormatDump     Format = "promtool tsdb dump"
)

// Sniff returns the format of a file by its head, FormatNone if it is not
// recognized. head should be at least a few KiB. Error pages of a metrics endpoint
// are FormatNone: only the path of a file can say that one stands for a snapshot.
func Sniff(head []byte) Format {
	if protoHead(head) { // before trimming: the length of the first message may look like a blank
		return FormatProto
	}
	head = bytes.TrimLeft(trimBOM(head), " \t\r\n")
	switch {
	case len(head) == 0:
		return FormatNone
	case head[0] == '{':
		return sniffBrace(head)
	case head[0] == '[':
		return sniffArray(head)
	case textHead(head):
		return FormatText
	}
	return FormatNone
}

func sniffBrace(head []byte) Format {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	switch {
	case bytes.HasPrefix(head, []byte("{__name__=")):
		return FormatDump
	case bytes.HasPrefix(head, []byte(`{"metric":{`)) && bytes.Contains(line, []byte(`"values":[`)):
		return FormatVictoria
	case bytes.Contains(head, []byte(`"status"`)) && bytes.Contains(head, []byte(`"data"`)) &&
		(bytes.Contains(head, []byte(`"resultType"`)) || bytes.Contains(head, []byte(`"__name__"`)) ||
			bytes.Contains(head, []byte(`"groups"`)) || bytes.Contains(head, []byte(`"alerts"`))):
		return FormatAPI
	case bytes.HasPrefix(head, []byte(`{"`)) && looksLikeSample(line):
		return FormatText // quoted metric name: {"name", label="x"} 1
	}
	return FormatNone
}

// sniffArray recognizes the output of promtool: the bare result of a query.
func sniffArray(head []byte) Format {
	first := bytes.TrimLeft(head[1:], " \t\r\n")
	switch {
	case !bytes.HasPrefix(first, []byte("{")):
		return FormatNone
	case bytes.Contains(head, []byte(`"metric"`)) && (bytes.Contains(head, []byte(`"value"`)) || bytes.Contains(head, []byte(`"values"`)) ||
		bytes.Contains(head, []byte(`"histogram"`)) || bytes.Contains(head, []byte(`"histograms"`))), bytes.HasPrefix(first[1:], []byte(`"__name__"`)):
		return FormatAPI
	}
	return FormatNone
}

// textHead looks for a TYPE or HELP line, else for lines with the shape of samples
// that outnumber others at least 5 to 1.
func textHead(head []byte) bool {
	if len(head) >= endlessLine && bytes.IndexByte(head, '\n') < 0 {
		return beginsLikeSample(head)
	}
	samples, others := 0, 0
	for line := range bytes.SplitSeq(head, []byte("\n")) {
		line = bytes.TrimSpace(line)
		switch {
		case bytes.HasPrefix(line, []byte("# TYPE ")), bytes.HasPrefix(line, []byte("# HELP ")):
			return len(bytes.Fields(line)) >= 3
		case len(line) == 0, line[0] == '#', line[0] == '`', line[0] == '$':
		case looksLikeSample(line):
			samples++
		default:
			others++
		}
	}
	return samples >= 1 && samples > 4*others
}

// endlessLine is the length in bytes from which a head without a line end is judged
// by its beginning: a label value may be a megabyte long.
const endlessLine = 16 << 10

// beginsLikeSample reports whether head begins with name{label=".
func beginsLikeSample(head []byte) bool {
	i := 0
	for i < len(head) && isNameByte(head[i], i == 0) {
		i++
	}
	name, rest, ok := bytes.Cut(head[i:min(len(head), i+256)], []byte(`="`))
	if i == 0 || !ok || len(rest) == 0 || len(name) < 2 || name[0] != '{' {
		return false
	}
	for j, c := range name[1:] {
		if !isNameByte(c, j == 0) {
			return false
		}
	}
	return true
}

// looksLikeSample reports whether a line has the shape name{…} number, with an
// optional timestamp.
func looksLikeSample(line []byte) bool {
	i := 0
	for i < len(line) && isNameByte(line[i], i == 0) {
		i++
	}
	rest := line[i:]
	if i == 0 && !bytes.HasPrefix(rest, []byte("{")) {
		return false
	}
	if bytes.HasPrefix(rest, []byte("{")) {
		j := bytes.LastIndexByte(rest, '}')
		if j < 0 {
			return false
		}
		rest = rest[j+1:]
	} else if len(rest) == 0 || rest[0] != ' ' && rest[0] != '\t' || !bytes.Contains(line[:i], []byte("_")) {
		// A bare word and a number are a sample only if the word has an underscore.
		return false
	}
	f := bytes.Fields(rest)
	return (len(f) == 1 || len(f) == 2 && IsSampleTime(f[1])) && isNumber(f[0])
}

// firstTime is the time in Unix milliseconds before which no sample was taken: Kubernetes and Prometheus are
// younger. A smaller number behind a value is no time.
const firstTime = 1388534400000 // 2014

// IsSampleTime reports whether a word may be the time of a sample, in milliseconds or, with a decimal point,
// in seconds since 1970.
func IsSampleTime(b []byte) bool {
	v, err := strconv.ParseFloat(string(b), 64)
	if bytes.IndexByte(b, '.') > 0 {
		v *= 1e3
	}
	return err == nil && v >= firstTime
}

// common are prefixes of metrics that programs share, beside those of exporters.
var common = []string{"go_", "process_", "promhttp_", "rest_client_", "node_", "kube_", "container_", "machine_", "apiserver_", "etcd_",
	"workqueue_", "storage_operation_", "volume_manager_", "runtime_", "kubernetes_"}

// KnownName reports whether a name is that of a metric whose exporter is known, so that it tells without type,
// help or labels that a text holds metrics.
func KnownName(name []byte) bool {
	var x exporterSet
	x.learn(name)
	return x != 0 || slices.ContainsFunc(common, func(p string) bool { return bytes.HasPrefix(name, []byte(p)) })
}

func isNameByte(c byte, first bool) bool {
	return c == '_' || c == ':' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || !first && '0' <= c && c <= '9'
}

func isNumber(b []byte) bool {
	switch string(b) {
	case "NaN", "+Inf", "-Inf", "Inf":
		return true
	}
	for _, c := range b {
		if (c < '0' || c > '9') && c != '.' && c != 'e' && c != 'E' && c != '+' && c != '-' {
			return false
		}
	}
	return len(b) > 0
}

// protoHead recognizes a length-delimited MetricFamily: its size, the metric name
// (field 1), then only fields of the message. b is the beginning of the file and
// may end within the message.
func protoHead(b []byte) bool {
	size, n := binary.Uvarint(b)
	if n <= 0 || size < 3 || size > math.MaxInt32 || len(b) < n+3 || b[n] != 0x0a {
		return false
	}
	cut := int(size) > len(b)-n
	msg := b[n:min(len(b), n+int(size))]
	for first := true; len(msg) > 0; first = false {
		tag, m := binary.Uvarint(msg)
		if m <= 0 || tag>>3 < 1 || tag>>3 > 5 {
			return cut && m == 0
		}
		v, k := binary.Uvarint(msg[m:])
		if k <= 0 {
			return cut && k == 0 && !first
		}
		msg = msg[m+k:]
		if tag&7 == 0 {
			continue // the type
		}
		if tag&7 != 2 || v > uint64(len(msg)) && !cut {
			return false
		}
		value := msg[:min(uint64(len(msg)), v)]
		if first && !isMetricName(value) {
			return false
		}
		msg = msg[len(value):]
	}
	return true
}

func isMetricName(name []byte) bool {
	for i, c := range name {
		if !isNameByte(c, i == 0) {
			return false
		}
	}
	return len(name) > 0 && len(name) <= 512
}

func trimBOM(b []byte) []byte { return bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")) }
