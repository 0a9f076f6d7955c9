package parse

// Part is what the decoder of one member, or of one group of members, found.
// Package bundle appends it to the Bundle; the order within each slice is the
// order of the file.
type Part struct {
	LogPart
	Listings []Listing
	Series   []*Series
	Scrapes  []*Scrape
	Objects  []*Object
	Journals []*JournalFile
}

// Empty reports whether the part holds no record at all. Warnings and coverage
// are no records.
func (p *Part) Empty() bool {
	return len(p.Events)+len(p.Markers)+len(p.Facts)+len(p.Containers)+
		len(p.Listings)+len(p.Series)+len(p.Scrapes)+len(p.Objects) == 0
}
