package question

import (
	"errors"
	"slices"
	"strings"

	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/stat"
)

// StatOf finds a statistic of q by METviewer's name: one that is computed from
// partial sums or, where the drawing says so, one that stands finished in a
// column.
func StatOf(q *Question, name string) (stat.Stat, error) {
	if q.Drawing != nil && q.Drawing.Finished {
		return stat.Finished(name)
	}
	return stat.ByName(q.Type.Name, name)
}

// lineTypeOf finds the line type from which METviewer takes a statistic: with
// agg_stat or calc_stat the partial sums that the plot names, else the line
// type that holds the finished statistic.
func lineTypeOf(p *metviewer.Plot, name string) (t *record.LineType, finished bool, err error) {
	sums := slices.Concat(p.Agg, p.Calc)
	var s stat.Stat
	for _, lineType := range sums {
		if s, err = stat.ByName(lineType, name); err == nil {
			break
		}
		if why := stat.Refused(lineType, name); why != "" {
			return nil, false, errors.New(why)
		}
	}
	if len(sums) > 0 && err != nil {
		return nil, false, errors.New("is not computed from " + strings.Join(sums, ", "))
	}
	if len(sums) == 0 {
		if s, err = stat.Finished(name); err != nil {
			return nil, false, errors.New("is in no line type that is read")
		}
	}
	t, _ = record.TypeByName(s.LineType)
	return t, len(sums) == 0, nil
}
