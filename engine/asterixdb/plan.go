package asterixdb

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/sqlengine"
)

// Explain is the optimiser's plan, as JSON. It runs the query: a plan that is
// only compiled knows no statement parameters. AsterixDB tells no counts.
func (a *archive) Explain(ctx context.Context, q *engine.Query) (engine.Plan, error) {
	catalog, err := a.Catalog(ctx, q.Question.Subset)
	if err != nil {
		return engine.Plan{}, err
	}
	if !slices.ContainsFunc(catalog.Groups, func(g *design.Group) bool { return g.LineType == q.Question.Type.Name }) {
		return engine.Plan{Text: "the subset holds no records of this line type\n"}, nil // the datasets are there: others share them
	}
	out, err := a.db.client.run(ctx, request{text: q.Text, params: params(q), plan: true})
	if err != nil {
		return engine.Plan{}, err
	}
	var text bytes.Buffer
	if err := json.Indent(&text, out.plan, "", "  "); err != nil {
		return engine.Plan{}, err
	}
	table, _, _ := sqlengine.Table(a.design, q.Question.Type)
	return engine.Plan{Text: text.String(), Access: accesses(out.plan, table)}, nil
}

// accesses are the steps that reach datasets. The search of a secondary index
// and that of the primary index for the keys which it brings are one step. With
// open types one dataset holds all line types: a step names the design's table.
func accesses(plan []byte, table string) []engine.Access {
	var out []engine.Access
	add := func(dataset string, m engine.Method, index string) {
		if dataset != design.HeaderTable {
			dataset = table
		}
		out = append(out, engine.Access{Object: dataset, Method: m, Index: index, Examined: -1, Kept: -1})
	}
	var walk func(op gjson.Result)
	walk = func(op gjson.Result) {
		if name := op.Get("data-source").String(); name != "" {
			_, object, _ := strings.Cut(name, ".")
			add(object, engine.FullScan, "")
		}
		s, ok := searched(op)
		switch {
		case !ok:
		case s.index != s.dataset:
			add(s.dataset, engine.IndexScan, s.index)
		case fetches(op): // what the search below it found
		case s.single:
			add(s.dataset, engine.KeyLookup, s.index)
		default:
			add(s.dataset, engine.IndexScan, s.index)
		}
		for _, in := range op.Get("inputs").Array() {
			walk(in)
		}
	}
	walk(gjson.ParseBytes(plan))
	slices.Reverse(out) // a plan begins with its end
	return out
}

// search is one of an index; the primary index has the dataset's name.
type search struct {
	index, dataset string
	single         bool // for single keys: the bounds are one
}

// searched reads an operator that searches:
// index-search("index", 0, "dataverse", "dataset", retain, broadcast, n, low…, n, high…, …).
func searched(op gjson.Result) (search, bool) {
	args, ok := strings.CutPrefix(op.Get("expressions.0").String(), "index-search(")
	parts := strings.Split(strings.TrimSuffix(args, ")"), ", ")
	if !ok || len(parts) < 10 {
		return search{}, false
	}
	return search{strings.Trim(parts[0], `"`), strings.Trim(parts[3], `"`), parts[6] == "1" && parts[7] == parts[9]}, true
}

// fetches reports whether the keys of a search come from that of a secondary index.
func fetches(op gjson.Result) bool {
	return slices.ContainsFunc(op.Get("inputs").Array(), func(in gjson.Result) bool {
		if s, ok := searched(in); ok {
			return s.index != s.dataset
		}
		return fetches(in)
	})
}
