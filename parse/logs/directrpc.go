package logs

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// Keys of a failed call that are read. Those up to rpcImage name its object; the
// first one present is used.
const (
	rpcContainer = iota
	rpcPodSandbox
	rpcSandbox
	rpcContainerName
	rpcImage
	rpcPod
	rpcPodUID
	rpcErr
	rpcFilter
	rpcKeys // number of keys
)

// rpcKey returns the constant of a key, or rpcKeys for any other key.
func rpcKey(key []byte) int {
	switch string(key) {
	case "containerID":
		return rpcContainer
	case "podSandboxID":
		return rpcPodSandbox
	case "sandboxID":
		return rpcSandbox
	case "containerName":
		return rpcContainerName
	case "image":
		return rpcImage
	case "pod":
		return rpcPod
	case "podUID":
		return rpcPodUID
	case "err":
		return rpcErr
	case "filter":
		return rpcFilter
	}
	return rpcKeys
}

var (
	rpcRemote   = []byte("remote")
	rpcAll      = []byte("all")
	rpcFiltered = []byte(withFilter)
	rpcStated   = []byte("rpc error: code = ")
	rpcDesc     = []byte(" desc")
	rpcTooMuch  = []byte(tooLarge)
)

// directRPC reads what extractRPC would, for a structured line of the remote client
// whose values are all quoted. It is fast because a failing call fails again and
// again.
func directRPC(t *message, d *direct) verdict {
	if len(t.msg) < 2 || t.msg[0] != '"' {
		return unsure
	}
	n := bytes.IndexByte(t.msg[1:], '"')
	if n < 0 {
		return unsure
	}
	call, ok := keyedCall(t.msg[1 : 1+n])
	if !ok {
		return unsure
	}
	var values [rpcKeys][]byte
	if !d.pairs(t.msg[n+2:], &values) {
		return unsure
	}
	if name := callNames[string(call)]; name != "" {
		call = []byte(name)
	}
	d.add(0, "layer", rpcRemote)
	d.add(1, "call", call)
	if filter := values[rpcFilter]; filter != nil {
		if string(filter) != "nil" {
			return unsure
		}
		d.add(2, "filter", filter)
		d.add(3, "scope", rpcAll)
	} else if bytes.HasSuffix(t.msg[:1+n], rpcFiltered) {
		return unsure
	}
	if !d.object(&values) || !d.failure(values[rpcErr]) {
		return unsure
	}
	for _, v := range d.values[:d.n] {
		if isNull(v) || string(v) == "<nil>" {
			return unsure
		}
	}
	return accepted
}

// pairs reads ` key="value"` pairs up to the end of s and keeps the first value of
// each key. It returns false if s is anything else.
func (d *direct) pairs(s []byte, values *[rpcKeys][]byte) bool {
	room := d.room[:0]
	for len(s) > 0 {
		if s[0] != ' ' {
			return false
		}
		n := keyLen(s[1:])
		if n == 0 || len(s) < n+3 || s[n+2] != '"' {
			return false
		}
		key := s[1 : n+1]
		s = s[n+2:]
		n, escaped := quotedLen(s)
		if n == 0 {
			return false
		}
		value := s[1 : n-1]
		s = s[n:]
		i := rpcKey(key)
		if i == rpcKeys || values[i] != nil {
			continue
		}
		if escaped {
			if len(room)+n > len(d.room) {
				return false
			}
			at := len(room)
			room = appendUnescaped(room, value)
			value = room[at:]
		}
		values[i] = value
	}
	return true
}

// quotedLen is plainQuoted, but faster for strings with few escapes.
func quotedLen(s []byte) (n int, escaped bool) {
	for i := 1; ; i++ {
		i += ordinary(s[i:])
		switch {
		case i == len(s):
			return 0, false
		case s[i] == '"':
			return i + 1, escaped
		case s[i] != '\\':
			return 0, false
		}
		if i++; i == len(s) || escapes[s[i]] == 0 {
			return 0, false
		}
		escaped = true
	}
}

// ordinary returns the number of leading bytes of s that are ASCII and have no
// meaning inside quotes: no quote, backslash or newline.
func ordinary(s []byte) int {
	const each, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; len(s) >= i+8; i += 8 {
		x := binary.LittleEndian.Uint64(s[i:])
		q, b, l := x^each*'"', x^each*'\\', x^each*'\n'
		// The lowest set bit belongs to the first byte that is not ordinary.
		if m := ((q-each)&^q | (b-each)&^b | (l-each)&^l | x) & high; m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(s) && s[i] != '"' && s[i] != '\\' && s[i] != '\n' && s[i] < utf8.RuneSelf {
		i++
	}
	return i
}

// appendUnescaped appends the result of unescapePlain.
func appendUnescaped(dst, s []byte) []byte {
	for {
		i := bytes.IndexByte(s, '\\')
		if i < 0 {
			return append(dst, s...)
		}
		dst = append(append(dst, s[:i]...), escapes[s[i+1]])
		s = s[i+2:]
	}
}

// object adds the object of a call. It returns false for IDs and pods in spellings
// that need parsing.
func (d *direct) object(values *[rpcKeys][]byte) bool {
	for _, id := range values[:rpcImage+1] {
		if len(id) == 0 {
			continue
		}
		if id[0] == '{' || id[0] == '"' || id[len(id)-1] == '"' || bytes.Contains(id, []byte("ID")) || bytes.Contains(id, []byte("://")) {
			return false
		}
		if len(values[rpcImage]) == 0 && bytes.IndexByte(id, '/') >= 0 {
			return false
		}
		d.add(4, "id", id)
		break
	}
	if pod := values[rpcPod]; len(pod) > 0 {
		n := stretch(pod, podChar)
		if n == 0 || n >= len(pod)-1 || pod[n] != '/' || stretch(pod[n+1:], podChar) != len(pod)-n-1 {
			return false
		}
		d.add(5, "pod_ns", pod[:n])
		d.add(6, "pod_name", pod[n+1:])
	}
	if uid := values[rpcPodUID]; len(uid) > 0 {
		d.add(7, "pod_uid", uid)
	}
	return true
}

// failure adds the fields that errFields would. It returns false if the error needs
// parsing.
func (d *direct) failure(err []byte) bool {
	if len(err) == 0 {
		return true
	}
	if bytes.Contains(err, rpcTooMuch) {
		return false
	}
	d.add(8, "err", err)
	if rest, ok := bytes.CutPrefix(err, rpcStated); ok {
		n := stretch(rest, typeChar)
		if n > 0 && bytes.HasPrefix(rest[n:], rpcDesc) && string(rest[:n]) != "Unknown" && slices.Contains(codeNames[:], string(rest[:n])) {
			d.add(9, "code", rest[:n])
			return true
		}
	}
	if code := errorCode(string(err)); code != "" {
		d.add(9, "code", []byte(code))
	}
	return true
}
