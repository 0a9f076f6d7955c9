package parse

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestRows reads rows back in any order, starting at any value.
func TestRows(t *testing.T) {
	var r Rows
	for round := range 20 {
		var rows [][]StringID
		var at []uint32
		middle := StringID(1) << (round + 12)
		for range 200 {
			row := make([]StringID, 1+rand.IntN(6))
			for i := range row {
				row[i] = []StringID{0, 63, 64, farFrom0 - 1, farFrom0, math.MaxUint32, middle, middle - 70, middle + 70,
					StringID(rand.Uint32N(100)), middle + StringID(rand.Uint32N(5000)), StringID(rand.Uint32())}[rand.IntN(12)]
			}
			rows, at = append(rows, row), append(at, r.Add(row))
		}
		kept := r.Take()
		for _, i := range rand.Perm(len(rows)) {
			from := rand.IntN(len(rows[i]))
			have := kept.At(kept.Skip(at[i], from))
			for j, want := range rows[i][from:] {
				if s := have.Next(); s != want {
					t.Fatalf("value %d of row %d is %d, want %d of %d", from+j, i, s, want, rows[i])
				}
			}
		}
		if at[0] == 0 {
			t.Fatal("the first row has no number")
		}
	}
}
