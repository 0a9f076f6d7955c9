package bundle

import (
	"io"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/cri"
	"github.com/plegforensics/plegforensics/parse/facts"
)

// decoder says how members of a role are decoded. Exactly one of lines, whole,
// samples, random and group is set.
type decoder struct {
	role parse.Role
	// lines: a text log, decoded in runs by package logs.
	lines bool
	// whole gets the content in one piece, cut at Limits.Whole. It must not retain
	// data; strings it keeps must be copies.
	whole func(f *parse.File, data []byte) parse.Part
	// paste: the content may also hold log lines, as in an excerpt pasted together
	// by hand.
	paste bool
	// samples: a metrics file, decoded in one piece like whole; its samples are
	// merged with those of all other metrics files.
	samples bool
	// random gets a random-access view, for formats with internal offsets. Reading
	// beyond size returns io.EOF; at is not valid after the call.
	random func(l *loader, f *parse.File, at io.ReaderAt, size int64) parse.Part
	// group gets all members with the same key, sorted by path, after the last
	// member was seen. Positions in the Part may cite any of the files.
	group func(files []GroupFile) parse.Part
	key   func(path string) string
	// spool: large members of a group that come from an archive are kept in
	// temporary files rather than in memory.
	spool bool
}

// GroupFile is one member of a group.
type GroupFile struct {
	File *parse.File
	At   io.ReaderAt
	Size int64
}

// decoders lists what is decoded, by role. Members of other roles are listed but
// not used.
var decoders = []decoder{
	{role: parse.RoleLog, lines: true},
	{role: parse.RoleKubeletLog, lines: true},
	{role: parse.RoleRuntimeLog, lines: true},
	{role: parse.RoleKernelLog, lines: true},
	{role: parse.RoleMetrics, samples: true},
	{role: parse.RoleTSDB, group: database, key: tsdbKey, spool: true},
	{role: parse.RoleCRI, whole: containers, paste: true},
	{role: parse.RoleSnapshots, whole: cri.Listings},
	{role: parse.RoleJournal, random: binaryJournal},
	{role: parse.RoleFacts, whole: facts.Decode, paste: true},
	{role: parse.RoleObjects, whole: facts.Decode},
	{role: parse.RoleStacks, whole: facts.Decode, paste: true},
	{role: parse.RoleManifest, whole: facts.Decode},
}

// containers decodes a container listing: its entries, the counts, and whether the
// tool that made it gave up.
func containers(f *parse.File, data []byte) parse.Part {
	p := cri.Decode(f, data)
	p.Facts = append(p.Facts, facts.Decode(f, data).Facts...)
	return p
}

func decoderFor(r parse.Role) *decoder {
	for i := range decoders {
		if decoders[i].role == r {
			return &decoders[i]
		}
	}
	return nil
}
