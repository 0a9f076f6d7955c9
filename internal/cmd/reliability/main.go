// Command reliability measures how far the confidence of causes can be trusted, on a directory of
// labeled logs (NAME.log with NAME.json next to it). Each case is judged as if the thread that it
// comes from were unknown: a cause that then has fewer than two independent incidents and no source
// supporting it is possible at most.
//
//	go run ./internal/cmd/reliability DIR
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/plegforensics/plegforensics/parse/bundle"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules"
)

// label is the part of a case's JSON file that is used here.
type label struct {
	Cause  string   `json:"cause_id"`
	Also   []string `json:"also_supported_cause_ids"`
	Source struct {
		URL string `json:"url"`
	} `json:"source"`
}

// Labels of incidents without an established cause, and of logs in which PLEG worked.
const (
	unknown = "unknown"
	well    = "no-pleg-problem"
)

func (l label) accepts(id string) bool {
	for _, a := range append([]string{l.Cause}, l.Also...) {
		if a == id {
			return true
		}
	}
	return false
}

// edges are the upper bounds of the confidence ranges.
var edges = []float64{0.25, 0.5, 0.7, 0.85, 1.01}

type bin struct {
	n, right int
	sum      float64
}

// table counts predictions by confidence, and the results of the cases.
type table struct {
	all, first             [5]bin
	brier                  float64
	n                      int
	explained, firstRight  int // cases with an established cause, and those whose first cause is accepted
	unknowns, claimed      int // cases with an unknown cause, and those for which one is claimed with at least 0.5
	wrongLikely, wrongName []string
}

func (t *table) add(first bool, conf float64, right bool) {
	i := 0
	for conf >= edges[i] {
		i++
	}
	y := 0.0
	if right {
		y = 1
	}
	for _, b := range []*bin{&t.all[i], &t.first[i]} {
		if b == &t.first[i] && !first {
			continue
		}
		b.n++
		b.sum += conf
		b.right += int(y)
	}
	t.brier += (conf - y) * (conf - y)
	t.n++
}

// judge counts one case.
func (t *table) judge(name string, l label, causes []rules.Cause) {
	for i, c := range causes {
		t.add(i == 0, c.Confidence, l.accepts(c.ID))
		if c.Level != rules.Possible && !l.accepts(c.ID) {
			t.wrongLikely = append(t.wrongLikely, name+": "+c.ID)
		}
	}
	claim := len(causes) > 0 && causes[0].Confidence >= 0.5 && !l.accepts(causes[0].ID)
	switch l.Cause {
	case unknown:
		t.unknowns++
		if claim {
			t.claimed++
		}
		return
	case well:
		t.explained++
		if !claim {
			t.firstRight++
		}
		return
	}
	t.explained++
	if len(causes) > 0 && l.accepts(causes[0].ID) {
		t.firstRight++
	} else {
		t.wrongName = append(t.wrongName, name)
	}
}

func (t *table) write(w io.Writer) {
	fmt.Fprintln(w, "Each case judged without the thread that it comes from.")
	fmt.Fprintln(w, "confidence     causes  mean  accepted     first  mean  accepted")
	low := 0.0
	for i, e := range edges {
		fmt.Fprintf(w, "%.2f to %.2f  %s  %s\n", low, min(e, 1), t.all[i].row(), t.first[i].row())
		low = e
	}
	fmt.Fprintf(w, "Brier score of all %d: %.3f\n", t.n, t.brier/float64(max(t.n, 1)))
	fmt.Fprintf(w, "first cause accepted: %d of %d (%.0f%%); not: %s\n", t.firstRight, t.explained, 100*float64(t.firstRight)/float64(max(t.explained, 1)), orNone(t.wrongName))
	fmt.Fprintf(w, "wrong and more than possible: %d %s\n", len(t.wrongLikely), orNone(t.wrongLikely))
	fmt.Fprintf(w, "of %d whose cause is not known, %d with a claim of 0.5 or more\n", t.unknowns, t.claimed)
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func (b bin) row() string {
	if b.n == 0 {
		return fmt.Sprintf("%8d     -         -", 0)
	}
	n := float64(b.n)
	return fmt.Sprintf("%8d  %.2f  %7.0f%%", b.n, b.sum/n, 100*float64(b.right)/n)
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: reliability DIR")
		os.Exit(2)
	}
	t, err := count(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "reliability:", err)
		os.Exit(1)
	}
	t.write(os.Stdout)
}

// count evaluates every case in a directory.
func count(dir string) (*table, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	t := &table{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var l label
		if err := json.Unmarshal(data, &l); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if l.Cause == "" {
			continue
		}
		b, err := bundle.Load(context.Background(), []string{strings.TrimSuffix(name, ".json") + ".log"}, bundle.Options{})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		pack, _ := rules.Builtin()
		pack.Forget(l.Source.URL)
		var causes []rules.Cause
		for _, n := range replay.Build(b, replay.Options{}) {
			causes = append(causes, rules.Eval(n, pack).Causes...)
		}
		t.judge(strings.TrimSuffix(filepath.Base(name), ".json"), l, causes)
	}
	return t, nil
}
