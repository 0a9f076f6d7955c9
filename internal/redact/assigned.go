package redact

import "strings"

// How surely a name says that what is assigned to it is a credential.
type trust int

const (
	noSecret  trust = iota
	maybe           // a key: of what, its value must tell
	likely          // a token or a secret, which may be told of in prose
	certainly       // a password
)

// roots are how names of credentials end, without what joins their words;
// what stands alone is in ends.
var (
	roots = map[trust][]string{
		certainly: {"password", "passwd", "passphrase", "passwort", "apikey", "authorization", "cookie", "dockerconfigjson", "dockercfg", "privatekey", "accesskey", "accountkey", "secretkey", "subscriptionkey"},
		likely:    {"secret", "token", "credential", "signature"},
	}
	ends = map[string]trust{"pass": certainly, "pwd": certainly, "pw": certainly, "passin": certainly, "passout": certainly, "psk": certainly, "auth": maybe, "sig": likely, "csrf": likely, "xsrf": likely, "sessionid": likely, "sid": maybe, "session": maybe, "key": maybe}
	// about are last words that only tell about a credential.
	about = wordSet("name names namespace file files path dir ref refs type policy provider manager ttl age expiry expiration expires timeout count size length version controller class url uri enabled kind request requests review volume mount cache informer store go group audience")
	// parts are last words that do not take away that it is one.
	parts = wordSet("data id value string text json b64 base64 plain hash")
	// nothing are values that hold nothing.
	nothing = wordSet("true false nil null none unset yes no not is was for of and or in to the a an required expired incorrect wrong invalid empty missing mismatch rotation authentication auth failed prompt reset change changed has with flag rejected denied")
)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// trusted tells what a name says of its value.
func (r *Redactor) trusted(name string) trust {
	if len(name) > 128 {
		return noSecret
	}
	t, known := r.trust[name]
	if !known {
		if len(r.trust) >= maxPatterns {
			clear(r.trust)
		}
		t = trustIn(name)
		r.trust[strings.Clone(name)] = t
	}
	return t
}

func trustIn(name string) trust {
	var segments []string // the words of the name, folded
	from := 0
	for i := 0; i <= len(name); i++ {
		if i == len(name) || name[i] == '_' || name[i] == '-' || name[i] == '.' {
			segments = append(segments, name[from:i])
			from = i + 1
		} else if i > from && isUpper(name[i]) && !isUpper(name[i-1]) {
			segments = append(segments, name[from:i])
			from = i
		}
	}
	for len(segments) > 1 && parts[strings.ToLower(segments[len(segments)-1])] || len(segments) > 1 && segments[len(segments)-1] == "" {
		segments = segments[:len(segments)-1]
	}
	last := strings.ToLower(segments[len(segments)-1])
	if about[last] {
		return noSecret
	}
	if t := ends[last]; t > maybe || t == maybe && last != "key" {
		return t
	}
	flat := strings.ToLower(strings.Join(segments, ""))
	flat = strings.TrimSuffix(strings.TrimRight(flat, "0123456789"), "s")
	for _, t := range []trust{certainly, likely} {
		for _, r := range roots[t] {
			if strings.HasSuffix(flat, r) {
				return t
			}
		}
	}
	switch {
	case strings.HasSuffix(flat, "pas") && !strings.HasSuffix(flat, "bypas") && !strings.HasSuffix(flat, "compas"): // "pass", its s gone
		return certainly
	case strings.HasSuffix(flat, "pwd"):
		return certainly
	case last == "key" && len(segments) > 1:
		return maybe
	}
	return noSecret
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

func isNameByte(c byte) bool {
	return isAlnum(c) && c < 0x80 || c == '_' || c == '-' || c == '.'
}

// joint is what stands between a name and its value.
type joint int

const (
	noJoint joint = iota
	space         // "token X": prose, unless the name is a flag
	verb          // "password is X"
	colon         // "token: X": prose, a header, or YAML
	tight         // "=X", ":X", ":=X"
)

// signs join a name to its value, as they are and in escapes.
var signs = []struct {
	text string
	joint
}{{":=", tight}, {"=>", tight}, {"=", tight}, {":", colon}, {"%3d", tight}, {"%3a", tight}, {`u003d`, tight}, {`x3d`, tight}, {`u003a`, tight}, {`x3a`, tight}}

// assigned appends the values of what is called a password, a token, a key:
// PASSWORD=x, "token": "x", --client-secret x, X-Api-Key: x, password is x,
// {Name:DB_PASSWORD,Value:x}.
func (r *Redactor) assigned(out []cut, s string) []cut {
	before := noSecret // the name before the last one
	for i := 0; i < len(s); {
		if !isNameByte(s[i]) {
			i++
			continue
		}
		j := i
		for j < len(s) && isNameByte(s[j]) {
			j++
		}
		name := strings.TrimLeft(s[i:j], "-.")
		dashes := j - i - len(name)
		t := noSecret
		if len(name) >= 2 {
			t = r.trusted(name)
		}
		flag := dashes > 0 && s[i] == '-' && (i == 0 || strings.IndexByte(" \t\n\"'[(,", s[i-1]) >= 0)
		switch {
		case t == noSecret && len(name) == 5 && strings.EqualFold(name, "value"):
			t = before // {"name": "TOKEN", "value": "x"}
		case t == noSecret && name == "code" && i > 0 && (s[i-1] == '?' || s[i-1] == '&'):
			t = maybe
		case flag && dashes == 1 && s[i+1] == 'p' && t == noSecret && strings.ContainsAny(s[i:valueEnd(s, skipQuote(s, skipBlank(s, j)))], "0123456789") && (len(name) == 1 || opaque(name[1:])): // of mysql, sshpass, docker; names of properties have no digits
			t = maybe
			if len(name) > 1 {
				out = append(out, cut{i + 2, valueEnd(s, j)})
			}
		}
		at := j
		if t > noSecret {
			if from, to := assignedTo(s, i, j, t, flag); to > from {
				out = append(out, cut{from, to})
				at = to
			}
		}
		before = t
		i = at
	}
	return out
}

// assignedTo returns the credential that the name s[i:j] holds, nothing if it holds none.
func assignedTo(s string, i, j int, t trust, flag bool) (from, to int) {
	at := skipQuote(s, j)
	if i > 0 && s[i-1] == '<' && at < len(s) && s[at] == '>' {
		from = at + 1
		if n := strings.IndexByte(s[from:], '<'); n > 0 {
			return from, from + n
		}
		return 0, 0
	}
	quotedName := at > j
	gap := skipBlank(s, at)
	how, value := joined(s, gap)
	switch {
	case how == noJoint && (gap == at || quotedName):
		return 0, 0
	case how == noJoint:
		how, value = space, gap
		if flag {
			how = tight
		}
		for _, w := range []string{"is ", "was "} {
			if strings.HasPrefix(s[gap:], w) {
				how, value = verb, gap+len(w)
			}
		}
	case how == colon && (value < len(s) && s[value] != ' ' || quotedName):
		how = tight
	}
	value = skipBlank(s, value)
	for _, opener := range []string{"[]byte(", "[", "(", "{"} {
		if strings.HasPrefix(s[value:], opener) && how >= colon {
			value += len(opener)
			break
		}
	}
	from = skipQuote(s, value)
	quote := s[value:from]
	for { // Authorization: Bearer x
		n := schemeEnd(s, from)
		if n == 0 || t < likely {
			break
		}
		from = n
	}
	if quote != "" {
		n := strings.Index(s[from:], quote)
		if n < 0 {
			n = valueEnd(s, from) - from
		}
		to = from + n
	} else if to = valueEnd(s, from); strings.HasSuffix(strings.ToLower(s[i:j]), "cookie") {
		for to+2 < len(s) && s[to] == ';' && strings.IndexByte(s[to+1:valueEnd(s, to+2)], '=') > 0 {
			to = valueEnd(s, to+2)
		}
	}
	if to < len(s) && s[to] == '{' {
		return 0, 0 // what Go prints of a type
	}
	v := s[from:to]
	if len(v) < 3 || nothing[strings.ToLower(v)] || v == hidden || isPath(v) {
		return 0, 0
	}
	plain := vocabulary()[strings.ToLower(v)]
	switch {
	case how == tight && t >= likely && (quote == "" || !plain),
		how >= verb && t == certainly && !plain,
		how == colon && t == likely && quote != "" && len(v) >= 6 && !plain,
		how == space && strings.EqualFold(s[i:j], "secret") && quote != "":
		if how == space {
			return 0, 0 // the name of an object
		}
		return from, to
	}
	if strings.ContainsAny(v, " :") && how < tight || !opaque(v) || figures().MatchString(v) {
		return 0, 0
	}
	return from, to
}

// joined reads a sign that joins a name to its value.
func joined(s string, i int) (joint, int) {
	at := i
	for at < len(s) && s[at] == '\\' {
		at++
	}
	for _, sign := range signs {
		letter := sign.text[0] == 'u' || sign.text[0] == 'x'
		k := i
		if letter {
			if at == i {
				continue
			}
			k = at
		}
		if end := k + len(sign.text); end <= len(s) && strings.EqualFold(s[k:end], sign.text) {
			if sign.text == ":" && end+1 < len(s) && s[end] == '/' && s[end+1] == '/' {
				return noJoint, i // a scheme
			}
			return sign.joint, end
		}
	}
	return noJoint, i
}

// schemeEnd is where the name of a way to authenticate at i ends and what it takes begins.
func schemeEnd(s string, i int) int {
	j := wordEnd(s, i)
	switch strings.ToLower(s[i:j]) {
	case "bearer", "basic", "token", "digest", "negotiate", "apikey", "oauth":
		if k := skipBlank(s, j); k > j {
			return k
		}
	}
	return 0
}

func skipQuote(s string, i int) int {
	j := i
	for j < len(s) && s[j] == '\\' {
		j++
	}
	if j < len(s) && (s[j] == '"' || s[j] == '\'' || s[j] == '`') {
		return j + 1
	}
	return i
}

// skipBlank skips spaces, written as they are or escaped.
func skipBlank(s string, i int) int {
	for i < len(s) {
		switch {
		case s[i] == ' ' || s[i] == '\t':
			i++
		case strings.HasPrefix(s[i:], "%20"):
			i += 3
		default:
			return i
		}
	}
	return i
}

// valueEnd is where a value without quotes ends.
func valueEnd(s string, i int) int {
	for i < len(s) && strings.IndexByte(" \t\r\n\"'\\,;&)]{}<>", s[i]) < 0 {
		i++
	}
	return i
}

// isPath reports whether a value is where a credential lies.
func isPath(v string) bool {
	return v[0] == '/' && strings.Count(v, "/") > 1 && len(random(nil, v)) == 0
}

// opaque reports whether a value is no word: it mixes letters and digits, or
// cases, or has no vowels.
func opaque(v string) bool {
	if len(v) < 6 {
		return false
	}
	var lower, upper, digits, inner, vowels int
	for i := range len(v) {
		switch c := v[i]; {
		case c >= '0' && c <= '9':
			digits++
		case isUpper(c):
			upper++
			if i > 0 && !isUpper(v[i-1]) {
				inner++
			}
		case c >= 'a' && c <= 'z':
			lower++
		}
		if strings.IndexByte("aeiouyAEIOUY", v[i]) >= 0 {
			vowels++
		}
	}
	letters := lower + upper
	return digits > 0 && letters > 0 || inner > 0 && lower > 0 || letters >= 8 && vowels == 0
}
