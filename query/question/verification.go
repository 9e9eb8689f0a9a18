package question

import (
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"
)

// The columns after the GroupingColumns in the answer to a question with Mean.
const (
	RecordsColumn = "records" // number of records in the group
	DefinedColumn = "defined" // number of those records for which the statistic is defined
	// mean of the statistic over the Defined records, all with the same weight; missing if there are none
	MeanColumn = "mean"
)

// MeanAnomalyCorrelation is the question that fills a die-off plot: the mean anomaly correlation of every
// model, variable, level, region and lead of a subset, over all its SAL1L2 records. It has no condition, so an engine
// must read every record.
//
// stat.ByName("SAL1L2", "ANOM_CORR") computes the correlation of each record. A record with an
// undefined correlation (partial sums are missing, or a variance is not positive) counts in RecordsColumn
// but not in MeanColumn.
func MeanAnomalyCorrelation(subset string) *Question {
	t, _ := record.TypeByName("SAL1L2")
	by, err := Columns(t, "model", "fcst_var", "fcst_lev", "vx_mask", "fcst_lead")
	if err != nil {
		panic(err) // the names are header fields and times
	}
	const title = "Mean anomaly correlation by model, variable, level, region and lead"
	by = append(by, groupStatistics()...)
	return &Question{Name: "verification", Title: title, Subset: subset, Type: t, Mean: "ANOM_CORR", Columns: by}
}

// groupStatistics returns the columns after the GroupingColumns of a question with Mean.
func groupStatistics() []Column {
	return lists.Map([]string{RecordsColumn, DefinedColumn, MeanColumn}, func(name string) Column { return Column{Name: name, Role: GroupStatistic, Kind: Number} })
}

// GroupingColumns returns the columns by which a question with Mean groups records.
func (q *Question) GroupingColumns() []Column {
	n := 0
	for n < len(q.Columns) && q.Columns[n].Role != GroupStatistic {
		n++
	}
	return q.Columns[:n:n]
}
