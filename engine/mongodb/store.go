package mongodb

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/record"
)

// metaCollection holds what is no document: states, locks, marks, undo.
const metaCollection = "barograph"

// collectionName names the collection of a line type of a subset, whose name is
// escaped: a '$' is not allowed, and FerretDB trips over a quote.
func collectionName(subset string, t *record.LineType) string {
	if subset == "" {
		subset = "%"
	} else {
		subset = url.QueryEscape(subset)
	}
	return design.DocTable(t) + "." + subset
}

// store is the database as docengine sees it.
type store struct{ *database }

func (s *store) collection(subset string, t *record.LineType) *mongo.Collection {
	return s.db.Collection(collectionName(subset, t))
}

func (s *store) meta() *mongo.Collection { return s.db.Collection(metaCollection) }

// revision is a text in one of its revisions. A Swap inserts the next revision
// and removes those before. An insertion under an _id that is there fails on
// every server; a conditional update is not atomic on FerretDB. One that comes
// so late that the next revision has been removed again finds a later one, as
// the last is never removed.
type revision struct {
	ID   string `bson:"_id"`
	Name string `bson:"name"`
	Rev  int64  `bson:"rev"`
	Text string `bson:"text"`
}

func (s *store) Load(ctx context.Context, name string) ([]byte, int64, error) {
	var r revision
	err := s.meta().FindOne(ctx, bson.D{{Key: "name", Value: name}}, options.FindOne().SetSort(bson.D{{Key: "rev", Value: -1}})).Decode(&r)
	if err == mongo.ErrNoDocuments { //nolint:errorlint // it is returned as it is
		return nil, 0, failed(ctx, ctx.Err())
	}
	return []byte(r.Text), r.Rev, failed(ctx, err)
}

func (s *store) Swap(ctx context.Context, name string, text []byte, rev int64) (int64, error) {
	next := rev + 1
	_, err := s.meta().InsertOne(ctx, revision{fmt.Sprintf("%s#%d", name, next), name, next, string(text)})
	if mongo.IsDuplicateKeyError(err) {
		return rev, fmt.Errorf("%s: %w", name, docengine.ErrChanged)
	}
	if err != nil {
		return rev, failed(ctx, err)
	}
	switch _, last, err := s.Load(ctx, name); {
	case err != nil:
		return rev, err
	case last > next:
		_, err := s.meta().DeleteOne(ctx, bson.D{{Key: "_id", Value: fmt.Sprintf("%s#%d", name, next)}})
		return rev, errors.Join(fmt.Errorf("%s: %w", name, docengine.ErrChanged), err)
	}
	_, err = s.meta().DeleteMany(ctx, bson.D{{Key: "name", Value: name}, {Key: "rev", Value: bson.D{{Key: "$lt", Value: next}}}})
	if err != nil {
		s.log.Debug("an old revision stays", "name", name, "error", err)
	}
	return next, nil
}

func (s *store) Put(ctx context.Context, name string, text []byte) error {
	_, err := s.meta().ReplaceOne(ctx, bson.D{{Key: "_id", Value: name}}, bson.D{{Key: "_id", Value: name}, {Key: "text", Value: string(text)}}, options.Replace().SetUpsert(true))
	return failed(ctx, err)
}

func (s *store) Get(ctx context.Context, names []string) (map[string][]byte, error) {
	texts := map[string][]byte{}
	for some := range slices.Chunk(names, idsAsked) {
		c, err := s.meta().Find(ctx, among(some))
		if err != nil {
			return nil, failed(ctx, err)
		}
		var got []revision
		if err := c.All(ctx, &got); err != nil {
			return nil, failed(ctx, err)
		}
		for _, r := range got {
			texts[r.ID] = []byte(r.Text)
		}
	}
	return texts, nil
}

func (s *store) Delete(ctx context.Context, names []string) error {
	for some := range slices.Chunk(names, idsAsked) {
		if _, err := s.meta().DeleteMany(ctx, among(some)); err != nil {
			return failed(ctx, err)
		}
	}
	return nil
}

// among is the filter of documents by their ids.
func among(ids []string) bson.D {
	return bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}}
}

// indexes of a collection: the header fields that questions name, then the time
// in either form, so that lists and ranges of both are one range each.
func (s *store) indexes() []mongo.IndexModel {
	var out []mongo.IndexModel
	for _, last := range []string{"fcst_valid_epoch", "fcst_valid_beg"} {
		keys := bson.D{}
		for _, f := range []record.Field{record.Model, record.FcstVar, record.FcstLev, record.VxMask} {
			keys = append(keys, bson.E{Key: f.String(), Value: 1})
		}
		keys = append(keys, bson.E{Key: last, Value: 1})
		if s.leads {
			keys = append(keys, bson.E{Key: "data.fcst_lead", Value: 1})
		}
		out = append(out, mongo.IndexModel{Keys: keys})
	}
	return out
}

func (s *store) Prepare(ctx context.Context, subset string, t *record.LineType) error {
	if s.shard != "" {
		if err := s.client.Database("admin").RunCommand(ctx, shardCommand(s.database.database, collectionName(subset, t), s.shard)).Err(); err != nil {
			return failed(ctx, err)
		}
	}
	for _, m := range s.indexes() { // one by one: FerretDB breaks off where several are there already
		if _, err := s.collection(subset, t).Indexes().CreateOne(ctx, m); err != nil {
			return failed(ctx, err)
		}
	}
	return nil
}

// shardCommand shards a collection by its ids; on one that is sharded so
// already it does nothing.
func shardCommand(database, collection, how string) bson.D {
	var key any = "hashed"
	if how == "range" {
		key = 1
	}
	return bson.D{{Key: "shardCollection", Value: database + "." + collection}, {Key: "key", Value: bson.D{{Key: "_id", Value: key}}}}
}

func (s *store) Fetch(ctx context.Context, subset string, t *record.LineType, ids []string, each func(id string, doc []byte) error) error {
	c, err := s.collection(subset, t).Find(ctx, among(ids))
	if err != nil {
		return failed(ctx, err)
	}
	return walkIDs(ctx, c, each)
}

// walkIDs is walk with the ids of the documents.
func walkIDs(ctx context.Context, c *mongo.Cursor, each func(id string, doc []byte) error) error {
	return walk(ctx, c, func(doc bson.Raw) error {
		id, ok := doc.Lookup("_id").StringValueOK()
		if !ok {
			return fmt.Errorf("an _id %w", errDocument)
		}
		return each(id, doc)
	})
}

// walk calls each for every document of a cursor, which it closes. The document
// is valid until each returns.
func walk(ctx context.Context, c *mongo.Cursor, each func(doc bson.Raw) error) error {
	defer c.Close(context.WithoutCancel(ctx)) //nolint:errcheck // Err below says what went wrong
	for c.Next(ctx) {
		if err := each(c.Current); err != nil {
			return err
		}
	}
	return failed(ctx, c.Err())
}

func (s *store) Write(ctx context.Context, subset string, t *record.LineType, docs []docengine.Document) error {
	var fresh []bson.Raw
	var gone []string
	var others []mongo.WriteModel
	for i := range docs {
		if docs[i].Fresh {
			fresh = append(fresh, docs[i].Body)
			continue
		}
		if s.reinsert {
			fresh, gone = append(fresh, docs[i].Body), append(gone, docs[i].ID)
			continue
		}
		by := bson.D{{Key: "_id", Value: docs[i].ID}}
		others = append(others, mongo.NewReplaceOneModel().SetFilter(by).SetReplacement(bson.Raw(docs[i].Body)).SetUpsert(true))
	}
	if err := s.Remove(ctx, subset, t, gone); err != nil {
		return err
	}
	if len(fresh) > 0 {
		if _, err := s.collection(subset, t).InsertMany(ctx, fresh, options.InsertMany().SetOrdered(false)); err != nil {
			return failed(ctx, err)
		}
	}
	if len(others) > 0 {
		if _, err := s.collection(subset, t).BulkWrite(ctx, others, options.BulkWrite().SetOrdered(false)); err != nil {
			return failed(ctx, err)
		}
	}
	return nil
}

func (s *store) Remove(ctx context.Context, subset string, t *record.LineType, ids []string) error {
	for some := range slices.Chunk(ids, idsAsked) {
		if _, err := s.collection(subset, t).DeleteMany(ctx, among(some)); err != nil {
			return failed(ctx, err)
		}
	}
	return nil
}

func (s *store) Append(dst []byte, subset, id string, rows *record.Batch) []byte {
	return appendDoc(dst, subset, id, rows)
}

func (s *store) Decode(doc []byte, into *record.Batch, head uint32, valid int64) error {
	return newDecoder(into, nil).data(bsoncore.Document(doc).Lookup("data"), head, valid)
}
