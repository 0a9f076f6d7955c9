package redact

import "strings"

// trust says how sure it is, judging by a name, that the value assigned to it is a credential.
type trust int

const (
	noSecret  trust = iota
	maybe           // a key or code: the value decides
	likely          // a token or a secret, which prose may mention without giving it
	certainly       // a password
)

// roots are suffixes of the names of credentials, with the separators between words removed. Words
// that must match as a whole are in ends.
var (
	roots = map[trust][]string{
		certainly: {"password", "passwd", "passphrase", "passwort", "passwrd", "pasword", "passw", "pswd", "psswd", "kennwort", "wachtwoord", "salasana", "senha", "apikey", "appkey", "dsn", "authorization", "cookie", "dockerconfigjson", "dockercfg", "privatekey", "accesskey", "accountkey", "secretkey", "subscriptionkey"},
		likely:    {"secret", "token", "credential", "signature", "sessid", "sessionid", "nonce", "assertion", "verifier", "samlresponse", "totp", "authcode"},
	}
	ends = map[string]trust{"pass": certainly, "passe": certainly, "passcode": certainly, "code": maybe, "codes": maybe, "access": maybe, "mfa": likely, "ticket": maybe, "pin": maybe, "otp": likely, "cred": likely, "creds": likely, "salt": maybe, "seed": maybe, "jwt": likely, "hmac": maybe, "license": maybe, "licence": maybe, "community": maybe, "pwd": certainly, "pw": certainly, "passin": certainly, "passout": certainly, "psk": certainly, "auth": maybe, "sig": likely, "csrf": likely, "xsrf": likely, "sid": maybe, "session": maybe}
	// within are words that may indicate a credential anywhere in a name.
	within = wordSet("key secret token pass password passwd passphrase cred creds salt hmac auth")
	// keyed are words after which "key" is a name: map key, pod key.
	keyed = wordSet("pod container configmap label taint map cgroup cache sort node annotation object queue volume metric registry sysctl selector topology index image lookup")
	// about are last words of names that only describe a credential.
	about = wordSet("name names namespace file files path dir ref refs type policy provider manager ttl age expiry expiration expires timeout count size length version controller class url uri enabled kind request requests review volume mount cache informer store go group audience")
	// parts are last words that do not change what the name is of.
	parts = wordSet("data id value string text json b64 base64 plain hash")
	// coded are words before a "code" that is not secret.
	coded = wordSet("status exit error err return returned ret response result reason http https grpc rpc country zip postal area event source machine byte char key scan lang language region currency opcode op")
	// nothing are words that are not credentials.
	nothing = wordSet("true false nil null none unset yes no not is was for of and or in to the a an required expired incorrect wrong invalid empty missing mismatch rotation authentication auth failed prompt reset change changed has with flag rejected denied")
)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// trusted returns what a name says of its value. Results are cached.
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
	var segments []string // words of the name, lowercase
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
	if whole := strings.ToLower(strings.Join(segments, "")); connects(whole) {
		return certainly
	}
	for len(segments) > 1 && parts[strings.ToLower(segments[len(segments)-1])] || len(segments) > 1 && segments[len(segments)-1] == "" {
		segments = segments[:len(segments)-1]
	}
	last := strings.ToLower(segments[len(segments)-1])
	if about[last] || len(segments) > 1 && strings.HasPrefix(last, "code") && coded[strings.ToLower(segments[len(segments)-2])] {
		return noSecret
	}
	if t := ends[last]; t > noSecret {
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
	case strings.HasSuffix(flat, "pas") && !strings.HasSuffix(flat, "bypas") && !strings.HasSuffix(flat, "compas"): // "pass" without its s
		return certainly
	case strings.HasSuffix(flat, "pwd"), strings.HasSuffix(flat, "pw"):
		return certainly
	case strings.HasSuffix(flat, "key"), strings.HasSuffix(flat, "auth"):
		return maybe
	}
	for _, segment := range segments {
		if within[strings.ToLower(segment)] {
			return maybe
		}
	}
	return noSecret
}

// connects reports whether a lowercase name is that of a connection string, which may include a
// password.
func connects(name string) bool {
	return strings.Contains(name, "connectionstring") || strings.HasSuffix(name, "connstr")
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

func isNameByte(c byte) bool {
	return isAlnum(c) && c < 0x80 || c == '_' || c == '-' || c == '.'
}

// joint is what joins a name to its value.
type joint int

const (
	noJoint joint = iota
	space         // "token X": prose, unless the name is a flag
	verb          // "password is X"
	call          // "setPassword(X)"
	colon         // "token: X": prose, a header, or YAML
	tight         // "=X", ":X", ":=X"
)

// signs are the separators between a name and its value, literal and escaped.
var signs = []struct {
	text string
	joint
}{{":: ", tight}, {":=", tight}, {"=>", tight}, {"&#61;", tight}, {"==", tight}, {"=", tight}, {":", colon}, {"%3d", tight}, {"%3a", tight}, {`u003d`, tight}, {`x3d`, tight}, {`u003a`, tight}, {`x3a`, tight}}

// assigned appends the values assigned to names of passwords, tokens and keys: PASSWORD=x, "token":
// "x", --client-secret x, X-Api-Key: x, password is x, {Name:DB_PASSWORD,Value:x}.
func (r *Redactor) assigned(out []cut, s string) []cut {
	before := noSecret // trust of the previous name
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
		if t == noSecret && i > 0 && s[i-1] == '\\' && strings.IndexByte("nrt", s[i]) >= 0 {
			i++ // the letter of an escape
			continue
		}
		flag := dashes > 0 && name != "" && s[i] == '-' && (i == 0 || strings.IndexByte(" \t\n\"'[(,", s[i-1]) >= 0)
		switch {
		case t == noSecret && len(name) == 5 && strings.EqualFold(name, "value"):
			t = before // {"name": "TOKEN", "value": "x"}
		case len(name) == 1 && (name == "p" || name == "t") && i > 0 && (s[i-1] == '?' || s[i-1] == '&'):
			t = maybe
		case flag && dashes == 1 && s[i+1] == 'p' && t == noSecret && strings.ContainsAny(s[i:optionEnd(s, j)], "0123456789") && (len(name) == 1 || opaque(name[1:]) || isNumber(name[1:])): // option of mysql, sshpass, docker; property names have no digits
			t = maybe
			if len(name) > 1 {
				out = append(out, cut{i + 2, secretEnd(s, i+2, valueEnd(s, j))})
			} else if from := skipQuote(s, j); from > j && from < len(s) && s[from] != ',' { // -p"x"
				out = append(out, cut{from, closing(s, from, s[j:from])})
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

// optionEnd returns the end of the value of the option at i.
func optionEnd(s string, i int) int {
	if k := skipQuote(s, i); k > i && k < len(s) && s[k] == ',' { // "-p","x"
		i = k + 1
	}
	i = skipBlank(s, i)
	if from := skipQuote(s, i); from > i {
		return closing(s, from, s[i:from])
	}
	return valueEnd(s, i)
}

// assignedTo returns the credential assigned to the name s[i:j], an empty range if there is none.
func assignedTo(s string, i, j int, t trust, flag bool) (from, to int) {
	at := skipQuote(s, j)
	if from, to, is := element(s, i, j, at, t); is {
		return from, to
	}
	how, value := linked(s, i, j, at, t, flag)
	if how == noJoint {
		return 0, 0
	}
	before := strings.ToLower(wordBefore(s, i))
	if how == space && t == maybe && strings.EqualFold(s[i:j], "key") && guarded[before] {
		t = likely // api key x
	}
	value, end := opened(s, value, t, how)
	if end > value {
		return value, end
	}
	a := assigned{name: s[i:j], before: before, spaced: j < len(s) && s[j] == ' ', how: how, trust: t}
	from, to = a.extent(s, value)
	if k := run(s, min(to+1, len(s)), "_"); to < len(s) && s[to] == '{' && (k == to+1 || k < len(s) && s[k] == ':') {
		return 0, 0 // a type printed by Go
	}
	v := s[from:to]
	if a.quote == "" {
		end := secretEnd(s, from, to)
		if len(v) < 3 {
			v = s[from:end]
		}
		to = end
	}
	if len(v) < 3 || nothing[strings.ToLower(v)] || v == hidden || isPath(v) {
		return 0, 0
	}
	if a.surely(v) {
		return from, to
	}
	if !a.secret(v) && !a.plainly(v, s[to:]) {
		return 0, 0
	}
	for k := skipBlank(s, to); codes(a.name) && a.name[len(a.name)-1] == 's' && k > to && isNumber(s[k:valueEnd(s, k)]); k = skipBlank(s, to) {
		to = valueEnd(s, k) // recovery codes x y
	}
	return from, to
}

// element returns the text of an XML element whose tag or attribute is the name s[i:j]; at is the
// place behind the name and its quote. is tells whether it is one.
func element(s string, i, j, at int, t trust) (from, to int, is bool) {
	if i > 0 && s[i-1] == '<' {
		if to := strings.IndexAny(s[at:min(len(s), at+maxRun)], "<>"); to >= 0 && s[at+to] == '>' && (to == 0 || s[at] == ' ') {
			from = at + to + 1 // <password encrypted="no">x</password>
			if n := strings.IndexByte(s[from:], '<'); n > 0 {
				return from, from + n, true
			}
			return 0, 0, true
		}
	}
	if n := strings.IndexByte(s[min(at+1, len(s)):], '<'); at > j && n > 0 && s[at] == '>' && t >= likely {
		return at + 1, at + 1 + n, true // <entry key="password">x</entry>
	}
	return 0, 0, false
}

// linked returns how a value is assigned to the name s[i:j] and where the value begins; at is
// the place behind the name and its quote.
func linked(s string, i, j, at int, t trust, flag bool) (how joint, value int) {
	quotedName, named := at > j, s[i:j]
	gap := pastNote(s, skipBlank(s, at))
	if k := digitsEnd(s, gap); k > gap && k < gap+3 && k < len(s) && s[k] == ':' {
		gap = k // Key 1: x
	}
	how, value = joined(s, gap)
	if strings.EqualFold(named, "key") && keyed[strings.ToLower(wordBefore(s, i))] || codes(named) && coded[strings.ToLower(wordBefore(s, i))] {
		return noJoint, 0
	}
	switch {
	case how == noJoint && t >= likely && gap == j && j < len(s) && s[j] == '(':
		how, value = call, j+1
	case how == noJoint && flag && quotedName && gap < len(s) && s[gap] == ',': // ["--password","x"]
		how, value = tight, gap+1
	case how == noJoint && t == certainly && gap < len(s) && (quotedName || gap == at || s[gap] == '|') && loosely(s, i, gap, quotedName):
		how, value = space, gap+1
		if isAlnum(s[gap]) {
			value = j // password'x'
		}
	case how == noJoint && (gap == at || quotedName):
		return noJoint, 0
	case how == noJoint:
		how, value = space, gap
		if flag {
			how = tight
		}
		if end := linkEnd(s, gap); end > gap {
			how, value = verb, end
		}
	case how == colon && (value < len(s) && s[value] != ' ' || quotedName):
		how = tight
	}
	value = skipBlank(s, value)
	if next := nextLine(s, value); next > value && how >= colon {
		how, value = colon, next
		if k := wordEnd(s, next); k < len(s) && s[k] == ':' && k+1 < len(s) && isBlank(s[k+1]) {
			return noJoint, 0 // the next key
		}
	}
	return how, value
}

// opened returns the place behind a bracket that opens the value at i, or i if there is none. If
// the brackets hold several values, to is the end of the last one.
func opened(s string, i int, t trust, how joint) (from, to int) {
	for _, opener := range []string{"[]byte(", "[", "(", "{", "$(", "${"} {
		if !strings.HasPrefix(s[i:], opener) || how < colon {
			continue
		}
		if n := strings.IndexAny(upTo(s[i:], "\n"), "]})"); n > 0 && t >= likely && strings.ContainsAny(s[i:i+n], " ,-") && strings.ContainsAny(opener, "[$") && opener != "[]byte(" {
			return i, i + n // [x, y], $(echo x)
		}
		return skipBlank(s, i+len(opener)), 0
	}
	return i, 0
}

// assigned is an assignment to a name.
type assigned struct {
	name   string
	before string // the word before the name
	spaced bool   // a space follows the name
	how    joint
	trust  trust
	quote  string // around the value
}

// extent returns the range of the value that begins at i, and records its quote.
func (a *assigned) extent(s string, i int) (from, to int) {
	from = skipQuote(s, i)
	a.quote = s[i:from]
	for { // Authorization: Bearer x
		n := schemeEnd(s, from)
		if n == 0 || a.trust < likely {
			break
		}
		from = n
	}
	if a.quote != "" {
		to = closing(s, from, a.quote)
	} else if to = valueEnd(s, from); strings.HasSuffix(strings.ToLower(a.name), "cookie") {
		for to+2 < len(s) && s[to] == ';' && strings.IndexByte(s[to+1:valueEnd(s, to+2)], '=') > 0 {
			to = valueEnd(s, to+2)
		}
	}
	if a.quote == "" && connects(strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(a.name))) {
		to = from + len(strings.TrimRight(upTo(s[from:], " \t\r\n\"'`"), "\\,;)}]"))
	}
	if n := strings.IndexByte(s[from:to], ':'); a.quote == "" && a.how == space && n > 0 && n == strings.LastIndexByte(s[from:to], ':') {
		from, a.how = from+n+1, colon // auth bob:x
	}
	return from, to
}

// surely reports whether the assigned value v is a credential by its name and sign alone.
func (a *assigned) surely(v string) bool {
	how, t := a.how, a.trust
	plain := vocabulary()[strings.ToLower(v)]
	return how == tight && t >= likely && (a.quote == "" || !plain) ||
		how >= verb && t == certainly && !plain ||
		(how == colon || how == call) && t == likely && a.quote != "" && len(v) >= 6 && !plain ||
		how == space && t == certainly && a.quote != "" && len(v) <= labelEnd && a.spaced
}

// secret reports whether the assigned value v, which is not surely a credential, looks like one.
func (a *assigned) secret(v string) bool {
	how, t := a.how, a.trust
	switch name := strings.ToLower(a.name); {
	case how == space && name == "secret" && a.quote != "":
		return false // the name of a Secret
	case len(v) > 3 && digitsEnd(v, 0) == len(v) && ((how >= colon || a.name == "PIN") && name == "pin" || name == "otp" || name == "mfa" || codes(a.name) && guarded[a.before]):
		return true
	case isNumber(v): // Session 171234 of user root, a Windows error code
		return !(how < colon && (name == "session" || name == "sid" || a.name == "auth") || how == call || codes(a.name) && len(v) == 10 && v >= "2147483648")
	case (codes(a.name) || name == "access") && (!strings.ContainsAny(v, "0123456789") || strings.ContainsAny(v, "/:.(") || strings.HasPrefix(v, "0x")):
		return false
	case strings.ContainsAny(v, " :") && how < tight, !opaque(v), figures().MatchString(v) && strings.Trim(v[:min(6, len(v))], "0123456789") != "",
		how == call && strings.HasPrefix(v, "0x"),
		t == maybe && uidForm(v, 0, wordEnd(v, 0)).end == len(v),
		name == "key" && (strings.ContainsAny(v, "/:@") || how < colon && !strings.ContainsAny(v, "0123456789")):
		return false
	}
	return true
}

// guarded are words before a key or a code that is secret.
var guarded = wordSet("api access secret private encryption master shared security door entry unlock pass")

// nouns are words behind that of a credential that go on with it: token review, password hash.
var nouns = wordSet(`account accounts audiences authenticator authority backend cached config configuration data encryption endpoint entry env exchange field format generator hash header holder issuer key keys
	length lookup management material object objects parser policy projection prompt protected protection resource resources rotator scope secret secrets server service services signer source sources
	storage string strings subject token tokens user users validator value values variable variables vault verifier volume volumes with password passwords credential credentials lock locker agent agents bucket buckets ring rings`)

// plainly reports whether the word v is a credential though it looks like any other: it is no word of
// messages about credentials, and a clause ends with it, or goes on with what became of it.
func (a *assigned) plainly(v, rest string) bool {
	w := strings.ToLower(v)
	if a.trust < likely || a.quote != "" || a.how != space && a.how != colon || strings.ContainsFunc(w, func(c rune) bool { return c < 'a' || c > 'z' }) ||
		vocabulary()[w] || fixed[w] || about[w] || parts[w] || nouns[w] || strings.HasSuffix(w, "ing") || strings.HasSuffix(w, "tion") {
		return false
	}
	if rest == "" || strings.IndexByte(".,;:)]}\"'\\\n", rest[0]) >= 0 {
		return true
	}
	return became[strings.ToLower(rest[1:wordEnd(rest, 1)])]
}

// became are words behind a credential that tell what became of it.
var became = wordSet("is was did does has failed refused rejected denied accepted used expired")

// pastNote returns the end of a remark or an index in brackets at i that a sign follows, as in
// password (old): x. It returns i if there is none.
func pastNote(s string, i int) int {
	if i == len(s) || s[i] != '(' && s[i] != '[' {
		return i
	}
	n := strings.IndexAny(s[i:min(len(s), i+labelEnd)], "])")
	if k := i + n + 1; n > 0 && k < len(s) && (s[k] == ':' || s[k] == '=') {
		return k
	}
	return i
}

// codes reports whether a name ends in "code" or "codes", which may be an access code.
func codes(name string) bool {
	return strings.HasSuffix(strings.ToLower(strings.TrimSuffix(name, "s")), "code")
}

// loosely reports whether the byte at gap joins the password named at i to its value, though it
// joins no other names and values: password/x, password|x, password'x'.
func loosely(s string, i, gap int, quoted bool) bool {
	if isAlnum(s[gap]) {
		return quoted
	}
	return strings.IndexByte("/|,;~+", s[gap]) >= 0 && (i == 0 || s[i-1] != '/' && s[i-1] != '.')
}

// digitsEnd returns the end of the digits at i.
func digitsEnd(s string, i int) int {
	for digitAt(s, i) {
		i++
	}
	return i
}

// upTo returns s up to the first byte that is in stop.
func upTo(s, stop string) string {
	if i := strings.IndexAny(s, stop); i >= 0 {
		return s[:i]
	}
	return s
}

// nextLine returns the start of the next line if nothing but a YAML block indicator precedes it at
// i, else i.
func nextLine(s string, i int) int {
	from := i
	for from < len(s) && strings.IndexByte("|>-+", s[from]) >= 0 {
		from++
	}
	next := skipBreaks(s, from)
	if next == from || next == len(s) || strings.Trim(s[from:next], " \t") == "" {
		return i
	}
	if strings.HasPrefix(s[next:], "- ") {
		next += len("- ")
	}
	return next
}

// isNumber reports whether a value is a number too long for a count.
func isNumber(v string) bool {
	if len(v) > len("2006-01-02") {
		v = strings.ReplaceAll(v, "-", "")
	}
	return len(v) >= 6 && strings.Trim(v, "0123456789") == ""
}

// wordBefore returns the word before s[i:].
func wordBefore(s string, i int) string {
	to := len(strings.TrimRight(s[max(0, i-labelEnd):i], " ")) + max(0, i-labelEnd)
	from := to
	for from > 0 && to-from < labelEnd && isAlnum(s[from-1]) {
		from--
	}
	return s[from:to]
}

// links are phrases between a name and its value.
var links = []string{"is set to ", "was set to ", "has been set to ", "is changed to ", "was changed to ", "has been changed to ", "will be ", "used: ", "string ", "-> ", "→ ", "set to ", "changed to ", "reset to ", "is ", "was "}

// linkEnd returns the end of a phrase at i that leads to a value, i if there is none.
func linkEnd(s string, i int) int {
	for _, w := range links {
		if end := i + len(w); end <= len(s) && strings.EqualFold(s[i:end], w) {
			return end
		}
	}
	for _, w := range []string{"for ", "of "} { // password for bob: x
		if !strings.HasPrefix(s[i:], w) {
			continue
		}
		near := s[i+len(w) : min(len(s), i+len(w)+labelEnd)]
		if end := strings.IndexAny(near, " :"); end > 0 && strings.HasPrefix(near[end:], ": ") {
			return i + len(w) + end + len(": ")
		}
		if end := strings.Index(near, " is "); end > 0 && !strings.ContainsAny(near[:end], ",;.\"") {
			from := i + len(w) + end + len(" is ")
			if v := s[from:optionEnd(s, from)]; opaque(v) || isNumber(v) {
				return from
			}
		}
	}
	return i
}

// closing returns the end of the quoted value that begins at from, after quote. A quotation mark
// within the value has more escapes than the opening one.
func closing(s string, from int, quote string) int {
	mark, n := quote[len(quote)-1], len(quote)-1
	slashes, at := 0, 0
	for i := from; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			slashes++
			continue
		case s[i] == mark && (slashes < n || (slashes-n)%(2*n+2) == 0):
			if at = i - min(slashes, n); i+1 == len(s) || !isAlnum(s[i+1]) {
				return at
			}
		}
		slashes = 0
	}
	if at > from {
		return at
	}
	return secretEnd(s, from, valueEnd(s, from))
}

// secretEnd returns the end of the unquoted value that begins with s[from:to]: the end of the word,
// but before another assignment or a bracket that was opened before the value.
func secretEnd(s string, from, to int) int {
	const open, shut = "([{<", ")]}>"
	var depth [len(open)]int
	for i := to; i < len(s); i++ {
		switch c := s[i]; {
		case strings.IndexByte(" \t\r\n\"'", c) >= 0:
			return to
		case strings.IndexByte(",;&", c) >= 0:
			k := i + 1
			for k < len(s) && isNameByte(s[k]) {
				k++
			}
			if k > i+1 && k < len(s) && (s[k] == '=' || s[k] == ':') {
				return to
			}
			if k > i+1 {
				to, i = k, k-1
			}
		case c == '\\':
			for i+1 < len(s) && s[i+1] == '\\' {
				i++
			}
			if i+1 == len(s) || strings.IndexByte("\"'`nrtux", s[i+1]) >= 0 {
				return to
			}
		case strings.IndexByte(open, c) >= 0:
			if strings.HasPrefix(s[i:], "</") {
				return to
			}
			depth[strings.IndexByte(open, c)]++
		case strings.IndexByte(shut, c) >= 0:
			k := strings.IndexByte(shut, c)
			if depth[k]--; depth[k] < 0 {
				before := s[max(0, from-1024):from]
				if strings.Count(before, open[k:k+1]) > strings.Count(before, shut[k:k+1]) {
					return to
				}
				depth[k] = 1 << 30 // no such bracket is open
			}
		default:
			to = i + 1
		}
	}
	return to
}

// joined parses a separator between a name and its value at i, and returns its end.
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
				return noJoint, i // a URL scheme
			}
			return sign.joint, end
		}
	}
	return noJoint, i
}

// schemeEnd returns the start of what follows the name of an authentication scheme at i, 0 if there
// is none.
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

// skipBlank skips spaces, literal or escaped.
func skipBlank(s string, i int) int {
	for i < len(s) {
		switch {
		case s[i] == ' ' || s[i] == '\t':
			i++
		case strings.HasPrefix(s[i:], "%20"):
			i += 3
		case s[i] == '\\':
			k := i
			for k < len(s) && s[k] == '\\' {
				k++
			}
			if k == len(s) || s[k] != 't' || k+1 < len(s) && s[k+1] == '_' {
				return i
			}
			i = k + 1
		default:
			return i
		}
	}
	return i
}

// valueEnd returns the end of an unquoted value.
func valueEnd(s string, i int) int {
	for i < len(s) && strings.IndexByte(" \t\r\n\"'\\,;&)]{}<>", s[i]) < 0 {
		i++
	}
	return i
}

// isPath reports whether a value is the path of a credential.
func isPath(v string) bool {
	return v[0] == '/' && strings.Count(v, "/") > 1 && len(random(nil, v)) == 0
}

// opaque reports whether a value is not a word: it mixes letters and digits, or cases, or has no
// vowels.
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
