package journal

import "github.com/plegforensics/plegforensics/parse"

// Form is how a line is framed.
type Form uint8

// Forms.
const (
	Bare       Form = iota // no framing: raw klog, logrus, plain text
	Blank                  // an empty line
	Control                // a line by the collector or journalctl itself: Entry.Marker
	Section                // "==> kubelet <==": Entry.Msg is the name
	BSD                    // "Mar 13 15:41:18 host id[pid]: …", also short-precise
	ISO                    // short-iso, short-iso-precise, rsyslog's ISO form
	Full                   // short-full, with-unit
	Unix                   // short-unix
	Monotonic              // short-monotonic, short-delta: no wall clock
	Ident                  // "kubelet[17]: …": date and host were removed
	Dmesg                  // kernel ring buffer
	Syslog5424             // "<13>1 2021-…"
	CRI                    // "2024-…Z stdout F …"
	Stamped                // "2024-…Z …": kubectl logs --timestamps, docker logs -t
	Docker                 // {"log":…,"stream":…,"time":…}
	JSON                   // journalctl -o json and its relatives
	Cloud                  // Cloud Logging LogEntry
	Export                 // journalctl -o export
	Verbose                // journalctl -o verbose
	BinaryFile             // an entry of journald's own files
	EventRow               // a row, or the heading, of kubectl get or describe events
	Condition              // a condition row of kubectl describe node
	EventLog               // a row of Get-WinEvent | Export-Csv
)

var formNames = [...]string{
	"plain text", "blank", "control", "section", "journal short", "journal short-iso", "journal short-full",
	"journal short-unix", "journal short-monotonic", "lines without date and host", "dmesg", "syslog (RFC 5424)",
	"CRI container log", "time-stamped container log", "docker json-file", "journal JSON", "Cloud Logging JSON",
	"journal export", "journal verbose", "binary journal", "kubectl events", "kubectl conditions", "Windows event log CSV",
}

// String returns the human-readable name of the form.
func (f Form) String() string { return formNames[f] }

// Who identifies the writer of a line, as far as the framing states it. A Parser
// interns them: equal writers have equal pointers.
type Who struct {
	Host  string
	Ident string // syslog identifier, "kernel" for the kernel
	Unit  string // systemd unit
	Boot  string // boot id, 32 hex digits
	PID   int
}

// nobody is the writer of lines whose framing names none.
var nobody = &Who{}

// Entry is one record without its framing. Its slices alias the record or the
// Parser's memory and are valid until the next call of Parse.
type Entry struct {
	Form    Form
	Partial bool // CRI "P": the message continues in the next line of the stream
	Lost    bool // the message is JSON null: it was dropped during export
	Torn    bool // the JSON object that the record is does not end as one
	Off     int  // offset of Msg in the record, -1 if Msg was decoded from an escaped form
	At      int  // offset of the raw message in the record
	Who     *Who // never nil
	Msg     []byte
	Header  Header
	Clock   parse.Clock // clock of the framing
	Mono    int64       // ns since boot, 0 if not stated
	Marker  Mark        // set for Form Control and for messages about lost entries or clock steps
}

// Mark is the content of a line in which the log describes itself.
type Mark struct {
	Kind parse.MarkerKind // "" for ordinary lines
	Boot string
	N    int
}
