package oracle

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"barograph/engine"
	"barograph/flavour"
)

// Explain is EXPLAIN PLAN: what the optimiser would do, with its guesses.
func (a *archive) Explain(ctx context.Context, q *engine.Query) (engine.Plan, error) {
	if ok, err := a.exists(ctx, q.Question); err != nil || !ok {
		return engine.Plan{Text: "the subset holds no records of this line type\n"}, err
	}
	// The plan stands in a table of which every session has its own.
	c, err := a.db.pool.Conn(ctx)
	if err != nil {
		return engine.Plan{}, failed(ctx, err)
	}
	defer c.Close() //nolint:errcheck // it goes back to the pool
	plan, err := explain(ctx, c, q)
	return plan, failed(ctx, err)
}

func explain(ctx context.Context, c querier, q *engine.Query) (engine.Plan, error) {
	question := q.Text
	if len(q.Args) > 0 { // a statement that is explained takes no parameters; the plan does not depend on the ids
		question = strings.Replace(question, ":1", "'[]'", 1)
	}
	for _, s := range []string{"DELETE FROM plan_table", "EXPLAIN PLAN FOR " + question} {
		if _, err := c.ExecContext(ctx, s); err != nil {
			return engine.Plan{}, err
		}
	}
	var text strings.Builder
	var line sql.NullString
	err := each(ctx, c, "SELECT plan_table_output FROM TABLE(DBMS_XPLAN.DISPLAY)", nil, []any{&line}, func() error {
		text.WriteString(line.String + "\n")
		return nil
	})
	if err != nil {
		return engine.Plan{}, err
	}
	var steps []step
	var s step
	err = each(ctx, c, "SELECT operation, NVL(options, ' '), NVL(object_name, ' '), NVL(cardinality, -1) FROM plan_table ORDER BY id", nil,
		[]any{&s.operation, &s.options, &s.object, &s.rows}, func() error {
			steps = append(steps, s)
			return nil
		})
	return engine.Plan{Text: text.String(), Access: accesses(q.Question.Subset, steps)}, err
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
	prefix := flavour.OracleName(subset, "")
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
