package report

import (
	"fmt"
	"slices"
	"strings"

	"barograph/fault"
	"barograph/report/plot"
	"barograph/run"
)

// Curves draws a verification plot as SVG: against the lead, the pressure
// level or the valid time.
func Curves(c *run.Curves) ([]byte, error) { return drawCurves(c, 0) }

// drawCurves draws with a width in px; 0 is that of a picture of its own.
func drawCurves(c *run.Curves, width int) ([]byte, error) {
	label := statName(c.Stat)
	if c.Unit != "" && c.Unit != "1" {
		label += " (" + c.Unit + ")"
	}
	note := c.Note
	ribbons := len(c.Series) <= plot.Hues
	if !ribbons {
		note += "; intervals are left out here, since there are too many curves to see them"
	}
	frame := plot.Frame{Title: c.Title, Subtitle: c.Case + " · " + c.Stat, Caption: note, Width: width}
	refs := references(c.Stat)
	if c.YLabel != "" {
		label = c.YLabel
	}
	axis := axisLabel(c.Axis)
	if c.XLabel != "" {
		axis = c.XLabel
	}
	switch c.Axis {
	case run.ByLead, run.ByValidHour, run.ByInitHour, run.ByThresh:
		frame.XLabel, frame.YLabel = axis, label
		d := plot.DieOff{Frame: frame, References: refs, Linear: c.Axis == run.ByThresh}
		for _, s := range c.Series {
			lo, hi := band(s, ribbons)
			d.Curves = append(d.Curves, plot.LeadCurve{Name: s.Name, Lead: s.X, Value: s.Y, Lo: lo, Hi: hi})
		}
		return d.SVG()
	case run.ByLevel:
		frame.XLabel, frame.YLabel = label, axis
		if width == curveWidth {
			frame.Height = profileHeight
		}
		p := plot.Profile{Frame: frame, References: refs}
		for _, s := range c.Series {
			lo, hi := band(s, ribbons)
			p.Curves = append(p.Curves, plot.LevelCurve{Name: s.Name, Level: s.X, Value: s.Y, Lo: lo, Hi: hi})
		}
		return p.SVG()
	case run.ByTime, run.ByInit:
		frame.XLabel, frame.YLabel = axis, label
		v := plot.ValidTime{Frame: frame, References: refs}
		for _, s := range c.Series {
			lo, hi := band(s, ribbons)
			at := make([]int64, len(s.X))
			for i, x := range s.X {
				at[i] = int64(x)
			}
			v.Series = append(v.Series, plot.TimeSeries{Name: s.Name, Valid: at, Value: s.Y, Lo: lo, Hi: hi})
		}
		return v.SVG()
	}
	return nil, &fault.Error{Setting: "plots/" + c.Case + ".json: axis", Problem: fmt.Sprintf("%q is no axis", c.Axis),
		Cure: "write the name of an independent variable, e.g. " + string(run.ByLead)}
}

// axisLabel is what stands at an axis, with its unit.
func axisLabel(a run.Axis) string {
	switch a {
	case run.ByLead:
		return "forecast lead (h)"
	case run.ByLevel:
		return "pressure (hPa)"
	case run.ByInit:
		return "initial time (UTC)"
	case run.ByValidHour:
		return "hour of the valid time (UTC)"
	case run.ByInitHour:
		return "hour of the initial time (UTC)"
	case run.ByThresh:
		return "threshold (unit of the variable)"
	}
	return "valid time (UTC)"
}

func band(s run.Series, shown bool) (lo, hi []float64) {
	if !shown || len(s.Low) != len(s.X) || len(s.High) != len(s.X) {
		return nil, nil
	}
	return s.Low, s.High
}

// statName puts METviewer's names of the common statistics into words.
func statName(name string) string {
	words := map[string]string{
		"ANOM_CORR": "anomaly correlation", "VAL1L2_ANOM_CORR": "vector anomaly correlation", "RMSE": "root mean square error",
		"VL1L2_RMSVE": "root mean square vector error", "CSI": "critical success index", "ME": "mean error",
	}
	if w, ok := words[name]; ok {
		return w
	}
	return name
}

// references are the lines that readers of a statistic know.
func references(name string) []plot.Reference {
	switch name {
	case "ANOM_CORR", "VAL1L2_ANOM_CORR":
		return []plot.Reference{{Value: 0.6, Label: "useful skill: 0.6"}}
	case "ME":
		return []plot.Reference{{Value: 0, Label: "no bias"}}
	}
	return nil
}

// picture is a drawn plot of the page.
type picture struct {
	SVG  []byte
	Text string // in its place
}

// verification draws the curves of a run. Cases with the same curves share a
// picture; too many curves for one picture are split by a part of their names.
func verification(all []*run.Curves) ([]picture, error) {
	var out, same []picture
	var drawn []*run.Curves
	for _, c := range all {
		if i := slices.IndexFunc(drawn, func(d *run.Curves) bool { return sameCurves(c, d) }); i >= 0 {
			same = append(same, picture{Text: c.Case + " (" + c.Title + ") gives the same curves as " + drawn[i].Case + "."})
			continue
		}
		drawn = append(drawn, c)
		for _, part := range split(c) {
			svg, err := drawCurves(part, curveWidth)
			if err != nil {
				return nil, err
			}
			out = append(out, picture{SVG: svg})
		}
	}
	return append(out, same...), nil
}

func sameCurves(a, b *run.Curves) bool {
	return a.Stat == b.Stat && a.Axis == b.Axis && len(a.Series) > 0 &&
		fmt.Sprint(a.Series) == fmt.Sprint(b.Series) // as text, since NaN is not equal to itself
}

// split divides curves with names such as "G2/NHX P500" by the word that makes
// the fewest pictures of at most plot.Hues curves each.
func split(c *run.Curves) []*run.Curves {
	if len(c.Series) <= plot.Hues {
		return []*run.Curves{c}
	}
	var best [][]run.Series
	var title []string
	for k := 0; ; k++ {
		names, groups, ok := byWord(c.Series, k)
		if !ok {
			break
		}
		if largest(groups) <= plot.Hues && len(groups) > 1 && (best == nil || len(groups) < len(best)) {
			best, title = groups, names
		}
	}
	if best == nil {
		return []*run.Curves{c}
	}
	out := make([]*run.Curves, len(best))
	for i, g := range best {
		part := *c
		part.Title, part.Series = c.Title+" · "+title[i], g
		out[i] = &part
	}
	return out
}

// byWord groups series by the k-th word of their names; false where one has no such word.
func byWord(series []run.Series, k int) (names []string, groups [][]run.Series, ok bool) {
	for _, s := range series {
		words := strings.Fields(s.Name)
		if k >= len(words) {
			return nil, nil, false
		}
		i := slices.Index(names, words[k])
		if i < 0 {
			i = len(names)
			names, groups = append(names, words[k]), append(groups, nil)
		}
		s.Name = strings.Join(slices.Delete(words, k, k+1), " ")
		groups[i] = append(groups[i], s)
	}
	return names, groups, true
}

func largest(groups [][]run.Series) int {
	n := 0
	for _, g := range groups {
		n = max(n, len(g))
	}
	return n
}
