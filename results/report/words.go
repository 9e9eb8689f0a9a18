package report

import (
	"fmt"
	"strings"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/measure"
)

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
	return fmt.Sprintf("%s, of %d; %d results equal the reference.", list(parts), all, s.Equal)
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
	next := s.first(func(r Rank) bool { return r.Engine != best.Engine || r.Design != best.Design })
	sql := s.first(func(r Rank) bool { return r.Flavour == "metviewer-sql" })
	noisy := casesWithTooFewReps(s)
	if noisy == timed {
		return lowestMedians(timed, best.Configuration, next, sql) + winnersOfSomeCases(s)
	}
	var b strings.Builder
	if best.Ratio < 1.005 {
		fmt.Fprintf(&b, "By query time alone, %s is the fastest in each of %d cases.", best.Configuration, timed)
	} else {
		fmt.Fprintf(&b, "By query time alone, %s is the fastest over %d cases: it takes %s the fastest of each case "+
			"(geometric mean)", best.Configuration, timed, best.times())
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
	out := fmt.Sprintf("The repetitions are too few to distinguish any difference from noise. "+
		"By the medians, %s is the fastest over %d cases (geometric mean)", best, timed)
	if next != nil {
		out += fmt.Sprintf("; the next engine or design is %s", next.Configuration)
	}
	if sql != nil && sql.Flavour != best.Flavour {
		out += fmt.Sprintf("; the fastest with METviewer's own SQL is %s · %s", sql.Engine, sql.Design)
	}
	return out + "."
}

// times describes the time of a configuration as a multiple of the fastest of each case, with the interval. It has no number
// if the interval is unknown or contains 1.
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

// first returns the first matching rank, or nil.
func (s *Summary) first(matches func(r Rank) bool) *Rank { return first(s.Ranking, matches) }

// winnersOfSomeCases names the configurations that are the fastest of a case but did not answer all cases.
func winnersOfSomeCases(s *Summary) string {
	var winners []Configuration
	won := map[Configuration][]string{}
	for i := range s.Cases {
		k := s.Cases[i].fastest()
		if k == nil || s.first(func(r Rank) bool { return r.Configuration == k.Configuration }) != nil {
			continue
		}
		winners = appendNew(winners, k.Configuration)
		won[k.Configuration] = append(won[k.Configuration], s.Cases[i].Name)
	}
	var b strings.Builder
	for _, c := range winners {
		fmt.Fprintf(&b, " %s is faster in %s, but did not answer every case.", c, list(won[c]))
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

// casesWithTooFewReps counts the cases in which no difference can be significant.
func casesWithTooFewReps(s *Summary) int {
	return len(lists.Filter(s.Cases, func(c CaseSummary) bool { return c.LeastP >= measure.Alpha }))
}
