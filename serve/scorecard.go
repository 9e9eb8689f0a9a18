package serve

import (
	"cmp"
	"encoding/json"
	"errors"
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
	ObType   string `json:"obtype,omitempty"` // of both; "" = each model is verified against its own analysis
	Stat     string `json:"stat"`
	Cells    []Cell `json:"cells"`
}

// Cell is the difference of the candidate and the baseline at a lead. It is computed from the cases that both
// have.
type Cell struct {
	Lead  float64  `json:"lead"` // h
	N     int      `json:"n"`    // number of cases
	Value *float64 `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
	// P is the probability of a difference at least as large by chance, from the bootstrap's standard error. null:
	// Untested is the reason.
	P        *float64 `json:"p"`
	Untested string   `json:"untested,omitempty"` // "no value", "too few cases" or "no interval"
	// Better is 1 if the candidate is better, −1 if the baseline is, and 0 if neither is or if the statistic has
	// no best value.
	Better int `json:"better"`
}

// minCases is the number of cases below which a cell has no P. The page then shows the cell as not tested.
const minCases = 8

// scorecard sends one JSON value for each row, as soon as the row is computed. If it fails after the first row,
// it sends the error as the last value.
func (s *Server) scorecard(w http.ResponseWriter, r *http.Request) error {
	v := r.URL.Query()
	a, err := s.parsePlace(v)
	if err != nil {
		return err
	}
	t, ok := record.TypeByName(v.Get("line_type"))
	c := contest{cmp.Or(v.Get("by"), "model"), v.Get("candidate"), v.Get("baseline")}
	if !ok || c.candidate == "" || c.baseline == "" || c.candidate == c.baseline || c.by != "model" && c.by != "version" {
		cure := "give line_type, candidate and baseline, and by=version for versions"
		return fault.Misuse("scorecard", "needs a line type and two models or versions", cure)
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	sent, err := s.scorecardRows(w, r, a, t, c)
	if err != nil && sent && r.Context().Err() == nil {
		err = writeJSON(w, map[string]string{"error": fault.Redact(err.Error())})
	}
	return err
}

// scorecardRows sends the rows of a scorecard. sent reports whether it has sent any.
func (s *Server) scorecardRows(
	w http.ResponseWriter, r *http.Request, a *pageQuestion, t *record.LineType, c contest,
) (sent bool, err error) {
	ctx, v, out := r.Context(), r.URL.Query(), http.NewResponseController(w)
	err = a.archive.with(ctx, a.design, func(in archive.Archive) error {
		catalog, err := in.Catalog(ctx, a.subset)
		if err != nil {
			return err
		}
		for _, one := range c.shared(catalog, t.Name) {
			if !one.narrow(v) {
				continue
			}
			q := c.question(t, a.subset, one)
			name := cmp.Or(v.Get("stat"), cmp.Or(curve.Stats(q)...))
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
			if errors.Is(err, curve.ErrNoDifference) {
				continue // the candidate or the baseline has no record of this series
			}
			if err != nil {
				return err
			}
			spreads := map[[2]int]float64{} // without the cells that have no interval
			if err := d.EachInterval(ctx, func(i, k int, iv stat.Interval) { spreads[[2]int{i, k}] = iv.Spread }); err != nil {
				return err
			}
			if err := send(w, one, d, spreads); err != nil {
				return err
			}
			sent = true
			_ = out.Flush() // without it, the rows are sent at the end
		}
		if !sent {
			return notFound{fmt.Errorf("no %s of the archive has both %s %s and %s", t.Name, c.by, c.candidate, c.baseline)}
		}
		return nil
	})
	return sent, err
}

// contest is the pair to compare: two values of the field by, which is model or version.
type contest struct{ by, candidate, baseline string }

// series is a variable at a level, and the regions that the candidate and the baseline share. model is the
// model whose versions are compared; "" = models are compared. obTypes has one type of observations if both are
// verified against the same one, otherwise the candidate's own analysis and the baseline's.
type series struct {
	lineType, model, variable, level string
	obTypes, regions                 []string
}

// narrow keeps the regions that a URL selects. It returns false if the URL does not select the series.
func (one *series) narrow(v url.Values) bool {
	selects := func(key, value string) bool { return v[key] == nil || slices.Contains(v[key], value) }
	one.regions = slices.DeleteFunc(one.regions, func(m string) bool { return !selects("vx_mask", m) })
	return selects("fcst_var", one.variable) && selects("fcst_lev", one.level) && len(one.regions) > 0
}

// pairs reports whether the candidate's records in group g are compared with the baseline's in group o. Either both are
// verified against the same observations, or each is verified against its own analysis. In the second case no records
// of one model may be verified against the analysis of the other.
func (c contest) pairs(catalog *design.Catalog, g, o *design.Group) bool {
	switch {
	case g.LineType != o.LineType || g.FcstVar != o.FcstVar:
		return false
	case c.by == "version":
		return g.Version == c.candidate && o.Version == c.baseline && g.Model == o.Model && g.ObType == o.ObType
	case g.Model != c.candidate || o.Model != c.baseline:
		return false
	case g.ObType == o.ObType:
		return true
	}
	againstOther := func(x *design.Group) bool { // the analysis of the other model
		isOther := x.Model == g.Model && x.ObType == o.ObType || x.Model == o.Model && x.ObType == g.ObType
		return isOther && x.LineType == g.LineType && x.FcstVar == g.FcstVar
	}
	return strings.EqualFold(g.ObType, g.Model) && strings.EqualFold(o.ObType, o.Model) &&
		!slices.ContainsFunc(catalog.Groups, againstOther)
}

// shared returns the series of a line type that the candidate and the baseline share.
func (c contest) shared(catalog *design.Catalog, lineType string) (out []series) {
	for _, g := range catalog.Groups {
		for _, o := range catalog.Groups {
			if g.LineType != lineType || !c.pairs(catalog, g, o) {
				continue
			}
			model := ""
			if c.by == "version" {
				model = g.Model
			}
			for _, level := range g.Levels {
				one := series{lineType, model, g.FcstVar, level, question.Unique([]string{g.ObType, o.ObType}), nil}
				for _, m := range g.Masks {
					if slices.Contains(o.Masks, m) {
						one.regions = append(one.regions, m)
					}
				}
				if !slices.Contains(o.Levels, level) || len(one.regions) == 0 {
					continue
				}
				i := slices.IndexFunc(out, func(have series) bool {
					return have.model == model && have.variable == one.variable && have.level == level &&
						slices.Equal(have.obTypes, one.obTypes)
				})
				if i < 0 {
					out = append(out, one)
				} else {
					out[i].regions = question.Unique(append(out[i].regions, one.regions...))
				}
			}
		}
	}
	return out
}

// question returns the question for the difference at every lead of every region.
func (c contest) question(t *record.LineType, subset string, one series) *question.Question {
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
	// The observations are a condition, but no column: the cases of two models that are verified against their own
	// analyses must not differ in a column.
	q.Header[record.ObType] = one.obTypes
	return q
}

// send writes a row for each region. spreads contains the bootstrap's standard errors by series and point.
func send(w http.ResponseWriter, one series, d *curve.LazyCurves, spreads map[[2]int]float64) error {
	to := json.NewEncoder(w)
	for i, s := range d.Series {
		row := Row{
			Model: one.model, Variable: one.variable, Level: one.level, Region: d.ValuesOf(i)[1], Stat: d.Stat, Cells: []Cell{},
		}
		if len(one.obTypes) == 1 {
			row.ObType = one.obTypes[0]
		}
		for k, x := range s.X {
			cell := Cell{Lead: x, N: s.Records[k], Value: valueOf(s.Y[k]), Low: valueOf(s.Low[k]), High: valueOf(s.High[k])}
			spread, hasInterval := spreads[[2]int{i, k}]
			switch {
			case cell.Value == nil:
				cell.Untested = "no value"
			case cell.N < minCases:
				cell.Untested = "too few cases"
			case !hasInterval:
				cell.Untested = "no interval"
			default:
				cell.P = valueOf(probability(*cell.Value, spread))
			}
			candidate, baseline, err := d.Operands(i, k)
			if err != nil {
				return err
			}
			cell.Better = compareScores(one.lineType, d.Stat, candidate, baseline)
			row.Cells = append(row.Cells, cell)
		}
		if err := to.Encode(&row); err != nil {
			return err
		}
	}
	return nil
}

// probability is the two-sided probability of a normally distributed difference that is at least as large as d.
// Without spread, all replicates equal d.
func probability(d, spread float64) float64 {
	switch {
	case d == 0:
		return 1
	case spread == 0:
		return 0
	}
	return math.Erfc(math.Abs(d) / spread / math.Sqrt2)
}

// valueOf returns nil for a value that JSON cannot express.
func valueOf(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// bestScores are the best values of statistics that stat.PerfectScore does not know. ±Inf means that a higher or
// a lower value is always better.
var bestScores = map[string]float64{ //nolint:gochecknoglobals // a constant table
	"RMSE_OERR": 0, "ME_OERR": 0, "CRPS_EMP": 0, "CRPS_EMP_FAIR": 0, "IGN": math.Inf(-1),
	"S1": 0, "S1_OG": 0, "FGOG_RATIO": 100, "FE": 0, "SI": 0, "COMP": 1, "ODDS": math.Inf(1), "LODDS": math.Inf(1),
	"DIR_ERR": 0, "DIR_ABSERR": 0, "DIR_ME": 0, "DIR_MAE": 0, "DIR_MSE": 0, "DIRA_ME": 0, "DIRA_MAE": 0, "DIRA_MSE": 0,
	"SPEED_ABSERR": 0, "VDIFF_SPEED": 0, "FY_ON": 0, "FN_OY": 0,
}

// compareScores returns 1 if the candidate's value of a statistic is better than the baseline's, −1 if it is
// worse, and 0 if both are equally good or if the statistic has no best value. The better value is the one nearer
// to the best: for a bias, 0.1 is better than −0.2.
func compareScores(lineType, name string, candidate, baseline float64) int {
	best, ok := bestScores[stat.BareName(lineType, name)]
	if !ok {
		best, ok = (&stat.Stat{LineType: lineType, Name: name}).PerfectScore()
	}
	switch {
	case !ok || math.IsNaN(best) || math.IsNaN(candidate) || math.IsNaN(baseline):
		return 0
	case math.IsInf(best, 1):
		return cmp.Compare(candidate, baseline)
	case math.IsInf(best, -1):
		return cmp.Compare(baseline, candidate)
	}
	return cmp.Compare(math.Abs(baseline-best), math.Abs(candidate-best))
}
