package mongodb

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

const (
	idsPerFilter = 20_000  // ids in one filter: the server limits a command to 16 MB
	docsPerReply = 100_000 // documents in one reply, which the server limits to 16 MB
)

// openArchive is the document archive of a database.
type openArchive struct {
	*docengine.Archive
	*database
}

// Contents counts the documents and, by unwinding them, the leads.
func (a *openArchive) Contents(ctx context.Context, subset string) (archive.Contents, error) {
	out := archive.Contents{Records: map[string]int64{}, Object: "documents"}
	catalog, err := a.CachedCatalog(ctx, subset)
	if err != nil {
		return out, err
	}
	countLeads := bson.A{bson.D{{Key: "$unwind", Value: "$data"}}, bson.D{{Key: "$count", Value: "n"}}}
	for t := range docengine.Types(catalog) {
		n, err := a.collection(subset, t).CountDocuments(ctx, bson.D{})
		if err != nil {
			return out, callError(ctx, err)
		}
		out.Objects += n
		c, err := a.collection(subset, t).Aggregate(ctx, countLeads)
		if err != nil {
			return out, callError(ctx, err)
		}
		var counts []struct{ N int64 }
		if err := c.All(ctx, &counts); err != nil {
			return out, callError(ctx, err)
		}
		if len(counts) > 0 {
			out.Records[t.Name] = counts[0].N
		}
	}
	return out, nil
}

// Size returns the database's size on disk as the server reports it.
func (a *openArchive) Size(ctx context.Context) (int64, error) {
	var stats struct {
		Storage float64 `bson:"storageSize"` // an integer of 32 or 64 bits
		Indexes float64 `bson:"indexSize"`
	}
	err := a.db.RunCommand(ctx, bson.D{{Key: "dbStats", Value: 1}}).Decode(&stats)
	return int64(stats.Storage + stats.Indexes), callError(ctx, err)
}

// Dump reads the documents in stored order, one collection after the other.
func (a *openArchive) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return a.Archive.Dump(ctx, subset, func(t *record.LineType, each func(id string, doc []byte) error) error {
		c, err := a.collection(subset, t).Find(ctx, bson.D{})
		if err != nil {
			return callError(ctx, err)
		}
		return walkIDs(ctx, c, each)
	})
}

// plan is a question in MongoDB's terms.
type plan struct {
	collection string
	filter     bson.D
	byKeys     bool    // the filter is idFilter(keys), for batches of the query's keys in turn
	unwind     []int32 // leads that the server selects; none = it sends complete documents
}

// String keeps thousands of keys out of printed query arguments.
func (p *plan) String() string { return p.collection }

// Phrase writes the filter of the documents.
func (a *openArchive) Phrase(ctx context.Context, q *question.Question, f flavour.Name) (*archive.Query, error) {
	out, c, err := a.NewQuery(ctx, Driver(), design.Document, q, f)
	if err != nil {
		return nil, err
	}
	p := &plan{collection: collectionName(q.Subset, q.Type)}
	if f == flavour.Keys {
		docengine.Derive(c, out)
		p.byKeys = true
	} else {
		times, err := validTimes(&q.Valid, f)
		if err != nil {
			return nil, err
		}
		p.filter = append(headerFilter(q), times...)
		if a.leads && len(q.Lead) > 0 {
			p.filter = append(p.filter, bson.E{Key: "data.fcst_lead", Value: bson.D{{Key: "$in", Value: q.Lead}}})
		}
	}
	if selectsFewLeads(c, q) {
		p.unwind = q.Lead
	}
	out.Args = []any{p}
	out.Text, err = p.text(len(out.Keys))
	return out, err
}

// selectsFewLeads reports whether a question selects less than a quarter of the leads. The server then picks
// them with $unwind. For more leads that would make the reply larger, because each lead is sent with the id.
func selectsFewLeads(c *design.Catalog, q *question.Question) bool {
	leads := 0
	for _, g := range c.Groups {
		if g.LineType == q.Type.Name {
			leads = max(leads, len(g.Leads))
		}
	}
	return len(q.Lead) > 0 && 4*len(q.Lead) < leads
}

// headerFilter returns the conditions on header fields.
func headerFilter(q *question.Question) bson.D {
	filter := bson.D{}
	for f, values := range q.Header {
		switch name := record.Field(f).String(); len(values) {
		case 0:
		case 1:
			filter = append(filter, bson.E{Key: name, Value: values[0]})
		default:
			filter = append(filter, bson.E{Key: name, Value: bson.D{{Key: "$in", Value: values}}})
		}
	}
	return filter
}

// validTimes returns the conditions on the valid time. A range also contains times between the steps of a
// grid. $mod excludes them. If the range begins before 1970, the client excludes them, because $mod of a
// negative number is negative.
func validTimes(v *question.Times, f flavour.Name) (bson.D, error) {
	if v.IsAll() {
		return nil, nil
	}
	in := func(field string, values any) bson.D {
		return bson.D{{Key: field, Value: bson.D{{Key: "$in", Value: values}}}}
	}
	between := func(first, last any) bson.D { return bson.D{{Key: "$gte", Value: first}, {Key: "$lte", Value: last}} }
	switch f {
	case flavour.ISOList, flavour.EpochList:
		if !v.IsDiscrete() {
			return nil, flavour.ErrCannotExpress
		}
		if f == flavour.EpochList {
			return in("fcst_valid_epoch", v.Expand()), nil
		}
		var texts []string
		for _, t := range v.Expand() {
			texts = append(texts, isoTime(t))
		}
		return in("fcst_valid_beg", texts), nil
	}
	first, last, step, ok := v.Grid()
	if !ok {
		return nil, flavour.ErrCannotExpress
	}
	var out, epoch bson.D
	if f == flavour.EpochRange {
		epoch = between(first, last)
	} else {
		out = bson.D{{Key: "fcst_valid_beg", Value: between(isoTime(first), isoTime(last))}}
	}
	if step > 1 && first >= 0 {
		epoch = append(epoch, bson.E{Key: "$mod", Value: bson.A{step, first % step}})
	}
	if len(epoch) > 0 {
		out = append(out, bson.E{Key: "fcst_valid_epoch", Value: epoch})
	}
	return out, nil
}

func isoTime(epoch int64) string { return string(design.AppendISO(nil, epoch)) }

// projection selects the members that an answer needs: the id, which contains the header, and the leads.
func projection() bson.D { return bson.D{{Key: "_id", Value: 1}, {Key: "data", Value: 1}} }

// pipeline returns the aggregation that selects leads.
func (p *plan) pipeline(filter bson.D) bson.A {
	return bson.A{
		bson.D{{Key: "$match", Value: filter}},
		bson.D{{Key: "$project", Value: projection()}},
		bson.D{{Key: "$unwind", Value: "$data"}},
		bson.D{{Key: "$match", Value: bson.D{{Key: "data.fcst_lead", Value: bson.D{{Key: "$in", Value: p.unwind}}}}}},
	}
}

// text returns the query as a user would type it into mongosh. It replaces derived ids, of which there may
// be thousands, by their number.
func (p *plan) text(keys int) (string, error) {
	filter := p.filter
	if p.byKeys {
		filter = idFilter([]string{"…"})
	}
	relaxed := func(v any) (string, error) {
		text, err := bson.MarshalExtJSON(v, false, false)
		return strings.Replace(string(text), `["…"]`, fmt.Sprintf("[ /* %d derived ids */ ]", keys), 1), err
	}
	name := fmt.Sprintf("db.getCollection(%q)", p.collection)
	if len(p.unwind) == 0 {
		text, err := relaxed(filter)
		return fmt.Sprintf("%s.find(%s, {_id: 1, data: 1})", name, text), err
	}
	var lines []string
	for _, stage := range p.pipeline(filter) {
		text, err := relaxed(stage)
		if err != nil {
			return "", err
		}
		lines = append(lines, "  "+text)
	}
	return name + ".aggregate([\n" + strings.Join(lines, ",\n") + "\n])", nil
}

// filters returns the filters of all requests.
func (p *plan) filters(keys []string) []bson.D {
	if !p.byKeys {
		return []bson.D{p.filter}
	}
	var out []bson.D
	for some := range slices.Chunk(keys, idsPerFilter) {
		out = append(out, idFilter(some))
	}
	return out
}

// Ask reads the documents, decodes the selected leads and restores the order.
func (a *openArchive) Ask(ctx context.Context, q *archive.Query, into *answer.Builder) error {
	p, err := docengine.Plan[*plan](q)
	if err != nil {
		return err
	}
	return a.Answer(q.Question, nil, into, func(rows *record.Batch) error {
		d := newDecoder(rows, q.Question.Lead)
		d.accepts = func(valid int64) bool {
			return q.Question.Valid.Contains(valid) && q.Question.TimeFilter.AcceptsValid(valid)
		}
		for _, filter := range p.filters(q.Keys) {
			c, err := a.send(ctx, p, filter)
			if err == nil {
				err = walk(ctx, c, func(doc bson.Raw) error { return d.document(bsoncore.Document(doc)) })
			}
			if err != nil {
				return callError(ctx, err)
			}
		}
		return nil
	})
}

// send sends one request. It reads the server that the parameter readPreference selects.
func (a *openArchive) send(ctx context.Context, p *plan, filter bson.D) (*mongo.Cursor, error) {
	c := a.db.Collection(p.collection)
	if len(p.unwind) > 0 {
		return c.Aggregate(ctx, p.pipeline(filter), options.Aggregate().SetBatchSize(docsPerReply))
	}
	return c.Find(ctx, filter, options.Find().SetProjection(projection()).SetBatchSize(docsPerReply))
}

// Explain lets the server run the query and describe the execution.
func (a *openArchive) Explain(ctx context.Context, q *archive.Query) (archive.Plan, error) {
	p, err := docengine.Plan[*plan](q)
	if err != nil {
		return archive.Plan{}, err
	}
	if exists, err := a.HasType(ctx, q.Question.Subset, q.Question.Type); err != nil || !exists {
		return docengine.EmptyPlan(q), err
	}
	var plan archive.Plan
	for _, filter := range p.filters(q.Keys) {
		command := bson.D{
			{Key: "find", Value: p.collection}, {Key: "filter", Value: filter}, {Key: "projection", Value: projection()},
		}
		if len(p.unwind) > 0 {
			command = bson.D{
				{Key: "aggregate", Value: p.collection},
				{Key: "pipeline", Value: p.pipeline(filter)},
				{Key: "cursor", Value: bson.D{}},
			}
		}
		var reply bson.D
		explain := bson.D{{Key: "explain", Value: command}, {Key: "verbosity", Value: "executionStats"}}
		if err := a.db.RunCommand(ctx, explain).Decode(&reply); err != nil {
			return plan, callError(ctx, err)
		}
		reply = withoutMembers(reply, "command", "parsedQuery", "serverInfo", "serverParameters")
		text, err := bson.MarshalExtJSONIndent(reply, false, false, "", "  ")
		if err != nil {
			return plan, err
		}
		plan.Text += string(text) + "\n"
		plan.Access = append(plan.Access, accesses(design.DocTable(q.Question.Type), reply)...)
	}
	return plan, nil
}

// withoutMembers returns a document without the named members, at any depth.
func withoutMembers(d bson.D, names ...string) bson.D {
	out := bson.D{}
	for _, e := range d {
		if slices.Contains(names, e.Key) {
			continue
		}
		switch v := e.Value.(type) {
		case bson.D:
			e.Value = withoutMembers(v, names...)
		case bson.A:
			e.Value = mapDocuments(v, func(d bson.D) bson.D { return withoutMembers(d, names...) })
		}
		out = append(out, e)
	}
	return out
}

// mapDocuments applies f to the documents of an array.
func mapDocuments(a bson.A, f func(bson.D) bson.D) bson.A {
	out := make(bson.A, len(a))
	for i, v := range a {
		if d, ok := v.(bson.D); ok {
			v = f(d)
		}
		out[i] = v
	}
	return out
}

// accesses finds the stages that reach documents of a table in MongoDB's executionStats. A sharded cluster
// has them for each shard, and an aggregation inside its $cursor stage. It ignores rejected plans. FerretDB
// prints the plan of its SQL; accesses then only reports a scan of the complete collection, if there is
// one.
func accesses(table string, reply bson.D) []archive.Access {
	var out []archive.Access
	var walk func(d bson.D, inside bool)
	walk = func(d bson.D, inside bool) {
		if inside {
			if s, ok := stage(table, d); ok {
				out = append(out, s)
			}
		}
		for _, e := range d {
			stages := inside || e.Key == "executionStages"
			switch v := e.Value.(type) {
			case bson.D:
				if e.Key != "rejectedPlans" && e.Key != "allPlansExecution" {
					walk(v, stages)
				}
			case bson.A:
				if e.Key == "rejectedPlans" || e.Key == "allPlansExecution" {
					continue
				}
				for _, x := range v {
					if d, ok := x.(bson.D); ok {
						walk(d, stages)
					}
				}
			}
		}
	}
	walk(reply, false)
	if out == nil && pushedDown(reply) != nil && !*pushedDown(reply) {
		out = append(out, archive.Access{Object: table, Method: archive.FullScan, Examined: -1, Kept: -1})
	}
	return out
}

// stage reads one stage of executionStages.
func stage(table string, d bson.D) (archive.Access, bool) {
	a := archive.Access{Object: table, Examined: -1, Kept: -1, Counted: true}
	name := ""
	for _, e := range d {
		switch e.Key {
		case "stage":
			name, _ = e.Value.(string)
		case "indexName":
			a.Index, _ = e.Value.(string)
		case "docsExamined", "keysExamined":
			a.Examined = max(a.Examined, integer(e.Value))
		case "nReturned":
			a.Kept = integer(e.Value)
		}
	}
	switch name {
	case "COLLSCAN", "SCAN":
		a.Method = archive.FullScan
	case "IXSCAN", "COUNT_SCAN", "DISTINCT_SCAN":
		a.Method = archive.IndexScan
		if a.Index == "_id_" {
			a.Method = archive.KeyLookup
		}
	case "IDHACK", "CLUSTERED_IXSCAN", "EXPRESS_IXSCAN":
		a.Method = archive.KeyLookup
	default:
		return a, false
	}
	return a, true
}

// integer returns a number of a plan; -1 = it is missing.
func integer(v any) int64 {
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

// pushedDown reports whether FerretDB passed the filter to its own database; nil = the server is not FerretDB.
func pushedDown(reply bson.D) *bool {
	for _, e := range reply {
		if b, ok := e.Value.(bool); ok && e.Key == "filterPushdown" {
			return &b
		}
	}
	return nil
}
