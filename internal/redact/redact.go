// Package redact replaces names that tell whose cluster a report is about by
// stable pseudonyms: pods, namespaces, nodes, hosts, images, registries,
// volumes, IP and MAC addresses, UIDs, mail addresses. It is one stage between
// the report and all writers, so no format can leak what another hides.
//
// It works in two passes. The first learns names where the structure of the
// report or of a line says what they are (pod="ns/name", name_ns(uid),
// node="…"); the second replaces every occurrence of a learned name, wherever
// it stands, and everything that is telling by its form (addresses, UIDs,
// image references). A name that is also an ordinary word of the reports is
// replaced only where its surroundings tell that it is a name. Container ids stay: they are random and needed to follow
// a container through logs. So do names that every cluster has (kube-system).
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
	UID       Kind = "uid"
	IP        Kind = "ip"
	MAC       Kind = "mac"
	Host      Kind = "host"
	Mail      Kind = "mail"
)

// Replacement is one name and what stands for it.
type Replacement struct {
	Kind      Kind   `json:"kind"`
	Name      string `json:"name"`
	Pseudonym string `json:"pseudonym"`
	Count     int    `json:"count"` // occurrences replaced
}

// Redactor holds the names that it has learned. Methods are not safe for
// concurrent use.
type Redactor struct {
	key   []byte
	kinds map[string]Kind
	names map[string]string // name -> pseudonym, filled when learning ends
	count map[string]int
	taken map[string]bool
	plain map[string]bool // names that are also ordinary words
	odd   []string        // names with other than word characters, longest first
}

// New returns a redactor. With a key, pseudonyms derive from the key and the
// name alone, so that several reports agree; without, names are numbered in an
// order that tells nothing.
func New(key []byte) *Redactor {
	return &Redactor{key: key, kinds: map[string]Kind{}, names: map[string]string{}, count: map[string]int{}, taken: map[string]bool{}, plain: map[string]bool{}}
}

// wellKnown names are the same in every cluster, or are plain words that a
// report cannot do without.
var wellKnown = map[string]bool{
	"kube-system": true, "kube-public": true, "kube-node-lease": true, "default": true, "localhost": true,
	"kubelet": true, "containerd": true, "crio": true, "docker": true, "unknown": true, "node": true, "pod": true, "root": true,
	"POD": true, "127.0.0.1": true, "0.0.0.0": true, "::1": true, "::": true,
}

// learn notes that name is of kind k. The first kind stays: structure is
// learned before form.
func (r *Redactor) learn(k Kind, name string) {
	name = strings.Trim(name, " \t\"'.,;:()[]{}")
	if name == "" || wellKnown[name] || !strings.ContainsFunc(name, isNameRune) {
		return
	}
	if _, ok := r.kinds[name]; !ok {
		r.kinds[name] = k
	}
}

// settle gives every learned name its pseudonym.
func (r *Redactor) settle() {
	var names []string
	for n := range r.kinds {
		if r.names[n] == "" {
			names = append(names, n)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(r.tag(a), r.tag(b)), cmp.Compare(a, b)) })
	next := map[Kind]int{}
	for _, n := range names {
		k := r.kinds[n]
		for {
			p := fmt.Sprintf("%s-%s", k, r.tag(n)[:10])
			if r.key == nil {
				next[k]++
				p = fmt.Sprintf("%s-%d", k, next[k])
			} else if r.taken[p] {
				p += fmt.Sprintf("-%d", len(r.taken))
			}
			if _, isName := r.kinds[p]; isName || r.taken[p] {
				continue // a pseudonym must not be somebody's real name
			}
			r.names[n] = p
			r.taken[p] = true
			if ordinary(k, n) {
				r.plain[n] = true
			}
			break
		}
	}
}

// tag is a keyed digest of a name, hexadecimal.
func (r *Redactor) tag(name string) string {
	m := hmac.New(sha256.New, r.key)
	m.Write([]byte(name))
	return hex.EncodeToString(m.Sum(nil))
}

// Replacements lists what was replaced, by kind and pseudonym.
func (r *Redactor) Replacements() []Replacement {
	var out []Replacement
	for name, n := range r.count {
		out = append(out, Replacement{r.kinds[name], name, r.names[name], n})
	}
	slices.SortFunc(out, func(a, b Replacement) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(len(a.Pseudonym), len(b.Pseudonym)), cmp.Compare(a.Pseudonym, b.Pseudonym))
	})
	return out
}
