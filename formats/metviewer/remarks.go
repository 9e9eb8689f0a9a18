package metviewer

import (
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

const (
	// readElements are the elements of a plot that other functions of this package read; styling are
	// those that only change the appearance of R's picture. Barograph has its own appearance and
	// ignores them.
	readElements = `template dep series1 series2 plot_fix plot_cond indep agg_stat calc_stat plot_stat tmpl event_equal ci_alpha plot_ci
		eqbound_low eqbound_high revis_stat log_y1 log_y2 x_reverse reverse_x reverse_y vert_plot boot_repl boot_random_seed agg bootstrapping roc_calc rows columns variance_inflation_factor varianceInflationFactor`
	styling = `add_color_bar add_contour_overlay add_point_thresholds add_reference_line add_skill_line annotation_template box_avg
		cl_step ensss_pts ensss_pts_disp left_column_names normalized_histogram plot1_diff plot2_diff printSQL rely_event_hist stat
		lines inset_hist add_noskill_line reverse_connection_order normalizedHistogram start_from_zero
		stat_flag symbol taylor_show_gamma taylor_voc threshold_file view_legend view_symbol view_value
		box_boxwex box_notch box_outline box_pts caption_align caption_col caption_offset caption_size caption_weight cex color_palette colors
		con_series contour_intervals create_html dump_points1 dump_points2 execution_type grid_col grid_lty grid_lwd grid_on grid_x
		indy1_stag indy2_stag legend legend_box legend_inset legend_ncol legend_size lty lwd mar mgp num_stats order_series pch plot_cmd
		plot_disp plot_height plot_res plot_type plot_units plot_width show_signif summary_curve sync_axes title_align title_offset
		title_size title_weight type varianceinflationfactor x1_lim x2lab_align x2lab_offset x2lab_size x2lab_weight x2tlab_horiz x2tlab_orient x2tlab_perp x2tlab_size
		xlab_align xlab_offset xlab_size xlab_weight xtlab_freq xtlab_horiz xtlab_orient xtlab_perp xtlab_size y1_bufr y1_lim y2_bufr
		tlab_weight series_nobs indy_stag y2_lim y2lab_align y2lab_offset y2lab_size y2lab_weight y2tlab_horiz y2tlab_orient y2tlab_perp y2tlab_size ylab_align ylab_offset ylab_size
		ylab_weight ytlab_horiz ytlab_orient ytlab_perp ytlab_size`
)

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
		text = p.Template + " has no picture here: curves are drawn" + fault.Meant(p.Template, slices.Collect(maps.Keys(drawnTemplates)))
	}
	if text != "" {
		note(template, "template", text)
	}
	known := strings.Fields(readElements + " " + styling)
	for _, k := range n.kids {
		if !slices.Contains(known, k.name) {
			s.spec.Warnings = append(s.spec.Warnings, Remark{k.line, "plot/" + k.name, "is not known and has no effect" + suggestElement(k.name, known)})
		}
	}
	for name, text := range map[string]string{
		"log_y1": "the axis is not logarithmic", "log_y2": "the axis is not logarithmic", "x_reverse": "the axis is not reversed",
		"normalized_histogram": "shares are drawn, not counts", "normalizedHistogram": "shares are drawn, not counts", "reverse_x": "the axis is not reversed", "reverse_y": "the axis is not reversed", "vert_plot": "the axes are not exchanged",
	} {
		if k := n.child(name); k != nil && k.text == strconv.FormatBool(!strings.HasPrefix(name, "normalized")) {
			note(k, name, text)
		}
	}
	if k := n.child("ensss_pts"); k != nil {
		if v, err := strconv.Atoi(k.text); err == nil && v > 0 {
			note(k, "ensss_pts", "each point has a tenth of all pairs")
		}
	}
	for name, to := range map[string]**float64{"eqbound_low": &p.EqLow, "eqbound_high": &p.EqHigh} {
		k := n.child(name)
		if k == nil || k.text == "" {
			continue
		}
		v, err := strconv.ParseFloat(k.text, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			note(k, name, strconv.Quote(k.text)+" is no number: METviewer's own bound is drawn")
			continue
		}
		*to = &v
	}
	agg := n.child("agg_stat")
	if k := agg.child("eveq_dis"); k != nil && strings.EqualFold(k.text, "true") {
		note(k, "agg_stat/eveq_dis", "aggregation does not disregard event equalisation")
	}
	slices.SortStableFunc(p.Unsupported, func(a, b Remark) int { return a.Line - b.Line })
}

// suggestElement describes where an element has an effect, or which element may have been intended.
func suggestElement(name string, known []string) string {
	if strings.HasPrefix(strings.ToLower(name), "listdiffseries") {
		return ": it stands in <tmpl>"
	}
	return fault.Meant(name, known)
}

// words reports words of plot_ci and boot_ci that METviewer does not have either.
func (s *plots) words(n *node, bootCI string) {
	note := func(element, word, instead string, known ...string) {
		if word != "" && !slices.Contains(known, word) {
			s.spec.Warnings = append(s.spec.Warnings, Remark{n.line, element, strconv.Quote(word) + " is not known" + fault.Meant(word, known) + ": " + instead})
		}
	}
	note("boot_ci", bootCI, "perc is computed", "perc", "pivotal", "bca")
	for _, kind := range s.p.CI {
		note("plot_ci", kind, "no interval is drawn", "none", "std", "met_prm", "met_boot", "boot")
	}
}
