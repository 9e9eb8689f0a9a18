package report

import (
	"fmt"
	"math"
	"slices"

	"barograph/measure"
	"barograph/report/plot"
)

// logSpread is the ratio of the longest to the shortest median beyond which a
// picture gets a logarithmic axis.
const logSpread = 20

// pictureWidth is that of the page's text and the margins of a picture, in px;
// curveWidth is half of it.
const (
	pictureWidth  = 1096
	curveWidth    = 558
	profileHeight = 500 // lower than a profile of its own, so that it fits beside a die-off
)

// caseView is a case of the page.
type caseView struct {
	Name, Title, LineType string
	Rows                  int
	Bytes                 int64
	Bars, Strip           []byte
	Table                 table
	Notes                 []string
}

func (rs *results) caseView(i int, c *CaseSummary) (caseView, error) {
	v := caseView{Name: c.Name, Title: c.Title, Rows: c.Rows, LineType: rs.cases[i].LineType, Bytes: rs.cases[i].Bytes}
	var err error
	if v.Bars, err = rs.bars(c); err != nil {
		return v, err
	}
	if v.Strip, err = rs.strip(c); err != nil {
		return v, err
	}
	v.Table, v.Notes = caseTable(c), caseNotes(c)
	return v, nil
}

// spread reports whether the medians of a case differ so much that only a
// logarithmic axis shows the short ones.
func spread(c *CaseSummary) bool {
	lo, hi := math.Inf(1), 0.0
	for _, k := range c.Cells {
		if k.Times != nil {
			lo, hi = min(lo, float64(k.Times.Median)), max(hi, float64(k.Times.Median))
		}
	}
	return hi > logSpread*lo
}

func axis(log bool) string {
	if log {
		return "time (ms, logarithmic)"
	}
	return "time (ms)"
}

func (k *CellSummary) label() string { return way{k.Engine, k.Design, k.Flavour}.String() }

// bars draws the medians of a case; nil where nothing was timed.
func (rs *results) bars(c *CaseSummary) ([]byte, error) {
	log := spread(c)
	h := plot.HorizontalBars{
		Frame: plot.Frame{Subtitle: "Median time of the answer; whiskers: 95 % interval of the median", XLabel: axis(log), Width: pictureWidth},
		Unit:  "ms", Groups: rs.engines(), Log: log,
	}
	panel, timed := plot.BarPanel{}, false
	for i := range c.Cells {
		k := &c.Cells[i]
		b := plot.Bar{Label: k.label(), Group: k.Engine, Value: plot.Value{V: math.NaN(), Note: note(k)}}
		if t := k.Times; t != nil {
			b.Value = plot.Value{V: float64(t.Median), Lo: float64(t.Lo), Hi: float64(t.Hi)}
			timed = true
		}
		panel.Bars = append(panel.Bars, b)
	}
	if !timed {
		return nil, nil
	}
	h.Panels = []plot.BarPanel{panel}
	return h.SVG()
}

func note(k *CellSummary) string {
	switch k.Verdict {
	case wrong.String():
		return "wrong answer"
	case failed.String():
		return "no answer"
	case incomplete.String():
		return "incomplete archive"
	}
	return k.Verdict
}

// strip draws every repetition of a case; nil where nothing was timed.
func (rs *results) strip(c *CaseSummary) ([]byte, error) {
	log := spread(c)
	s := plot.Strip{
		Frame: plot.Frame{Subtitle: "Every repetition; upright tick: median", XLabel: axis(log), Width: pictureWidth},
		Unit:  "ms", Groups: rs.engines(), Log: log, Seed: rs.run.Seed,
	}
	for i := range c.Cells {
		if k := &c.Cells[i]; k.Times != nil {
			s.Cells = append(s.Cells, plot.StripCell{Label: k.label(), Group: k.Engine, Values: k.Times.values})
		}
	}
	if len(s.Cells) == 0 {
		return nil, nil
	}
	return s.SVG()
}

// parts say which of the optional columns a case needs.
type parts struct{ server, derive, cold bool }

func (c *CaseSummary) parts() (p parts) {
	for _, k := range c.Cells {
		if t := k.Times; t != nil {
			p.server = p.server || !math.IsNaN(float64(t.Server))
			p.derive = p.derive || !math.IsNaN(float64(t.Derive))
			p.cold = p.cold || t.ColdN > 0 || t.ColdProblem != ""
		}
	}
	return p
}

func caseTable(c *CaseSummary) table {
	p := c.parts()
	t := table{Wide: true, Head: []column{
		{Name: "engine", Text: true}, {Name: "design", Text: true}, {Name: "flavour", Text: true},
		{Name: "median", Unit: "ms"}, {Name: "95 % interval", Unit: "ms"}, {Name: "ratio", Unit: "×"}, {Name: "p"}, {Name: "group", Text: true},
		{Name: "first row", Unit: "ms"},
	}}
	for _, extra := range []struct {
		shown bool
		column
	}{{p.server, column{Name: "server", Unit: "ms"}}, {p.derive, column{Name: "keys derived", Unit: "ms"}}, {p.cold, column{Name: "cold", Unit: "ms"}}} {
		if extra.shown {
			t.Head = append(t.Head, extra.column)
		}
	}
	t.Head = append(t.Head, column{Name: "rows/s"}, column{Name: "answer", Unit: "MB/s"})
	best := c.fastest()
	for i := range c.Cells {
		k := &c.Cells[i]
		r := row{Cells: []cell{text(k.Engine), text(k.Design), text(k.Flavour)}}
		switch k.Times {
		case nil:
			r.Class = "off"
			r.Cells = append(r.Cells, cell{Text: note(k), Class: "bad"})
			for len(r.Cells) < len(t.Head) {
				r.Cells = append(r.Cells, dim(none))
			}
		default:
			r.Cells = append(r.Cells, k.timeCells(p, k == best)...)
		}
		if k.Floor || k.Times != nil && k.Unranked != "" {
			r.Class = "floor"
		} else if k == best {
			r.Class = "best"
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// timeCells are the columns of a timed way, from the median on.
func (k *CellSummary) timeCells(p parts, best bool) []cell {
	t := k.Times
	ci := interval(float64(t.Lo), float64(t.Hi))
	out := []cell{value(float64(t.Median), number(float64(t.Median))), dim(ci)}
	if ci != none {
		out[1] = value(float64(t.Lo), ci)
	}
	switch {
	case k.Floor:
		out = append(out, dim("floor"), dim(none), dim(none))
	case k.Unranked != "":
		out = append(out, dim("not ranked"), dim(none), dim(none))
	case best:
		out = append(out, value(1, "1"), dim(none), text(t.Letters))
	default:
		out = append(out, ratioCell(t), value(float64(t.PHolm), probability(float64(t.PHolm))), text(t.Letters))
	}
	out = append(out, numeric(float64(t.FirstRow)))
	if p.server {
		out = append(out, numeric(float64(t.Server)))
	}
	if p.derive {
		out = append(out, numeric(float64(t.Derive)))
	}
	if p.cold {
		out = append(out, coldCell(t))
	}
	return append(out, value(float64(t.RowsPerSecond), number(float64(t.RowsPerSecond))), numeric(float64(t.MBPerSecond)))
}

func ratioCell(t *Times) cell {
	c := value(float64(t.Ratio), number(float64(t.Ratio))+" "+t.Mark)
	if t.Mark == "~" || t.Mark == "?" {
		c.Text, c.Class = t.Mark+" "+number(float64(t.Ratio)), "dim"
	}
	return c
}

func coldCell(t *Times) cell {
	switch {
	case t.ColdProblem != "":
		return cell{Text: "failed", Class: "bad"}
	case t.ColdN == 0:
		return dim(none)
	}
	c := value(float64(t.Cold), number(float64(t.Cold)))
	if !math.IsNaN(float64(t.ColdLo)) {
		c.Sub = interval(float64(t.ColdLo), float64(t.ColdHi))
	}
	return c
}

// caseNotes say how the table was made and what limits it.
func caseNotes(c *CaseSummary) []string {
	var out []string
	least, most := math.MaxInt, 0
	for _, k := range c.Cells {
		if k.Times != nil {
			least, most = min(least, k.Times.N), max(most, k.Times.N)
		}
	}
	if most == 0 {
		return []string{"No way of asking was timed in this case."}
	}
	reps := several(most, "repetition")
	if least < most {
		reps = fmt.Sprintf("%d to %d repetitions", least, most)
	}
	if c.Comparisons > 0 {
		out = append(out, fmt.Sprintf("%s of each way. Ratio and p: against the fastest, %s corrected together.", reps, several(c.Comparisons, "comparison")))
	} else {
		out = append(out, reps+" of each way.")
	}
	if ci := measure.MedianCI(make([]float64, least), measure.Confidence); !ci.Known {
		out = append(out, fmt.Sprintf("Too few for a 95 %% interval of a median, which takes %d.", ci.Need))
	}
	if c.LeastP >= measure.Alpha {
		out = append(out, fmt.Sprintf("So few repetitions in so many comparisons reach no p below %s: a difference cannot be told from noise (“?”); use more repetitions.", probability(float64(c.LeastP))))
	}
	for _, k := range c.Cells {
		if k.Floor && k.Times != nil {
			out = append(out, fmt.Sprintf("The client's own floor (%s): %s ms, contained in every time.", k.Engine, number(float64(k.Times.Median))))
		}
	}
	for i := range c.Cells {
		k := &c.Cells[i]
		if k.Times != nil && k.Unranked != "" && !slices.ContainsFunc(c.Cells[:i], func(o CellSummary) bool { return o.Unranked == k.Unranked }) {
			out = append(out, k.Engine+" is not ranked, because "+k.Unranked+".")
		}
	}
	for _, k := range c.Cells {
		if k.Times != nil && k.Times.ColdProblem != "" {
			out = append(out, "Cold start of "+k.label()+" failed: "+k.Times.ColdProblem)
			break
		}
	}
	return out
}
