package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// Summary is the machine-readable result of a run: the content of the tables.
type Summary struct {
	InWords  string `json:"in_words"`
	Finished bool   `json:"finished"` // false if the run was interrupted

	// Counts of cells by state; only Equal ones have times.
	Equal      int `json:"equal"`
	Wrong      int `json:"wrong"`
	Failed     int `json:"failed"`
	Incomplete int `json:"incomplete"` // of archives that do not contain all the data
	NotTimed   int `json:"not_timed"`

	Ranking []Rank        `json:"ranking"` // configurations that answered every case, the fastest first
	Cases   []CaseSummary `json:"cases"`
}

// allCorrect reports whether there are results, and every planned one equals the reference.
func (s *Summary) allCorrect() bool {
	return s.Equal > 0 && s.Wrong+s.Failed+s.Incomplete+s.NotTimed == 0
}

// Rank is the rank of a configuration over all cases.
type Rank struct {
	Configuration
	// Ratio is the geometric mean, over the cases, of the median divided by that of the fastest
	// configuration of the case: 1 = the fastest in every case.
	Ratio Number `json:"ratio_geometric_mean"`
	// Lo and Hi are the bounds of its 95 % interval, from the intervals of the cases' ratios, which are independent of one
	// another; null if a case has none.
	Lo Number `json:"ratio_lo"`
	Hi Number `json:"ratio_hi"`
	// Unbeaten counts the cases in which no configuration was significantly faster.
	Unbeaten int `json:"unbeaten_cases"`
}

// CaseSummary compares the configurations of one case.
type CaseSummary struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Rows  int    `json:"rows"`
	// Comparisons counts the comparisons with the fastest configuration. Holm's correction treats them together.
	Comparisons int `json:"comparisons"`
	// LeastP is the smallest corrected p that this number of comparisons and repetitions can reach. If it is not below
	// 0.05, no difference can be significant.
	LeastP Number        `json:"least_p_holm"`
	Cells  []CellSummary `json:"cells"` // timed ones by median, then the others
}

// CellSummary is one configuration of a case. Times is nil unless every repetition equals the reference result.
type CellSummary struct {
	CellKey
	Verdict        string `json:"verdict"` // equal, wrong, failed, incomplete, not timed, no rows
	Problem        string `json:"problem,omitempty"`
	ClientOverhead bool   `json:"client_overhead,omitempty"` // of the dry engine: not ranked
	// Unranked is the reason why the times are not ranked; "" if they are.
	Unranked string `json:"unranked,omitempty"`
	Proof    string `json:"proof,omitempty"` // which share of the results was compared
	Rows     int    `json:"rows"`            // −1 = unknown
	Times    *Times `json:"times,omitempty"`
}

// noRows is the verdict of a correct result without rows. It has no times, because the cost of finding nothing does not
// rank a configuration.
const noRows = "no rows"

// empty reports whether the data contain nothing for the case.
func (c *CaseSummary) empty() bool {
	return slices.ContainsFunc(c.Cells, func(k CellSummary) bool { return k.Verdict == noRows })
}

// isCompared reports whether the cell has times that may be compared with others.
func (k *CellSummary) isCompared() bool {
	return k.Times != nil && !k.ClientOverhead && k.Unranked == ""
}

// Times are in milliseconds.
type Times struct {
	N        int    `json:"n"`
	Median   Number `json:"median_ms"`
	Lo       Number `json:"median_lo_ms"` // 95 % interval; null if N is too small
	Hi       Number `json:"median_hi_ms"`
	FirstRow Number `json:"first_row_ms"`
	Server   Number `json:"server_ms"`      // null if the engine reports none
	Client   Number `json:"client_cpu_ms"`  // processor time of this process, which includes an embedded engine
	Derive   Number `json:"derive_keys_ms"` // null if no keys are derived
	Keys     int    `json:"keys,omitempty"`

	ColdN  int    `json:"cold_n,omitempty"`
	Cold   Number `json:"cold_median_ms"`
	ColdLo Number `json:"cold_lo_ms"`
	ColdHi Number `json:"cold_hi_ms"`
	// ColdProblem is the reason why there are no cold times if a cold start failed.
	ColdProblem string `json:"cold_problem,omitempty"`

	// Compared with the fastest configuration of the case; null for the fastest itself and for the
	// client overhead.
	Ratio   Number `json:"ratio"`
	RatioLo Number `json:"ratio_lo"`
	RatioHi Number `json:"ratio_hi"`
	P       Number `json:"p"`
	PHolm   Number `json:"p_holm"`
	Mark    string `json:"mark"`    // "~", "?", "*", "**", "***"; "" for the fastest
	Letters string `json:"letters"` // configurations that share a letter do not differ

	RowsPerSecond Number `json:"rows_per_s"`
	MBPerSecond   Number `json:"answer_mb_per_s"`

	values []float64
}

// Number is a float64 whose NaN is null in JSON.
type Number float64

// MarshalJSON writes NaN and infinities, which JSON lacks, as null.
func (n Number) MarshalJSON() ([]byte, error) {
	if f := float64(n); !math.IsNaN(f) && !math.IsInf(f, 0) {
		return json.Marshal(f)
	}
	return []byte("null"), nil
}

// summarise computes the content of a run's tables.
func (rs *results) summarise() Summary {
	n := map[state]int{}
	for _, res := range rs.cells {
		n[res.state]++
	}
	s := Summary{
		Finished: !rs.run.Finished.IsZero(),
		Equal:    n[equal], Wrong: n[wrong], Failed: n[failed], Incomplete: n[incomplete], NotTimed: n[untimed],
	}
	s.Cases = lists.Map(rs.cases, rs.summariseCase)
	s.Ranking = rs.rank(s.Cases)
	s.InWords = rs.inWords(&s)
	return s
}

// summariseCase compares the configurations of a case.
func (rs *results) summariseCase(c run.Case) CaseSummary {
	out := CaseSummary{Name: c.Name, Title: c.Title, Rows: c.Rows, LeastP: nan()}
	for _, configuration := range rs.configurations {
		res := rs.result(configuration, c.Name)
		if res.state == absent {
			continue
		}
		a := rs.archive(configuration)
		sum := CellSummary{
			CellKey: CellKey{configuration, c.Name}, Verdict: res.state.String(), Problem: res.problem,
			ClientOverhead: a.Place == overheadPlace, Unranked: a.Unranked, Proof: res.proof, Rows: res.rows,
		}
		if res.state == equal && len(res.warm) > 0 && res.rows > 0 { // the cost of an empty result has no meaning
			sum.Times = summariseTimes(res, c)
		} else if res.state == equal { // proven, but only cold or not timed at all
			sum.Verdict = untimed.String()
			if res.rows == 0 {
				sum.Verdict = noRows
			}
		}
		out.Cells = append(out.Cells, sum)
	}
	out.excludeWeakerProofs()
	slices.SortStableFunc(out.Cells, func(a, b CellSummary) int { return cmp.Compare(a.sortKey(), b.sortKey()) })
	out.compare(rs.run.Seed)
	return out
}

// excludeWeakerProofs excludes results with a lower degree of proof from the ranking if others have the highest degree,
// because results with different degrees are never ranked together.
func (c *CaseSummary) excludeWeakerProofs() {
	if !slices.ContainsFunc(c.Cells, func(k CellSummary) bool { return k.Proof == everyValue && k.isCompared() }) {
		return
	}
	for i := range c.Cells {
		if k := &c.Cells[i]; k.Proof != everyValue && k.isCompared() {
			k.Unranked = "its results are proven only by " + k.Proof
		}
	}
}

// nan is a missing number.
func nan() Number { return Number(math.NaN()) }

// median returns the median of samples in ms, with its interval.
func median(samples []*run.Measured) (mid, lo, hi Number) {
	e := measure.MedianEstimate(times(samples, total))
	return Number(e.Value), Number(e.Low), Number(e.High)
}

// estimateOf returns a median with its interval.
func estimateOf(mid, lo, hi Number) measure.Estimate {
	return measure.Estimate{Value: float64(mid), Low: float64(lo), High: float64(hi)}
}

// summariseTimes returns the times of a cell, without comparisons.
func summariseTimes(res *result, c run.Case) *Times {
	t := &Times{
		N: len(res.warm), Keys: res.warm[0].Keys, values: times(res.warm, total),
		ColdN: len(res.cold), ColdProblem: res.coldProblem,
		FirstRow: positive(res.warm, func(m *run.Measured) time.Duration { return m.FirstRow }),
		Server:   positive(res.warm, func(m *run.Measured) time.Duration { return m.ServerTime }),
		Client:   positive(res.warm, func(m *run.Measured) time.Duration { return m.CPU }),
		Derive:   positive(res.warm, func(m *run.Measured) time.Duration { return m.Derive }),
		Ratio:    nan(), RatioLo: nan(), RatioHi: nan(), P: nan(), PHolm: nan(),
	}
	t.Median, t.Lo, t.Hi = median(res.warm)
	t.Cold, t.ColdLo, t.ColdHi = median(res.cold)
	seconds := float64(t.Median) / 1e3
	t.RowsPerSecond = Number(float64(res.rows) / seconds)
	size := c.Bytes
	if size == 0 {
		size = res.warm[0].Bytes
	}
	t.MBPerSecond = Number(float64(size) / 1e6 / seconds)
	return t
}

// compare compares every ranked configuration of a case with the fastest. It omits the client overhead, which does not
// query a database, and configurations that are not ranked.
func (c *CaseSummary) compare(seed uint64) {
	var timed []*Times
	var samples [][]float64
	for i := range c.Cells {
		if t := c.Cells[i].Times; c.Cells[i].isCompared() {
			timed, samples = append(timed, t), append(samples, t.values)
		}
	}
	if len(timed) < 2 {
		return
	}
	c.Comparisons = len(timed) - 1
	comparisons := measure.CompareWithBase(samples, 0, seed)[1:] // without the base itself
	least := math.Inf(1)
	for i, x := range comparisons {
		t := timed[i+1]
		t.Ratio, t.RatioLo, t.RatioHi = Number(x.Ratio), Number(x.Lo), Number(x.Hi)
		t.P, t.PHolm, t.Mark = Number(x.P), Number(x.PHolm), x.Mark()
		least = min(least, x.LeastP)
	}
	c.LeastP = Number(min(1, least*float64(c.Comparisons)))
	for i, l := range measure.Groups(samples) {
		timed[i].Letters = l
	}
}

// fastest returns the fastest configuration that may be compared, or nil.
func (c *CaseSummary) fastest() *CellSummary {
	return first(c.Cells, func(k CellSummary) bool { return k.isCompared() })
}

// first returns the first element that matches, or nil.
func first[T any](all []T, matches func(T) bool) *T {
	if i := slices.IndexFunc(all, matches); i >= 0 {
		return &all[i]
	}
	return nil
}

// find returns the cell of a configuration, or nil.
func (c *CaseSummary) find(configuration Configuration) *CellSummary {
	return first(c.Cells, func(k CellSummary) bool { return k.Configuration == configuration })
}

// sortKey returns the cell's median; infinite if it has none.
func (k *CellSummary) sortKey() float64 {
	if k.Times == nil {
		return math.Inf(1)
	}
	return float64(k.Times.Median)
}

// ratio returns the median of a configuration divided by that of the fastest of the case; false if it has no time that
// may be compared.
func (c *CaseSummary) ratio(configuration Configuration) (float64, bool) {
	best, k := c.fastest(), c.find(configuration)
	if best == nil || k == nil || !k.isCompared() || best.Times.Median <= 0 {
		return math.NaN(), false
	}
	return float64(k.Times.Median / best.Times.Median), true
}

// isUnbeaten reports whether no configuration was significantly faster.
func (k *CellSummary) isUnbeaten() bool {
	return k != nil && k.isCompared() && (k.Times.Mark == "" || k.Times.Mark == "~" || k.Times.Mark == "?")
}

// square returns v².
func square(v float64) float64 { return v * v }

// rank orders the configurations that have comparable times in every case in which any configuration has.
func (rs *results) rank(cases []CaseSummary) []Rank {
	out := []Rank{}
	for _, configuration := range rs.configurations {
		r := Rank{Configuration: configuration}
		// The interval of the mean of the logarithms: the cases are independent, so its half-width is the root of the sum
		// of the squared half-widths of the cases, divided by n. below and above are these sums, one for each side.
		sumOfLogs, below, above := 0.0, 0.0, 0.0
		n, answeredAll := 0.0, true
		for i := range cases {
			c := &cases[i]
			if c.fastest() == nil {
				continue
			}
			ratio, ok := c.ratio(configuration)
			answeredAll = answeredAll && ok
			sumOfLogs += math.Log(ratio)
			n++
			k := c.find(configuration)
			if ok && k != c.fastest() { // the fastest is 1 by definition
				below += square(math.Log(ratio / float64(k.Times.RatioLo)))
				above += square(math.Log(float64(k.Times.RatioHi) / ratio))
			}
			if k.isUnbeaten() {
				r.Unbeaten++
			}
		}
		if answeredAll && n > 0 {
			r.Ratio = Number(math.Exp(sumOfLogs / n))
			r.Lo = r.Ratio * Number(math.Exp(-math.Sqrt(below)/n))
			r.Hi = r.Ratio * Number(math.Exp(math.Sqrt(above)/n))
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b Rank) int { return cmp.Compare(a.Ratio, b.Ratio) })
	return out
}

// inWords returns the answer: first whether the results are correct, then which configuration is the fastest.
func (rs *results) inWords(s *Summary) string {
	return strings.TrimSpace(rs.proofInWords(s) + " " + rs.speedInWords(s))
}

// proofInWords counts the results that equal the reference and those that do not.
func (rs *results) proofInWords(s *Summary) string {
	all := s.Equal + s.Wrong + s.Failed + s.Incomplete + s.NotTimed
	if all == 0 {
		return "No query was run: this run has no results."
	}
	var parts []string
	add := func(n int, one, more string) {
		switch {
		case n == 1:
			parts = append(parts, "1 cell "+one)
		case n > 1:
			parts = append(parts, count(n)+" cells "+more)
		}
	}
	add(s.Wrong, "is WRONG", "are WRONG")
	add(s.Failed, "failed", "failed")
	add(s.Incomplete, "belongs to an incomplete archive", "belong to incomplete archives")
	add(s.NotTimed, "has no recorded repetition", "have no recorded repetition")
	if len(parts) == 0 {
		return fmt.Sprintf("%s of %s results equal the reference.", count(all), count(all))
	}
	return fmt.Sprintf("%s, of %d; %s the reference.", list(parts), all, english.Plural(s.Equal, "result equals", "results equal"))
}

// speedInWords names the fastest configuration, and the cases without rows.
func (rs *results) speedInWords(s *Summary) string {
	timed := 0
	var empty []string
	for i := range s.Cases {
		switch c := &s.Cases[i]; {
		case c.fastest() != nil:
			timed++
		case c.empty():
			empty = append(empty, c.Name)
		}
	}
	noRows := ""
	if len(empty) > 0 {
		noRows = fmt.Sprintf(" No record of this data matches %s, so no ranking includes it.", list(empty))
	}
	return rs.fastestInWords(s, timed) + noRows
}

// fastestInWords names the fastest configuration over the timed cases.
func (rs *results) fastestInWords(s *Summary, timed int) string {
	switch {
	case timed == 0:
		return "No database was timed."
	case len(s.Ranking) == 0:
		cases := several(timed, "timed case")
		return "No configuration answered all " + cases + " correctly, so none is ranked over all."
	}
	best := s.Ranking[0]
	if timed == 1 {
		return rs.oneCase(s, best.Configuration)
	}
	next := first(s.Ranking, func(r Rank) bool { return r.Engine != best.Engine || r.Design != best.Design })
	sql := first(s.Ranking, func(r Rank) bool { return r.Flavour == "metviewer-sql" })
	cannotDiffer := func(c CaseSummary) bool { return c.LeastP >= measure.Alpha }
	noisy := len(lists.Filter(s.Cases, cannotDiffer))
	if noisy == timed {
		return lowestMedians(timed, best.Configuration, next, sql) + winnersOfSomeCases(s)
	}
	var b strings.Builder
	if best.Ratio == 1 { // each of its ratios is 1, because none is below
		fmt.Fprintf(&b, "By query time alone, %s is the fastest in each of %d cases.", best.Configuration, timed)
	} else {
		fmt.Fprintf(&b, prose("fastest over cases"), best.Configuration, timed, best.times())
		beaten := "none of them"
		if n := timed - best.Unbeaten; n > 0 {
			beaten = fmt.Sprintf("%d of %d", n, timed)
		}
		b.WriteString(", and another configuration is significantly faster in " + beaten + ".")
	}
	b.WriteString(winnersOfSomeCases(s))
	if next != nil {
		fmt.Fprintf(&b, " The next engine or design is %s: it takes %s the fastest.", next.Configuration, next.times())
	}
	if sql != nil && sql.Flavour != best.Flavour {
		fmt.Fprintf(&b, " METviewer's own SQL takes %s the fastest at best (%s · %s).", sql.times(), sql.Engine, sql.Design)
	}
	if noisy > 0 {
		cases := several(noisy, "case")
		fmt.Fprintf(&b, " In %s the repetitions are too few to distinguish any difference from noise.", cases)
	}
	return b.String()
}

// lowestMedians names the configurations with the lowest medians if no difference can be distinguished from noise.
func lowestMedians(timed int, best Configuration, next, sql *Rank) string {
	out := fmt.Sprintf(prose("lowest medians"), best, timed)
	if next != nil {
		out += fmt.Sprintf("; the next engine or design is %s", next.Configuration)
	}
	if sql != nil && sql.Flavour != best.Flavour {
		out += fmt.Sprintf("; the fastest with METviewer's own SQL is %s · %s", sql.Engine, sql.Design)
	}
	return out + "."
}

// times describes the time of a configuration as a multiple of the fastest of each case, with the interval. It has no
// number if the interval is unknown or contains 1.
func (r *Rank) times() string {
	span := interval(float64(r.Lo), float64(r.Hi))
	switch {
	case span == none:
		return "longer than"
	case r.Lo <= 1:
		return "about as long as"
	}
	return fmt.Sprintf("%s times (%s)", number(float64(r.Ratio)), span)
}

// winnersOfSomeCases names the configurations that are the fastest of a case but did not answer all cases.
func winnersOfSomeCases(s *Summary) string {
	won := lists.Filter(s.Cases, func(c CaseSummary) bool {
		k := c.fastest()
		return k != nil && first(s.Ranking, func(r Rank) bool { return r.Configuration == k.Configuration }) == nil
	})
	winners, cases := grouped(won, func(c CaseSummary) Configuration { return c.fastest().Configuration })
	var b strings.Builder
	for _, w := range winners {
		names := list(lists.Map(cases[w], func(c CaseSummary) string { return c.Name }))
		fmt.Fprintf(&b, " %s is faster in %s, but did not answer every case.", w, names)
	}
	return b.String()
}

// oneCase names the fastest configuration if only one case was timed.
func (rs *results) oneCase(s *Summary, best Configuration) string {
	c := first(s.Cases, func(c CaseSummary) bool { return c.fastest() != nil })
	t := c.find(best).Times
	out := fmt.Sprintf("By query time alone, the fastest configuration in %s is %s", c.Name, best)
	if span := interval(float64(t.Lo), float64(t.Hi)); span != none {
		out += fmt.Sprintf(", with a median of %s ms (%s)", number(float64(t.Median)), span)
	}
	var ties []string
	for k := range c.Cells {
		if k := &c.Cells[k]; k.isUnbeaten() && k.Times.Mark == "~" {
			ties = append(ties, k.String())
		}
	}
	if out += "."; len(ties) > 0 {
		out += " Not significantly slower: " + list(ties) + "."
	}
	return out
}
