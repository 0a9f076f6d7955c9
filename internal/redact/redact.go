// Package redact replaces names that tell whose cluster a report is about by
// stable pseudonyms: pods, namespaces, nodes, hosts, images, registries,
// volumes, secrets and config maps, IP and MAC addresses, UIDs, mail addresses,
// and the names of the inputs. Credentials are removed altogether. It is one
// stage between the report and all writers, so no format can leak what another
// hides.
//
// It works in two passes. The first learns names where the structure of the
// report or of a line says what stands there (position.go): the value of
// pod=, the host of a URL, the reference behind "Pulling image", and what is no
// word of the field, wherever it stands (strange.go). The second
// replaces every occurrence of a learned name, in each spelling that systemd,
// cgroups and URLs give it, and everything that tells by its form (form.go):
// addresses, UIDs, image references, domain names. A name that is also an
// ordinary word of the reports is replaced only where its position tells that
// it is a name. Container ids stay: they are random and needed to follow a
// container through logs. So do names that every cluster has (kube-system).
package redact

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Kind of a replaced name; it is the first part of the pseudonym.
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
	Path      Kind = "path" // word of the name of an input or of a file in it
	Word      Kind = "name" // of what, nothing tells
)

// Replacement is one name and what stands for it.
type Replacement struct {
	Kind      Kind   `json:"kind"`
	Name      string `json:"name"`
	Pseudonym string `json:"pseudonym"`
	Count     int    `json:"count"` // occurrences replaced
}

// name is one learned name.
type name struct {
	kind      Kind
	text      string // as it was first seen
	tag       string // what it is sorted by, and with a key the pseudonym
	pseudonym string // "" until Settle
	count     int
	plain     bool // also an ordinary word
}

// Redactor holds the names that it has learned. Methods are not safe for
// concurrent use.
type Redactor struct {
	key   []byte
	names map[string]*name   // by folded text
	fresh []*name            // without a pseudonym
	index map[string][]*name // those with one, by their canonical spelling
	heads map[string][]int   // the lengths of these, longest first, by their first word
	taken map[string]bool    // pseudonyms
	next  map[Kind]int
	plain bool // some name is an ordinary word
	where memo
	words map[string]bool  // that were looked up: whether they are strange
	trust map[string]trust // in names that were looked up
}

// New returns a redactor. With a key, pseudonyms derive from the key and the
// name alone, so that several reports agree; without, names are numbered in an
// order that tells nothing.
func New(key []byte) *Redactor {
	return &Redactor{key: key, names: map[string]*name{}, index: map[string][]*name{}, heads: map[string][]int{}, where: newMemo(), words: map[string]bool{}, trust: map[string]trust{}, taken: map[string]bool{}, next: map[Kind]int{}}
}

// wellKnown names are the same in every cluster, or are plain words that a
// report cannot do without.
var wellKnown = map[string]bool{
	"kube-system": true, "kube-public": true, "kube-node-lease": true, "default": true, "localhost": true, "localhost.localdomain": true,
	"kubelet": true, "containerd": true, "crio": true, "cri-o": true, "docker": true, "unknown": true, "node": true, "pod": true, "root": true,
	"null": true, "nil": true, "none": true, "true": true, "false": true, "": true,
	"127.0.0.1": true, "0.0.0.0": true, "::1": true, "::": true, "00:00:00:00:00:00": true, "ff:ff:ff:ff:ff:ff": true,
	"00000000-0000-0000-0000-000000000000": true,
}

// edges are trimmed off what stands in the position of a name.
const edges = " \t\r\n\"'`.,;:()[]{}<>\\/*?!…"

// learn notes that text is a name of kind k. The first kind stays: structure is
// learned before form.
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

// Settle ends learning: from here on Text replaces what was learned.
func (r *Redactor) Settle() {
	for _, n := range r.fresh {
		n.tag = r.tag(n.text)
	}
	slices.SortFunc(r.fresh, func(a, b *name) int { return cmp.Or(cmp.Compare(a.tag, b.tag), cmp.Compare(a.text, b.text)) })
	for _, n := range r.fresh {
		r.christen(n)
	}
	r.fresh = r.fresh[:0]
}

// christen gives a name its pseudonym and makes it one that Text finds.
func (r *Redactor) christen(n *name) {
	for {
		p := fmt.Sprintf("%s-%s", n.kind, n.tag[:10])
		if r.key == nil {
			r.next[n.kind]++
			p = fmt.Sprintf("%s-%d", n.kind, r.next[n.kind])
		} else if r.taken[p] {
			p += fmt.Sprintf("-%d", len(r.taken))
		}
		if r.names[p] != nil || r.taken[p] {
			if r.key != nil {
				r.taken[p] = true
			}
			continue // a pseudonym must not be somebody's real name
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

// named returns the name of a text that tells by its form; it learns it if it
// is new.
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

// tag is a keyed digest of a name, hexadecimal.
func (r *Redactor) tag(text string) string {
	m := hmac.New(sha256.New, r.key)
	m.Write([]byte(strings.ToLower(text)))
	return hex.EncodeToString(m.Sum(nil)[:10])
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
