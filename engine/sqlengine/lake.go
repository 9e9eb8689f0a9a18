package sqlengine

import (
	"errors"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// PhraseLake writes a question as a query of a table of Parquet files, whose quoted name is table. The query has a
// range of valid times if a range can express the question, and a list otherwise. For partitioned files it also has a
// condition on the partition column, because no engine derives it from the other columns.
func PhraseLake(d flavour.Dialect, table string, t *tables.LakeTable, q *question.Question, c *design.Catalog) (*archive.Query, error) {
	if where := partitionCondition(t.Partition, q); where != "" {
		table = "(SELECT * FROM " + table + " WHERE " + tables.PartColumn + " " + where + ") AS w"
	}
	d.Table = func(string, string) string { return table }
	out, err := Phrase(&d, design.Wide, flavour.EpochRange, q, c)
	if errors.Is(err, flavour.ErrCannotExpress) {
		return Phrase(&d, design.Wide, flavour.EpochList, q, c)
	}
	return out, err
}

// partitionCondition returns the condition on the partitions that a question needs; "" = all.
func partitionCondition(p tables.Partition, q *question.Question) string {
	field, ok := map[tables.Partition]record.Field{tables.ByModel: record.Model, tables.ByVariable: record.FcstVar}[p]
	if ok && len(q.Header[field]) > 0 {
		return "IN " + flavour.List(q.Header[field], func(v string) string { return flavour.Quote(tables.Part(v)) })
	}
	if first, last, bound := q.Valid.Bounds(); bound && p == tables.ByDay {
		day := func(v int64) string { return flavour.Quote(flavour.DateTime(v)[:len("2006-01-02")]) }
		return "BETWEEN " + day(first) + " AND " + day(last)
	}
	return ""
}

// LakeSortColumns returns the columns by which the rows of files are sorted, beginning with those of which most
// questions select one value.
func LakeSortColumns() []string {
	return append(lists.Map([]record.Field{record.FcstVar, record.FcstLev, record.VxMask, record.Model}, record.Field.String), "fcst_valid_epoch", "fcst_lead")
}
