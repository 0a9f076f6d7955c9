package redact

import (
	"regexp"
	"strings"
)

// hidden stands for a credential. It has no pseudonym: two reports need not
// agree on it, and the map of replacements must not hold it.
const hidden = "[secret]"

// sensitive are the words that name a credential, or parts of them.
var sensitive = []string{"passw", "passphrase", "secret", "token", "key", "signature", "credential"}

// credentials are what is removed wherever it stands; the group is the secret,
// all of the match where there is none.
var credentials = []struct {
	re   func() *regexp.Regexp
	hint []string // one of them, folded, must occur
}{
	{lazy(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?:[^-]*-----END [A-Z0-9 ]*PRIVATE KEY-----|[^-]*)`), []string{"private key-----"}},
	{lazy(`(?i)\b(?:bearer|negotiate)\s+([A-Za-z0-9._~+/=-]*[0-9._~+/=-][A-Za-z0-9._~+/=-]{7,}|[A-Za-z0-9]{20,})`), []string{"bearer", "negotiate"}},
	{lazy(`\b[Bb]asic\s+([A-Za-z0-9+/]{8,}={1,2}|[A-Za-z0-9+/]*[A-Z0-9][A-Za-z0-9+/]{11,})`), []string{"basic"}},
	{lazy(`(?i)\bauthorization\\?["']?\s*[:=]\s*\[?\\?["']?([A-Za-z0-9._~+/=-]{8,})`), []string{"authorization"}},
	{lazy(`[A-Za-z][A-Za-z0-9+.-]*://([^/\s"'@]+)@`), []string{"@"}},
	{lazy(`(?i)[A-Za-z0-9_.-]*(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key(?:[_-]?id)?|private[_-]?key|signature|credential)s?\\?["']?=\\?["']?([^\s"'\\,;&}\])]{3,})`), sensitive},
	{lazy(`(?i)[A-Za-z0-9_.-]*(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key(?:[_-]?id)?|private[_-]?key|credential)s?\\?["']?:\s?\\?["']([^\s"'\\]{6,})`), sensitive},
	{lazy(`\bauth\\*"\s?:\s?\\*"([A-Za-z0-9+/=_-]{6,})`), []string{"auth"}},
	{lazy(`\b(?:SHA256:[A-Za-z0-9+/]{40,}=?|MD5:[0-9a-f]{2}(?::[0-9a-f]{2}){15})`), []string{"sha256:", "md5:"}}, // of somebody's key
	{lazy(`(?i)\b(?:pass|pwd|sig)=([^\s"'\\,;&}\])]{4,})`), []string{"pass=", "pwd=", "sig="}},
	{lazy(`(?i)\b(?:password|passwd|passphrase|token):\s?([^\s"'\\,;{}\[\]]*[0-9][^\s"'\\,;{}\[\]]{5,}|[^\s"'\\,;{}\[\]]{6,}[0-9][^\s"'\\,;{}\[\]]*)`), []string{"passw", "passphrase:", "token:"}},
	{lazy(`(?i)\b(?:certificate-authority|client-certificate|client-key)-data\\*"?\s*[:=]\s*\\*"?([A-Za-z0-9+/=]{8,})`), []string{"-data"}},
	{lazy(`\b(?:docker|podman|crictl|helm|az|oc|nerdctl|skopeo)\b.{0,80}? (?:-p|--password)[ =]([^\s"'-][^\s"']*)`), []string{" -p", " --password"}},
	{lazy(`(?:^|\s)(?:-u|--user|--creds)[ =]([^\s"':]+:[^\s"']+)`), []string{"-u", "--user", "--creds"}},
	{lazy(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?`), []string{"eyj"}},
	{lazy(`\b(?:AKIA|ASIA|AROA|AIDA)[0-9A-Z]{16}\b`), []string{"akia", "asia", "aroa", "aida"}},
	{lazy(`\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|xox[abeprs]-[A-Za-z0-9-]{10,}|AIza[A-Za-z0-9_-]{30,}|hvs\.[A-Za-z0-9_-]{20,}|npm_[A-Za-z0-9]{30,}|dop_v1_[0-9a-f]{40,}|sha256~[A-Za-z0-9_-]{30,})`),
		[]string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "aiza", "hvs.", "npm_", "dop_v1_", "sha256~"}},
	{lazy(`\b[a-z0-9]{6}\.[a-z0-9]{16}\b`), []string{"."}}, // bootstrap tokens
}

// withoutSecrets removes credentials.
func withoutSecrets(s string) string {
	folded := ""
	for _, c := range credentials {
		if folded == "" {
			folded = strings.ToLower(s)
		}
		found := false
		for _, h := range c.hint {
			found = found || strings.Contains(folded, h)
		}
		if !found {
			continue
		}
		if out := edit(s, wholeOrGroup(c.re().FindAllStringSubmatchIndex(s, -1)), func(int, string) string {
			return hidden
		}); out != s {
			s, folded = out, ""
		}
	}
	return s
}

// wholeOrGroup gives matches of expressions without a group one that is all.
func wholeOrGroup(found [][]int) [][]int {
	for i, m := range found {
		if len(m) == 2 {
			found[i] = []int{m[0], m[1], m[0], m[1]}
		}
	}
	return found
}

// edit replaces groups of matches by what with returns, "" leaves them.
func edit(s string, found [][]int, with func(group int, text string) string) string {
	var b strings.Builder
	last := 0
	for _, m := range found {
		for i := 1; 2*i+1 < len(m); i++ {
			from, to := m[2*i], m[2*i+1]
			if from < last {
				continue
			}
			if p := with(i, s[from:to]); p != "" {
				b.WriteString(s[last:from])
				b.WriteString(p)
				last = to
			}
		}
	}
	if last == 0 {
		return s
	}
	b.WriteString(s[last:])
	return b.String()
}
