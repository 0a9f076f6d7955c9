package host

import (
	"iter"
	"slices"
)

// List is a sequence of findings of one kind. A node can have hundreds of thousands of
// them, so they are kept packed and unpacked one at a time on access. The zero List is
// empty. A List must not be read from several goroutines at once.
type List[T any] struct {
	// Plain holds unpacked items. It is used instead of a Source by code that builds or
	// changes items: tests, redaction.
	Plain []*T

	from  *packed[T]
	order []int32 // rows of from, in list order; nil: all
}

// Source provides the items of a List. It may compute them on first use.
type Source[T any] interface {
	Count() int
	Item(i int) T
}

// sharer is a Source whose items share values once all of them are unpacked.
type sharer interface{ share() }

// packed is a Source with all its items unpacked, if they have been asked for.
type packed[T any] struct {
	Source[T]
	whole []T
}

// at returns a pointer to item i, unpacked: the same one each time.
func (p *packed[T]) at(i int) *T {
	if p.whole == nil {
		if s, ok := p.Source.(sharer); ok {
			s.share()
		}
		p.whole = make([]T, p.Count())
		for i := range p.whole {
			p.whole[i] = p.Item(i)
		}
	}
	return &p.whole[i]
}

// Packed returns a list of the items of src.
func Packed[T any](src Source[T]) List[T] { return List[T]{from: &packed[T]{Source: src}} }

// Source returns the source of the items, nil if they are in Plain.
func (l List[T]) Source() Source[T] {
	if l.from == nil {
		return nil
	}
	return l.from.Source
}

// ListOf returns a list of the given items.
func ListOf[T any](items ...T) List[T] {
	l := List[T]{}
	for i := range items {
		l.Plain = append(l.Plain, &items[i])
	}
	return l
}

// Len returns the number of items.
func (l List[T]) Len() int {
	switch {
	case l.from == nil:
		return len(l.Plain)
	case l.order == nil:
		return l.from.Count()
	}
	return len(l.order)
}

// Item returns the item at index i.
func (l List[T]) Item(i int) T {
	if l.from != nil {
		return l.from.Item(l.Row(i))
	}
	return *l.Plain[i]
}

// Row returns the index in the Source (or Plain) of item i.
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

// Without returns the list without the items for which drop returns true.
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

// Unpacked returns a List[T] with its items in Plain. Lists from the same Source share
// them.
func (l List[T]) Unpacked() any {
	return List[T]{Plain: l.Pointers()}
}

// Pointers returns pointers to all items, unpacked. Lists from the same Source share
// them.
func (l List[T]) Pointers() []*T {
	if l.from == nil {
		return l.Plain
	}
	out := make([]*T, l.Len())
	for i := range out {
		out[i] = l.from.at(l.Row(i))
	}
	return out
}

// ArrangeTies sorts s by order, and items that are equal by that by ties.
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

// Arrange stably sorts a slice that is usually in order already, as the lines of a log
// are.
func Arrange[T any](s []T, order func(a, b T) int) {
	if !slices.IsSortedFunc(s, order) {
		slices.SortStableFunc(s, order)
	}
}
