package metrics

import (
	"fmt"
	"strings"
	"testing"
)

// TestCopies: snapshots that agree in every counter count once, at the earliest
// time; snapshots between which a value changed, or that do not show everGrowing,
// are all kept.
func TestCopies(t *testing.T) {
	page := func(grown, other int) string {
		return fmt.Sprintf("go_memstats_alloc_bytes_total %d\nkubelet_pleg_last_seen_seconds %d\n", grown, other)
	}
	const first, second, third = "m/20261120T233029Z.prom", "m/20261120T233645Z.prom", "m/20261120T233700Z.prom"
	for _, c := range []struct {
		name  string
		files []string
		want  string // times of the snapshots kept
		told  int
	}{
		{"a copy", []string{first, page(1, 2), second, page(1, 2)}, "23:30:29", 1},
		{"a copy that comes first", []string{second, page(1, 2), first, page(1, 2)}, "23:30:29", 1},
		{"two copies beside another", []string{first, page(1, 2), second, page(1, 2), third, page(3, 2)}, "23:30:29 23:37:00", 1},
		{"the process went on", []string{first, page(1, 2), second, page(2, 2)}, "23:30:29 23:36:45", 0},
		{"another value moved", []string{first, page(1, 2), second, page(1, 3)}, "23:30:29 23:36:45", 0},
		{"a filtered page", []string{first, "kubelet_pleg_last_seen_seconds 2\n", second, "kubelet_pleg_last_seen_seconds 2\n"}, "23:30:29 23:36:45", 0},
	} {
		p := decodeAll(c.files...)
		var got []string
		for _, sc := range p.Scrapes {
			got = append(got, sc.Time().UTC().Format("15:04:05"))
		}
		told := 0
		for _, w := range p.Warnings {
			if strings.Contains(w.Msg, "it is a copy") {
				told++
			}
		}
		if strings.Join(got, " ") != c.want || told != c.told {
			t.Errorf("%s: snapshots %q, want %q; %d warnings, want %d", c.name, got, c.want, told, c.told)
		}
		for _, x := range p.Series {
			if len(x.Points) != len(got) {
				t.Errorf("%s: %s has %d points", c.name, x, len(x.Points))
			}
		}
	}
}
