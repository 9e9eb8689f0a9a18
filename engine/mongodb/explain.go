package mongodb

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/docengine"
)

// Explain has the server carry out the query and tell how.
func (a *archive) Explain(ctx context.Context, q *engine.Query) (engine.Plan, error) {
	p, err := docengine.Plan[*plan](q)
	if err != nil {
		return engine.Plan{}, err
	}
	if holds, err := a.Holds(ctx, q.Question.Subset, q.Question.Type); err != nil || !holds {
		return docengine.Nothing(q), err
	}
	var plan engine.Plan
	for _, filter := range p.filters(q.Keys) {
		command := bson.D{{Key: "find", Value: p.collection}, {Key: "filter", Value: filter}, {Key: "projection", Value: projection()}}
		if len(p.unwind) > 0 {
			command = bson.D{{Key: "aggregate", Value: p.collection}, {Key: "pipeline", Value: p.pipeline(filter)}, {Key: "cursor", Value: bson.D{}}}
		}
		var reply bson.D
		err := a.db.RunCommand(ctx, bson.D{{Key: "explain", Value: command}, {Key: "verbosity", Value: "executionStats"}}).Decode(&reply)
		if err != nil {
			return plan, failed(ctx, err)
		}
		reply = without(reply, "command", "parsedQuery", "serverInfo", "serverParameters")
		text, err := bson.MarshalExtJSONIndent(reply, false, false, "", "  ")
		if err != nil {
			return plan, err
		}
		plan.Text += string(text) + "\n"
		plan.Access = append(plan.Access, accesses(design.DocTable(q.Question.Type), reply)...)
	}
	return plan, nil
}

// without drops members that repeat the question, wherever they stand.
func without(d bson.D, names ...string) bson.D {
	out := bson.D{}
	for _, e := range d {
		drop := false
		for _, n := range names {
			drop = drop || e.Key == n
		}
		if drop {
			continue
		}
		switch v := e.Value.(type) {
		case bson.D:
			e.Value = without(v, names...)
		case bson.A:
			e.Value = each(v, func(d bson.D) bson.D { return without(d, names...) })
		}
		out = append(out, e)
	}
	return out
}

func each(a bson.A, f func(bson.D) bson.D) bson.A {
	out := make(bson.A, len(a))
	for i, v := range a {
		if d, ok := v.(bson.D); ok {
			v = f(d)
		}
		out[i] = v
	}
	return out
}

// accesses finds the stages that reach documents of a table in what MongoDB calls
// executionStats, which a sharded cluster has for each shard and an aggregation
// inside its $cursor stage. Plans that were not chosen are not looked at.
// FerretDB prints the plan of the SQL below, of which nothing is told here but
// that the whole collection is read, where it is.
func accesses(table string, reply bson.D) []engine.Access {
	var out []engine.Access
	var walk func(d bson.D, inside bool)
	walk = func(d bson.D, inside bool) {
		if inside {
			if s, ok := stage(table, d); ok {
				out = append(out, s)
			}
		}
		for _, e := range d {
			now := inside || e.Key == "executionStages"
			switch v := e.Value.(type) {
			case bson.D:
				if e.Key != "rejectedPlans" && e.Key != "allPlansExecution" {
					walk(v, now)
				}
			case bson.A:
				if e.Key == "rejectedPlans" || e.Key == "allPlansExecution" {
					continue
				}
				for _, x := range v {
					if d, ok := x.(bson.D); ok {
						walk(d, now)
					}
				}
			}
		}
	}
	walk(reply, false)
	if out == nil && pushedDown(reply) != nil && !*pushedDown(reply) {
		out = append(out, engine.Access{Object: table, Method: engine.FullScan, Examined: -1, Kept: -1})
	}
	return out
}

// stage reads one stage of executionStages.
func stage(table string, d bson.D) (engine.Access, bool) {
	a := engine.Access{Object: table, Examined: -1, Kept: -1, Measured: true}
	name := ""
	for _, e := range d {
		switch e.Key {
		case "stage":
			name, _ = e.Value.(string)
		case "indexName":
			a.Index, _ = e.Value.(string)
		case "docsExamined", "keysExamined":
			a.Examined = max(a.Examined, whole(e.Value))
		case "nReturned":
			a.Kept = whole(e.Value)
		}
	}
	switch name {
	case "COLLSCAN", "SCAN":
		a.Method = engine.FullScan
	case "IXSCAN", "COUNT_SCAN", "DISTINCT_SCAN":
		a.Method = engine.IndexScan
		if a.Index == "_id_" {
			a.Method = engine.KeyLookup
		}
	case "IDHACK", "CLUSTERED_IXSCAN", "EXPRESS_IXSCAN":
		a.Method = engine.KeyLookup
	default:
		return a, false
	}
	return a, true
}

func whole(v any) int64 {
	switch n := v.(type) {
	case int32:
		return int64(n)
	case int64:
		return n
	case float64:
		return int64(n)
	}
	return -1
}

// pushedDown is FerretDB's word on whether a filter reached its database; nil
// where another server speaks.
func pushedDown(reply bson.D) *bool {
	for _, e := range reply {
		if b, ok := e.Value.(bool); ok && e.Key == "filterPushdown" {
			return &b
		}
	}
	return nil
}
