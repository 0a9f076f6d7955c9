// Command reliability prints how far the confidence of causes can be trusted:
// over a folder of labelled logs (NAME.log with NAME.json beside it) it counts,
// by range of confidence, how often a named cause is an accepted one.
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

// label is the part of a case's sidecar that matters here.
type label struct {
	Cause string   `json:"cause_id"`
	Also  []string `json:"also_supported_cause_ids"`
}

func (l label) accepts(id string) bool {
	for _, a := range append([]string{l.Cause}, l.Also...) {
		if a == id {
			return true
		}
	}
	return false
}

// edges are the upper ends of the ranges of confidence.
var edges = []float64{0.2, 0.4, 0.6, 0.8, 0.9, 1.01}

type bin struct {
	n, right int
	sum      float64
}

// table counts predictions by confidence, for all causes and for first ones.
type table struct {
	all, first [6]bin
	brier      float64
	n          int
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

func (t *table) write(w io.Writer) {
	fmt.Fprintln(w, "confidence     causes  mean  accepted     first  mean  accepted")
	low := 0.0
	for i, e := range edges {
		fmt.Fprintf(w, "%.2f to %.2f  %s  %s\n", low, min(e, 1), t.all[i].row(), t.first[i].row())
		low = e
	}
	fmt.Fprintf(w, "Brier score of all %d: %.3f\n", t.n, t.brier/float64(max(t.n, 1)))
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

// count evaluates every case of a folder. Cases labelled unknown have no
// accepted answer but what they also support, so they count as they are.
func count(dir string) (*table, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	pack, _ := rules.Builtin()
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
		b, err := bundle.Load(context.Background(), []string{strings.TrimSuffix(name, ".json") + ".log"}, bundle.Options{})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, n := range replay.Build(b, replay.Options{}) {
			for i, c := range rules.Eval(n, pack).Causes {
				t.add(i == 0, c.Confidence, l.accepts(c.ID))
			}
		}
	}
	return t, nil
}
