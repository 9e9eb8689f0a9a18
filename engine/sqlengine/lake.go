package sqlengine

import (
	"context"
	"errors"
	"slices"

	"github.com/barograph/barograph/answer"
	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/flavour"
	"github.com/barograph/barograph/question"
	"github.com/barograph/barograph/record"
)

// LakeColumns are the columns that the files of a table hold, and the one by
// whose values they are parted, which stands in their names; it is nil where
// they are not.
func LakeColumns(t *engine.LakeTable) (held []Column, parted *Column) {
	for _, c := range WideColumns(t.Type) {
		if c.Name == string(t.Partition) {
			parted = &c
		} else {
			held = append(held, c)
		}
	}
	if t.Partition == engine.ByDay {
		parted = &Column{Name: string(engine.ByDay), Type: Text}
	}
	return held, parted
}

// PhraseLake puts a question to a table: over a range of valid times if that can
// express it, over a list otherwise. Where files are parted by day the days are
// asked for, too, as no engine derives them from the times.
func PhraseLake(d flavour.Dialect, table string, t *engine.LakeTable, q *question.Question, c *design.Catalog) (*engine.Query, error) {
	if first, last, ok := q.Valid.Bounds(); ok && t.Partition == engine.ByDay {
		day := func(v int64) string { return flavour.Quote(flavour.DateTime(v)[:len("2006-01-02")]) }
		table = "(SELECT * FROM " + table + " WHERE " + string(engine.ByDay) + " BETWEEN " + day(first) + " AND " + day(last) + ") AS w"
	}
	d.Table = func(string, string) string { return table }
	out, err := Phrase(&d, design.Wide, flavour.EpochRange, q, c)
	if errors.Is(err, flavour.ErrCannotExpress) {
		return Phrase(&d, design.Wide, flavour.EpochList, q, c)
	}
	return out, err
}

// AskLake sends a question and decodes the reply.
func AskLake(ctx context.Context, from Querier, q *engine.Query, into *answer.Builder) error {
	return from.Rows(ctx, q.Text, q.Args, NewDecoder(design.Wide, q, into).Values)
}

// LakeOrder is what the rows of files are sorted by: most questions fix the
// first of these columns.
func LakeOrder() []string {
	var out []string
	for _, f := range []record.Field{record.FcstVar, record.FcstLev, record.VxMask, record.Model} {
		out = append(out, f.String())
	}
	return slices.Concat(out, []string{"fcst_valid_epoch", "fcst_lead"})
}
