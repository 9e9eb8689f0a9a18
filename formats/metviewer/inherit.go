package metviewer

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// resolve adds what a plot inherits: for inherits="a,b", the plot a with what it inherits itself,
// then b without inheritance.
func (s *plots) resolve(n *node) (*node, error) {
	parents := n.attrs["inherits"]
	if parents == "" {
		return n, nil
	}
	var base *node
	for i, name := range strings.Split(parents, ",") {
		b := s.resolved[strings.TrimSpace(name)]
		if b == nil {
			setting, cure := "plot, inherits="+strconv.Quote(name), "name a plot that the file contains before this one"
			return nil, s.errorAt(n.line, setting, "is not a plot before this one", cure)
		}
		if i == 0 {
			base = b
		} else {
			base = s.inherit(base, s.unresolved[strings.TrimSpace(name)])
		}
	}
	return s.inherit(base, n), nil
}

// inherit adds to a plot what it inherits from another one, as METviewer does
// (MVPlotJobParser.java): values of plot_fix are added to those of the same field, and sets replace
// them; a series keeps only its last field; fields of agg, agg_stat, calc_stat and tmpl are
// replaced one by one, all others as a unit. <remove name=…/> and <clear/> remove fields. METviewer
// rejects a second dep without <clear/>; here it replaces the first.
func (s *plots) inherit(base, n *node) *node {
	out := &node{name: n.name, attrs: n.attrs, line: n.line}
	for _, b := range base.kids {
		if n.child(b.name) == nil {
			out.kids = append(out.kids, b)
		}
	}
	for _, k := range n.kids {
		switch b := base.child(k.name); {
		case b == nil:
		case k.name == "series1", k.name == "series2":
			all := k.all("field")
			if len(all) > 1 {
				s.warn(k.line, "plot/"+k.name, "of a plot that inherits has its last field only, as in METviewer")
			}
			if len(all) == 0 {
				k = fields(b, k)
			} else {
				k = &node{name: k.name, attrs: k.attrs, line: k.line, kids: all[len(all)-1:]}
			}
		case k.name == "plot_fix", k.name == "agg", k.name == "agg_stat", k.name == "calc_stat", k.name == "tmpl":
			k = fields(b, k)
		}
		out.kids = append(out.kids, k)
	}
	return out
}

// fields merges two containers of fields.
func fields(base, n *node) *node {
	out := &node{name: n.name, attrs: n.attrs, text: n.text, line: n.line}
	added, merged := map[string]*node{}, map[*node]*node{} // merged: field of n → copy with base's values
	for _, k := range n.kids {
		if n.name == "plot_fix" && k.name == "field" && k.child("set") == nil {
			added[k.attrs["name"]] = k
		}
	}
	isReplaced := func(b *node) bool { // a field of n has its name, or n removes it
		return slices.ContainsFunc(n.kids, func(k *node) bool {
			return k.name == "clear" || (k.name == "remove" || k.name == b.name) && k.attrs["name"] == b.attrs["name"]
		})
	}
	for _, b := range base.kids {
		switch k := added[b.attrs["name"]]; {
		case !isReplaced(b):
			out.kids = append(out.kids, b)
		case k != nil && b.child("set") == nil && n.child("clear") == nil && n.child("remove") == nil:
			kids := slices.Concat(b.kids, cmp.Or(merged[k], k).kids)
			merged[k] = &node{name: k.name, attrs: k.attrs, line: k.line, kids: kids} // a copy: others may inherit n
		}
	}
	for _, k := range n.kids {
		if k.name != "clear" && k.name != "remove" {
			out.kids = append(out.kids, cmp.Or(merged[k], k))
		}
	}
	return out
}

// list returns the children; a nil node has none.
func (n *node) list() []*node {
	if n == nil {
		return nil
	}
	return n.kids
}
