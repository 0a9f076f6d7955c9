package rules

import (
	"reflect"
	"slices"
	"testing"
)

// TestShares tests that each item is in exactly one share, in order.
func TestShares(t *testing.T) {
	for n := range 12 {
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		parts := shares(all, mostAtOnce)
		if got := slices.Concat(parts...); !slices.Equal(got, all) || slices.ContainsFunc(parts, func(p []int) bool { return len(p) == 0 }) {
			t.Errorf("%d items: shares %v", n, parts)
		}
	}
}

// TestEvalAtOnce tests that the result does not depend on the order in which the tasks run.
func TestEvalAtOnce(t *testing.T) {
	pack, _ := Builtin()
	backwards := func(tasks ...func()) {
		for _, task := range slices.Backward(tasks) {
			task()
		}
	}
	n := bigNode(5000)
	got, want := EvalAtOnce(n, nil, pack, backwards), Eval(n, pack)
	if len(want.Causes) == 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
