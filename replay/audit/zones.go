package audit

import (
	"strings"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// comparable reports whether the times of the kubelet's events can be compared with
// those of the runtime's changes. If a zone is only assumed, they can if the events
// show that the logs share one: see parse.Delay.
func (a *auditor) comparable() bool {
	assumed := map[*parse.File]bool{}
	for _, c := range a.n.Clocks {
		if guess := "assumed: "; strings.HasPrefix(c.Header.Basis, guess) || strings.HasPrefix(c.Envelope.Basis, guess) {
			assumed[c.File] = true
		}
	}
	if len(assumed) == 0 {
		return true
	}
	guessed := func(r parse.Record) bool { return assumed[r.Where().File] && r.When().Basis < parse.ZoneInferred }
	apart := false
	var told []parse.Told
	type key struct {
		id  parse.StringID
		typ host.EventType
	}
	seen := map[key]bool{}
	for i := range a.n.Observed.Len() {
		e := &a.table.Rows[a.n.Observed.Row(i)]
		l, k := a.lives.find(e.Data), key{e.Data, e.Type}
		if l == nil || seen[k] || a.table.At(e) == 0 {
			continue
		}
		line, change := parse.Record(a.table.Lines[e.Line]), a.lives.line(l, e.Type)
		if change == nil {
			continue
		}
		seen[k] = true
		apart = apart || guessed(line) != guessed(change) || guessed(line) && line.Where().File != change.Where().File
		if at := a.lives.cause(l, e.Type); at.Known() {
			told = append(told, parse.Told{Change: at.At, Event: a.table.At(e)})
		}
	}
	if !apart {
		return true
	}
	late, ok := parse.Delay(told)
	return ok && late == 0
}
