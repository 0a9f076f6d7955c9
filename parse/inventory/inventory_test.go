package inventory

import (
	"slices"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/facts"
)

const minute = int64(60e9)

func stamp(at int64) parse.Stamp { return parse.Stamp{At: at, Basis: parse.Stated} }

func mark(f *parse.File, line uint32, at int64) parse.Mark {
	return parse.Mark{Pos: parse.Pos{File: f, Line: line}, Stamp: stamp(at)}
}

// made returns a bundle of a kubelet log with a silence, a runtime log one record
// of which another file holds too, an empty file and an unused one.
func made() *parse.Bundle {
	const top = "a.tar!top/"
	kubelet := &parse.File{Path: top + "kubelet.log", Role: parse.RoleKubeletLog, Size: 1}
	runtime := &parse.File{Path: top + "runtime.log", Role: parse.RoleRuntimeLog, Size: 1}
	b := &parse.Bundle{Files: []*parse.File{{Path: top + "dump.bin", Unused: "binary"}, {Path: top + "kernel.log", Role: parse.RoleKernelLog}, runtime, kubelet}}
	b.Coverage = []*parse.Coverage{
		{File: kubelet, Origin: &parse.Origin{Source: parse.SrcKubelet}, Lines: 9, FirstLine: mark(kubelet, 1, minute), LastLine: mark(kubelet, 9, 30*minute),
			Gaps: []parse.Gap{{Last: mark(kubelet, 2, 2*minute), Next: mark(kubelet, 3, 3*minute)}, {Last: mark(kubelet, 5, 4*minute), Next: mark(kubelet, 6, 20*minute)}}},
		{File: runtime, Origin: &parse.Origin{Source: parse.SrcContainerd}, Lines: 4, FirstLine: mark(runtime, 1, minute), LastLine: mark(runtime, 4, 2*minute)},
	}
	b.Copies = map[*parse.File]int{runtime: 1}
	b.Markers = []*parse.Marker{{Pos: parse.Pos{File: kubelet, Line: 7}, Kind: parse.MarkSuppressed, N: 12}}
	b.Facts = []*parse.Fact{{Pos: parse.Pos{File: runtime, Line: 1}, Key: facts.KeyKilled}}
	return b
}

// TestOf: files with content come first, by role; the others say why they have
// none. Silences of five minutes or more and losses are listed.
func TestOf(t *testing.T) {
	x := Of([]*parse.Bundle{made()})
	type row struct {
		path, why, repeats string
		lines, records     int
		from, to           int64
	}
	var got []row
	for i := range x.Files {
		f := &x.Files[i]
		got = append(got, row{f.Path[len(x.Prefix):], f.Why, f.Repeats(), f.Lines, f.Records, f.From, f.To})
	}
	want := []row{
		{"kubelet.log", "", "", 9, 1, minute, 30 * minute},
		{"runtime.log", "", "1 of 2 records also appears in another file", 4, 2, minute, 2 * minute},
		{"dump.bin", "binary", "", 0, 0, 0, 0},
		{"kernel.log", "empty", "", 0, 0, 0, 0},
	}
	if !slices.Equal(got, want) || x.Prefix != "a.tar!top/" {
		t.Errorf("below %s:\n got %+v\nwant %+v", x.Prefix, got, want)
	}
	if len(x.Gaps) != 1 || x.Gaps[0].From.Line != 5 || x.Gaps[0].Length() != 16*60e9 {
		t.Errorf("silences: %+v", x.Gaps)
	}
	if len(x.Lost) != 2 || x.Lost[0].N != 12 || x.Lost[1].What != "a command of the collector did not end" {
		t.Errorf("lost: %+v", x.Lost)
	}
}

// TestDating: dating is stated once, with the zone of messages if it differs from
// the envelope's.
func TestDating(t *testing.T) {
	f := File{Clock: &parse.FileClock{Year: 2026, YearBasis: "--year", Reversed: true,
		Envelope: parse.ZoneInfo{Name: "UTC", Basis: "stated"}, Header: parse.ZoneInfo{Name: "+02:00", Offset: 7200, Basis: "by the envelope"}}}
	if got, want := f.Dating(), "UTC, stated; messages +02:00, by the envelope; 2026: --year; newest line first"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if (&File{}).Dating() != "" {
		t.Error("a file without a clock is dated")
	}
}
