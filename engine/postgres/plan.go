package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/sqlengine"
)

// Explain runs the question twice: for its plan as the server prints it, with
// what it took in time and pages, and for the same as JSON, from which the
// accesses are read.
func (a *archive) Explain(ctx context.Context, q *engine.Query) (engine.Plan, error) {
	if ok, err := a.Exists(ctx, q.Question); err != nil || !ok {
		return engine.Plan{Text: "the subset holds no records of this line type\n"}, err
	}
	lines, err := sqlengine.Texts(ctx, a.Pool, "EXPLAIN (ANALYZE, BUFFERS) "+q.Text, q.Args...)
	if err != nil {
		return engine.Plan{}, err
	}
	plan := engine.Plan{Text: strings.Join(lines, "\n") + "\n"}
	e, err := a.profile(ctx, q)
	if err != nil {
		return plan, err
	}
	known, err := a.relations(ctx)
	if err != nil {
		return plan, err
	}
	plan.Access = e.accesses(known)
	return plan, nil
}

// explained is EXPLAIN (ANALYZE, FORMAT JSON).
type explained struct {
	Plan      node
	Planning  float64 `json:"Planning Time"`  // ms
	Execution float64 `json:"Execution Time"` // ms
}

// node is a node of a plan. Its counts are means over its loops, rounded by
// servers before 18: of parallel scans they are right to half a row a worker.
type node struct {
	Type      string  `json:"Node Type"`
	Relation  string  `json:"Relation Name"`
	Index     string  `json:"Index Name"`
	Condition string  `json:"Index Cond"`
	Rows      float64 `json:"Actual Rows"`
	Loops     float64 `json:"Actual Loops"`
	Filtered  float64 `json:"Rows Removed by Filter"`
	Rechecked float64 `json:"Rows Removed by Index Recheck"`
	Plans     []node
}

func (a *archive) profile(ctx context.Context, q *engine.Query) (*explained, error) {
	text, err := sqlengine.Texts(ctx, a.Pool, "EXPLAIN (ANALYZE, FORMAT JSON) "+q.Text, q.Args...)
	if err != nil {
		return nil, err
	}
	return parseExplained([]byte(strings.Join(text, "")))
}

func parseExplained(text []byte) (*explained, error) {
	var all []explained
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	if len(all) != 1 {
		return nil, errors.New("postgres: EXPLAIN told of no statement")
	}
	return &all[0], nil
}

// relations is what a plan does not tell of its tables and indexes.
type relations struct {
	brin   map[string]bool   // indexes that only rule out blocks
	parent map[string]string // of partitions and their indexes
	parts  map[string]int    // number of partitions, by parent
}

// relations reads the database's catalog.
func (a *archive) relations(ctx context.Context) (relations, error) {
	r := relations{brin: map[string]bool{}, parent: map[string]string{}, parts: map[string]int{}}
	err := a.Pool.Rows(ctx, `SELECT c.relname, coalesce(p.relname, ''), (m.amname = 'brin')::int
		FROM pg_class c LEFT JOIN pg_am m ON m.oid = c.relam LEFT JOIN pg_inherits i ON i.inhrelid = c.oid LEFT JOIN pg_class p ON p.oid = i.inhparent
		WHERE m.amname = 'brin' OR p.oid IS NOT NULL`, nil, func(row []any) error {
		var name, parent string
		err := sqlengine.Scan(row, &name, &parent)
		if brin, _ := row[2].(int64); brin == 1 {
			r.brin[name] = true
		}
		if parent != "" && r.parent[name] == "" {
			r.parent[name] = parent
			r.parts[parent]++
		}
		return err
	})
	return r, err
}

// accesses reads the scans of tables from a plan. Those of the partitions of a
// table are one access, where they are made the same way.
func (e *explained) accesses(known relations) []engine.Access {
	var out []engine.Access
	scanned := map[string]int{} // partitions, by table
	var walk func(n *node)
	walk = func(n *node) {
		if n.Relation != "" {
			a := n.access(known)
			if p := known.parent[n.Relation]; p != "" {
				a.Object = p
				if n.Loops > 0 {
					scanned[p]++
				}
			}
			i := slices.IndexFunc(out, func(o engine.Access) bool {
				return o.Object == a.Object && o.Method == a.Method && o.Index == a.Index
			})
			if i >= 0 && known.parts[a.Object] > 0 {
				out[i].Examined += a.Examined
				out[i].Kept += a.Kept
			} else {
				out = append(out, a)
			}
		}
		for i := range n.Plans {
			walk(&n.Plans[i])
		}
	}
	walk(&e.Plan)
	for i := range out {
		if a := &out[i]; a.Method == engine.FullScan && scanned[a.Object] < known.parts[a.Object] {
			a.Method = engine.PrunedScan
		}
	}
	return out
}

// access is what a node that scans a table does.
func (n *node) access(known relations) engine.Access {
	whole := func(f float64) int64 { return int64(math.Round(f * n.Loops)) }
	a := engine.Access{Object: n.Relation, Method: engine.FullScan, Kept: whole(n.Rows), Measured: true}
	a.Examined = whole(n.Rows + n.Filtered + n.Rechecked)
	indexes := n.indexes()
	if len(indexes) == 0 {
		return a
	}
	names := make([]string, len(indexes))
	lookup, pruned := true, true
	for i, x := range indexes {
		names[i] = known.parent[x.Index]
		if names[i] == "" {
			names[i] = x.Index
		}
		lookup = lookup && strings.HasSuffix(names[i], "_pkey") && equality.MatchString(x.Condition)
		pruned = pruned && known.brin[x.Index]
	}
	a.Index = strings.Join(names, " + ")
	switch {
	case pruned:
		a.Method = engine.PrunedScan
	case lookup:
		a.Method = engine.KeyLookup
	default:
		a.Method = engine.IndexScan
	}
	return a
}

// equality is a condition on a key of one column, as all primary keys here are.
var equality = regexp.MustCompile(`^\(\(?\w+\)?(::\w+)? = [^<>]`)

// indexes are the nodes that name the indexes of a scan: itself, or those
// whose bitmaps it follows.
func (n *node) indexes() []*node {
	if n.Index != "" {
		return []*node{n}
	}
	var out []*node
	for i := range n.Plans {
		if strings.HasPrefix(n.Plans[i].Type, "Bitmap") {
			out = append(out, n.Plans[i].indexes()...)
		}
	}
	return out
}
