package parse

// Bundle is the merged content of all inputs. Slices are in time order, with ties
// broken by position, and do not depend on the number of workers.
type Bundle struct {
	Inputs     []Input
	Files      []*File
	Events     []*Event
	Interned   *StringTable // interned fields of Events; nil if none were extracted while decoding
	Coverage   []*Coverage
	Markers    []*Marker
	Facts      []*Fact
	Containers []*Container
	Listings   []Listing // recorded listings of RoleSnapshots files
	Series     []*Series
	Scrapes    []*Scrape
	Objects    []*Object
	Clocks     []FileClock
	Copies     map[*File]int  // number of lines of a file that Events holds from another file instead
	Same       []SameLines    // whose lines those are
	Journals   []*JournalFile // in the order of Files
	Warnings   []Warning
}

// SameLines says that lines of the kubelet From are those of Of in another file: the two are one process,
// whatever its ID. What is that in one form of a log is a thread in another.
type SameLines struct{ From, Of Writer }

// Writer is a writer of lines of a file.
type Writer struct {
	File   *File
	Origin *Origin
}

// Input is a command-line argument.
type Input struct {
	Path      string `json:"path"`       // as given
	Kind      string `json:"kind"`       // name of the layout or format: "sosreport", "kubelet-log", …
	Files     int    `json:"files"`      // members seen
	FilesUsed int    `json:"files_used"` // members that yielded at least one record
	Bytes     int64  `json:"bytes"`      // read, after decompression
	Partial   bool   `json:"partial"`    // truncated, unreadable, or cut by a limit
}

// FileClock states how the year and zone of a file's stamps were resolved.
type FileClock struct {
	File      *File
	Envelope  ZoneInfo
	Header    ZoneInfo
	Year      int    // year of the newest line
	YearBasis string // human-readable: "collection time in sos_reports/manifest.json", "--year", …
	Reversed  bool
	Jumps     []Jump
	Stepped   int // total number of steps; of more than Many per kind, only some are in Jumps
	// Moved is the number of spans of a journal that were moved on the time axis
	// because the boot's monotonic clock shows that the wall clock was set after
	// them.
	Moved int
}

// ZoneSinceBoot is the ZoneInfo name for stamps that count from boot.
const ZoneSinceBoot = "time since boot"

// ZoneInfo is a time zone and how it is known.
type ZoneInfo struct {
	Name   string // "UTC", "+05:30", "Europe/Berlin"
	Offset int    // seconds east of UTC at the newest line
	Basis  string // human-readable
}

// Jump is a step of the wall clock between two lines.
type Jump struct {
	At   Mark
	Step int64 // ns, positive forward
}

// Listing is a recorded relist listing (plegforensics/snapshots/v1).
type Listing struct {
	Pos
	Stamp
	Raw []byte // the JSON line; package cri decodes it
}

// Object is a Kubernetes object (node, pod or event) with its position.
type Object struct {
	Pos
	Stamp
	Kind      string // Node, Pod, Event
	Namespace string
	Name      string
	UID       string
	Fields    []Field // flattened, documented in package parse/facts
	Text      Text
}

// Where, When, From and Quote implement Record.
func (o *Object) Where() Pos    { return o.Pos }
func (o *Object) When() Stamp   { return o.Stamp }
func (o *Object) From() Source  { return SrcKubeEvents }
func (o *Object) Quote() string { return o.Text.String() }

// Field returns the value of the first field with the name, "" if there is none.
func (o *Object) Field(name string) string { return FieldOf(o.Fields, name) }

// LogPart is what the decoder of one text file found.
type LogPart struct {
	Events     []*Event
	Coverage   []*Coverage
	Markers    []*Marker
	Facts      []*Fact // anchors for year and zone: header dates, LastHeartbeatTime, …
	Containers []*Container
	Warnings   []Warning
	Format     string // human-readable framing: "journal short-precise + klog"
	Lines      int
}
