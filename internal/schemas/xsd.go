package schemas

import (
	_ "embed"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

//go:embed junit-4.xsd
var junit []byte

// JUnit checks JUnit XML.
func JUnit(doc []byte) error { return xsd(junit, doc) }

// The part of XML Schema that junit-4.xsd uses: global elements that refer to each other in
// sequences, string attributes, mixed and plain text. A schema that uses more is refused, because
// all other elements are collected.
type (
	xsdSchema struct {
		Elements []xsdElement `xml:"element"`
		Other    []xsdAny     `xml:",any"`
	}
	xsdElement struct {
		Name    string   `xml:"name,attr"`
		Type    string   `xml:"type,attr"`
		Complex *xsdType `xml:"complexType"`
		Other   []xsdAny `xml:",any"`
	}
	xsdType struct {
		Mixed      bool           `xml:"mixed,attr"`
		Sequence   []xsdRef       `xml:"sequence>element"`
		Attributes []xsdAttribute `xml:"attribute"`
		Other      []xsdAny       `xml:",any"`
	}
	xsdRef struct {
		Ref string `xml:"ref,attr"`
		Min string `xml:"minOccurs,attr"`
		Max string `xml:"maxOccurs,attr"`
	}
	xsdAttribute struct {
		Name string `xml:"name,attr"`
		Type string `xml:"type,attr"`
		Use  string `xml:"use,attr"`
	}
	xsdAny struct{ XMLName xml.Name }
)

// xsdNode is an element of a document.
type xsdNode struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Children []xsdNode  `xml:",any"`
	Text     string     `xml:",chardata"`
}

func xsd(schema, doc []byte) error {
	var s xsdSchema
	if err := xml.Unmarshal(schema, &s); err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	if err := s.understood(); err != nil {
		return err
	}
	var root xsdNode
	d := xml.NewDecoder(strings.NewReader(string(doc)))
	if err := d.Decode(&root); err != nil {
		return err
	}
	if tok, err := d.Token(); !errors.Is(err, io.EOF) {
		if text, ok := tok.(xml.CharData); !ok || strings.TrimSpace(string(text)) != "" {
			return fmt.Errorf("after the root: %v %v", tok, err)
		}
	}
	return s.check(&root, "")
}

// understood returns an error if the schema contains more than is checked here.
func (s *xsdSchema) understood() error {
	other := s.Other
	for _, e := range s.Elements {
		other = append(other, e.Other...)
		if e.Complex == nil && e.Type != "xs:string" {
			return fmt.Errorf("schema: element %s is of type %q", e.Name, e.Type)
		}
		if e.Complex == nil {
			continue
		}
		other = append(other, e.Complex.Other...)
		for _, a := range e.Complex.Attributes {
			if a.Type != "xs:string" {
				return fmt.Errorf("schema: attribute %s is of type %q", a.Name, a.Type)
			}
		}
	}
	if len(other) > 0 {
		return fmt.Errorf("schema: %s is not understood", other[0].XMLName.Local)
	}
	return nil
}

func (s *xsdSchema) check(n *xsdNode, path string) error {
	path += "/" + n.XMLName.Local
	i := slices.IndexFunc(s.Elements, func(e xsdElement) bool { return e.Name == n.XMLName.Local })
	if i < 0 {
		return fmt.Errorf("%s: not in the schema", path)
	}
	t := s.Elements[i].Complex
	if t == nil {
		t = &xsdType{Mixed: true} // xs:string
	}
	if !t.Mixed && strings.TrimSpace(n.Text) != "" {
		return fmt.Errorf("%s: text %q is not allowed", path, n.Text)
	}
	if err := t.attributes(n, path); err != nil {
		return err
	}
	if err := t.sequence(n, path); err != nil {
		return err
	}
	for i := range n.Children {
		if err := s.check(&n.Children[i], path); err != nil {
			return err
		}
	}
	return nil
}

func (t *xsdType) attributes(n *xsdNode, path string) error {
	for _, a := range n.Attrs {
		if !slices.ContainsFunc(t.Attributes, func(x xsdAttribute) bool { return x.Name == a.Name.Local }) {
			return fmt.Errorf("%s: attribute %s is not allowed", path, a.Name.Local)
		}
	}
	for _, a := range t.Attributes {
		if a.Use == "required" && !slices.ContainsFunc(n.Attrs, func(x xml.Attr) bool { return x.Name.Local == a.Name }) {
			return fmt.Errorf("%s: attribute %s is missing", path, a.Name)
		}
	}
	return nil
}

// sequence consumes the children in the order of the schema, each as often as allowed.
func (t *xsdType) sequence(n *xsdNode, path string) error {
	i := 0
	for _, r := range t.Sequence {
		k := 0
		for i < len(n.Children) && n.Children[i].XMLName.Local == r.Ref {
			i, k = i+1, k+1
		}
		if k < occurs(r.Min) || r.Max != "unbounded" && k > occurs(r.Max) {
			return fmt.Errorf("%s: %d times %s, want %s to %s", path, k, r.Ref, r.Min, r.Max)
		}
	}
	if i < len(n.Children) {
		return fmt.Errorf("%s: %s may not stand here", path, n.Children[i].XMLName.Local)
	}
	return nil
}

// occurs parses minOccurs or maxOccurs; the default is 1.
func occurs(s string) int {
	if k, err := strconv.Atoi(s); err == nil {
		return k
	}
	return 1
}
