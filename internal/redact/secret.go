package redact

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// hidden replaces a credential. It is not a pseudonym: reports need not agree on it, and the map of
// replacements must not contain it.
const hidden = "[secret]"

// login matches the option of curl, smbclient, skopeo and others that takes a user with a password.
const login = `(?:^|[\s"'])(?:-[uU][ =]?|--(?:proxy-)?user[ =]|--(?:[a-z]+-)?creds[ =])`

// credentials are recognized by their form. The group is the secret, or the whole match if there is
// no group. Values of names such as password or token are found by assigned, random text by random.
var credentials = []struct {
	re   func() *regexp.Regexp
	hint []string // one of these, lowercase, must occur in the text
}{
	{lazy(`\bjdbc:[a-z0-9:]+?([^\s/"'@:]+/[^\s/"'@]+)@`), []string{"jdbc:"}},
	{lazy(login + `([^\s"':%\\]+[:%][^\s"'\\]+)`), []string{"-u", "-creds"}},
	{lazy(login + `\\*"([^\s"\\:%]+[:%][^"\\]+)`), []string{"-u", "-creds"}},
	{lazy(login + `\\*'([^\s'\\:%]+[:%][^'\\]+)`), []string{"-u", "-creds"}},
	{lazy(`\b(?:user(?:name)?=|--user[ =])[^\s"'\\%,]+%([^\s"'\\,]+)`), []string{"user"}},
	{lazy(`(?i)user(?:name)?=[\w.-]+:([^\s"'\\,;&/]{3,})`), []string{"user=", "username="}},
	{lazy(`(?i)\b(?:log[io]n|auth[a-z]*|credentials?) [^:/]{0,40}?\b[a-z_][\w.-]*[:/](\d{6,})\b`), []string{"login", "logon", "auth", "credential"}},
	{lazy(`\bnet use [^|\n]*?\\\\\S+ ([^\s/"'\\][^\s"'\\]*)`), []string{"net use"}},
	{lazy(`\bnet use [^|\n]*?/user:\S+ ([^\s/"'\\][^\s"'\\]*)`), []string{"net use"}},
	{lazy(`\b(?:echo|printf)(?: -[a-z]+)* \\*["']?([^\s"'|\\]+)\\*["']? *\| *[^|\n]*?(?:passw|kinit|sudo -S|login|cryptsetup)`), []string{"echo", "printf"}},
	{lazy(`\b(?:\w*passwd|kinit|login|cryptsetup|sudo)\b[^|;\n<]*<<<? ?\\*["']?([^\s"'\\]+)`), []string{"<<"}},
	{lazy(`(?i)\bchpasswd\b[^;]*?[a-z_][\w.-]*:([^\s"'\\]{3,})`), []string{"chpasswd"}},
	{lazy(`\bhtpasswd (?:-\S+ )+\S+ \S+ \\*["']?([^\s"'\\]+)`), []string{"htpasswd"}},
	{lazy(`\bopenssl\b[^|;\n]{0,200}? -[kK] ?\\*["']?([^\s"'\\]+)`), []string{"openssl"}},
	{lazy(`\b(?:snmp[a-z]+\b[^|;\n]{0,200}? -A|(?:un)?zip\b[^|;\n]{0,200}? -P) ?\\*["']?([^\s"'\\]+)`), []string{"snmp", "zip"}},
	{lazy(`\bsnmp[a-z]+\b[^|;\n]{0,200}? -X ?\\*["']?([^\s"'\\]+)`), []string{"snmp"}},
	{lazy(`\bsnmp[a-z]+\b[^|;\n]{0,200}? -c ?\\*["']?([^\s"'\\]+)`), []string{"snmp"}},
	{lazy(`(?:^|[\s"'])(?i:/p(?:w|wd|ass)?[: ])\\*["']?([^\s"'\\]{3,})`), []string{"/p"}},
	{lazy(`(?i)(?:^|[\s"';])auth \\*["']?[a-z_][\w.-]*\\*["']? \\*["']?([^\s"'\\]*\d[^\s"'\\]{3,})`), []string{"auth "}},
	{lazy(`(?i)([^\s"'\\]{3,}\d[^\s"'\\]*)\\*["']? (?:as|is) (?:(?:the|a|its|his|her|my|our|your|their) )?(?:new |old )?(?:password|passphrase|token|secret|pin)\b`), []string{"password", "passphrase", "token", "secret", " pin"}},
	{lazy(`(?i)\bpass[- ](?:word|phrase)\b[ :=]{1,4}\\*["']?([^\s"'\\]+)`), []string{"pass word", "pass phrase", "pass-phrase"}},
	{lazy(`(?i)\b(?:password|secret) \d ([^\s"'\\]+)`), []string{"password ", "secret "}},
	{lazy(`\bpassword -v \\*["']?([^\s"'\\]+)`), []string{"password -v"}},
	{lazy(`\brunas [^|\n]*?/user:\S+ ([^\s/"'\\][^\s"'\\]*)`), []string{"runas "}},
	{lazy(`(?i)\{(?:s?sha\d*|s?md5|crypt|pbkdf2[^}]*)\}([^\s"'\\]+)`), []string{"{sha", "{ssha", "{md5", "{smd5", "{crypt", "{pbkdf2"}},
	{lazy(`(?i)\bauth\\*"?\s?[=:]\s?[(\[]\\*["'][^"']*["'],\s?\\*["']([^"'\\]+)`), []string{"auth=", "auth\\", "auth:", "auth\""}},
	{lazy(`(?i)(?:^|[\s"'(])(?:credentials?|log[io]n|user(?:name)?):? [a-z_][\w.@-]* ?/ ?([^\s"'\\/]*\d[^\s"'\\/]{4,})`), []string{"credential", "login", "logon", "user"}},
	{lazy(`(?i)(?:^|[\s"'=(,])(?:admin|root|administrator|guest|operator)[:/]([^\s"'\\/:@]*\d[^\s"'\\/:@]{4,})`), []string{"admin", "root:", "root/", "guest", "operator"}},
	{lazy(`(?i)\buse \\*["']?([^\s"'\\]*\d[^\s"'\\]{4,})\\*["']? (?:to|for) (?:log|sign)`), []string{" to log", " to sign", " for log", " for sign"}},
	{lazy(`(?i)%3a([^\s"'%]+)%40`), []string{"%40"}},
	{lazy(`(?i)://[^\s"']*/(?:tokens?|keys?|api-?keys?|secrets?|reset[a-z-]*|passwords?)/([^/\s"'?]*\d[^/\s"'?]{5,})`), []string{"token", "key", "secret", "reset", "password"}},
	{lazy(`\b[\w.*-]+:\d{2,5}:[\w*-]+:[\w.-]+:([^\s"'\\]+)`), []string{":5432:", ":6432:"}},
	{lazy(`@[\w.-]+\.[a-z]{2,}:([^\s"'\\/]{6,})(?:[\s"'\\,;]|$)`), []string{"@"}},
	{lazy(`(?i)\bdigest\b.*?\b(?:response|opaque)=\\*"?([^"\\,\s]+)`), []string{"digest"}},
	{lazy(`(?i)(?:contraseña|contrasena|пароль|hasło|lösenord|密码|密碼|口令|パスワード|비밀번호)\\*["']?\s*[:=：]?\s*\\*["']?([^\s"'\\]+)`), []string{"contrase", "пароль", "hasło", "lösenord", "密码", "密碼", "口令", "パスワード", "비밀번호"}},
	{lazy(`(?:\bIDENTIFIED (?:WITH \S+ )?BY (?:PASSWORD )?\\*["']?|(?i:\bidentified (?:with \S+ )?by (?:password )?)\\*')([^\s"'\\]+)`), []string{"identified"}},
	{lazy(`\bvault login (?:-\S+ )*([^\s"'\\-][^\s"'\\]+)`), []string{"vault login"}},
	{lazy(`--from-literal[= ]\\*["']?[^\s=]+=\\*["']?([^\s"'\\]+)`), []string{"--from-literal"}},
	{lazy(`\b(?:ldap[a-z]+\b[^|;\n]{0,200}? -w|ipmitool\b[^|;\n]{0,200}? -P|redis-cli\b[^|;\n]{0,200}? -a) ?\\*["']?([^\s"'\\]+)`), []string{"ldap", "ipmitool", "redis-cli"}},
	{lazy(`(?i)://[^\s"'\\]*hook[^\s"'/\\]*/([^\s"'\\]+)`), []string{"hook"}},
	{lazy(`(?i)\b(?:bearer|negotiate)(?:\s|%20|\+)+([A-Za-z0-9._~+/=-]*[0-9._~+/=-][A-Za-z0-9._~+/=-]{7,}|[A-Za-z0-9]{20,})`), []string{"bearer", "negotiate"}},
	{lazy(`(?i)\bbasic(?:\s|%20|\+)+([A-Za-z0-9+/]{8,}={1,2}|(?-i:[A-Za-z0-9+/]*[A-Z0-9][A-Za-z0-9+/]{11,}))`), []string{"basic"}},
	{lazy(`\b(?:SHA256:[A-Za-z0-9+/]{40,}=?|MD5:[0-9a-f]{2}(?::[0-9a-f]{2}){15})`), []string{"sha256:", "md5:"}}, // of somebody's key
	{lazy(`\beyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)*`), []string{"eyj"}},
	{lazy(`\b(?:AKIA|ASIA|AROA|AIDA)[0-9A-Z]{12,}`), []string{"akia", "asia", "aroa", "aida"}},
	{lazy(`\$(?:\d[a-z]?|apr1|y|sha1|argon2[a-z]*)\$[^\s"':,]+`), []string{"$"}},
	{lazy(`\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|AIza|hv[bsr]\.|npm_|dop_v1_|sha256~|[sr]k_(?:live|test)_|SG\.|dckr_[a-z]+_|pypi-|ya29\.|glsa_|shp[a-z]{2}_|lin_api_|AGE-SECRET-KEY-)[A-Za-z0-9_.-]{10,}`),
		[]string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "aiza", "hvb.", "hvs.", "hvr.", "npm_", "dop_v1_", "sha256~", "_live_", "_test_", "sg.", "dckr_", "pypi-", "ya29.", "glsa_", "shp", "lin_api_", "age-secret"}},
}

// stems occur in names of credentials, in lowercase: a text without any of them assigns no
// credential.
var stems = strings.Split("pas|pw|psk|pin|otp|salt|seed|jwt|hmac|licen|community|secret|token|key|cred|sig|auth|cookie|csrf|xsrf|sid|sess|docker|access|nonce|ticket|psswd|pswd|assertion|verifier|saml|mfa|conn|dsn|wachtwoord|kennwort|senha| -p|\"-p|'-p|&p=|?p=|&t=|?t=", "|")

// cut is a piece of text that is a credential.
type cut struct{ from, to int }

// withoutSecrets removes credentials.
func (r *Redactor) withoutSecrets(s string) string {
	folded := strings.ToLower(s)
	cuts := logins(userinfo(random(keyBlocks(nil, s), s), s), s)
	has := pairsOf(folded)
	holds := func(h string) bool { return has.all(h) && strings.Contains(folded, h) }
	if slices.ContainsFunc(stems, holds) || strings.HasPrefix(s, "-p") || has.all("code") && hasCode(folded) {
		cuts = r.assigned(cuts, s)
	}
	for _, c := range credentials {
		if !slices.ContainsFunc(c.hint, holds) {
			continue
		}
		for _, m := range c.re().FindAllStringSubmatchIndex(s, -1) {
			cuts = append(cuts, cut{m[len(m)-2], m[len(m)-1]})
		}
	}
	if len(cuts) == 0 {
		return s
	}
	slices.SortFunc(cuts, func(a, b cut) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	var b strings.Builder
	last := 0
	for _, c := range cuts {
		if c.from < last {
			if c.to > last { // merge overlapping ones
				last = c.to
			}
			continue
		}
		if c.to <= c.from {
			continue
		}
		b.WriteString(s[last:c.from])
		b.WriteString(hidden)
		last = c.to
	}
	b.WriteString(s[last:])
	return b.String()
}

// userinfo appends what precedes the hosts of URLs. A password may contain a slash if a colon
// precedes it; digits before a slash are a port.
func userinfo(out []cut, s string) []cut {
	for at := 0; ; {
		i := strings.Index(s[at:], "://")
		if i < 0 {
			return out
		}
		from := at + i + len("://")
		at = from
		if from == len("://") || !isAlnum(s[from-len("://")-1]) {
			continue
		}
		end, last, colon, port := from, 0, -1, false
		for ; end < len(s) && strings.IndexByte(" \t\r\n\"'", s[end]) < 0; end++ {
			switch c := s[end]; {
			case c == ':' && strings.HasPrefix(s[end:], "://"):
				port = true // another URL
			case c == ':' && colon < 0:
				colon = end
			case c == '@':
				last = end
			case c == '/' || c == '?' || c == '#':
				port = colon < 0 || end-colon > 1 && end-colon < 7 && strings.Trim(s[colon+1:end], "0123456789") == ""
			}
			if port {
				break
			}
		}
		at = end
		if last > from {
			out = append(out, cut{from, last})
		}
	}
}

// logins appends the passwords in bob:x@host and bob/x@host. Image references, versions and
// Kerberos principals look similar.
func logins(out []cut, s string) []cut {
	for at := 0; ; {
		i := strings.IndexByte(s[at:], '@')
		if i < 0 {
			return out
		}
		end := at + i
		at = end + 1
		if at == len(s) || !isAlnum(s[at]) && s[at] != '[' && s[at] != '/' || strings.HasPrefix(s[at:], "sha") {
			continue
		}
		from := end
		for from > 0 && end-from < labelEnd && strings.IndexByte(" \t\r\n\"'=@:/\\", s[from-1]) < 0 {
			from--
		}
		if end-from < 3 || from < 2 || !isAlnum(s[from-2]) {
			continue
		}
		user := from - 1
		for user > 0 && isNameByte(s[user-1]) {
			user--
		}
		inPath := user > 0 && strings.IndexByte("/:@", s[user-1]) >= 0
		realm := s[at:wordEnd(s, at)]
		switch v := s[from:end]; {
		case s[from-1] == ':' && s[at] != '/':
		case s[from-1] != '/' || inPath || !opaque(v) && !isNumber(v) || digitAt(v, 1) && v[0] == 'v' || realm != "" && strings.ToUpper(realm) == realm && isLetter(rune(realm[0])):
			continue
		}
		out = append(out, cut{from, end})
	}
}

// keyBlocks appends PEM and ASCII-armor blocks. A block without an end extends as long as words of
// base64 follow: a truncated key must not hide the rest of the log.
func keyBlocks(out []cut, s string) []cut {
	const begin, end, dashes = "-----BEGIN ", "-----END ", "-----"
	for at := 0; ; {
		i := strings.Index(s[at:], begin)
		if i < 0 {
			return out
		}
		from := at + i
		title := strings.Index(s[from+len(begin):], dashes)
		at = from + len(begin)
		if title < 0 || title > 64 {
			continue
		}
		body := at + title + len(dashes)
		to := body
		for first := true; ; first = false {
			word := skipBreaks(s, to)
			stop := word
			for stop < len(s) && (isBase64(s[stop]) || s[stop] == '=') {
				stop++
			}
			if strings.HasPrefix(s[word:], end) {
				if n := strings.Index(s[word+len(end):], dashes); n >= 0 && n <= 64 {
					to = word + len(end) + n + len(dashes)
				}
				break
			}
			n := stop - word
			last := strings.HasPrefix(s[skipBreaks(s, stop):], end)
			if n == 0 || n < 16 && !first && !last && s[stop-1] != '=' {
				break
			}
			to = stop
		}
		out = append(out, cut{from, to})
		at = to
	}
}

// skipBreaks returns the end of spaces and line breaks at i, literal or escaped.
func skipBreaks(s string, i int) int {
	for i < len(s) {
		switch {
		case strings.IndexByte(" \t\r\n", s[i]) >= 0:
			i++
		case s[i] == '\\':
			k := i
			for k < len(s) && s[k] == '\\' {
				k++
			}
			if k == len(s) || s[k] != 'n' && s[k] != 'r' {
				return i
			}
			i = k + 1
		default:
			return i
		}
	}
	return i
}

func isBase64(c byte) bool { return isAlnum(c) && c < 0x80 || c == '+' || c == '/' }

// hasCode reports whether a lowercase text contains a code with digits, unlike code = NotFound.
func hasCode(s string) bool {
	for at := 0; ; {
		i := strings.Index(s[at:], "code")
		if i < 0 {
			return false
		}
		at += i + len("code")
		rest := strings.TrimLeft(s[at:min(len(s), at+labelEnd)], "s\"'\\ :=")
		if strings.ContainsAny(upTo(rest, " ,;"), "0123456789") {
			return true
		}
	}
}

// pairs is a filter of the pairs of adjacent bytes in a text: a string with a pair that is not in
// the filter does not occur in the text. Two pairs may share a bit.
type pairs [64]uint64

func pairsOf(s string) (p pairs) {
	for i := 1; i < len(s); i++ {
		at := pairAt(s, i)
		p[at/64] |= 1 << (at % 64)
	}
	return p
}

// all reports whether all pairs of s are in the filter.
func (p *pairs) all(s string) bool {
	for i := 1; i < len(s); i++ {
		if at := pairAt(s, i); p[at/64]&(1<<(at%64)) == 0 {
			return false
		}
	}
	return true
}

// pairAt returns the bit of the pair that ends at i.
func pairAt(s string, i int) int { return (int(s[i-1])&63)<<6 | int(s[i])&63 }
