package question

import "github.com/barograph/barograph/record"

// The columns that stand behind By in the answer to a question with Mean.
const (
	Records = "records" // how many records there are
	Defined = "defined" // for how many of them the statistic is defined
	Mean    = "mean"    // of the statistic over those, each with the same weight; missing where there is none
)

// Verification is what a die-off page over all years asks: the mean anomaly
// correlation of every model, variable, level, region and lead of a subset,
// over all its SAL1L2 records. It has no condition, so that every record is
// looked at.
//
// The correlation of each record is that of stat.ByName("SAL1L2", "ANOM_CORR").
// Where it is undefined, as partial sums are missing or a variance is not
// positive, the record counts in Records and has no part in Mean.
func Verification(subset string) *Question {
	t, _ := record.TypeByName("SAL1L2")
	by, err := Columns(t, "model", "fcst_var", "fcst_lev", "vx_mask", "fcst_lead")
	if err != nil {
		panic(err) // the names are header fields and times
	}
	q := &Question{Name: "verification", Title: "Mean anomaly correlation by model, variable, level, region and lead", Subset: subset, Type: t, Mean: "ANOM_CORR"}
	q.Columns = append(by, overGroup()...)
	return q
}

// overGroup are the columns behind By of a question with Mean.
func overGroup() (cols []Column) {
	for _, name := range []string{Records, Defined, Mean} {
		cols = append(cols, Column{Name: name, Role: OverGroup, Kind: Number})
	}
	return cols
}

// By are the columns of a question with Mean by which records are grouped.
func (q *Question) By() []Column {
	n := 0
	for n < len(q.Columns) && q.Columns[n].Role != OverGroup {
		n++
	}
	return q.Columns[:n:n]
}
