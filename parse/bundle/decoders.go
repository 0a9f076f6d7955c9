package bundle

import (
	"io"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/cri"
	"github.com/plegforensics/plegforensics/parse/facts"
)

// decoder says how the members of a role are decoded. One of lines, whole,
// samples, random and group is set.
type decoder struct {
	role parse.Role
	// lines: a text log, decoded in runs by package logs.
	lines bool
	// whole takes the content in one piece, cut at Limits.Whole. It may not
	// keep data: strings it wants to keep must be copies.
	whole func(f *parse.File, data []byte) parse.Part
	// paste: the content may also hold log lines, as an excerpt that somebody
	// pasted together does.
	paste bool
	// samples: a metrics file, decoded in one piece like whole, whose samples
	// are joined with those of all other metrics files.
	samples bool
	// random takes a view that may be read anywhere, for formats that point
	// to offsets. Reading beyond size gives io.EOF; at is not valid later.
	random func(l *loader, f *parse.File, at io.ReaderAt, size int64) parse.Part
	// group takes all members whose key is equal, sorted by path, after the
	// last member was seen. Part positions may cite any of the files.
	group func(files []GroupFile) parse.Part
	key   func(path string) string
	// spool: large members of a group that come out of an archive wait in
	// temporary files rather than in memory.
	spool bool
}

// GroupFile is one member of a group.
type GroupFile struct {
	File *parse.File
	At   io.ReaderAt
	Size int64
}

// decoders is the table of what is decoded, by role. Members of other roles
// are listed and not used.
var decoders = []decoder{
	{role: parse.RoleLog, lines: true},
	{role: parse.RoleKubeletLog, lines: true},
	{role: parse.RoleRuntimeLog, lines: true},
	{role: parse.RoleKernelLog, lines: true},
	{role: parse.RoleMetrics, samples: true},
	{role: parse.RoleTSDB, group: database, key: tsdbKey, spool: true},
	{role: parse.RoleCRI, whole: containers},
	{role: parse.RoleSnapshots, whole: cri.Listings},
	{role: parse.RoleJournal, random: binaryJournal},
	{role: parse.RoleFacts, whole: facts.Decode, paste: true},
	{role: parse.RoleObjects, whole: facts.Decode},
	{role: parse.RoleStacks, whole: facts.Decode, paste: true},
	{role: parse.RoleManifest, whole: facts.Decode},
}

// containers decodes a listing of containers: what it lists, the counts, and
// whether the tool that made it gave up.
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
