package host

import (
	"iter"
	"slices"
)

// List is a sequence of findings of one kind. A node can have hundreds of
// thousands of them, so the rebuild keeps them packed, as numbers, and each is
// made whole when it is asked for. The zero List is empty. A list is read by one
// goroutine at a time.
type List[T any] struct {
	// Plain are the items as such. They are set where somebody made or changed
	// them: tests, redaction.
	Plain []*T

	from  Source[T]
	order []int32 // which of from, in which order; nil: all
}

// Source is where the items of a List come from. It may find them when somebody first
// asks for them.
type Source[T any] interface {
	Count() int
	Item(i int) T
	Whole() []*T // all items; each call returns the same
}

// WholeOf makes n items whole.
func WholeOf[T any](n int, item func(int) T) []*T {
	made, out := make([]T, n), make([]*T, n)
	for i := range made {
		made[i] = item(i)
		out[i] = &made[i]
	}
	return out
}

// Packed returns a list of the items of src.
func Packed[T any](src Source[T]) List[T] { return List[T]{from: src} }

// Source is where the items come from, nil for plain ones.
func (l List[T]) Source() Source[T] { return l.from }

// ListOf returns a list of given items.
func ListOf[T any](items ...T) List[T] {
	l := List[T]{}
	for i := range items {
		l.Plain = append(l.Plain, &items[i])
	}
	return l
}

// Len is the number of items.
func (l List[T]) Len() int {
	switch {
	case l.from == nil:
		return len(l.Plain)
	case l.order == nil:
		return l.from.Count()
	}
	return len(l.order)
}

// Item returns an item by its index.
func (l List[T]) Item(i int) T {
	if l.from != nil {
		return l.from.Item(l.Row(i))
	}
	return *l.Plain[i]
}

// Row is the index of an item in what it comes from.
func (l List[T]) Row(i int) int {
	if l.order != nil {
		return int(l.order[i])
	}
	return i
}

// All returns the items in order, with their indexes.
func (l List[T]) All() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i := range l.Len() {
			if !yield(i, l.Item(i)) {
				return
			}
		}
	}
}

// Without returns the list without the items that drop is true of.
func (l List[T]) Without(drop func(T) bool) List[T] {
	kept := make([]int32, 0, l.Len())
	for i, x := range l.All() {
		if !drop(x) {
			kept = append(kept, int32(l.Row(i)))
		}
	}
	if l.from != nil {
		l.order = kept
		return l
	}
	plain := make([]*T, len(kept))
	for i, k := range kept {
		plain[i] = l.Plain[k]
	}
	return List[T]{Plain: plain}
}

// Unpacked returns the list with its items in Plain. Lists of the same items share
// them.
func (l List[T]) Unpacked() any {
	return List[T]{Plain: l.Pointers()}
}

func (l List[T]) Pointers() []*T {
	if l.from == nil {
		return l.Plain
	}
	whole := l.from.Whole()
	out := make([]*T, l.Len())
	for i := range out {
		out[i] = whole[l.Row(i)]
	}
	return out
}

// ArrangeTies sorts by one order, and what that calls equal by another.
func ArrangeTies[T any](s []T, order, ties func(a, b T) int) {
	Arrange(s, order)
	for i := 0; i < len(s); {
		k := i + 1
		for k < len(s) && order(s[k], s[i]) == 0 {
			k++
		}
		Arrange(s[i:k], ties)
		i = k
	}
}

// Arrange sorts what is mostly in order already, as the lines of a log are. What
// order calls equal stays as it is.
func Arrange[T any](s []T, order func(a, b T) int) {
	if !slices.IsSortedFunc(s, order) {
		slices.SortStableFunc(s, order)
	}
}
