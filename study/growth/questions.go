package growth

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/study/met"
)

// maxAllDaysRows is the maximum number of rows, at the largest size, of the answer to a derived
// question over all days.
const maxAllDaysRows = 200_000

// AllDays is the end of the name of a question about all days.
const AllDays = "_all_days"

// Questions returns the questions of a study of some days. Each question is restricted to the valid
// times of its answer on the first day, so that its answer does not grow. The same question over all
// days follows, with a name that ends in AllDays. notes has a sentence for each question that is
// excluded: a question without rows on the first day, and a derived question whose answer over all
// days would be too large at the largest size.
func (s *Series) Questions(ctx context.Context, days int) (_ []*question.Question, notes []string, err error) {
	first, err := s.Through(ctx, 1)
	if err != nil {
		return nil, nil, err
	}
	o := load.ReadOptions{KeepLast: s.KeepLast}
	catalog, _, _, err := load.Survey(ctx, first, o, nil)
	if err != nil {
		return nil, nil, err
	}
	qs, most := slices.Clone(s.Cases), len(s.Cases)
	if s.Cases == nil {
		qs, most = catalog.Cases(), met.DerivedCases
		qs = qs[:min(len(qs), 2*most)] // twice as many, because some may have no rows
	}
	for i, q := range qs {
		qs[i] = catalog.ExpandPatterns(q)
	}
	r := answer.NewReference(qs...)
	each := func(_ *load.File, b *record.Batch) error { r.Add(b); return nil }
	if err := load.Read(ctx, first, o, each, func(*load.File) error { return nil }); err != nil {
		return nil, nil, err
	}
	var fixed, growing []*question.Question
	for i, b := range r.Rows() {
		switch {
		case len(fixed) == most:
			continue
		case b.Len() == 0:
			if s.Cases != nil {
				notes = append(notes, qs[i].Name+" has no rows on the first day and is excluded")
			}
			continue
		}
		q, g := *qs[i], *qs[i]
		var inits []int64
		for k := range b.Len() {
			inits = append(inits, b.Init(k))
		}
		q.Valid, g.Valid = s.timesOn(b.Valid, 1), s.timesOn(b.Valid, days)
		if !q.TimeFilter.Init.IsAll() {
			q.TimeFilter.Init, g.TimeFilter.Init = s.timesOn(inits, 1), s.timesOn(inits, days)
		}
		fixed = append(fixed, &q)
		g.Name, g.Title = q.Name+AllDays, strings.TrimPrefix(q.Title+", all days", ", ")
		if s.Cases == nil && b.Len()*s.MaxDays > maxAllDaysRows {
			notes = append(notes, fmt.Sprintf("%s is excluded: its answer would have more than %s at %s", g.Name, english.Plural(maxAllDaysRows, "row", ""), english.Plural(s.MaxDays, "day", "")))
			continue
		}
		growing = append(growing, &g)
	}
	if len(fixed) == 0 {
		return nil, notes, &fault.Status{Code: fault.Incomplete, Err: &fault.Error{
			Setting: "--case", Problem: fmt.Sprintf("none of %d questions has rows on the first day, so nothing can be timed", len(qs)), Cure: "write a question with models, regions, levels and times of the first day (docs/reference/questions.md)",
		}}
	}
	return slices.Concat(fixed, growing), notes, nil
}

// timesOn returns the times of the first day, repeated on some days: a grid with the distance of the
// times, or every time between the first and the last if the grid would be too long at the largest
// size.
func (s *Series) timesOn(times []int64, days int) question.Times {
	times = slices.Compact(slices.Sorted(slices.Values(times)))
	first, last := times[0], times[len(times)-1]
	step := int64(secondsPerDay)
	for _, t := range times {
		for d := t - first; d != 0; {
			step, d = d, step%d
		}
	}
	if first == last && days == 1 {
		return question.Times{List: times}
	}
	const maxTimes = 2000 // of a grid, as in questions derived from a catalog
	if (last-first+int64(s.MaxDays)*secondsPerDay)/step > maxTimes {
		step = 0
	}
	return question.Times{First: first, Last: last + int64(days-1)*secondsPerDay, Step: step}
}
