package metviewer

import (
	"slices"
	"strings"

	"github.com/barograph/barograph/internal/lists"
)

// cards returns the plots of a scorecard: one for each pair of a row and a merged column. A row names
// statistic, variable and further fields; mergeChain merges the columns that differ in one field only.
// In each plot the models are the series, two dates of plot_fix are a range, and the innermost field of
// the columns is the independent variable.
func cards(n *node) (out []*node) {
	var columns []*node
	for _, c := range n.child("columns").all("field") {
		for _, chain := range fieldChains(c) {
			columns = mergeChain(columns, chain)
		}
	}
	for _, r := range n.child("rows").all("field") {
		for _, row := range fieldChains(r) {
			for _, column := range columns {
				out = append(out, card(n, row, column))
			}
		}
	}
	return out
}

// fieldChains are the paths from a field to the innermost ones, each as the children of a node; a
// field has all its values.
func fieldChains(f *node) (out []*node) {
	own := node{name: "field", attrs: f.attrs, line: f.line, kids: f.all("val")}
	for _, k := range f.all("field") {
		for _, c := range fieldChains(k) {
			copied := own // mergeChain adds values to the fields of one chain
			out = append(out, &node{line: f.line, kids: append([]*node{&copied}, c.kids...)})
		}
	}
	if out == nil {
		return []*node{{line: f.line, kids: []*node{&own}}}
	}
	return out
}

// mergeChain adds a chain, or adds its values to a chain that differs in one field only.
func mergeChain(all []*node, chain *node) []*node {
	for _, existing := range all {
		if len(existing.kids) != len(chain.kids) {
			continue
		}
		var differ []int
		for i, f := range existing.kids {
			if f.attrs["name"] != chain.kids[i].attrs["name"] || !slices.Equal(texts(f), texts(chain.kids[i])) {
				differ = append(differ, i)
			}
		}
		if len(differ) == 1 && existing.kids[differ[0]].attrs["name"] == chain.kids[differ[0]].attrs["name"] {
			existing.kids[differ[0]].kids = slices.Concat(existing.kids[differ[0]].kids, chain.kids[differ[0]].kids)
			return all
		}
	}
	return append(all, chain)
}

// texts are the values of a field.
func texts(f *node) []string {
	return lists.Map(f.all("val"), func(v *node) string { return v.text + v.attrs["name"] })
}

// card writes a row and its columns as a plot.
func card(n, row, column *node) *node {
	out := &node{name: n.name, attrs: n.attrs, line: row.line}
	out.kids = lists.Filter(n.kids, func(k *node) bool {
		return !slices.Contains([]string{"plot_fix", "rows", "columns", "dep", "stat"}, k.name)
	})
	fix, series, dep := &node{name: "plot_fix", line: n.line}, &node{name: "series1", line: n.line}, &node{name: "dep1", line: row.line}
	var stats []*node
	indep := column.kids[len(column.kids)-1]
	for _, f := range slices.Concat(n.child("plot_fix").all("field"), row.kids, column.kids[:len(column.kids)-1]) {
		switch f.attrs["name"] {
		case "stat":
			stats = append(stats, lists.Map(texts(f), func(v string) *node { return &node{name: "stat", text: v, line: f.line} })...)
		case "fcst_var":
			for _, v := range texts(f) {
				dep.kids = append(dep.kids, &node{name: "fcst_var", attrs: map[string]string{"name": v}, line: f.line})
			}
		case "model":
			series.kids = append(series.kids, f)
		default:
			fix.kids = append(fix.kids, &node{name: "field", attrs: f.attrs, line: f.line, kids: []*node{singleSet(f)}})
		}
	}
	for _, v := range dep.kids {
		v.kids = stats
	}
	models := slices.Concat(lists.Map(series.kids, texts)...)
	diff := `c("` + strings.Join(models, `","`) + `","` + n.value("stat") + `")`
	return &node{name: n.name, attrs: n.attrs, line: row.line, kids: append(
		slices.DeleteFunc(out.kids, func(k *node) bool { return k.name == "tmpl" }), fix, series,
		&node{name: "dep", line: row.line, kids: []*node{dep}}, &node{name: "indep", attrs: indep.attrs, line: indep.line, kids: indep.kids},
		&node{name: "tmpl", line: n.line, kids: []*node{{name: "listdiffseries1", text: diff, line: n.line}}},
	)}
}

// singleSet is a fixed field of a scorecard as one set: two dates are the range between them.
func singleSet(f *node) *node {
	set := &node{name: "set", line: f.line, kids: f.all("val")}
	if v := texts(f); len(v) == 2 && strings.HasSuffix(f.attrs["name"], "_beg") {
		set.kids = []*node{{name: "val", text: "BETWEEN '" + v[0] + "' AND '" + v[1] + "'", line: f.line}}
	}
	return set
}
