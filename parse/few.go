package parse

import (
	"cmp"
	"fmt"
	"slices"
)

// Many is of how many things of one kind each is kept where an input that nobody
// collected may hold any number: more than a node writes in months. Of more of them those
// that decide are kept and the others are counted, which a warning tells.
const Many = 10_000

// Weightiest keeps of a list the first, the last and those that weigh most, in their
// order: all of it, or as many as most.
func Weightiest[T any](list []T, most int, weight func(*T) int64) []T {
	n := len(list)
	if n <= max(most, 2) {
		return list
	}
	order, weights := make([]int, 0, n-2), make([]int64, n)
	for i := 1; i < n-1; i++ {
		order, weights[i] = append(order, i), weight(&list[i])
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(weights[j], weights[i]), cmp.Compare(i, j)) })
	order = append(order[:max(most, 2)-2:max(most, 2)-2], 0, n-1)
	slices.Sort(order)
	out := make([]T, 0, len(order))
	for _, i := range order {
		out = append(out, list[i])
	}
	return out
}

// Counted tells how many things of a kind there are, and which of them are kept.
func Counted(at Pos, all int, kind string, kept int, which string) Warning {
	return Warning{Pos: at, Cut: true, Msg: fmt.Sprintf("%s: %d are kept one by one, %s; the others are only counted", Plural(all, kind), kept, which)}
}
