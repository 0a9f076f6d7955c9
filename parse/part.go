package parse

// Part is the result of decoding one member or one group of members. Package bundle
// appends it to the Bundle. Each slice is in file order.
type Part struct {
	LogPart
	Listings []Listing
	Series   []*Series
	Scrapes  []*Scrape
	Objects  []*Object
	Journals []*JournalFile
}

// Empty reports whether the part holds no records. Warnings and coverage are not
// records.
func (p *Part) Empty() bool {
	return len(p.Events)+len(p.Markers)+len(p.Facts)+len(p.Containers)+
		len(p.Listings)+len(p.Series)+len(p.Scrapes)+len(p.Objects) == 0
}
