package report

import (
	"fmt"
	"slices"
	"strings"
)

// inWords is the answer in a paragraph: whether the answers were right first,
// then which way is the fastest.
func (rs *results) inWords(s *Summary) string {
	return strings.TrimSpace(rs.proofInWords(s) + " " + rs.speedInWords(s))
}

func (rs *results) proofInWords(s *Summary) string {
	all := s.Equal + s.Wrong + s.Failed + s.Incomplete + s.NotTimed
	if all == 0 {
		return "Nothing was asked: this run holds no answers."
	}
	var parts []string
	if s.Wrong > 0 {
		parts = append(parts, several(s.Wrong, "cell")+" "+be(s.Wrong)+" WRONG")
	}
	if s.Failed > 0 {
		parts = append(parts, several(s.Failed, "cell")+" gave no answer")
	}
	if s.Incomplete > 0 {
		parts = append(parts, several(s.Incomplete, "cell")+" "+be(s.Incomplete)+" of archives that do not hold the whole data")
	}
	if s.NotTimed > 0 {
		parts = append(parts, several(s.NotTimed, "cell")+" "+be(s.NotTimed)+" without a recorded repetition")
	}
	if len(parts) == 0 {
		return fmt.Sprintf("Every one of %s gave the reference answer.", several(all, "cell"))
	}
	return fmt.Sprintf("%s, of %d; %d gave the reference answer.", list(parts), all, s.Equal)
}

func be(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
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
		left = fmt.Sprintf(" No record of this data answers %s: left out of every ranking.", list(empty))
	}
	return rs.fastestInWords(s, timed) + left
}

func (rs *results) fastestInWords(s *Summary, timed int) string {
	switch {
	case timed == 0:
		return "No database was timed."
	case len(s.Ranking) == 0:
		return fmt.Sprintf("No way of asking answered all %s rightly, so none is ranked over all.", several(timed, "timed case"))
	}
	best := s.Ranking[0]
	w := way{best.Engine, best.Design, best.Flavour}
	if timed == 1 {
		return rs.oneCase(s, w)
	}
	var b strings.Builder
	few := tooFew(s)
	if best.Ratio < 1.005 {
		fmt.Fprintf(&b, "On this data the fastest right way is %s: it is the fastest in each of %d cases.", w, timed)
	} else {
		fmt.Fprintf(&b, "On this data the fastest right way over %d cases is %s: it takes %s the fastest of each case (geometric mean)", timed, w, best.times())
		if few < timed {
			fmt.Fprintf(&b, " and is beaten by more than the noise in %s", beaten(timed-best.Unbeaten, timed))
		}
		b.WriteString(".")
	}
	b.WriteString(partly(s))
	if next := nextDesign(s.Ranking); next != nil {
		fmt.Fprintf(&b, " The next engine or design is %s: it takes %s the fastest.", way{next.Engine, next.Design, next.Flavour}, next.times())
	}
	if r := bestOf(s, "metviewer-sql"); r != nil && r.Flavour != w.Flavour {
		fmt.Fprintf(&b, " METviewer's own SQL takes %s the fastest at best (%s · %s).", r.times(), r.Engine, r.Design)
	}
	switch {
	case few == timed:
		b.WriteString(" All this by medians alone: the repetitions are too few to tell any difference from noise.")
	case few > 0:
		fmt.Fprintf(&b, " In %s the repetitions are too few to tell any difference from noise.", several(few, "case"))
	}
	return b.String()
}

// times is how many times the fastest of each case a way takes, with the
// interval; no number where the repetitions are too few for one.
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

// partly names the ways that are the fastest of a case but did not answer all cases.
func partly(s *Summary) string {
	var ways []way
	won := map[way][]string{}
	for i := range s.Cases {
		k := s.Cases[i].fastest()
		if k == nil || slices.ContainsFunc(s.Ranking, func(r Rank) bool { return r.Engine == k.Engine && r.Design == k.Design && r.Flavour == k.Flavour }) {
			continue
		}
		w := way{k.Engine, k.Design, k.Flavour}
		if won[w] == nil {
			ways = append(ways, w)
		}
		won[w] = append(won[w], s.Cases[i].Name)
	}
	var b strings.Builder
	for _, w := range ways {
		fmt.Fprintf(&b, " %s is faster in %s, but did not answer every case.", w, list(won[w]))
	}
	return b.String()
}

func beaten(n, of int) string {
	if n == 0 {
		return "none of them"
	}
	return fmt.Sprintf("%d of %d", n, of)
}

func (rs *results) oneCase(s *Summary, w way) string {
	for i := range s.Cases {
		c := &s.Cases[i]
		if c.fastest() == nil {
			continue
		}
		t := c.find(w).Times
		out := fmt.Sprintf("In %s the fastest right way is %s", c.Name, w)
		if span := interval(float64(t.Lo), float64(t.Hi)); span != none {
			out += fmt.Sprintf(", with a median of %s ms (%s)", number(float64(t.Median)), span)
		}
		out += "."
		var ties []string
		for k := range c.Cells {
			if k := &c.Cells[k]; k.unbeaten() && k.Times.Mark == "~" {
				ties = append(ties, way{k.Engine, k.Design, k.Flavour}.String())
			}
		}
		if len(ties) > 0 {
			out += " Not slower by more than the noise: " + list(ties) + "."
		}
		return out
	}
	return ""
}

// nextDesign is the best rank of another engine or design than the first.
func nextDesign(ranks []Rank) *Rank {
	i := slices.IndexFunc(ranks, func(r Rank) bool { return r.Engine != ranks[0].Engine || r.Design != ranks[0].Design })
	if i < 0 {
		return nil
	}
	return &ranks[i]
}

// bestOf is the best rank of a flavour, or nil.
func bestOf(s *Summary, flavour string) *Rank {
	i := slices.IndexFunc(s.Ranking, func(r Rank) bool { return r.Flavour == flavour })
	if i < 0 {
		return nil
	}
	return &s.Ranking[i]
}

// tooFew counts the cases in which no difference could show.
func tooFew(s *Summary) int {
	n := 0
	for _, c := range s.Cases {
		if c.LeastP >= 0.05 {
			n++
		}
	}
	return n
}
