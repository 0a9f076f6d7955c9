package redact

import (
	_ "embed"
	"hash/maphash"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// The text of an input consists of the words of its field: those of the kubelet, runtimes, the
// kernel and the system, and plain English. Any other word is a name, whatever surrounds it.

// fieldWords are words common to the sources of Go, the Kubernetes libraries and the Linux headers,
// or written by systems and runtimes. Words that inField derives from their stem are not listed.
//
//go:embed field.txt
var fieldWords string

var field = sync.OnceValue(func() map[string]bool {
	known := wordSet(fieldWords)
	for w := range vocabulary() {
		known[w] = true
	}
	return known
})

// numbered are words that systems number: devices, versions, algorithms, calls. Any other word
// before a number is a name, such as worker7.
var numbered = wordSet(`vsyscall microk usr eth ens eno enp enx em wlan wlp wwan bond team br lo tun tap veth vlan vxlan dummy ifb ib docker cni cbr virbr podman flannel weave gre sit tunl ipip ipvs
	ip ipv inet tcp udp icmp icmpv http https tls tlsv ssl sslv quic smb nfs nfsv ntfs cifs ext jbd xfs btrfs overlay overlayfs fuse cgroup cgroupv cpu numa irq dma timer tty ttys ttyama hvc
	console loop ram zram nbd rbd sda sdb sdc sdd sde sdf vda vdb vdc vdd vde xvda xvdb xvdc xvdd hda nvme mmcblk md dm sr fd scsi ata ahci usb pci pcie virtio input event fb rtc tpm hwmon
	mlx bnx igb ixgbe qla mpt mds osd mon mgr raid sha md aes des rsa crc adler base utf latin iso rfc pkcs ed curve chacha poly secp rc el fc rhel ol centos rocky alma ubuntu debian deb
	suse sles sle amzn azl mga lp cos gke eks eksbuild build aks rke amd arm armv armhf ppc mips riscv sparc win ia wasm int uint float complex log exp avg mean load kill sig sigusr sigrt
	func gowrap goexit mstart newproc chanrecv chansend semacquire semrelease deferproc syscall rawsyscall pread pwrite preadv pwritev wait accept dup pipe eventfd epoll clone
	openat renameat fstat lstat stat mmap mlock memmove memclr asm python py perl php java jdk jre lua gcc glibc libc sqlite lz bz bzip lib level runlevel percentile
	jan feb mar apr may jun jul aug sep oct nov dec ms us ns sec min kms kmsv openapi openapiv oauth grpc ec gp route slf pid etcd sa sar ch loadavg
	avx sse ssse bmi mmx pse cx le lzma autofs issue krb kswapd libcrc crct json al mode aarch loongarch powerpc prime cp kb ltsc windows nvidia cuda`)

// endings are removed from a word to find its stem. If an ending begins with a vowel, the stem may
// end in e.
var endings = []string{"s", "es", "ed", "ing", "ly"}

// inField reports whether a lowercase word belongs to the field.
func inField(w string) bool {
	known := field()
	if known[w] {
		return true
	}
	for _, e := range endings {
		stem := strings.TrimSuffix(w, e)
		if len(stem) < 3 || len(stem) == len(w) {
			continue
		}
		if known[stem] || e != "s" && known[stem+"e"] || e == "es" && known[strings.TrimSuffix(stem, "i")+"y"] {
			return true
		}
		if n := len(stem); n > 3 && stem[n-1] == stem[n-2] && known[stem[:n-1]] { // stopped
			return true
		}
	}
	return false
}

// strange reports whether a word of letters and digits is a name by itself. Numbers, quantities and
// IDs are not; in a word joined by case, each part must be known. Results are cached.
func (r *Redactor) strange(w string) bool {
	key := maphash.String(r.where.seed, w)
	at := &r.words[key%maxJudged]
	if at.word != key {
		*at = judged{key, isStrange(w)}
	}
	return at.strange
}

// judged is a word, by its hash, of which is known whether it is strange.
type judged struct {
	word    uint64
	strange bool
}

const maxJudged = 1 << 14

func isStrange(w string) bool {
	if len(w) < 3 || len(w) > maxName || isID(w) || figures().MatchString(w) {
		return false
	}
	if numbers(w) {
		return true
	}
	short, long := 0, 0 // number of runs of letters: single letters, longer ones
	for i := 0; i < len(w); {
		c, n := utf8.DecodeRuneInString(w[i:])
		if !unicode.IsLetter(c) {
			i += n
			continue
		}
		j := i + strings.IndexFunc(w[i:]+"0", func(c rune) bool { return !unicode.IsLetter(c) })
		for part := j; i < j; i, part = part, j {
			if part-i > 1 && !inField(strings.ToLower(w[i:part])) {
				part = partEnd(w[:j], i)
			}
			switch {
			case part-i == 1:
				short++
			case !inField(strings.ToLower(w[i:part])):
				return true
			default:
				long++
			}
		}
	}
	return long == 0 && short > 2 && (!digitAt(w, 0) || strings.Trim(w, "0123456789dhms") != "") // 1h2m3s is not a name
}

// numbers reports whether a word contains a number after a word that systems do not number:
// worker7, db01, web1a, myApp22. In a version such as v1beta2 the number is part of the version.
func numbers(w string) bool {
	plain := strings.ToLower(w)[1:] == w[1:] || strings.ToUpper(w) == w // not joined by case, unlike RelistOver10s
	for i := 0; i < len(w); {
		if !isLetter(rune(w[i])) {
			i++
			continue
		}
		j := i
		for j < len(w) && isLetter(rune(w[j])) {
			j++
		}
		part := i // the last part of a word joined by case
		for end := partEnd(w[:j], part); end < j; end = partEnd(w[:j], part) {
			part = end
		}
		end := digitsEnd(w, j)
		stem, digits := strings.ToLower(w[part:j]), end-j
		last := end == len(w) || w[end] >= 0x80
		switch {
		case numbered[stem], i > 0 && digitAt(w, i-1) && (stem == "alpha" || stem == "beta"):
		case j-part > 2 && (plain && digits > 0 || digits > 1 && last || digits > 2), i == 0 && j == 2 && digits > 1 && last:
			return true
		}
		i = j
	}
	return false
}

// isID reports whether a word is an ID, a memory address or a hash.
func isID(w string) bool {
	if len(w) > 2 && w[0] == '0' && (w[1] == 'x' || w[1] == 'X') {
		return allHex(w[2:])
	}
	return allHex(w) && len(w) >= 7 && strings.ContainsAny(w, "0123456789") && !spells(w)
}

// spells reports whether hexadecimal digits are a word with a short number, which an ID is only by
// chance: cafe01, deadbeef1.
func spells(w string) bool {
	i := len(strings.TrimRight(w, "0123456789"))
	return i > 3 && len(w)-i < 5 && strings.Trim(w[:i], "abcdefABCDEF") == "" && strings.ContainsAny(w[:i], "aeAE")
}

// partEnd returns the end of the part at i of a word joined by case: OOM and Killed in OOMKilled,
// sync and Pod in syncPod, UIDs.
func partEnd(w string, i int) int {
	while := func(k int, is func(rune) bool) int {
		for k < len(w) {
			c, n := utf8.DecodeRuneInString(w[k:])
			if !is(c) {
				break
			}
			k += n
		}
		return k
	}
	upper := while(i, unicode.IsUpper)
	end := while(upper, func(c rune) bool { return unicode.IsLetter(c) && !unicode.IsUpper(c) })
	if upper-i > 1 && end > upper && w[upper:end] != "s" {
		return upper - 1 // the last uppercase letter begins the next part
	}
	return end
}

// learnStrange learns the strange word s[i:j] together with what dashes join to it. Kernel symbols
// are kept: they say something about programs only.
func (r *Redactor) learnStrange(s string, i, j int) {
	near := s[:min(len(s), j+labelEnd)]
	if strings.HasPrefix(s[run(near, j, "_."):], "+0x") || inVersion(s, i) || strings.HasSuffix(s[:i], "freedesktop.") {
		return
	}
	from, to := i, j
	for from > max(0, i-labelEnd) && (s[from-1] == '-' || isAlnum(s[from-1])) {
		from--
	}
	from += escapeAt(s, from) + breakAt(s, from)
	for to < len(near) && (s[to] == '-' || isAlnum(s[to])) {
		to++
	}
	text := strings.Trim(s[from:to], "-")
	if len(text) >= labelEnd {
		text = s[i:j]
	}
	r.learn(Word, text)
}

// inVersion reports whether the word at i is the end of a version: 1.30-beta2.
func inVersion(s string, i int) bool {
	number := strings.TrimSuffix(s[max(0, i-labelEnd):i], "-")
	before := strings.TrimRight(number, "0123456789")
	return len(before) < len(number) && strings.HasSuffix(before, ".") && (strings.HasPrefix(s[i:], "alpha") || strings.HasPrefix(s[i:], "beta"))
}

// counted reports whether the word s[i:j] is a number joined to a word by a dash, as in orders-01
// and worker-1, and not part of a date or a version.
func counted(s string, i, j int) bool {
	if !digitAt(s, i) || i < 3 || s[i-1] != '-' || !isLetter(rune(s[i-2])) {
		return false
	}
	end := digitsEnd(s, i)
	if end-i > 4 || end < j && s[end] < 0x80 {
		return false
	}
	if j < len(s) && s[j] == '.' && digitAt(s, j+1) || stamped().MatchString(s[i:min(len(s), i+32)]) {
		return false
	}
	from := i - 1
	for from > 0 && isLetter(rune(s[from-1])) {
		from--
	}
	stem := strings.ToLower(s[from : i-1])
	return len(stem) > 1 && !numbered[stem] && !ranked[stem]
}

// ranked are words that a dash joins to a number in what is no name: standards, units of systemd,
// phrases.
var ranked = wordSet(`cve bug kep gh pr ver version rev release part step stage phase type class grade tier rank top option exit code error status line page section layer range
	session run user getty minus plus post pre non sub over under up off to in at by for of or and the zero one two half single multi non max min last first next ctrl alt shift
	fips gost hs rs ps es dh kb mb gb kib mib gib tcp udp pid tid uid gid fd hz khz mhz ghz vcpu gpu log logs part disk-by`)

// labelEnd is longer than any DNS label.
const labelEnd = 64
