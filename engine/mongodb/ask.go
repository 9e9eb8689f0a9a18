package mongodb

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/barograph/barograph/answer"
	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/flavour"
	"github.com/barograph/barograph/question"
	"github.com/barograph/barograph/record"
)

// plan is a question in MongoDB's terms.
type plan struct {
	collection string
	filter     bson.D
	byKeys     bool    // filter is among(the query's keys), which are asked for in turn
	unwind     []int32 // the leads that the server shall pick; none = it sends whole documents
}

// String keeps thousands of keys out of whatever prints a query's arguments.
func (p *plan) String() string { return p.collection }

// Phrase writes the filter of the documents.
func (a *archive) Phrase(ctx context.Context, q *question.Question, f flavour.Name) (*engine.Query, error) {
	out, c, err := a.Phrasing(ctx, Driver(), design.Document, q, f)
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
		p.filter = append(fields(q), times...)
		if a.leads && len(q.Lead) > 0 {
			p.filter = append(p.filter, bson.E{Key: "data.fcst_lead", Value: bson.D{{Key: "$in", Value: q.Lead}}})
		}
	}
	if few(c, q) {
		p.unwind = q.Lead
	}
	out.Args = []any{p}
	out.Text, err = p.text(len(out.Keys))
	return out, err
}

// few reports whether a question asks for so few of the leads that the server
// had better pick them: what $unwind makes of a document is larger than it was,
// as each entry gets the id.
func few(c *design.Catalog, q *question.Question) bool {
	most := 0
	for _, g := range c.Groups {
		if g.LineType == q.Type.Name {
			most = max(most, len(g.Leads))
		}
	}
	return len(q.Lead) > 0 && 4*len(q.Lead) < most
}

// fields are the conditions on header fields.
func fields(q *question.Question) bson.D {
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

// validTimes are the conditions on the valid time. A range holds the times
// between the steps of a grid, too: those are excluded by $mod, or by the
// client where they may be negative, whose remainder has a sign.
func validTimes(v *question.Times, f flavour.Name) (bson.D, error) {
	if v.All() {
		return nil, nil
	}
	in := func(field string, values any) bson.D {
		return bson.D{{Key: field, Value: bson.D{{Key: "$in", Value: values}}}}
	}
	between := func(first, last any) bson.D { return bson.D{{Key: "$gte", Value: first}, {Key: "$lte", Value: last}} }
	switch f {
	case flavour.ISOList, flavour.EpochList:
		if !v.Discrete() {
			return nil, flavour.ErrCannotExpress
		}
		if f == flavour.EpochList {
			return in("fcst_valid_epoch", v.Expand()), nil
		}
		var texts []string
		for _, t := range v.Expand() {
			texts = append(texts, iso(t))
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
		out = bson.D{{Key: "fcst_valid_beg", Value: between(iso(first), iso(last))}}
	}
	if step > 1 && first >= 0 {
		epoch = append(epoch, bson.E{Key: "$mod", Value: bson.A{step, first % step}})
	}
	if len(epoch) > 0 {
		out = append(out, bson.E{Key: "fcst_valid_epoch", Value: epoch})
	}
	return out, nil
}

func iso(epoch int64) string { return string(design.AppendISO(nil, epoch)) }

// projection is all that an answer is made of: the id holds the header.
func projection() bson.D { return bson.D{{Key: "_id", Value: 1}, {Key: "data", Value: 1}} }

// pipeline is the aggregation that picks leads.
func (p *plan) pipeline(filter bson.D) bson.A {
	return bson.A{
		bson.D{{Key: "$match", Value: filter}},
		bson.D{{Key: "$project", Value: projection()}},
		bson.D{{Key: "$unwind", Value: "$data"}},
		bson.D{{Key: "$match", Value: bson.D{{Key: "data.fcst_lead", Value: bson.D{{Key: "$in", Value: p.unwind}}}}}},
	}
}

// text is the question as one would type it into mongosh. Derived ids, of which
// there may be thousands, are told by their number.
func (p *plan) text(keys int) (string, error) {
	filter := p.filter
	if p.byKeys {
		filter = among([]string{"…"})
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

// filters are what is sent in turn.
func (p *plan) filters(keys []string) []bson.D {
	if !p.byKeys {
		return []bson.D{p.filter}
	}
	var out []bson.D
	for some := range slices.Chunk(keys, idsAsked) {
		out = append(out, among(some))
	}
	return out
}

// Ask reads the documents, decodes the leads that are wanted and restores the order.
func (a *archive) Ask(ctx context.Context, q *engine.Query, into *answer.Builder) error {
	p, err := docengine.Plan[*plan](q)
	if err != nil {
		return err
	}
	return a.Answer(q.Question, nil, into, func(rows *record.Batch) error {
		d := newDecoder(rows, q.Question.Lead)
		d.admit = func(valid int64) bool { return q.Question.Valid.Contains(valid) && q.Question.Clock.AdmitsValid(valid) }
		for _, filter := range p.filters(q.Keys) {
			c, err := a.send(ctx, p, filter)
			if err == nil {
				err = walk(ctx, c, func(doc bson.Raw) error { return d.document(bsoncore.Document(doc)) })
			}
			if err != nil {
				return failed(ctx, err)
			}
		}
		return nil
	})
}

func (a *archive) send(ctx context.Context, p *plan, filter bson.D) (*mongo.Cursor, error) {
	c := a.db.Collection(p.collection)
	if len(p.unwind) > 0 {
		return c.Aggregate(ctx, p.pipeline(filter), options.Aggregate().SetBatchSize(replySize))
	}
	return c.Find(ctx, filter, options.Find().SetProjection(projection()).SetBatchSize(replySize))
}
