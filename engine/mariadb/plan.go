package mariadb

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"barograph/engine"
)

// Explain is the server's own plan, as JSON, with the rows that each step read
// and the time that it took: the question is asked.
func (a *archive) Explain(ctx context.Context, q *engine.Query) (engine.Plan, error) {
	var plan string
	err := a.db.pool.QueryRowContext(ctx, "ANALYZE FORMAT=JSON "+q.Text, q.Args...).Scan(&plan)
	if absent(err) {
		return engine.Plan{Text: "the subset holds no records of this line type\n"}, nil
	}
	if err != nil {
		return engine.Plan{}, failed(ctx, err)
	}
	access, err := planAccess([]byte(plan))
	return engine.Plan{Text: plan, Access: access}, err
}

// planTable is what ANALYZE FORMAT=JSON says of a table.
type planTable struct {
	Name     string   `json:"table_name"`
	Access   string   `json:"access_type"`
	Key      string   `json:"key"`
	Loops    *float64 `json:"r_loops"`
	Rows     *float64 `json:"r_rows"`     // by loop
	Filtered *float64 `json:"r_filtered"` // percent of them that were kept
}

// planAccess lists how a plan reaches tables. They stand at any depth, under
// "table", in the order in which they are read.
func planAccess(text []byte) ([]engine.Access, error) {
	var root any
	if err := json.Unmarshal(text, &root); err != nil {
		return nil, fmt.Errorf("the server's plan: %w", err)
	}
	var out []engine.Access
	var walk func(v any) error
	walk = func(v any) error {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				if err := walk(e); err != nil {
					return err
				}
			}
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				if k == "table" {
					a, err := tableAccess(v[k])
					if err != nil {
						return err
					}
					out = append(out, a...)
				}
				if err := walk(v[k]); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return out, walk(root)
}

// tableAccess is none for what is no stored table: a table function, or a
// temporary one.
func tableAccess(v any) ([]engine.Access, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var t planTable
	if err := json.Unmarshal(text, &t); err != nil {
		return nil, fmt.Errorf("the server's plan: %w", err)
	}
	a := engine.Access{Object: t.Name, Index: t.Key, Examined: -1, Kept: -1}
	switch t.Access {
	case "ALL":
		a.Method = engine.FullScan
	case "index", "range", "ref", "ref_or_null", "index_merge", "fulltext":
		a.Method = engine.IndexScan
	case "const", "eq_ref", "system":
		a.Method = engine.KeyLookup
	default:
		return nil, nil
	}
	if t.Rows != nil && t.Loops != nil {
		n := *t.Rows * *t.Loops
		a.Examined, a.Measured = int64(math.Round(n)), true
		if t.Filtered != nil {
			a.Kept = int64(math.Round(n * *t.Filtered / 100))
		}
	}
	return []engine.Access{a}, nil
}
