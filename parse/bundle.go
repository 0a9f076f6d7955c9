package parse

// Bundle is all that the inputs say, merged. Slices are in time order with
// ties broken by position, and the same for any number of workers.
type Bundle struct {
	Inputs     []Input
	Files      []*File
	Events     []*Event
	Symbols    *Symbols // of the fields of Events, nil if none were taken as the lines were decoded
	Coverage   []*Coverage
	Markers    []*Marker
	Facts      []*Fact
	Containers []*Container
	Listings   []Listing // recorded listings of RoleSnapshots files
	Series     []*Series
	Scrapes    []*Scrape
	Objects    []*Object
	Clocks     []FileClock
	Copies     map[*File]int  // lines of a file that Events holds from another file
	Journals   []*JournalFile // in the order of Files
	Warnings   []Warning
}

// Input is one argument of the command line.
type Input struct {
	Path      string `json:"path"`       // as given
	Kind      string `json:"kind"`       // name of the layout or of the format: "sosreport", "kubelet-log", …
	Files     int    `json:"files"`      // members seen
	FilesUsed int    `json:"files_used"` // members that gave at least one record
	Bytes     int64  `json:"bytes"`      // read, after decompression
	Partial   bool   `json:"partial"`    // truncated, unreadable, or cut by a limit
}

// FileClock says how the year and zone of a file's stamps were resolved.
type FileClock struct {
	File      *File
	Envelope  ZoneInfo
	Header    ZoneInfo
	Year      int    // year of the newest line
	YearBasis string // in words: "collection time in sos_reports/manifest.json", "--year", …
	Reversed  bool
	Jumps     []Jump
	Stepped   int // how many steps there are: of more than Many of a kind not all are among Jumps
	// Moved is how many stretches of a journal were moved on the axis because
	// the boot's own clock shows that the wall clock was set behind them.
	Moved int
}

// ZoneSinceBoot is the name in a ZoneInfo of stamps that count from the boot.
const ZoneSinceBoot = "time since boot"

// ZoneInfo is a zone and how it is known.
type ZoneInfo struct {
	Name   string // "UTC", "+05:30", "Europe/Berlin"
	Offset int    // seconds east of UTC at the newest line
	Basis  string // in words
}

// Jump is a step of the wall clock between two lines.
type Jump struct {
	At   Mark
	Step int64 // ns, positive forward
}

// Listing is one recorded relist listing (plegforensics/snapshots/v1).
type Listing struct {
	Pos
	Stamp
	Raw []byte // the JSON line; package cri decodes it
}

// Object is a Kubernetes object with its position: node, pod, event.
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

func (o *Object) Where() Pos    { return o.Pos }
func (o *Object) When() Stamp   { return o.Stamp }
func (o *Object) From() Source  { return SrcKubeEvents }
func (o *Object) Quote() string { return o.Text.String() }

// LogPart is what the decoder of one text file found.
type LogPart struct {
	Events     []*Event
	Coverage   []*Coverage
	Markers    []*Marker
	Facts      []*Fact // anchors for year and zone: header dates, LastHeartbeatTime, …
	Containers []*Container
	Warnings   []Warning
	Format     string // framing in words: "journal short-precise + klog"
	Lines      int
}
