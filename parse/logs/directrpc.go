package logs

import "bytes"

// rpcKeys are the keys of a failed call that tell something. Those up to image name
// what it was about, the first that is there.
var rpcKeys = [...]string{"containerID", "podSandboxID", "sandboxID", "containerName", "image", "pod", "podUID", "err", "filter"}

const (
	rpcImage = 4 + iota
	rpcPod
	rpcPodUID
	rpcErr
	rpcFilter
)

var (
	rpcRemote  = []byte("remote")
	rpcAll     = []byte("all")
	rpcStated  = []byte("rpc error: code = ")
	rpcDesc    = []byte(" desc")
	rpcTooMuch = []byte(tooLarge)
)

// directRPC reads what extractRPC would of a structured line of the remote client
// whose values are all quoted: a call that fails does so again and again.
func directRPC(t *told, d *direct) verdict {
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
	var values [len(rpcKeys)][]byte
	if !d.pairs(t.msg[n+2:], values[:]) {
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

// pairs reads ` key="value"` to the end of s and puts the values of rpcKeys, the
// first of each, where these stand. It is false where it stands otherwise.
func (d *direct) pairs(s []byte, values [][]byte) bool {
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
		n, escaped := plainQuoted(s)
		if n == 0 {
			return false
		}
		for i := range rpcKeys {
			if values[i] != nil || string(key) != rpcKeys[i] {
				continue
			}
			values[i] = s[1 : n-1]
			if escaped {
				if len(room)+n > len(d.room) {
					return false
				}
				at := len(room)
				room = appendUnescaped(room, values[i])
				values[i] = room[at:]
			}
		}
		s = s[n:]
	}
	return true
}

// appendUnescaped is unescapePlain.
func appendUnescaped(dst, s []byte) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' {
			i++
			c = escapes[s[i]]
		}
		dst = append(dst, c)
	}
	return dst
}

// object adds what a call was about. It is false for ids and pods in spellings that
// must be taken apart.
func (d *direct) object(values *[len(rpcKeys)][]byte) bool {
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

// failure adds what errFields does.
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
		if n > 0 && bytes.HasPrefix(rest[n:], rpcDesc) && string(rest[:n]) != "Unknown" {
			d.add(9, "code", rest[:n])
			return true
		}
	}
	if code := errorCode(string(err)); code != "" {
		d.add(9, "code", []byte(code))
	}
	return true
}
