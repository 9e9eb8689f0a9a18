package oracle

import (
	"context"
	"slices"
	"strings"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/sqlengine"
)

// Explain is EXPLAIN PLAN: what the optimiser would do, with its guesses.
func (a *archive) Explain(ctx context.Context, q *engine.Query) (engine.Plan, error) {
	if ok, err := a.Exists(ctx, q.Question); err != nil || !ok {
		return engine.Plan{Text: "the subset holds no records of this line type\n"}, err
	}
	// The plan stands in a table of which every session has its own.
	c, err := a.db.pool.Conn(ctx)
	if err != nil {
		return engine.Plan{}, sqlengine.Failed(ctx, err)
	}
	defer c.Close() //nolint:errcheck // it goes back to the pool
	return explain(ctx, querier{sqlengine.Standard{Over: c}}, q)
}

func explain(ctx context.Context, c querier, q *engine.Query) (engine.Plan, error) {
	question := q.Text
	if len(q.Args) > 0 { // a statement that is explained takes no parameters; the plan does not depend on the ids
		question = strings.Replace(question, ":1", "'[]'", 1)
	}
	for _, s := range []string{"DELETE FROM plan_table", "EXPLAIN PLAN FOR " + question} {
		if err := c.Exec(ctx, s); err != nil {
			return engine.Plan{}, err
		}
	}
	text, err := sqlengine.Texts(ctx, c, "SELECT plan_table_output FROM TABLE(DBMS_XPLAN.DISPLAY)")
	if err != nil {
		return engine.Plan{}, err
	}
	var steps []step
	err = c.Rows(ctx, "SELECT operation, NVL(options, ' '), NVL(object_name, ' '), NVL(cardinality, -1) FROM plan_table ORDER BY id", nil, func(row []any) error {
		var s step
		err := sqlengine.Scan(row, &s.operation, &s.options, &s.object, &s.rows)
		steps = append(steps, s)
		return err
	})
	return engine.Plan{Text: strings.Join(text, "\n") + "\n", Access: accesses(q.Question.Subset, steps)}, err
}

// step is a row of PLAN_TABLE.
type step struct {
	operation, options, object string
	rows                       int64 // the optimiser's guess
}

// accesses reads the steps that reach tables. An index that leads to rows is
// the child of the step that reads these, or, in nested loops, comes before it;
// one that suffices has no such step. Its name tells its table.
func accesses(subset string, steps []step) []engine.Access {
	prefix := objectName(subset, "")
	var out []engine.Access
	for _, s := range steps {
		a := engine.Access{Object: strings.TrimPrefix(s.object, prefix), Method: engine.FullScan, Examined: -1, Kept: s.rows}
		switch {
		case s.operation == "TABLE ACCESS" && strings.HasPrefix(s.options, "BY INDEX ROWID"):
			a.Method = engine.IndexScan
		case s.operation == "TABLE ACCESS":
		case strings.HasPrefix(s.operation, "INDEX"):
			a.Index, a.Method = a.Object, engine.IndexScan
			if strings.HasPrefix(s.options, "UNIQUE") {
				a.Method = engine.KeyLookup
			}
			a.Object = indexed(a.Index)
		default:
			continue
		}
		i := slices.IndexFunc(out, func(o engine.Access) bool {
			return o.Object == a.Object && a.Method != engine.FullScan && o.Method != engine.FullScan && (o.Index == "") != (a.Index == "")
		})
		switch {
		case i < 0:
			out = append(out, a)
		case a.Index != "":
			out[i].Method, out[i].Index = a.Method, a.Index
		default:
			out[i].Kept = a.Kept
		}
	}
	return out
}

// indexed is the table of one of Barograph's indexes.
func indexed(index string) string {
	for _, suffix := range []string{uniqueSuffix, headerSuffix, seriesSuffix, keySuffix} {
		if table, ok := strings.CutSuffix(index, suffix); ok {
			return table
		}
	}
	return index
}
