package question

import (
	"cmp"
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
	switch {
	case p.Roc != "":
		sums = []string{p.Roc}
	case p.Template == "taylor_plot":
		sums = []string{"SL1L2"}
	case p.Template == "scorecard": // of sums always, by the statistic's name
		sums = []string{"SAL1L2", "SL1L2", "VL1L2", "VAL1L2", "CTC", "GRAD", "NBRCNT", "NBRCTC", "ECNT", "PCT", "RPS"}
	}
	var s stat.Stat
	why := ""
	for _, lineType := range sums {
		if s, err = stat.ByName(lineType, name); err == nil {
			break
		}
		why = cmp.Or(why, stat.Refused(lineType, name))
	}
	if len(sums) > 0 && err != nil {
		if why != "" {
			return nil, false, errors.New(why)
		}
		if p.Template == "scorecard" {
			sums = []string{"the sums of any line type"}
		}
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
