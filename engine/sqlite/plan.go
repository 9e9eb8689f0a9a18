package sqlite

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/record"
)

// Explain is EXPLAIN QUERY PLAN. SQLite tells no counts; of a table that is
// scanned in the outermost loop they are those of the table.
func (a *archive) Explain(ctx context.Context, q *engine.Query) (engine.Plan, error) {
	if ok, err := a.Exists(ctx, q.Question); err != nil || !ok {
		return engine.Plan{Text: "the subset holds no records of this line type\n"}, err
	}
	steps, text, err := a.queryPlan(ctx, q)
	if err != nil {
		return engine.Plan{}, err
	}
	plan := engine.Plan{Text: text, Access: accesses(a.Design, q.Question.Type, q.Question.Subset, steps)}
	if len(plan.Access) == 0 || plan.Access[0].Method != engine.FullScan {
		return plan, nil
	}
	outer := &plan.Access[0]
	outer.Examined, err = sqlengine.Number(ctx, a.Pool, "SELECT count(*) FROM "+a.Dialect.Table(q.Question.Subset, outer.Object))
	outer.Measured = err == nil
	return plan, err
}

// queryPlan runs EXPLAIN QUERY PLAN: its lines, and as a tree for people.
func (a *archive) queryPlan(ctx context.Context, q *engine.Query) (steps []string, text string, err error) {
	var b strings.Builder
	depth := map[int]int{}
	err = a.Pool.Rows(ctx, "EXPLAIN QUERY PLAN "+q.Text, q.Args, func(row []any) error {
		var id, parent, unused int
		var detail string
		err := sqlengine.Scan(row, &id, &parent, &unused, &detail)
		depth[id] = depth[parent] + 1
		b.WriteString(strings.Repeat("  ", depth[id]-1) + detail + "\n")
		steps = append(steps, detail)
		return err
	})
	return steps, b.String(), err
}

// step is a line of EXPLAIN QUERY PLAN that reaches a table: SCAN reads all of
// it or of an index, SEARCH a part (sqlite.org/eqp.html).
var step = regexp.MustCompile(`^(SCAN|SEARCH) (\S+?)(?: USING (INTEGER PRIMARY KEY|(?:AUTOMATIC )?(?:PARTIAL )?(?:COVERING )?INDEX (.*?)))?(?: \(([^()]*)\))?(?: LEFT-JOIN)?$`)

// accesses reads the lines of EXPLAIN QUERY PLAN. Rows of json_each are made
// of what another step has read, and are no access.
func accesses(n design.Name, t *record.LineType, subset string, steps []string) []engine.Access {
	var out []engine.Access
	for _, s := range steps {
		m := step.FindStringSubmatch(s)
		if m == nil || strings.Contains(s, " VIRTUAL TABLE ") {
			continue
		}
		a := engine.Access{Object: sqlengine.Called(n, t, m[2]), Method: engine.IndexScan, Examined: -1, Kept: -1}
		a.Index = strings.ReplaceAll(m[4], tableName(subset, ""), "")
		switch {
		case m[1] == "SCAN":
			a.Method = engine.FullScan
		case m[3] == "INTEGER PRIMARY KEY":
			a.Method, a.Index = engine.KeyLookup, "INTEGER PRIMARY KEY"
			if strings.ContainsAny(m[5], "<>") {
				a.Method = engine.IndexScan
			}
		case strings.HasPrefix(a.Index, "sqlite_autoindex_") && whole(m[5]): // of a primary key
			a.Method = engine.KeyLookup
		}
		out = append(out, a)
	}
	return out
}

// whole reports whether the terms of a SEARCH fix the whole key: Barograph's
// unique keys have one column each, but for those of headers, which are no
// constraint and thus no automatic index.
func whole(terms string) bool {
	return !slices.ContainsFunc(strings.Split(terms, " AND "), func(s string) bool { return strings.ContainsAny(s, "<>") })
}
