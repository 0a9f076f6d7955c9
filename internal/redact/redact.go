// Package redact replaces names that identify the cluster of a report by stable pseudonyms: pods,
// namespaces, nodes, hosts, images, registries, volumes, Secrets and ConfigMaps, IP and MAC
// addresses, UIDs, mail addresses, and the names of inputs. Credentials are removed altogether. It
// is a single stage between the report and all writers, so no format can leak what another hides.
//
// It works in two passes. The first learns names where the structure of the report or of a line
// identifies them (position.go): the value of pod=, the host of a URL, the reference after "Pulling
// image"; it also learns words that do not belong to the vocabulary of the field, wherever they
// occur (strange.go). The second replaces every occurrence of a learned name, in each spelling used
// by systemd, cgroups and URLs, and everything recognizable by its form (form.go): addresses, UIDs,
// image references, domain names. A name that is also an ordinary word of the reports is replaced
// only in the position of a name. Container IDs are kept: they are random and needed to follow a
// container through logs. So are names that exist in every cluster (kube-system).
package redact

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Kind is the kind of a replaced name and the prefix of its pseudonym.
type Kind string

// Kinds.
const (
	Node      Kind = "node"
	Namespace Kind = "ns"
	Pod       Kind = "pod"
	Container Kind = "container"
	Image     Kind = "image"
	Registry  Kind = "registry"
	Volume    Kind = "volume"
	Object    Kind = "object" // secret, config map, service account, workload
	UID       Kind = "uid"
	IP        Kind = "ip"
	MAC       Kind = "mac"
	Host      Kind = "host"
	Mail      Kind = "mail"
	Path      Kind = "path" // word in the name of an input or of a file in it
	Word      Kind = "name" // of unknown kind
)

// prefixes are the kinds, with which pseudonyms begin.
var prefixes = map[Kind]bool{Node: true, Namespace: true, Pod: true, Container: true, Image: true, Registry: true, Volume: true, Object: true, UID: true, IP: true, MAC: true, Host: true, Mail: true, Path: true, Word: true}

const longestKind = 10

// Replacement is a name and its pseudonym.
type Replacement struct {
	Kind      Kind   `json:"kind"`
	Name      string `json:"name"`
	Pseudonym string `json:"pseudonym"`
	Count     int    `json:"count"` // number of occurrences replaced
}

// name is one learned name.
type name struct {
	kind      Kind
	text      string // as first seen
	pseudonym string // "" until Settle
	same      *name  // the next of the same canonical spelling
	count     int32
	plain     bool // also an ordinary word
}

// digest is the beginning of a keyed digest of a name.
type digest [10]byte

// Redactor holds the learned names. It is not safe for concurrent use.
type Redactor struct {
	key   []byte
	mac   hash.Hash        // with key
	names map[string]*name // by canonical spelling
	slab  []name           // room for names
	fresh []*name          // names without a pseudonym
	heads map[string][]int // by first word, the lengths of names of several words, longest first
	taken map[string]bool  // with a key, pseudonyms in use
	next  map[Kind]int
	plain bool          // some name is also an ordinary word
	like  map[Kind]bool // kinds whose pseudonyms may be names: one begins like them
	where memo
	words []judged            // cache: whether a word is strange
	trust map[string]trust    // cache: trust in a name
	heard map[uint64]struct{} // cache: texts that were learned from
	shown shown
}

// New returns a redactor. With a key, pseudonyms depend on key and name alone, so that several
// reports agree; without one, names are numbered in an order that reveals nothing.
func New(key []byte) *Redactor {
	return &Redactor{key: key, mac: hmac.New(sha256.New, key), names: map[string]*name{}, heads: map[string][]int{}, where: newMemo(), words: make([]judged, maxJudged), trust: map[string]trust{}, heard: map[uint64]struct{}{}, taken: map[string]bool{}, next: map[Kind]int{}, like: map[Kind]bool{}}
}

// wellKnown names are the same in every cluster, or are plain words that a report needs.
var wellKnown = map[string]bool{
	"kube-system": true, "kube-public": true, "kube-node-lease": true, "default": true, "localhost": true, "localhost.localdomain": true,
	"kubelet": true, "containerd": true, "crio": true, "cri-o": true, "docker": true, "unknown": true, "node": true, "pod": true, "root": true,
	"null": true, "nil": true, "none": true, "true": true, "false": true, "": true,
	"127.0.0.1": true, "0.0.0.0": true, "::1": true, "::": true, "00:00:00:00:00:00": true, "ff:ff:ff:ff:ff:ff": true,
	"00000000-0000-0000-0000-000000000000": true,
}

// edges are trimmed off text in the position of a name.
const edges = " \t\r\n\"'`.,;:()[]{}<>\\/*?!…"

// learn records that text is a name of kind k. The first kind is kept, because structure is learned
// before form; only Word is replaced by a later kind.
func (r *Redactor) learn(k Kind, text string) {
	text = strings.Trim(text, edges)
	if n := r.lookup(text); n != nil {
		if n.kind == Word && k != Word && n.pseudonym == "" {
			n.kind, n.plain = k, ordinary(k, text)
		}
		return
	}
	if wellKnown[strings.ToLower(text)] || r.isTaken(text) || !strings.ContainsFunc(text, isNameRune) {
		return
	}
	r.fresh = append(r.fresh, r.add(k, text))
}

// lookup returns the name of a text, nil if there is none.
func (r *Redactor) lookup(text string) *name {
	var buf [maxName]byte
	n := r.names[string(appendCanonical(buf[:0], text))]
	for n != nil && !strings.EqualFold(n.text, text) {
		n = n.same
	}
	return n
}

// add adds a name that is not known yet. It has no pseudonym.
func (r *Redactor) add(k Kind, text string) *name {
	if len(r.slab) == cap(r.slab) {
		r.slab = make([]name, 0, min(512, 16+2*cap(r.slab)))
	}
	text = strings.Clone(text) // of a line that need not be kept
	spelling := text
	if s := canonical(text); s != text {
		spelling = s
	}
	if i := strings.IndexByte(text, '-'); i > 0 && i < longestKind {
		if k := Kind(strings.ToLower(text[:i])); prefixes[k] {
			r.like[k] = true
		}
	}
	r.slab = append(r.slab, name{kind: k, text: text, plain: ordinary(k, text), same: r.names[spelling]})
	n := &r.slab[len(r.slab)-1]
	r.names[spelling] = n
	return n
}

// isTaken reports whether a text is a pseudonym.
func (r *Redactor) isTaken(text string) bool {
	if r.key != nil {
		return r.taken[text]
	}
	i := strings.LastIndexByte(text, '-') + 1
	if i == 0 || i == len(text) || text[i] == '0' || digitsEnd(text, i) != len(text) {
		return false
	}
	n, err := strconv.Atoi(text[i:])
	return err == nil && n <= r.next[Kind(text[:i-1])]
}

// Settle ends learning: from now on Text replaces what was learned.
func (r *Redactor) Settle() {
	if len(r.fresh) == 0 {
		return
	}
	type tagged struct {
		*name
		tag digest
	}
	order := make([]tagged, len(r.fresh))
	for i, n := range r.fresh {
		order[i] = tagged{n, r.tag(n.text)}
	}
	slices.SortFunc(order, func(a, b tagged) int {
		if x, y := binary.BigEndian.Uint64(a.tag[:]), binary.BigEndian.Uint64(b.tag[:]); x != y {
			return cmp.Compare(x, y)
		}
		if by := bytes.Compare(a.tag[:], b.tag[:]); by != 0 {
			return by
		}
		return cmp.Compare(a.text, b.text)
	})
	for _, n := range order {
		r.christen(n.name, n.tag)
	}
	r.fresh = nil
}

// christen gives a name its pseudonym.
func (r *Redactor) christen(n *name, tag digest) {
	for {
		var p string
		var buf [32]byte
		if r.key == nil {
			r.next[n.kind]++
			p = string(strconv.AppendInt(append(append(buf[:0], n.kind...), '-'), int64(r.next[n.kind]), 10))
		} else if p = string(hex.AppendEncode(append(append(buf[:0], n.kind...), '-'), tag[:5])); r.taken[p] {
			p += fmt.Sprintf("-%d", len(r.taken))
		}
		if r.like[n.kind] && r.lookup(p) != nil || r.taken[p] {
			if r.key != nil {
				r.taken[p] = true
			}
			continue // a pseudonym must not be a real name
		}
		n.pseudonym = p
		if r.key != nil {
			r.taken[p] = true
		}
		break
	}
	r.plain = r.plain || n.plain
	r.shown.forget()
	end := wordEnd(n.text, 0)
	if end == len(n.text) {
		return
	}
	word := lowered(n.text[:end])
	if at, has := slices.BinarySearchFunc(r.heads[word], len(n.text), func(a, b int) int { return b - a }); !has {
		r.heads[word] = slices.Insert(r.heads[word], at, len(n.text))
	}
}

// named returns the name of a text that is recognizable by its form; a new one is learned. It
// returns nil for well-known names.
func (r *Redactor) named(k Kind, text string) *name {
	if wellKnown[strings.ToLower(text)] {
		return nil
	}
	n := r.lookup(text)
	if n == nil {
		n = r.add(k, text)
		r.christen(n, r.tag(text))
	}
	if n.pseudonym == "" {
		r.Settle()
	}
	return n
}

// tag returns the digest of a name, whatever its case.
func (r *Redactor) tag(text string) (d digest) {
	var sum [sha256.Size]byte
	r.mac.Reset()
	io.WriteString(r.mac, strings.ToLower(text))
	copy(d[:], r.mac.Sum(sum[:0]))
	return d
}

// Replacements lists what was replaced, by kind and pseudonym.
func (r *Redactor) Replacements() []Replacement {
	var out []Replacement
	for _, n := range r.names {
		for ; n != nil; n = n.same {
			if n.count > 0 {
				out = append(out, Replacement{n.kind, n.text, n.pseudonym, int(n.count)})
			}
		}
	}
	slices.SortFunc(out, func(a, b Replacement) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(len(a.Pseudonym), len(b.Pseudonym)), cmp.Compare(a.Pseudonym, b.Pseudonym))
	})
	return out
}
