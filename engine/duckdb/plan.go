package duckdb

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/flavour"
)

// Explain returns DuckDB's physical plan, and what its scans read when the
// query was run once more under EXPLAIN ANALYZE.
func (a *archive) Explain(ctx context.Context, q *engine.Query) (plan engine.Plan, err error) {
	err = a.db.with(ctx, func(c *conn) error {
		if plan.Text, err = c.printed(ctx, "EXPLAIN "+q.Text, q.Args...); err != nil {
			if ok, e := a.Exists(ctx, q.Question); e == nil && !ok {
				plan.Text = "(the subset holds no records of " + q.Question.Type.Name + ")"
				return nil
			}
			return err
		}
		profile, err := c.printed(ctx, "EXPLAIN (ANALYZE, FORMAT JSON) "+q.Text, q.Args...)
		if err != nil {
			return err
		}
		if plan.Access, err = accesses([]byte(profile)); err != nil {
			return err
		}
		for i := range plan.Access {
			s := &plan.Access[i]
			rows, err := sqlengine.Number(ctx, c, "SELECT count(*) FROM "+a.Dialect.Table(q.Question.Subset, flavour.Ident(s.Object)))
			if err != nil {
				return err
			}
			if s.Method == engine.FullScan && s.Examined < rows {
				s.Method = engine.PrunedScan
			}
		}
		return nil
	})
	return plan, err
}

// printed joins the last column of a reply, which is text.
func (c *conn) printed(ctx context.Context, text string, args ...any) (string, error) {
	r, err := c.query(ctx, text, args...)
	if err != nil {
		return "", err
	}
	defer r.close()
	var b strings.Builder
	for r.next() {
		v := r.vector(len(r.types) - 1)
		for i := range r.rows {
			b.Write(v.text(i))
		}
	}
	return b.String(), nil
}

// operator is a node of EXPLAIN (ANALYZE, FORMAT JSON).
type operator struct {
	Kind    string `json:"operator_type"`
	Scanned int64  `json:"operator_rows_scanned"` // of the row groups that zone maps did not rule out
	Rows    int64  `json:"operator_cardinality"`  // that its filters left
	Info    struct {
		Table string `json:"Table"` // file.schema.table
		Type  string `json:"Type"`  // Sequential Scan, Index Scan
	} `json:"extra_info"`
	Children []operator `json:"children"`
}

// accesses reads the scans of tables from DuckDB's profile.
func accesses(profile []byte) ([]engine.Access, error) {
	var root operator
	if err := json.Unmarshal(profile, &root); err != nil {
		return nil, err
	}
	var out []engine.Access
	var walk func(o *operator)
	walk = func(o *operator) {
		if o.Kind == "TABLE_SCAN" && o.Info.Table != "" {
			a := engine.Access{
				Object: o.Info.Table[strings.LastIndexByte(o.Info.Table, '.')+1:], Method: engine.FullScan,
				Examined: o.Scanned, Kept: o.Rows, Measured: true,
			}
			if o.Info.Type == "Index Scan" {
				a.Method = engine.IndexScan
			}
			out = append(out, a)
		}
		for i := range o.Children {
			walk(&o.Children[i])
		}
	}
	walk(&root)
	return out, nil
}
