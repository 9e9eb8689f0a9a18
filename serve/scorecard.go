package serve

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/curve"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/stat"
)

// Row is a line of a scorecard: a variable at a level over a region, by lead.
type Row struct {
	Model    string `json:"model,omitempty"` // of which two versions are compared
	Variable string `json:"fcst_var"`
	Level    string `json:"fcst_lev"`
	Region   string `json:"vx_mask"`
	Stat     string `json:"stat"`
	Better   string `json:"better"` // higher, lower
	Cells    []Cell `json:"cells"`
}

// Cell is the difference of two models, or versions, at a lead, of the cases that both have.
type Cell struct {
	Lead  float64  `json:"lead"` // h
	N     int      `json:"n"`
	Value *float64 `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
	P     *float64 `json:"p"` // that a difference as large is chance: of the bootstrap's standard error
}

// fewest is the number of cases below which a cell shows no result.
const fewest = 8

// scorecard answers line by line, as the rows come.
func (s *Server) scorecard(w http.ResponseWriter, r *http.Request) error {
	v := r.URL.Query()
	a, err := s.place(v)
	if err != nil {
		return err
	}
	t, ok := record.TypeByName(v.Get("line_type"))
	c := contest{cmp.Or(v.Get("by"), "model"), v.Get("candidate"), v.Get("baseline")}
	if !ok || c.candidate == "" || c.baseline == "" || c.candidate == c.baseline || c.by != "model" && c.by != "version" {
		return fault.Misuse("scorecard", "needs a line type and two models, or versions", "give line_type, candidate and baseline, and by=version for versions")
	}
	ctx, out := r.Context(), http.NewResponseController(w)
	w.Header().Set("Content-Type", "application/x-ndjson")
	sent := false
	return a.archive.with(ctx, a.design, func(in archive.Archive) error {
		catalog, err := in.Catalog(ctx, a.subset)
		if err != nil {
			return err
		}
		for _, one := range c.shared(catalog, t.Name) {
			if !one.narrow(v) {
				continue
			}
			q := c.scored(t, a.subset, one)
			name := cmp.Or(v.Get("stat"), cmp.Or(append(curve.Stats(q), "")...))
			wide, err := curve.Widen(q, []string{name})
			if err != nil {
				return err
			}
			query, err := archive.PhraseBest(ctx, in, wide, a.flavours)
			if err != nil {
				return err
			}
			var b answer.Builder
			if err := in.Ask(ctx, query, &b); err != nil {
				return err
			}
			if b.Rows == 0 {
				continue
			}
			d, err := curve.ComputePoints(q, b.Take(), name, a.seed)
			if _, explained := err.(*fault.Error); explained { //nolint:errorlint // the baseline has no record of it
				continue
			}
			if err != nil {
				return err
			}
			spreads := map[[2]int]float64{}
			if err := d.EachInterval(ctx, func(i, k int, iv stat.Interval) { spreads[[2]int{i, k}] = iv.Spread }); err != nil {
				return err
			}
			if err := send(w, one, d, spreads); err != nil {
				return err
			}
			sent = true
			_ = out.Flush() // what cannot be flushed comes at the end
		}
		if !sent {
			return gone{fmt.Errorf("no %s of the archive has both %s %s and %s", t.Name, c.by, c.candidate, c.baseline)}
		}
		return nil
	})
}

// contest is the pair to compare: two values of model or version.
type contest struct{ by, candidate, baseline string }

// series is a variable at a level, and the regions that two models share; of
// versions it is of one model.
type series struct {
	model, variable, level string
	regions                []string
}

// narrow keeps what a URL selects, and reports whether anything is left.
func (one *series) narrow(v url.Values) bool {
	wants := func(key, value string) bool { return v[key] == nil || slices.Contains(v[key], value) }
	one.regions = slices.DeleteFunc(one.regions, func(m string) bool { return !wants("vx_mask", m) })
	return wants("fcst_var", one.variable) && wants("fcst_lev", one.level) && len(one.regions) > 0
}

func (c contest) shared(catalog *design.Catalog, lineType string) (out []series) {
	pairs := func(g, o *design.Group) bool {
		if c.by == "version" {
			return g.Version == c.candidate && o.Version == c.baseline && g.Model == o.Model && g.ObType == o.ObType
		}
		return g.Model == c.candidate && o.Model == c.baseline && (o.ObType == g.ObType || strings.EqualFold(g.ObType, c.candidate))
	}
	for _, g := range catalog.Groups {
		for _, o := range catalog.Groups {
			if g.LineType != lineType || o.LineType != lineType || o.FcstVar != g.FcstVar || !pairs(g, o) {
				continue
			}
			model := ""
			if c.by == "version" {
				model = g.Model
			}
			for _, level := range g.Levels {
				one := series{model, g.FcstVar, level, nil}
				for _, m := range g.Masks {
					if slices.Contains(o.Masks, m) {
						one.regions = append(one.regions, m)
					}
				}
				known := slices.ContainsFunc(out, func(have series) bool {
					return have.model == model && have.variable == one.variable && have.level == level
				})
				if slices.Contains(o.Levels, level) && len(one.regions) > 0 && !known {
					out = append(out, one)
				}
			}
		}
	}
	return out
}

// scored returns the question for the difference at every lead of every region.
func (c contest) scored(t *record.LineType, subset string, one series) *question.Question {
	q := &question.Question{Name: "scorecard", Type: t, Subset: subset}
	field, _ := record.FieldByName(c.by) // model or version
	if one.model != "" {
		q.Header[record.Model] = []string{one.model}
	}
	q.Header[field], q.Header[record.FcstVar] = []string{c.candidate, c.baseline}, []string{one.variable}
	q.Header[record.FcstLev], q.Header[record.VxMask] = []string{one.level}, one.regions
	q.Drawing = &question.Drawing{
		Axis: string(run.ByLead), Method: "overall", Replicates: 200, Confidence: 0.95, Baseline: c.baseline,
		Curves: []question.Group{{Field: c.by, Values: [][]string{{c.candidate}, {c.baseline}}}, {Field: "vx_mask"}},
	}
	q.SelectColumns()
	return q
}

// send writes a row for each region.
func send(w http.ResponseWriter, one series, d *curve.LazyCurves, spreads map[[2]int]float64) error {
	better := "higher"
	if lowerIsBetter(d.Stat) {
		better = "lower"
	}
	to := json.NewEncoder(w)
	for i, s := range d.Series {
		row := Row{one.model, one.variable, one.level, d.ValuesOf(i)[1], d.Stat, better, []Cell{}}
		for k, x := range s.X {
			cell := Cell{Lead: x, N: s.Records[k], Value: valueOf(s.Y[k]), Low: valueOf(s.Low[k]), High: valueOf(s.High[k])}
			if sd := spreads[[2]int{i, k}]; s.Records[k] >= fewest && sd > 0 {
				cell.P = valueOf(math.Erfc(math.Abs(s.Y[k]) / sd / math.Sqrt2))
			}
			row.Cells = append(row.Cells, cell)
		}
		if err := to.Encode(&row); err != nil {
			return err
		}
	}
	return nil
}

func valueOf(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}

// lowerIsBetter reports whether a statistic is one of mistakes.
func lowerIsBetter(name string) bool {
	return slices.ContainsFunc([]string{"RMS", "MSE", "MAE", "FAR", "POFD", "ESTDEV", "SPEED_ERR", "DIR_", "FE", "SI"}, func(part string) bool {
		return strings.Contains(name, part) && !strings.Contains(name, "MSESS") && !strings.Contains(name, "FBIAS")
	})
}
