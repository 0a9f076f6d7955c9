package redact

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// form is a piece of text that is recognizable as a name by its form alone.
type form struct {
	from, end int
	kind      Kind
	text      string // canonical: equal for all spellings
}

// formAt returns the longest form at the word s[i:j]; its end is 0 if there is none. A UID may
// begin within the word, as in "pod0d1cfa64-…".
func formAt(s string, i, j int) form {
	var best form
	try := func(f form) {
		if f.end > best.end {
			best = f
		}
	}
	try(uidForm(s, i, j))
	if i > 0 && (s[i-1] == '\\' || s[i-1] == '%') || j < len(s) && (s[j] == '\\' || s[j] == '%') {
		try(escapedForm(s, i))
	}
	if digitAt(s, i) {
		try(spacedIP(s, i))
		try(hexIP(s, i, j))
		try(wwnForm(s, i, j))
		try(podMAC(s, i, j))
	}
	if j == len(s) {
		return best
	}
	switch s[j] {
	case '%', '\\', '&':
		try(ip6Escaped(s, i))
	}
	switch s[j] {
	case '-', '_', '\\', '%':
		try(uidTail(s, i, j))
	}
	switch s[j] {
	case '-', '_':
		try(dashedIP(s, i, j))
		try(macForm(s, i))
		try(instanceForm(s, i, j))
	case '.':
		try(ip4Form(s, i))
		if best.end == 0 {
			try(gluedIP(s, i, j))
		}
		try(dottedMAC(s, i, j))
	case ':':
		try(procForm(s, i, j))
		try(ip6Form(s, i))
		try(macForm(s, i))
		try(shortMAC(s, i))
	}
	switch s[j] {
	case '-', '.', '_', '+', '%', '@':
		try(mailForm(s, i))
	}
	switch s[j] {
	case '-', '.', '_', '/', ':', '@':
		try(imageForm(s, i))
		try(hostForm(s, i))
	}
	return best
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

func allHex(s string) bool {
	for k := range len(s) {
		if !isHex(s[k]) {
			return false
		}
	}
	return true
}

// uidForm recognizes 8-4-4-4-12 hexadecimal digits with dashes in any spelling, and 32 digits
// without, as in UIDs of static pods and machine and boot IDs.
func uidForm(s string, i, j int) form {
	if n := j - i; (n == 32 || n == 35 && strings.HasPrefix(s[i:], "pod")) && allHex(s[j-32:j]) {
		return form{j - 32, j, UID, strings.ToLower(s[j-32 : j])}
	}
	if j-i < 8 || !allHex(s[j-8:j]) || j == len(s) {
		return form{}
	}
	at, text, groups := j, s[j-8:j], 0
	for _, n := range []int{4, 4, 4, 12} {
		from, end := hexGroup(s, at)
		if end == 0 || end-from > n && n < 12 {
			break
		}
		if end-from < n && end < len(s) && isAlnum(s[end]) {
			break
		}
		at = min(end, from+n)
		text += "-" + s[from:at]
		groups++
		if at-from < n { // cut off here
			break
		}
	}
	if at < len(s) && isAlnum(s[at]) && (groups < 4 || isHex(s[at])) || groups < 2 {
		return form{}
	}
	if groups < 4 && strings.Trim(text, "0123456789-") == "" && isDay(text[:8]) {
		return form{} // a date and time
	}
	return form{j - 8, at, UID, strings.ToLower(text)}
}

// hexGroup returns the run of hexadecimal digits behind the dash at i, in any spelling; end is 0 if
// there is none.
func hexGroup(s string, i int) (from, end int) {
	if i == len(s) {
		return 0, 0
	}
	from = i + 1
	if s[i] != '-' {
		n := escaped(s[i:], '-')
		if n == 0 {
			return 0, 0
		}
		from = i + n
	}
	for end = from; end < len(s) && isHex(s[end]); end++ {
	}
	if end == from {
		return 0, 0
	}
	return from, end
}

// uidTail recognizes a UID whose beginning is cut off.
func uidTail(s string, i, j int) form {
	if j-i > 8 || !allHex(s[i:j]) {
		return form{}
	}
	var room [5]string
	groups, at := append(room[:0], s[i:j]), j
	for len(groups) < 5 {
		from, end := hexGroup(s, at)
		if end == 0 {
			break
		}
		if n := end - from; n != 4 && n != 12 {
			return form{}
		}
		groups, at = append(groups, s[from:end]), end
	}
	want := []int{8, 4, 4, 4, 12}[5-len(groups):]
	if len(groups) < 3 || len(groups[0]) > want[0] || at < len(s) && isAlnum(s[at]) {
		return form{}
	}
	for k := range groups[1:] {
		if len(groups[1+k]) != want[1+k] {
			return form{}
		}
	}
	return form{i, at, UID, strings.ToLower(strings.Join(groups, "-"))}
}

// isDay reports whether eight digits are a date.
func isDay(digits string) bool {
	_, err := time.Parse("20060102", digits)
	return err == nil && (digits[0] == '1' && digits[1] == '9' || digits[0] == '2' && digits[1] == '0')
}

// gluedIP recognizes private IPv4 addresses within words: x10.1.2.3to. Others may be versions.
func gluedIP(s string, i, j int) form {
	from := j
	for from > i && digitAt(s, from-1) {
		from--
	}
	text, n := octets(s[from:], ".")
	if n == 0 || digitAt(s, from+n) || from+n+1 < len(s) && s[from+n] == '.' && digitAt(s, from+n+1) || i > 1 && s[i-1] == '.' && isAlnum(s[i-2]) {
		return form{}
	}
	if a, err := netip.ParseAddr(text); err != nil || !a.IsPrivate() {
		return form{}
	}
	return form{from, from + n, IP, text}
}

// hexIP recognizes IPv4 addresses as one hexadecimal number, if they are private or called an
// address. Others may be anything.
func hexIP(s string, i, j int) form {
	n := j - i - len("0x")
	if n < 7 || n > 8 || s[i] != '0' || lower(s[i+1]) != 'x' || !allHex(s[i+2:j]) || i > 0 && s[i-1] == '+' {
		return form{}
	}
	v, err := strconv.ParseUint(s[i+2:j], 16, 32)
	if err != nil {
		return form{}
	}
	a := netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)})
	if before := strings.ToLower(strings.TrimRight(s[max(0, i-labelEnd):i], " =:\"\\")); strings.HasSuffix(before, "ip") || strings.HasSuffix(before, "addr") || strings.HasSuffix(before, "address") || n == 8 && a.IsPrivate() {
		return form{i, j, IP, a.String()}
	}
	return form{}
}

// wwnForm recognizes the World Wide Names of disks and their ports: 0x5000c500a1b2c3d4. No address in
// memory begins like that.
func wwnForm(s string, i, j int) form {
	const length = len("0x5000c500a1b2c3d4")
	if j-i != length || s[i] != '0' || lower(s[i+1]) != 'x' || s[i+2] != '5' || !allHex(s[i+2:j]) {
		return form{}
	}
	return form{i, j, Volume, lowered(s[i:j])}
}

// podMAC recognizes MAC addresses without separators that plugins of CNI make of a private address.
// Others look like the IDs of containers.
func podMAC(s string, i, j int) form {
	if j-i != 12 || !strings.EqualFold(s[i:i+4], "0a58") || !allHex(s[i:j]) {
		return form{}
	}
	v, _ := strconv.ParseUint(s[i+4:j], 16, 32)
	if a := netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}); !a.IsPrivate() {
		return form{}
	}
	return form{i, j, MAC, strings.ToLower(s[i:j])}
}

// shortMAC recognizes MAC addresses without leading zeros: a:58:a:1:2:3.
func shortMAC(s string, i int) form {
	if i > 0 && (s[i-1] == ':' || s[i-1] == '.' || s[i-1] == '-') {
		return form{}
	}
	at, letter := i, false
	for k := range 6 {
		if k > 0 {
			if at == len(s) || s[at] != ':' {
				return form{}
			}
			at++
		}
		from := at
		for at < len(s) && at-from < 2 && isHex(s[at]) {
			letter = letter || s[at] > '9'
			at++
		}
		if at == from {
			return form{}
		}
	}
	if !letter || at < len(s) && (isAlnum(s[at]) || s[at] == ':') {
		return form{}
	}
	groups := strings.Split(strings.ToLower(s[i:at]), ":")
	for k, g := range groups {
		groups[k] = "0"[:2-len(g)] + g
	}
	return form{i, at, MAC, strings.Join(groups, ":")}
}

// colons are spellings of the colons of an address.
var colons = []string{"%3a", "%3A", "%253a", "%253A", `\:`, `\\:`, "&#58;", "&#x3a;", "&#x3A;", "&colon;", ":"}

// ip6Escaped recognizes IPv6 addresses with escaped colons.
func ip6Escaped(s string, i int) form {
	var text []byte
	at, n := i, 0
scan:
	for at < len(s) && len(text) < 46 {
		for _, c := range colons {
			if strings.HasPrefix(s[at:], c) {
				text, at, n = append(text, ':'), at+len(c), n+1
				continue scan
			}
		}
		if !isHex(s[at]) {
			break
		}
		text, at = append(text, s[at]), at+1
	}
	if n < 2 || at < len(s) && isAlnum(s[at]) {
		return form{}
	}
	a, err := netip.ParseAddr(string(text))
	if err != nil || a.IsUnspecified() || a.IsLoopback() {
		return form{}
	}
	return form{i, at, IP, a.String()}
}

// octets parses four numbers up to 255, separated by any byte of seps.
func octets(s string, seps string) (text string, end int) {
	at := 0
	for k := range 4 {
		if k > 0 {
			if at >= len(s) || !strings.ContainsRune(seps, rune(s[at])) {
				return "", 0
			}
			at++
			text += "."
		}
		from := at
		for at < len(s) && (at-from < 3 || at-from < 4 && s[from] == '0') && s[at] >= '0' && s[at] <= '9' {
			at++
		}
		base := 10
		if at-from == 4 {
			base = 8
		}
		n := 0
		for _, c := range []byte(s[from:at]) {
			n = n*base + int(c-'0')
		}
		switch {
		case at == from || n > 255:
			return "", 0
		case base == 8:
			text += strconv.Itoa(n)
		default:
			text += s[from:at]
		}
	}
	return text, at
}

func digitAt(s string, i int) bool { return i < len(s) && s[i] >= '0' && s[i] <= '9' }

// addresses reports whether four numbers are an address rather than a version or a date.
func addresses(a netip.Addr) bool {
	return a.IsPrivate() || a.IsGlobalUnicast() && slices.ContainsFunc(a.AsSlice(), func(n byte) bool { return n > 99 })
}

// subnetForm recognizes private networks of three numbers: 10.1.2/24, 10.1.2.*.
func subnetForm(s string, i int) form {
	end := i
	for dots := 0; end < len(s) && (digitAt(s, end) || s[end] == '.' && dots < 2); end++ {
		if s[end] == '.' {
			dots++
		}
	}
	rest := s[end:min(len(s), end+2)]
	if rest != ".*" && rest != ".x" && rest != ".X" && (rest == "" || rest[0] != '/' || !digitAt(rest, 1)) {
		return form{}
	}
	a, err := netip.ParseAddr(s[i:end] + ".0")
	if err != nil || !a.IsPrivate() {
		return form{}
	}
	return form{i, end, IP, s[i:end]}
}

// ip4Form recognizes IPv4 addresses. Five numbers are a version, unless the first four are an
// address and the fifth its port.
func ip4Form(s string, i int) form {
	text, n := octets(s[i:], ".")
	end := i + n
	if n == 0 {
		return subnetForm(s, i)
	}
	if end < len(s) && isAlnum(s[end]) {
		return form{}
	}
	if end+1 < len(s) && s[end] == '.' && digitAt(s, end+1) {
		if a, err := netip.ParseAddr(text); err != nil || !addresses(a) {
			return form{}
		}
	}
	if i > 0 && (s[i-1] == '.' && i > 1 && digitAt(s, i-2)) {
		return form{}
	}
	return form{i, end, IP, text}
}

// dots are spellings of the dot of an address: in expressions, URLs, and texts that must not become
// links.
var dots = []string{"%252e", "%252E", "&#46;", "&#x2e;", "&#x2E;", "&period;", `\u002e`, `\\u002e`, "·", "。", "｡", ".", `\.`, `\\.`, `\\\\.`, "%2e", "%2E", "[.]", "(.)", "[dot]", "(dot)", `\x2e`, "․", "．"}

// dotAt returns the length of the dot of an address at i, 0 if there is none. Only a plain dot is one
// byte long.
func dotAt(s string, i int) int {
	n := 0
	switch {
	case i == len(s):
	case s[i] == '.':
		n = 1
	case s[i] >= 0x80 || strings.IndexByte("%&\\[(", s[i]) >= 0:
		for _, dot := range dots {
			if strings.HasPrefix(s[i:], dot) {
				n = len(dot)
			}
		}
	}
	return n
}

// spacedIP recognizes IPv4 addresses with other dots.
func spacedIP(s string, i int) form {
	at, text, odd := i, "", false
	for k := range 4 {
		if k > 0 {
			n := dotAt(s, at)
			if n == 0 {
				return form{}
			}
			odd = odd || n > 1
			at += n
			text += "."
		}
		from := at
		if at = digitsEnd(s, at); at == from || at-from > 3 || at-from == 3 && s[from:at] > "255" {
			return form{}
		}
		text += s[from:at]
	}
	if !odd || at < len(s) && isAlnum(s[at]) {
		return form{}
	}
	return form{i, at, IP, text}
}

// dashedIP recognizes names such as ip-10-0-12-34, which clouds give to nodes, and addresses within
// the names of pods and hosts: private ones, and those with a number over 99, which cannot be
// dates.
func dashedIP(s string, i, j int) form {
	word := strings.ToLower(s[i:j])
	if word == "ip" {
		if _, n := octets(s[j+1:], "-_"); n > 0 && (j+1+n == len(s) || !isAlnum(s[j+1+n])) {
			return form{i, j + 1 + n, Node, "ip-" + strings.ReplaceAll(s[j+1:j+1+n], "_", "-")}
		}
		return form{}
	}
	text, n := octets(s[i:], "-_")
	if n == 0 || i+n < len(s) && isAlnum(s[i+n]) {
		return form{}
	}
	a, err := netip.ParseAddr(text)
	if err != nil || !addresses(a) {
		return form{} // a date
	}
	return form{i, i + n, IP, text}
}

// instanceForm recognizes IDs of EC2 instances.
func instanceForm(s string, i, j int) form {
	if s[i:j] != "i" || s[j] != '-' {
		return form{}
	}
	end := wordEnd(s, j+1)
	if n := end - j - 1; n != 8 && n != 17 || !allHex(s[j+1:end]) {
		return form{}
	}
	return form{i, end, Node, s[i:end]}
}

// ip6Form recognizes IPv6 addresses with at least two colons.
func ip6Form(s string, i int) form {
	if i > 0 && isAlnum(s[i-1]) || inFrame(s, i) {
		return form{}
	}
	end, colons := i, 0
	for end < len(s) && end-i < 46 && (isHex(s[end]) || s[end] == ':' || s[end] == '.') {
		if s[end] == ':' {
			colons++
		}
		end++
	}
	if end < len(s) && isAlnum(s[end]) {
		return form{}
	}
	for end > i && (s[end-1] == '.' || s[end-1] == ':' && !strings.HasSuffix(s[i:end], "::")) {
		end--
	}
	if colons < 2 {
		return form{}
	}
	a, err := netip.ParseAddr(s[i:end])
	if dot := strings.LastIndexByte(s[i:end], '.'); err != nil && dot > 0 && digitsEnd(s, i+dot+1) == end { // a port, as tcpdump writes it
		end = i + dot
		a, err = netip.ParseAddr(s[i:end])
	}
	if err != nil || !a.Is6() || a.IsUnspecified() || a.IsLoopback() {
		return form{}
	}
	if a.Is4In6() {
		return form{i, end, IP, a.Unmap().String()}
	}
	return form{i, end, IP, a.String()}
}

// macForm recognizes MAC addresses with colons, or with dashes and at least one letter.
func macForm(s string, i int) form {
	const length = len("00:00:00:00:00:00")
	end := i + length
	if end > len(s) {
		return form{}
	}
	sep := s[i+2]
	if sep != ':' && sep != '-' {
		return form{}
	}
	if inFrame(s, i) {
		sep = ':'
	} else if end < len(s) && (isAlnum(s[end]) || s[end] == sep) || i > 0 && s[i-1] == sep || sep == '-' && strings.Trim(s[i:end], "0123456789-") == "" {
		return form{}
	}
	for k := range length {
		if c := s[i+k]; k%3 == 2 && c != sep || k%3 != 2 && !isHex(c) {
			return form{}
		}
	}
	return form{i, end, MAC, strings.ReplaceAll(strings.ToLower(s[i:end]), "-", ":")}
}

// inFrame reports whether one of the addresses at the beginning of an Ethernet frame is at i, as
// iptables logs them: those of both ends and the type, 14 bytes.
func inFrame(s string, i int) bool {
	pair := func(k int) bool { return k >= 0 && k+1 < len(s) && isHex(s[k]) && isHex(s[k+1]) }
	from := i
	for i-from < 39 && from > 2 && s[from-1] == ':' && pair(from-3) {
		from -= 3
	}
	to := from
	for to-from < 45 && pair(to) && to+2 < len(s) && s[to+2] == ':' {
		to += 3
	}
	return to-from == 39 && pair(to) && (to+2 == len(s) || !isAlnum(s[to+2])) && (from == 0 || !isAlnum(s[from-1])) && (i == from || i == from+18)
}

// dottedMAC recognizes MAC addresses as written by switches: 5254.00aa.bbcc.
func dottedMAC(s string, i, j int) form {
	const length = len("5254.00aa.bbcc")
	end := i + length
	if j-i != 4 || end > len(s) || s[i+9] != '.' || end < len(s) && isAlnum(s[end]) {
		return form{}
	}
	hex := s[i:j] + s[i+5:i+9] + s[i+10:end]
	if !allHex(hex) || strings.Trim(hex, "0123456789") == "" {
		return form{}
	}
	return form{i, end, MAC, strings.ToLower(s[i:end])}
}

// procForm recognizes addresses in /proc/net: 0302010A:1F90.
func procForm(s string, i, j int) form {
	if port := wordEnd(s, j+1); j-i != 8 || port-j != 5 || !allHex(s[i:j]) || !allHex(s[j+1:port]) || strings.Trim(s[i:j], "0") == "" {
		return form{}
	}
	return form{i, j, IP, strings.ToUpper(s[i:j])}
}

// run returns the end of the run at i of letters, digits and bytes of more. It is at most maxRun
// bytes long, as is any form.
func run(s string, i int, more string) int {
	for end := min(len(s), i+maxRun); i < end && (isAlnum(s[i]) && s[i] < 0x80 || strings.IndexByte(more, s[i]) >= 0); {
		i++
	}
	return i
}

const maxRun = 1024

// maxLocal bounds the part of a mail address before its @: RFC 5321 allows 64 bytes, and addresses
// that bounces are sent to have more.
const maxLocal = 128

func mailForm(s string, i int) form {
	near := s[i:min(len(s), i+maxLocal+1)]
	if strings.IndexByte(near, '@') < 0 {
		return form{}
	}
	at := i + run(near, 0, "._%+-")
	if at == len(s) || s[at] != '@' {
		return form{}
	}
	end := at + 1 + len(strings.TrimRight(s[at+1:run(s, at+1, ".-")], ".-"))
	domain := s[at+1 : end]
	if !strings.Contains(domain, ".") || !lettersOnly(strings.ToLower(domain[strings.LastIndexByte(domain, '.')+1:])) {
		return form{}
	}
	return form{i, end, Mail, strings.ToLower(s[i:end])}
}

func lettersOnly(s string) bool {
	return len(s) >= 2 && !strings.ContainsFunc(s, func(c rune) bool { return c < 'a' || c > 'z' })
}
