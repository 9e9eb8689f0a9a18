package metviewer

import (
	"cmp"
	_ "embed" // for layout
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/internal/fault"
)

// drawnTemplates are the templates with a picture; other templates become questions and curves. The
// text lists what is not drawn.
var drawnTemplates = map[string]string{ //nolint:gochecknoglobals // a constant table
	"series_plot": "", "box_plot": "", "bar_plot": "", "contour_plot": "", "revision_series": "", "revision_series_plot": "", "performance": "",
	"taylor_plot": "", "ens_ss": "", "roc": "", "rely": "", "eclv": "", "rhist": "", "phist": "", "relp": "",
	"revision_box": "revisions are not drawn: boxes of the values are", "revision_box_plot": "revisions are not drawn: boxes of the values are",
	"scorecard": "",
}

// elementsOfPlots lists the known elements. For an element that only changes the appearance of
// METviewer's picture, = and METviewer's default follow ("*" = it has none): Barograph has its own layout,
// and remarks reports any that differ from these. Other functions of this package read the other elements.
//
//go:embed plot_elements.txt
var elementsOfPlots string

// remarks reports what the plot requests and Barograph does not do.
func (s *plots) remarks(n *node) {
	p := s.p
	note := func(k *node, element, text string) {
		p.Unsupported = append(p.Unsupported, Remark{k.line, element, text})
	}
	template := n.child("template")
	if template == nil {
		template = n
	}
	text, ok := drawnTemplates[p.Template]
	if !ok {
		text = cmp.Or(p.Template, "a plot without a template") + " has no picture here: curves are drawn" + fault.Meant(p.Template, slices.Sorted(maps.Keys(drawnTemplates)))
	}
	if text != "" {
		note(template, "template", text)
	}
	var known []string
	defaults := map[string]string{}
	for f := range strings.FieldsSeq(elementsOfPlots) {
		name, usual, isLayout := strings.Cut(f, "=")
		if known = append(known, name); isLayout {
			defaults[name] = usual
		}
	}
	short := func(v string) string { return strings.Replace(strings.TrimLeft(v, "0"), "-0.", "-.", 1) }
	equal := func(a, b string) bool { return strings.EqualFold(short(a), short(b)) }
	instead := map[string]string{"ensss_pts": " (each point has a tenth of all pairs)", "normalized_histogram": " (shares are drawn, not counts)"}
	instead["normalizedHistogram"] = instead["normalized_histogram"]
	differing, line := "", 0
	for _, k := range slices.Concat(n.kids, n.child("tmpl").list()) {
		usual, ok := defaults[k.name]
		if all := slices.Compact(items(k.text)); ok && (all != nil || k.kids != nil) && !slices.EqualFunc(all, slices.Compact(items(usual)), equal) {
			differing, line = differing+", "+strings.TrimSpace(k.name+" "+k.text+instead[k.name]), cmp.Or(line, k.line)
		}
	}
	if differing != "" {
		note(&node{line: line}, "layout", "has no effect, because Barograph lays out its own pictures: "+differing[2:])
	}
	for _, k := range n.kids {
		if !slices.Contains(known, k.name) {
			hint := fault.Meant(k.name, known)
			if strings.HasPrefix(strings.ToLower(k.name), "listdiffseries") {
				hint = ": it is read only in <tmpl>"
			}
			s.warn(k.line, "plot/"+k.name, "is not known and has no effect"+hint)
		}
	}
	bounds := map[string]**float64{"eqbound_low": &p.EqLow, "eqbound_high": &p.EqHigh}
	for _, k := range n.kids {
		to := bounds[k.name]
		if to == nil || k.text == "" || k != n.child(k.name) {
			continue
		}
		v, err := strconv.ParseFloat(k.text, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			note(k, k.name, strconv.Quote(k.text)+" is not a number: METviewer's own bound is drawn")
			continue
		}
		*to = &v
	}
	agg := n.child("agg_stat")
	if k := agg.child("eveq_dis"); k != nil && strings.EqualFold(k.text, "true") {
		note(k, "agg_stat/eveq_dis", "Barograph equalizes events before it aggregates")
	}
	slices.SortStableFunc(p.Unsupported, func(a, b Remark) int { return a.Line - b.Line })
}
