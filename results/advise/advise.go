package advise

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// Criterion is a quantity by which choices are compared.
type Criterion string

// The criteria. Less is better in each. FullLoad is the load of the smallest size. IncrementalLoad adds the same data
// once more to the largest archive of the study. Growth compares DataFactor times as many copies of the data in the
// engine with the present number. NodeFailure is the median over the node failures.
const (
	QueryTime       Criterion = "questions"   // time of an average query of the mix, s
	FullLoad        Criterion = "full load"   // time to load all the data, s
	IncrementalLoad Criterion = "next load"   // time to load the data of FullLoad once more, s
	Disk            Criterion = "disk"        // bytes
	Growth          Criterion = "growth"      // factor by which the query time grows with more data
	NodeFailure     Criterion = "killed node" // longest time without a successful operation, s
)

// Criteria returns all criteria.
func Criteria() []Criterion {
	return []Criterion{QueryTime, FullLoad, IncrementalLoad, Disk, Growth, NodeFailure}
}

// Weights maps the name of a weight (ask, load, size, growth, recover) to its importance.
type Weights map[string]float64

// weightNames returns the names of weights in display order.
func weightNames() []string { return []string{"ask", "load", "size", "growth", "recover"} }

// Defaults returns the weights of an archive that is queried all day and loaded at night.
func Defaults() Weights { return Weights{"ask": 5, "load": 2, "size": 1, "growth": 2, "recover": 1} }

// String prints the weights in the form that Set reads.
func (w Weights) String() string {
	weight := func(name string) string { return name + "=" + strconv.FormatFloat(w[name], 'g', -1, 64) }
	return strings.Join(lists.Map(weightNames(), weight), ",")
}

// Type is the name of the flag's value type.
func (w Weights) Type() string { return "weights" }

// Set changes the weights that a text names: ask=5,load=0.
func (w Weights) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		name, number, _ := strings.Cut(strings.TrimSpace(part), "=")
		v, err := strconv.ParseFloat(number, 64)
		if !slices.Contains(weightNames(), name) {
			return fault.Unknown("weight", name, weightNames())
		}
		if err != nil || !(v >= 0 && v <= 1e6) {
			return fmt.Errorf("%q is not a weight from 0 to 1000000; write for example %s=2", part, name)
		}
		w[name] = v
	}
	return nil
}

// Advice is the ranking of choices by the weights.
type Advice struct {
	Weights Weights               `json:"weights"`
	Counted map[Criterion]float64 `json:"counted"` // the weights in use, by criterion; criteria that were not measured are absent
	// Missing lists the criteria that have a weight but were measured only for some choices. They have
	// no weight for any choice. Otherwise a choice whose load was not measured, because its archive already
	// existed, would rank as the best or the worst in loading.
	Missing []Criterion `json:"missing,omitempty"`
	Choices []Choice    `json:"choices"` // the recommended one first, the excluded ones last
	// Tied is the number of choices at the start of Choices that the measurements cannot distinguish; 1 = the
	// first is the best. If there are enough repetitions for intervals, Choices lists the tied one with the
	// fewest servers first.
	Tied             int      `json:"tied"`
	Changes          []Change `json:"changes"`
	BestWithMoreData int      `json:"best_with_more_data"` // index of the best choice if the data grow by DataFactor; −1 = the growth of a choice is not known
}

// Choice is an engine and a design, with its fastest flavour. Excluded is the reason why it cannot be recommended; "" =
// it can.
type Choice struct {
	Engine   string                         `json:"engine"`
	Design   string                         `json:"design"`
	Flavour  string                         `json:"flavour"`
	Figures  map[Criterion]measure.Estimate `json:"figures"` // a missing criterion was not measured
	Score    measure.Estimate               `json:"score"`   // weighted geometric mean of the ratios to the best of each criterion: 1 = the best in all
	Excluded string                         `json:"excluded,omitempty"`
	Archive  run.Archive                    `json:"archive"`

	logRatios map[Criterion]float64 // logarithms of the ratios to the best value, for each criterion with a weight
}

// Change is a change of a weight that makes another choice the best. Factor multiplies the weight.
type Change struct {
	Weight string  `json:"weight"` // ask, load …
	Factor float64 `json:"factor"`
	To     int     `json:"to"` // index in Choices
}

// weightName is the name of the weight of a criterion.
func (by Criterion) weightName() string {
	return map[Criterion]string{
		QueryTime: "ask", FullLoad: "load", IncrementalLoad: "load", Disk: "size", Growth: "growth", NodeFailure: "recover",
	}[by]
}

// Advise ranks the choices by the weights.
func (s *Study) Advise(w Weights) *Advice {
	a := &Advice{Weights: w, Counted: map[Criterion]float64{}, BestWithMoreData: -1}
	for _, x := range s.Sizes[0].Archives {
		if x.Place != "memory" && x.Unranked == "" {
			a.Choices = append(a.Choices, s.choice(x, w))
		}
	}
	eligible := lists.Filter(a.Choices, func(c Choice) bool { return c.Excluded == "" })
	for _, by := range Criteria() {
		switch v, n := w[by.weightName()], len(a.Unmeasured(by)); {
		case v <= 0 || n == len(eligible):
		case n > 0:
			a.Missing = append(a.Missing, by)
		default:
			a.Counted[by] = v
		}
	}
	if a.Counted[FullLoad] > 0 && a.Counted[IncrementalLoad] > 0 {
		a.Counted[FullLoad], a.Counted[IncrementalLoad] = w["load"]/2, w["load"]/2
	}
	a.score()
	a.order()
	return a
}

// choice returns an archive with its measurements, or the reason why it is excluded.
func (s *Study) choice(x run.Archive, w Weights) Choice {
	c := Choice{Engine: x.Engine, Design: x.Design, Archive: x, Figures: map[Criterion]measure.Estimate{}}
	base, last := &s.Sizes[0], &s.Sizes[len(s.Sizes)-1]
	if c.Excluded = "its data are incomplete"; !x.Complete {
		return c
	}
	c.Excluded = "no query was run on it"
	for _, flavour := range base.flavours(x) {
		mix, _, reason := base.mixTime(x.Engine, x.Design, flavour)
		best, found := c.Figures[QueryTime]
		switch {
		case reason != "" && !found:
			c.Excluded = "no flavour gave the correct result in every case: " + reason
		case reason == "" && (!found || mix.Value < best.Value):
			c.Figures[QueryTime], c.Flavour, c.Excluded = mix, flavour, ""
		}
	}
	if c.Excluded != "" {
		return c
	}
	c.setFigure(FullLoad, x.Load.Seconds())
	c.setFigure(Disk, float64(x.Bytes))
	if before := len(s.Sizes) - 2; before >= 0 {
		for _, y := range last.Archives {
			if y.Engine == x.Engine && y.Design == x.Design && y.Complete {
				c.setFigure(IncrementalLoad, y.Load.Seconds()*float64(base.Copies)/float64(last.Copies-s.Sizes[before].Copies))
			}
		}
		if g, known := s.growth(c.Engine, c.Design, c.Flavour); known {
			c.Figures[Growth] = g
		}
	}
	if w["recover"] > 0 {
		c.addNodeFailures(s.NodeFailures)
	}
	return c
}

// setFigure stores a value without uncertainty: both bounds of its interval equal the value. It stores nothing for 0,
// which means "not measured".
func (c *Choice) setFigure(by Criterion, v float64) {
	if v > 0 {
		c.Figures[by] = measure.Estimate{Value: v, Low: v, High: v}
	}
}

// addNodeFailures adds the outage after node failures, and excludes a choice that lost or changed data or did not recover.
func (c *Choice) addNodeFailures(all []run.Sample) {
	var outages []float64
	for _, s := range all {
		if s.Cell.Engine != c.Engine || s.Kill == nil || s.Cell.Value("design") != c.Design {
			continue
		}
		m := s.Measured()
		if m == nil {
			c.Excluded = "it failed in a node failure: " + s.Problem
			return
		}
		outages = append(outages, m.LongestGap.Seconds())
	}
	c.setFigure(NodeFailure, measure.Median(outages))
}

// Unmeasured returns the choices that may be recommended but have no measurement of a criterion.
func (a *Advice) Unmeasured(by Criterion) []Choice {
	return lists.Filter(a.Choices, func(c Choice) bool {
		_, ok := c.Figures[by]
		return !ok && c.Excluded == ""
	})
}

// score computes the score of every choice. Advise gives weight only to criteria that were measured for every eligible
// choice, so each ratio exists.
func (a *Advice) score() {
	best := map[Criterion]float64{}
	for _, c := range a.Choices {
		for by, e := range c.Figures {
			if c.Excluded == "" {
				best[by] = min(cmp.Or(best[by], e.Value), e.Value)
			}
		}
	}
	for i := range a.Choices {
		c := &a.Choices[i]
		if c.Excluded != "" {
			continue
		}
		below, above := 0.0, 0.0
		c.logRatios = map[Criterion]float64{}
		for _, by := range slices.Sorted(maps.Keys(a.Counted)) { // floating-point sums depend on the order
			w := a.Counted[by]
			e := c.Figures[by]
			c.logRatios[by] = math.Log(e.Value / best[by])
			below, above = math.Hypot(below, w*math.Log(e.Value/e.Low)), math.Hypot(above, w*math.Log(e.High/e.Value))
		}
		center, weights := c.logScore(a.Counted), total(a.Counted)
		c.Score = measure.Estimate{Value: math.Exp(center), Low: math.Exp(center - below/weights), High: math.Exp(center + above/weights)}
	}
}

// logScore returns the logarithm of the score with the given weights.
func (c *Choice) logScore(by map[Criterion]float64) float64 {
	sum := 0.0
	for _, k := range slices.Sorted(maps.Keys(by)) {
		sum += by[k] * c.logRatios[k]
	}
	return sum / total(by)
}

func total(by map[Criterion]float64) (sum float64) {
	for _, k := range slices.Sorted(maps.Keys(by)) {
		sum += by[k]
	}
	return max(sum, math.SmallestNonzeroFloat64) // callers divide by it
}

// order sorts the best choice first. It finds the choices that are tied with it, the best choice for more data, and the
// changes of weights that would change the recommendation.
func (a *Advice) order() {
	slices.SortStableFunc(a.Choices, func(x, y Choice) int {
		return cmp.Or(cmp.Compare(min(len(x.Excluded), 1), min(len(y.Excluded), 1)), cmp.Compare(x.Score.Value, y.Score.Value))
	})
	n := len(a.Eligible())
	if n == 0 {
		return
	}
	a.Tied = n
	if i := slices.IndexFunc(a.Choices[:n], func(c Choice) bool { return significantlyWorse(a.Choices[0], c) }); i > 0 {
		a.Tied = i
	}
	if a.HasIntervals() {
		slices.SortStableFunc(a.Choices[:a.Tied], func(x, y Choice) int { return cmp.Compare(x.ServerCount(), y.ServerCount()) })
	}
	for _, name := range weightNames() {
		a.Changes = append(a.Changes, a.weightChanges(name)...)
	}
	if len(a.Unmeasured(Growth)) == 0 {
		a.BestWithMoreData = 0
		least := math.Inf(1)
		for i, c := range a.Eligible() {
			v := c.logScore(a.Counted) + a.Counted[QueryTime]/total(a.Counted)*math.Log(c.Figures[Growth].Value)
			if v < least-1e-12 { // among equal ones, the first
				a.BestWithMoreData, least = i, v
			}
		}
	}
}

// HasIntervals reports whether there are enough repetitions for scores with intervals. Without intervals, the choices are
// in the order of their medians, and no difference is significant.
func (a *Advice) HasIntervals() bool { return a.Choices[0].Score.High < math.Inf(1) }

// Eligible returns the choices that may be recommended. Advise must have sorted the choices.
func (a *Advice) Eligible() []Choice {
	n := slices.IndexFunc(a.Choices, func(c Choice) bool { return c.Excluded != "" })
	if n < 0 {
		return a.Choices
	}
	return a.Choices[:n]
}

// significantlyWorse reports whether the score of c exceeds the best score by more than the uncertainty of both. It
// returns false if there are too few repetitions for intervals.
func significantlyWorse(best, c Choice) bool {
	return math.Log(c.Score.Value/best.Score.Value) > math.Hypot(math.Log(best.Score.High/best.Score.Value), math.Log(c.Score.Value/c.Score.Low))
}

// ServerCount is the number of servers that must run: 0 = none (embedded), 2 or more = the nodes of a cluster.
func (c *Choice) ServerCount() int {
	switch {
	case c.Archive.Place == "embedded":
		return 0
	case c.Archive.Server != nil:
		return max(c.Archive.Server.Nodes, 1)
	}
	return 1
}

// weightChanges returns up to two changes of one weight: the smallest increase and the smallest decrease after which a
// choice outside the tied ones has a better score than the recommended one. gap is the weighted difference of the log
// scores; share is the part of gap that comes from this weight.
func (a *Advice) weightChanges(name string) (out []Change) {
	up, down := Change{name, math.Inf(1), 0}, Change{name, 0, 0} // without a choice, both are beyond the limits below
	for i := a.Tied; i < len(a.Eligible()); i++ {
		first, c := &a.Choices[0], &a.Choices[i]
		gap := (c.logScore(a.Counted) - first.logScore(a.Counted)) * total(a.Counted)
		share := 0.0
		for _, by := range Criteria() {
			if by.weightName() == name {
				share += a.Counted[by] * (c.logRatios[by] - first.logRatios[by])
			}
		}
		switch f := 1 - gap/share; { // gap + (f−1)·share = 0
		case share < 0 && f < up.Factor:
			up = Change{name, f, i}
		case share > 0 && f > down.Factor:
			down = Change{name, f, i}
		}
	}
	if up.Factor <= maxWeightFactor {
		out = append(out, up)
	}
	if down.Factor >= 1./maxWeightFactor && down.Factor < 1 {
		out = append(out, down)
	}
	return out
}

// maxWeightFactor is the largest factor of a weight that is reported, up or down.
const maxWeightFactor = 10
