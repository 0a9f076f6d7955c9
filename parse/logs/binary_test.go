package logs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/journal"
)

// binaryEntries returns n entries of a kubelet, its runtime and journald.
func binaryEntries(n int) []BinaryEntry {
	out := make([]BinaryEntry, n)
	for i := range out {
		us := int64(1795217339000000) + int64(i)*700000
		clock := fmt.Sprintf("1120 23:%02d:%02d.%06d", 28+i*7/600%20, i*7/10%60, i)
		f := journal.Fields{Host: []byte("node-a"), Ident: []byte("kubelet"), PID: []byte("77"), Unit: []byte("kubelet.service"),
			Boot: "0123456789abcdef0123456789abcdef", Realtime: us, Mono: us - 1795217000000000}
		switch i % 5 {
		case 0:
			f.Message = []byte("E" + clock + `   77 generic.go:238] "GenericPLEG: Unable to retrieve pods" err="rpc error: code = DeadlineExceeded desc = context deadline exceeded"`)
		case 1:
			f.Message = []byte("W" + clock + "   77 logging.go:59] [core] createTransport failed to connect to {")
		case 2:
			f.Message = []byte(`  "Addr": "/run/containerd/containerd.sock",`)
		case 3:
			f.Ident, f.PID, f.Unit = []byte("systemd-journald"), []byte("9"), nil
			f.Message = []byte("Suppressed 12 messages from kubelet.service")
		case 4:
			f.Message = []byte("E" + clock + `   77 kubelet.go:2327] "Skipping pod synchronization" err="PLEG is not healthy: pleg was last seen active 3m7.2s ago; threshold is 3m0s"`)
			f.Source = []byte(fmt.Sprint(us - 150))
		}
		out[i] = BinaryEntry{Fields: f, Number: uint32(i + 1), Offset: int64(4096 + 512*i)}
	}
	return out
}

func seq(entries []BinaryEntry) func(func(*BinaryEntry) bool) {
	return func(yield func(*BinaryEntry) bool) {
		for i := range entries {
			if !yield(&entries[i]) {
				return
			}
		}
	}
}

// TestEntriesAsText compares the entries of a binary journal with the text that
// journalctl prints for them: events, markers and coverage must be the same, except
// that positions are entries and that boot and unit are known.
func TestEntriesAsText(t *testing.T) {
	for _, n := range []int{7, 6000} { // one batch and several
		entries := binaryEntries(n)
		var text []byte
		p := journal.NewParser(&journal.Framing{Name: journal.BinaryFile.String()})
		for i := range entries {
			text, _, _ = p.AppendLine(text, &entries[i].Fields)
			text = append(text, '\n')
		}
		f := &parse.File{Path: "system.journal", Role: parse.RoleJournal}
		bd := NewEntryDecoder(f, Builtin(), Options{})
		var results []Result
		for b := range bd.Batches(seq(entries)) {
			results = append(results, bd.DecodeBatch(b, nil))
			// Others may reuse the memory of a batch as soon as it is released.
			memory := b.text[:cap(b.text)]
			for i := range memory {
				memory[i] = '?'
			}
			b.Release()
		}
		if n > 1000 && len(results) < 2 {
			t.Errorf("%d entries make one batch", n)
		}
		got := bd.Finish(results)
		td := NewDecoder(f, text, Builtin(), Options{})
		want := td.Finish([]Result{td.Decode(Run{Data: text, Last: true})})

		if g, w := eventsOf(got), eventsOf(want); g != w {
			t.Errorf("%d entries: events\n got %.600s\nwant %.600s", n, g, w)
		}
		if len(got.Markers) != len(want.Markers) || got.Lines != want.Lines || len(got.Coverage) != len(want.Coverage) {
			t.Errorf("%d entries: %d markers, %d lines, %d origins; want %d, %d, %d", n, len(got.Markers), got.Lines, len(got.Coverage),
				len(want.Markers), want.Lines, len(want.Coverage))
		}
		for i, c := range got.Coverage {
			w := want.Coverage[i]
			if c.Lines != w.Lines || c.FirstLine.Raw != w.FirstLine.Raw || c.LastLine.Raw != w.LastLine.Raw || c.LastLine.Text.String() != w.LastLine.Text.String() {
				t.Errorf("%d entries: coverage %d differs", n, i)
			}
			if c.Origin.Source == parse.SrcKubelet && (c.Origin.Boot == "" || c.Origin.Unit != "kubelet.service") {
				t.Errorf("origin %+v lacks boot or unit", *c.Origin)
			}
		}
		for _, e := range got.Events {
			if e.Offset != entries[e.Line-1].Offset {
				t.Fatalf("event of entry %d at offset %d", e.Line, e.Offset)
			}
		}
	}
}

func eventsOf(p parse.LogPart) string {
	var b strings.Builder
	for _, e := range p.Events {
		fmt.Fprintf(&b, "%d %s %v %v %c %s %s\n", e.Line, e.Origin.Source, e.Raw().Header, e.Raw().Envelope, e.Severity, e.Caller, e.Text().String())
		for _, s := range e.Sigs.Sigs {
			b.WriteString("  " + s.ID + "\n")
		}
	}
	return b.String()
}
