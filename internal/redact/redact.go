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
	"fmt"
	"hash"
	"io"
	"slices"
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
	tag       digest // sort key and, with a key, the pseudonym
	pseudonym string // "" until Settle
	count     int
	plain     bool // also an ordinary word
}

// digest is the beginning of a keyed digest of a name.
type digest [10]byte

// Redactor holds the learned names. It is not safe for concurrent use.
type Redactor struct {
	key   []byte
	mac   hash.Hash          // with key
	names map[string]*name   // by lowercase text
	fresh []*name            // names without a pseudonym
	index map[string][]*name // names with a pseudonym, by canonical spelling
	heads map[string][]int   // by first word, the lengths of the names in index, longest first
	taken map[string]bool    // pseudonyms in use
	next  map[Kind]int
	plain bool // some name is also an ordinary word
	where memo
	words map[string]bool  // cache: whether a word is strange
	trust map[string]trust // cache: trust in a name
}

// New returns a redactor. With a key, pseudonyms depend on key and name alone, so that several
// reports agree; without one, names are numbered in an order that reveals nothing.
func New(key []byte) *Redactor {
	return &Redactor{key: key, mac: hmac.New(sha256.New, key), names: map[string]*name{}, index: map[string][]*name{}, heads: map[string][]int{}, where: newMemo(), words: map[string]bool{}, trust: map[string]trust{}, taken: map[string]bool{}, next: map[Kind]int{}}
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
	folded := strings.ToLower(text)
	if n := r.names[folded]; n != nil {
		if n.kind == Word && k != Word && n.pseudonym == "" {
			n.kind, n.plain = k, ordinary(k, text)
		}
		return
	}
	if wellKnown[folded] || r.taken[text] || !strings.ContainsFunc(text, isNameRune) {
		return
	}
	n := &name{kind: k, text: text, plain: ordinary(k, text)}
	r.names[folded] = n
	r.fresh = append(r.fresh, n)
}

// Settle ends learning: from now on Text replaces what was learned.
func (r *Redactor) Settle() {
	for _, n := range r.fresh {
		n.tag = r.tag(n.text)
	}
	slices.SortFunc(r.fresh, func(a, b *name) int { return cmp.Or(bytes.Compare(a.tag[:], b.tag[:]), cmp.Compare(a.text, b.text)) })
	for _, n := range r.fresh {
		r.christen(n)
	}
	r.fresh = r.fresh[:0]
}

// christen gives a name its pseudonym and adds it to the index.
func (r *Redactor) christen(n *name) {
	for {
		var p string
		if r.key == nil {
			r.next[n.kind]++
			p = fmt.Sprintf("%s-%d", n.kind, r.next[n.kind])
		} else if p = fmt.Sprintf("%s-%x", n.kind, n.tag[:5]); r.taken[p] {
			p += fmt.Sprintf("-%d", len(r.taken))
		}
		if r.names[p] != nil || r.taken[p] {
			if r.key != nil {
				r.taken[p] = true
			}
			continue // a pseudonym must not be a real name
		}
		n.pseudonym = p
		r.taken[p] = true
		break
	}
	r.plain = r.plain || n.plain
	spelling := canonical(n.text)
	r.index[spelling] = append(r.index[spelling], n)
	word := spelling[:wordEnd(spelling, 0)]
	if at, has := slices.BinarySearchFunc(r.heads[word], len(spelling), func(a, b int) int { return b - a }); !has {
		r.heads[word] = slices.Insert(r.heads[word], at, len(spelling))
	}
}

// named returns the name of a text that is recognizable by its form; a new one is learned. It
// returns nil for well-known names.
func (r *Redactor) named(k Kind, text string) *name {
	folded := strings.ToLower(text)
	if wellKnown[folded] {
		return nil
	}
	n := r.names[folded]
	if n == nil {
		n = &name{kind: k, text: text, tag: r.tag(text)}
		r.names[folded] = n
		r.christen(n)
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
		if n.count > 0 {
			out = append(out, Replacement{n.kind, n.text, n.pseudonym, n.count})
		}
	}
	slices.SortFunc(out, func(a, b Replacement) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(len(a.Pseudonym), len(b.Pseudonym)), cmp.Compare(a.Pseudonym, b.Pseudonym))
	})
	return out
}
