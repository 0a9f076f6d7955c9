package parse

import (
	"cmp"
	"fmt"
	"slices"
)

// Many is the number of items of one kind that are kept individually. It is more
// than a node writes in months, but an untrusted input may hold any number. Beyond
// it, the most significant items are kept, the others are only counted, and a
// warning says so.
const Many = 10_000

// Weightiest returns the first and last items of list and the heaviest of the
// others, in list order: most items in total (at least 2), or all if there are no
// more. Of equally heavy items, earlier ones are kept.
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

// Counted returns a warning stating how many items of a kind there are and which of
// them are kept.
func Counted(at Pos, all int, kind string, kept int, which string) Warning {
	return Warning{Pos: at, Cut: true, Msg: fmt.Sprintf("%s: %d are kept one by one, %s; the others are only counted", Plural(all, kind), kept, which)}
}
