package metviewer

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
)

// node is an element with the line on which it begins.
type node struct {
	name  string
	attrs map[string]string
	text  string
	line  int
	kids  []*node
}

// Remark is a comment on one element of a file.
type Remark struct {
	Line    int
	Element string // as a path below the root: connection/local_infile
	Text    string
}

// String is "line 12: email: …".
func (r Remark) String() string { return fmt.Sprintf("line %d: %s: %s", r.Line, r.Element, r.Text) }

// maxDepth is the maximum nesting of elements; real files have eight levels.
const maxDepth = 64

// parse reads a file with this root element. For a load_spec root is empty: METdbLoad does not
// check the name, and any name but that of a plot_spec is accepted.
func parse(file string, text []byte, root string) (*node, error) {
	d := xml.NewDecoder(bytes.NewReader(text))
	d.CharsetReader = latin1
	var path []*node // the open elements
	var top *node
	for {
		line, _ := d.InputPos()
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, syntaxError(file, line, err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			n := &node{name: t.Name.Local, line: line, attrs: map[string]string{}}
			for _, a := range t.Attr {
				n.attrs[a.Name.Local] = strings.TrimSpace(a.Value)
			}
			if len(path) == maxDepth {
				problem := "elements are nested more than " + strconv.Itoa(maxDepth) + " deep"
				return nil, &fault.Error{File: file, Line: line, Problem: problem, Cure: "name a METviewer file"}
			}
			if len(path) > 0 {
				path[len(path)-1].kids = append(path[len(path)-1].kids, n)
			} else if top != nil {
				return nil, &fault.Error{File: file, Line: line, Problem: "has a second root element <" + n.name + ">", Cure: "remove it"}
			} else {
				top = n
			}
			path = append(path, n)
		case xml.EndElement:
			n := path[len(path)-1]
			n.text = strings.TrimSpace(n.text)
			path = path[:len(path)-1]
		case xml.CharData:
			if len(path) > 0 {
				path[len(path)-1].text += string(t)
			}
		}
	}
	if root == "" && top != nil && top.name != "plot_spec" {
		return top, nil
	}
	if top == nil || top.name != root {
		root = cmp.Or(root, "load_spec")
		cure := "see docs/reference/metviewer.md"
		switch {
		case top == nil:
		case top.name == "load_spec":
			cure = "it is a <load_spec>, for `barograph load --spec`"
		case top.name == "plot_spec":
			cure = "it is a <plot_spec>, for `barograph ask` and `barograph met --case`"
		}
		return nil, &fault.Error{File: file, Line: 1, Problem: "is not a <" + root + "> file", Cure: cure}
	}
	return top, nil
}

// syntaxError takes the line from the decoder's error if it has one.
func syntaxError(file string, line int, err error) error {
	if s, ok := errors.AsType[*xml.SyntaxError](err); ok {
		return &fault.Error{File: file, Line: s.Line, Problem: "is not well-formed XML: " + s.Msg, Cure: "repair the file; xmllint shows the place"}
	}
	return &fault.Error{File: file, Line: line, Problem: "is not well-formed XML", Err: err, Cure: "repair the file; xmllint shows the place"}
}

// latin1 reads the other encodings that METviewer's files declare.
func latin1(charset string, in io.Reader) (io.Reader, error) {
	switch strings.ToLower(charset) {
	case "iso-8859-1", "latin1", "us-ascii", "ascii":
	default:
		return nil, fmt.Errorf("the encoding %s is not supported; write UTF-8", charset)
	}
	text, err := io.ReadAll(in)
	return bytes.NewReader(fromLatin1(text)), err
}

// fromLatin1 returns a text in ISO-8859-1 as UTF-8.
func fromLatin1(text []byte) []byte {
	return []byte(string(lists.Map(text, func(c byte) rune { return rune(c) })))
}

// child is the first child of that name, or nil.
func (n *node) child(name string) *node {
	if all := n.all(name); len(all) > 0 {
		return all[0]
	}
	return nil
}

// all are the children of that name.
func (n *node) all(name string) []*node {
	if n == nil {
		return nil
	}
	return lists.Filter(n.kids, func(k *node) bool { return k.name == name })
}

// value is the text of a child; "" if there is none.
func (n *node) value(name string) string {
	if k := n.child(name); k != nil {
		return k.text
	}
	return ""
}
