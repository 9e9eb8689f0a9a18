package asterixdb

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"barograph/engine"
)

// Explain is the optimiser's plan, as JSON. AsterixDB tells no counts.
func (a *archive) Explain(ctx context.Context, q *engine.Query) (engine.Plan, error) {
	out, err := a.db.client.run(ctx, request{text: q.Text, params: params(q), plan: true})
	if absent(err) {
		return engine.Plan{Text: "the subset holds no records of this line type\n"}, nil
	}
	if err != nil {
		return engine.Plan{}, err
	}
	var text bytes.Buffer
	if err := json.Indent(&text, out.plan, "", "  "); err != nil {
		return engine.Plan{}, err
	}
	return engine.Plan{Text: text.String(), Access: accesses(out.plan)}, nil
}

// accesses are the steps that reach datasets. A search of a secondary index and
// that of the primary index by the keys that it brings are one step.
func accesses(plan []byte) []engine.Access {
	var out []engine.Access
	var walk func(op gjson.Result, keys bool)
	walk = func(op gjson.Result, keys bool) {
		switch op.Get("operator").String() {
		case "data-scan":
			if name := op.Get("data-source").String(); name != "" {
				_, object, _ := strings.Cut(name, ".")
				out = append(out, engine.Access{Object: object, Method: engine.FullScan, Examined: -1, Kept: -1})
			}
		case "unnest-map", "left-outer-unnest-map", "index-only-unnest-map":
			index, object, ok := searched(op.Get("expressions.0").String())
			if !ok {
				break
			}
			secondary := index != object
			if !secondary && keys && searchesSecondary(op) {
				break // fetches what the search below it found
			}
			method := engine.IndexScan
			if !secondary {
				method = engine.KeyLookup
			}
			if secondary || !ranged(op.Get("expressions.0").String()) {
				out = append(out, engine.Access{Object: object, Method: method, Index: index, Examined: -1, Kept: -1})
			} else {
				out = append(out, engine.Access{Object: object, Method: engine.IndexScan, Index: index, Examined: -1, Kept: -1})
			}
		}
		for _, in := range op.Get("inputs").Array() {
			walk(in, true)
		}
	}
	walk(gjson.ParseBytes(plan), true)
	slices.Reverse(out) // the plan begins with its end
	return out
}

// searched reads index-search("index", 0, "dataverse", "dataset", …).
func searched(expr string) (index, dataset string, ok bool) {
	args, found := strings.CutPrefix(expr, "index-search(")
	if !found {
		return "", "", false
	}
	parts := strings.Split(args, ", ")
	if len(parts) < 4 {
		return "", "", false
	}
	return strings.Trim(parts[0], `"`), strings.Trim(parts[3], `"`), true
}

// ranged reports whether a search of the primary index is not for single keys:
// its lower and upper bound differ.
func ranged(expr string) bool {
	parts := strings.Split(strings.TrimSuffix(expr, ")"), ", ")
	if len(parts) < 10 {
		return true
	}
	return parts[7] != parts[9]
}

// searchesSecondary reports whether the keys of a search come from that of a
// secondary index.
func searchesSecondary(op gjson.Result) bool {
	for _, in := range op.Get("inputs").Array() {
		if strings.HasSuffix(in.Get("operator").String(), "unnest-map") {
			index, object, ok := searched(in.Get("expressions.0").String())
			return ok && index != object
		}
		if searchesSecondary(in) {
			return true
		}
	}
	return false
}
