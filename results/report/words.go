package report

import (
	"fmt"
	"strings"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/measure"
)

// inWords is the answer in a paragraph: first whether the results are correct, then which
// configuration is the fastest.
func (rs *results) inWords(s *Summary) string {
	return strings.TrimSpace(rs.proofInWords(s) + " " + rs.speedInWords(s))
}

func (rs *results) proofInWords(s *Summary) string {
	all := s.Equal + s.Wrong + s.Failed + s.Incomplete + s.NotTimed
	if all == 0 {
		return "No query was run: this run has no results."
	}
	var parts []string
	for _, x := range []struct {
		n        int
		one, all string
	}{
		{s.Wrong, " is WRONG", " are WRONG"},
		{s.Failed, " failed", " failed"},
		{s.Incomplete, " belongs to an incomplete archive", " belong to incomplete archives"},
		{s.NotTimed, " has no recorded repetition", " have no recorded repetition"},
	} {
		if words := map[bool]string{true: x.one, false: x.all}[x.n == 1]; x.n > 0 {
			parts = append(parts, several(x.n, "cell")+words)
		}
	}
	if len(parts) == 0 {
		return fmt.Sprintf("%s of %s results equal the reference.", count(all), count(all))
	}
	return fmt.Sprintf("%s, of %d; %d results equal the reference.", list(parts), all, s.Equal)
}

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
	left := ""
	if len(empty) > 0 {
		left = fmt.Sprintf(" No record of this data matches %s, so no ranking includes it.", list(empty))
	}
	return rs.fastestInWords(s, timed) + left
}

func (rs *results) fastestInWords(s *Summary, timed int) string {
	switch {
	case timed == 0:
		return "No database was timed."
	case len(s.Ranking) == 0:
		return fmt.Sprintf("No configuration answered all %s correctly, so none is ranked over all.", several(timed, "timed case"))
	}
	best := s.Ranking[0]
	w := best.Configuration
	if timed == 1 {
		return rs.oneCase(s, w)
	}
	next := s.best(func(r Rank) bool { return r.Engine != best.Engine || r.Design != best.Design })
	sql := s.best(func(r Rank) bool { return r.Flavour == "metviewer-sql" })
	few := tooFew(s)
	if few == timed {
		return lowestMedians(timed, w, next, sql) + partly(s)
	}
	var b strings.Builder
	if best.Ratio < 1.005 {
		fmt.Fprintf(&b, "By query time alone, %s is the fastest in each of %d cases.", w, timed)
	} else {
		fmt.Fprintf(&b, "By query time alone, %s is the fastest over %d cases: it takes %s the fastest of each case (geometric mean)", w, timed, best.times())
		beaten := "none of them"
		if n := timed - best.Unbeaten; n > 0 {
			beaten = fmt.Sprintf("%d of %d", n, timed)
		}
		b.WriteString(", and another configuration is significantly faster in " + beaten + ".")
	}
	b.WriteString(partly(s))
	if next != nil {
		fmt.Fprintf(&b, " The next engine or design is %s: it takes %s the fastest.", next.Configuration, next.times())
	}
	if sql != nil && sql.Flavour != w.Flavour {
		fmt.Fprintf(&b, " METviewer's own SQL takes %s the fastest at best (%s · %s).", sql.times(), sql.Engine, sql.Design)
	}
	if few > 0 {
		fmt.Fprintf(&b, " In %s the repetitions are too few to distinguish any difference from noise.", several(few, "case"))
	}
	return b.String()
}

// lowestMedians names what comes first if no difference can be distinguished from noise.
func lowestMedians(timed int, best Configuration, next, sql *Rank) string {
	out := fmt.Sprintf("The repetitions are too few to distinguish any difference from noise. By the medians, %s is the fastest over %d cases (geometric mean)", best, timed)
	if next != nil {
		out += fmt.Sprintf("; the next engine or design is %s", next.Configuration)
	}
	if sql != nil && sql.Flavour != best.Flavour {
		out += fmt.Sprintf("; the fastest with METviewer's own SQL is %s · %s", sql.Engine, sql.Design)
	}
	return out + "."
}

// times describes the time of a configuration as a multiple of the fastest of each case, with the
// interval. It has no number if the interval is unknown or contains 1.
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

// best returns the first matching rank, or nil.
func (s *Summary) best(is func(r Rank) bool) *Rank {
	return first(s.Ranking, is)
}

// partly names the configurations that are the fastest of a case but did not answer all cases.
func partly(s *Summary) string {
	var configurations []Configuration
	won := map[Configuration][]string{}
	for i := range s.Cases {
		if k := s.Cases[i].fastest(); k != nil && s.best(func(r Rank) bool { return r.Configuration == k.Configuration }) == nil {
			configurations = appendNew(configurations, k.Configuration)
			won[k.Configuration] = append(won[k.Configuration], s.Cases[i].Name)
		}
	}
	var b strings.Builder
	for _, w := range configurations {
		fmt.Fprintf(&b, " %s is faster in %s, but did not answer every case.", w, list(won[w]))
	}
	return b.String()
}

func (rs *results) oneCase(s *Summary, w Configuration) string {
	c := first(s.Cases, func(c CaseSummary) bool { return c.fastest() != nil })
	t := c.find(w).Times
	out := fmt.Sprintf("By query time alone, the fastest configuration in %s is %s", c.Name, w)
	if span := interval(float64(t.Lo), float64(t.Hi)); span != none {
		out += fmt.Sprintf(", with a median of %s ms (%s)", number(float64(t.Median)), span)
	}
	var ties []string
	for k := range c.Cells {
		if k := &c.Cells[k]; k.unbeaten() && k.Times.Mark == "~" {
			ties = append(ties, k.String())
		}
	}
	if out += "."; len(ties) > 0 {
		out += " Not significantly slower: " + list(ties) + "."
	}
	return out
}

// tooFew counts the cases in which no difference can be significant.
func tooFew(s *Summary) int {
	return len(lists.Filter(s.Cases, func(c CaseSummary) bool { return c.LeastP >= measure.Alpha }))
}
