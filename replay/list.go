package replay

import "iter"

// List is a sequence of findings of one kind. A node can have hundreds of
// thousands of them, so the rebuild keeps them packed, as numbers, and each is
// made whole when it is asked for. The zero List is empty. A list is read by one
// goroutine at a time.
type List[T any] struct {
	// Plain are the items as such. They are set where somebody made or changed
	// them: tests, redaction.
	Plain []*T

	from  source[T]
	n     int     // how many of from it shows, or allOfIt
	order []int32 // which of from, in which order; nil: the first n
}

// source is where the items of a List come from.
type source[T any] interface {
	item(i int) T
	whole() []*T // all items; each call returns the same
}

// allOfIt stands for the number of items of a lateSource.
const allOfIt = -1

// lateSource is a source that finds its items when somebody first asks for them.
type lateSource interface{ count() int }

// wholeOf makes n items whole.
func wholeOf[T any](n int, item func(int) T) []*T {
	made, out := make([]T, n), make([]*T, n)
	for i := range made {
		made[i] = item(i)
		out[i] = &made[i]
	}
	return out
}

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
	case l.n == allOfIt:
		return l.from.(lateSource).count()
	}
	return l.n
}

// Item returns an item by its index.
func (l List[T]) Item(i int) T {
	if l.from != nil {
		return l.from.item(l.row(i))
	}
	return *l.Plain[i]
}

// row is the index of an item in what it comes from.
func (l List[T]) row(i int) int {
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
			kept = append(kept, int32(l.row(i)))
		}
	}
	if l.from != nil {
		l.n, l.order = len(kept), kept
		return l
	}
	plain := make([]*T, len(kept))
	for i, k := range kept {
		plain[i] = l.Plain[k]
	}
	return List[T]{Plain: plain}
}

// Unpacked returns the list with its items in Plain. Lists that have items in
// common share them.
func (l List[T]) Unpacked() any {
	return List[T]{Plain: l.Pointers()}
}

func (l List[T]) Pointers() []*T {
	if l.from == nil {
		return l.Plain
	}
	whole := l.from.whole()
	out := make([]*T, l.Len())
	for i := range out {
		out[i] = whole[l.row(i)]
	}
	return out
}
