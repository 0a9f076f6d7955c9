package model

import "github.com/plegforensics/plegforensics/parse"

// Inspect is the document plegforensics/inspect/v1, written by inspect.
type Inspect struct {
	Schema   string     `json:"schema"`
	Tool     Tool       `json:"tool"`
	Inputs   []Held     `json:"inputs"`
	Nodes    []HeldNode `json:"nodes"`
	Files    []File     `json:"files"`
	Gaps     []Silence  `json:"gaps"`
	Lost     []Loss     `json:"lost"`
	Missing  []Need     `json:"missing"`
	Warnings []Warning  `json:"warnings"`

	Prefix string `json:"-"` // common prefix of all paths
}

// Held describes an input.
type Held parse.Input

// HeldNode is a node found in the input.
type HeldNode struct {
	Name      string   `json:"name"`
	Version   *string  `json:"kubelet_version"`
	Runtime   *string  `json:"runtime"`
	Start     Time     `json:"start"`
	End       Time     `json:"end"`
	Zone      *string  `json:"timezone"`
	ZoneBasis *string  `json:"timezone_basis"`
	Sources   []string `json:"sources"`
}

// File is a file of an input and what was read from it.
type File struct {
	Path      string   `json:"path"`
	Role      string   `json:"role"`
	Layout    *string  `json:"layout"`
	Node      *string  `json:"node"`
	Used      bool     `json:"used"`
	Why       *string  `json:"why_not,omitempty"`
	Lines     int      `json:"lines"`
	Records   int      `json:"records"`
	Start     Time     `json:"start"`
	End       Time     `json:"end"`
	Sources   []string `json:"sources"`
	Zone      *string  `json:"timezone"`
	ZoneBasis *string  `json:"timezone_basis"`
	Year      *int     `json:"year"`
	YearBasis *string  `json:"year_basis"`
	Reversed  bool     `json:"reversed"`
	Jumps     int      `json:"clock_steps"`
	Copies    int      `json:"copies,omitempty"`
	CopyOf    *string  `json:"copy_of,omitempty"`

	Clock   string `json:"-"` // how its timestamps were dated, in words
	Repeats string `json:"-"` // how much of it also appears in other files, in words
}

// Silence is a span in which one source of a file wrote nothing.
type Silence struct {
	Source string  `json:"source"`
	File   string  `json:"file"`
	Line   uint32  `json:"line"`
	Start  Time    `json:"start"`
	End    Time    `json:"end"`
	Length float64 `json:"length_seconds"`

	Where string `json:"-"`
}

// Loss is a place where data was lost before the bundle was made.
type Loss struct {
	What  string `json:"what"`
	Count int    `json:"count,omitempty"`
	File  string `json:"file"`
	Line  uint32 `json:"line"`
	Time  Time   `json:"time"`
	Text  string `json:"text"`

	Where string `json:"-"`
}
