package bundle

import "github.com/plegforensics/plegforensics/parse"

// identity is what the name of a member says about it.
type identity struct {
	Layout string
	Role   parse.Role // RoleUnknown: the content decides, unless Why is set
	Node   string     // "" if the path does not say
	Why    string     // why the member is of no use, "" if it may be
}

// identifier recognises the layouts of one input while its members go by.
// It is for one goroutine.
type identifier struct{}

func (x *identifier) identify(path string) identity { return identity{} }
func (x *identifier) finish(files []*parse.File)    {}
func (x *identifier) kind() string                  { return "" }
func (x *identifier) clone() identifier             { return identifier{} }
