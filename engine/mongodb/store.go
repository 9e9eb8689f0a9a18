package mongodb

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/record"
)

// metaCollection contains everything that is not a document: states, locks, marks, undo.
const metaCollection = "barograph"

// collectionName returns the name of the collection of a line type of a subset. The subset's name is
// escaped: '$' is not allowed, and FerretDB fails for a quote.
func collectionName(subset string, t *record.LineType) string {
	if subset == "" {
		subset = "%"
	} else {
		subset = url.QueryEscape(subset)
	}
	return design.DocTable(t) + "." + subset
}

// store implements docengine.SingleDocumentStore.
type store struct{ *database }

// primary returns a collection that reads the primary server, whatever readPreference the URL has. A secondary
// server lags behind: it may return a lock that another client owns by now, and documents without the last
// commits, which a merge would then remove.
func (d *database) primary(name string) *mongo.Collection {
	return d.db.Collection(name, options.Collection().SetReadPreference(readpref.Primary()))
}

func (d *database) collection(subset string, t *record.LineType) *mongo.Collection {
	return d.primary(collectionName(subset, t))
}

func (s *store) meta() *mongo.Collection { return s.primary(metaCollection) }

// revision is a revision of a text. A Swap inserts the next revision and removes earlier ones. An insert
// with an existing _id fails on every server, whereas a conditional update is not atomic on FerretDB. If a
// Swap is so late that the revision it inserts was already removed, it finds a later one and fails: nobody
// removes the last revision.
type revision struct {
	ID   string `bson:"_id"`
	Name string `bson:"name"`
	Rev  int64  `bson:"rev"`
	Text string `bson:"text"`
}

func (s *store) Load(ctx context.Context, name string) ([]byte, int64, error) {
	var r revision
	last := options.FindOne().SetSort(bson.D{{Key: "rev", Value: -1}})
	err := s.meta().FindOne(ctx, bson.D{{Key: "name", Value: name}}, last).Decode(&r)
	if err == mongo.ErrNoDocuments { //nolint:errorlint // the driver returns the sentinel itself
		return nil, 0, callError(ctx, ctx.Err())
	}
	return []byte(r.Text), r.Rev, callError(ctx, err)
}

func (s *store) Swap(ctx context.Context, name string, text []byte, rev int64) (int64, error) {
	next := rev + 1
	_, err := s.meta().InsertOne(ctx, revision{fmt.Sprintf("%s#%d", name, next), name, next, string(text)})
	if mongo.IsDuplicateKeyError(err) {
		return rev, fmt.Errorf("%s: %w", name, docengine.ErrChanged)
	}
	if err != nil {
		return rev, callError(ctx, err)
	}
	switch _, last, err := s.Load(ctx, name); {
	case err != nil:
		return rev, err
	case last > next:
		_, err := s.meta().DeleteOne(ctx, bson.D{{Key: "_id", Value: fmt.Sprintf("%s#%d", name, next)}})
		return rev, errors.Join(fmt.Errorf("%s: %w", name, docengine.ErrChanged), err)
	}
	earlier := bson.D{{Key: "name", Value: name}, {Key: "rev", Value: bson.D{{Key: "$lt", Value: next}}}}
	_, err = s.meta().DeleteMany(ctx, earlier)
	if err != nil {
		s.log.Debug("an old revision was not removed", "name", name, "error", err)
	}
	return next, nil
}

func (s *store) Put(ctx context.Context, name string, text []byte) error {
	filter, doc := bson.D{{Key: "_id", Value: name}}, bson.D{{Key: "_id", Value: name}, {Key: "text", Value: string(text)}}
	_, err := s.meta().ReplaceOne(ctx, filter, doc, options.Replace().SetUpsert(true))
	return callError(ctx, err)
}

func (s *store) Get(ctx context.Context, names []string) (map[string][]byte, error) {
	texts := map[string][]byte{}
	for some := range slices.Chunk(names, idsPerFilter) {
		c, err := s.meta().Find(ctx, idFilter(some))
		if err != nil {
			return nil, callError(ctx, err)
		}
		var got []revision
		if err := c.All(ctx, &got); err != nil {
			return nil, callError(ctx, err)
		}
		for _, r := range got {
			texts[r.ID] = []byte(r.Text)
		}
	}
	return texts, nil
}

func (s *store) Delete(ctx context.Context, names []string) error {
	for some := range slices.Chunk(names, idsPerFilter) {
		if _, err := s.meta().DeleteMany(ctx, idFilter(some)); err != nil {
			return callError(ctx, err)
		}
	}
	return nil
}

// idFilter returns the filter of documents by their ids.
func idFilter(ids []string) bson.D {
	return bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}}
}

// indexes returns the two indexes of a collection: the header fields that questions name, then the valid
// time, in one index as epoch and in the other as text. A range of times is then one range of an index.
func (s *store) indexes() []mongo.IndexModel {
	var out []mongo.IndexModel
	for _, time := range []string{"fcst_valid_epoch", "fcst_valid_beg"} {
		keys := bson.D{}
		for _, f := range []record.Field{record.Model, record.FcstVar, record.FcstLev, record.VxMask} {
			keys = append(keys, bson.E{Key: f.String(), Value: 1})
		}
		keys = append(keys, bson.E{Key: time, Value: 1})
		if s.leads {
			keys = append(keys, bson.E{Key: "data.fcst_lead", Value: 1})
		}
		out = append(out, mongo.IndexModel{Keys: keys})
	}
	return out
}

func (s *store) Prepare(ctx context.Context, subset string, t *record.LineType) error {
	if s.shard != "" {
		command := shardCommand(s.database.database, collectionName(subset, t), s.shard)
		if err := s.client.Database("admin").RunCommand(ctx, command).Err(); err != nil {
			return callError(ctx, err)
		}
	}
	for _, m := range s.indexes() { // one by one: FerretDB fails if several of them exist already
		if _, err := s.collection(subset, t).Indexes().CreateOne(ctx, m); err != nil {
			return callError(ctx, err)
		}
	}
	return nil
}

// shardCommand shards a collection by its ids. On a collection that is sharded by ids already it does nothing.
func shardCommand(database, collection, how string) bson.D {
	var key any = "hashed"
	if how == "range" {
		key = 1
	}
	return bson.D{
		{Key: "shardCollection", Value: database + "." + collection}, {Key: "key", Value: bson.D{{Key: "_id", Value: key}}},
	}
}

func (s *store) Fetch(
	ctx context.Context, subset string, t *record.LineType, ids []string, each func(id string, doc []byte) error,
) error {
	c, err := s.collection(subset, t).Find(ctx, idFilter(ids))
	if err != nil {
		return callError(ctx, err)
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

// walk calls each for every document of a cursor, and closes the cursor. The document is valid until each returns.
func walk(ctx context.Context, c *mongo.Cursor, each func(doc bson.Raw) error) error {
	defer c.Close(context.WithoutCancel(ctx)) //nolint:errcheck // Err below reports the error
	for c.Next(ctx) {
		if err := each(c.Current); err != nil {
			return err
		}
	}
	return callError(ctx, c.Err())
}

func (s *store) Write(ctx context.Context, subset string, t *record.LineType, docs []docengine.Document) error {
	var inserts []docengine.Document
	var removals []string
	var replacements []mongo.WriteModel
	for i := range docs {
		switch {
		case docs[i].Fresh:
			inserts = append(inserts, docs[i])
		case s.reinsert:
			inserts, removals = append(inserts, docs[i]), append(removals, docs[i].ID)
		default:
			replacement := mongo.NewReplaceOneModel().SetFilter(bson.D{{Key: "_id", Value: docs[i].ID}})
			replacements = append(replacements, replacement.SetReplacement(bson.Raw(docs[i].Body)).SetUpsert(true))
		}
	}
	if err := s.Remove(ctx, subset, t, removals); err != nil {
		return err
	}
	if err := s.insert(ctx, subset, t, inserts); err != nil {
		return err
	}
	if len(replacements) > 0 {
		_, err := s.collection(subset, t).BulkWrite(ctx, replacements, options.BulkWrite().SetOrdered(false))
		return callError(ctx, err)
	}
	return nil
}

// insert inserts documents. If some exist, it replaces them: the server executed a write of a failed commit
// after the rollback.
func (s *store) insert(ctx context.Context, subset string, t *record.LineType, docs []docengine.Document) error {
	if len(docs) == 0 {
		return nil
	}
	ids, bodies := make([]string, len(docs)), make([]bson.Raw, len(docs))
	for i := range docs {
		ids[i], bodies[i] = docs[i].ID, docs[i].Body
	}
	unordered := options.InsertMany().SetOrdered(false)
	_, err := s.collection(subset, t).InsertMany(ctx, bodies, unordered)
	if mongo.IsDuplicateKeyError(err) {
		if err := s.Remove(ctx, subset, t, ids); err != nil {
			return err
		}
		_, err = s.collection(subset, t).InsertMany(ctx, bodies, unordered)
	}
	return callError(ctx, err)
}

func (s *store) Remove(ctx context.Context, subset string, t *record.LineType, ids []string) error {
	for some := range slices.Chunk(ids, idsPerFilter) {
		if _, err := s.collection(subset, t).DeleteMany(ctx, idFilter(some)); err != nil {
			return callError(ctx, err)
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

// A document is that of design.AppendJSON in BSON:
//
//	{_id: "DD::…", line_type: "SAL1L2", subset: …, all header fields,
//	 fcst_valid_epoch: int64, fcst_valid_beg: "2019-01-01T00:00:00Z",
//	 data: [{fcst_lead: int32 seconds, total: double, …}, …]}
//
// A missing value has no member; in repeats it is null.

// appendDoc appends the document of rows, which share one header and valid time.
func appendDoc(dst []byte, subset, id string, rows *record.Batch) []byte {
	start, dst := bsoncore.AppendDocumentStart(dst)
	dst = bsoncore.AppendStringElement(dst, "_id", id)
	dst = bsoncore.AppendStringElement(dst, "line_type", rows.Type.Name)
	dst = bsoncore.AppendStringElement(dst, "subset", subset)
	h := &rows.Headers[0]
	for f := range record.NumFields {
		dst = bsoncore.AppendStringElement(dst, f.String(), h[f])
	}
	valid := rows.Valid[0]
	dst = bsoncore.AppendInt64Element(dst, "fcst_valid_epoch", valid)
	dst = bsoncore.AppendStringElement(dst, "fcst_valid_beg", string(design.AppendISO(nil, valid)))
	data, dst := bsoncore.AppendArrayElementStart(dst, "data")
	for i := range rows.Len() {
		dst = appendEntry(dst, strconv.Itoa(i), rows, i)
	}
	dst = endDocument(dst, data)
	return endDocument(dst, start)
}

// endDocument completes the document or array that began at start.
func endDocument(dst []byte, start int32) []byte {
	dst = append(dst, 0)
	return bsoncore.UpdateLength(dst, start, int32(len(dst))-start)
}

func appendEntry(dst []byte, name string, b *record.Batch, i int) []byte {
	start, dst := bsoncore.AppendDocumentElementStart(dst, name)
	dst = bsoncore.AppendInt32Element(dst, "fcst_lead", b.Lead[i])
	if !b.HasPlainTimes(i) {
		dst = bsoncore.AppendInt64Element(dst, "fcst_valid_end", b.ValidEnd[i])
		dst = bsoncore.AppendInt32Element(dst, "obs_lead", b.ObsLead[i])
		dst = bsoncore.AppendInt64Element(dst, "obs_valid_beg", b.ObsBeg[i])
		dst = bsoncore.AppendInt64Element(dst, "obs_valid_end", b.ObsEnd[i])
	}
	for k := range b.Type.Columns {
		c := &b.Type.Columns[k]
		switch {
		case c.Kind == record.Text:
			dst = bsoncore.AppendStringElement(dst, c.Name, b.Text[c.Slot][i])
		case !math.IsNaN(b.Num[c.Slot][i]):
			dst = bsoncore.AppendDoubleElement(dst, c.Name, b.Num[c.Slot][i])
		}
	}
	if b.Type.Group != nil {
		var array int32
		array, dst = bsoncore.AppendArrayElementStart(dst, "repeats")
		for k, f := range b.Repeats(i) {
			if math.IsNaN(f) {
				dst = bsoncore.AppendNullElement(dst, strconv.Itoa(k))
			} else {
				dst = bsoncore.AppendDoubleElement(dst, strconv.Itoa(k), f)
			}
		}
		dst = endDocument(dst, array)
	}
	return endDocument(dst, start)
}

// decoder decodes documents, complete or projected to _id and data, into a batch.
type decoder struct {
	b       *record.Batch
	leads   []int32                // leads to keep, sorted; none = all
	heads   map[string]uint32      // header number by the id without its epoch
	accepts func(valid int64) bool // whether the document of this time is decoded; nil = always
	hasLead bool                   // the entry that is decoded has a lead
}

func newDecoder(b *record.Batch, leads []int32) *decoder {
	return &decoder{b: b, leads: leads, heads: map[string]uint32{}}
}

var (
	errDocument = errors.New("is not a document of an archive")
	errNoLead   = errors.New("an entry has no lead in seconds")
)

// members calls each for every member of a document or array. Key and value are parts of doc.
func members(doc []byte, each func(key []byte, v bsoncore.Value) error) error {
	if _, rem, ok := bsoncore.ReadLength(doc); ok && len(rem) > 0 {
		for len(rem) > 1 { // the last byte ends the document
			var e bsoncore.Element
			if e, rem, ok = bsoncore.ReadElement(rem); !ok {
				return errDocument
			}
			v, err := e.ValueErr()
			if err != nil {
				return err
			}
			if err := each(e.KeyBytes(), v); err != nil {
				return err
			}
		}
		return nil
	}
	return errDocument
}

// document appends the records of one document.
func (d *decoder) document(doc bsoncore.Document) error {
	id, ok := doc.Lookup("_id").StringValueOK()
	if !ok {
		return errDocument
	}
	valid, head, err := d.place(id)
	if err != nil || d.accepts != nil && !d.accepts(valid) {
		return err
	}
	return docengine.DocumentError(id, d.data(doc.Lookup("data"), head, valid))
}

// place returns the valid time and the number of the header, both from the id.
func (d *decoder) place(id string) (valid int64, head uint32, err error) {
	cut := strings.LastIndex(id, "::") + 2
	if valid, err = strconv.ParseInt(id[min(cut, len(id)):], 10, 64); err != nil {
		return 0, 0, fmt.Errorf("%q %w", id, errDocument)
	}
	head, ok := d.heads[id[:cut]]
	if ok {
		return valid, head, nil
	}
	_, _, h, _, err := design.ParseKey(id)
	if err == nil {
		head = d.b.AddHeader(h)
		d.heads[strings.Clone(id[:cut])] = head
	}
	return valid, head, err
}

// data appends the entries: an array, or the single entry that $unwind left.
func (d *decoder) data(v bsoncore.Value, head uint32, valid int64) error {
	if entry, ok := v.DocumentOK(); ok {
		return d.entry(entry, head, valid)
	}
	array, ok := v.ArrayOK()
	if !ok {
		return errors.New("data is not an array")
	}
	return members(array, func(_ []byte, v bsoncore.Value) error {
		entry, ok := v.DocumentOK()
		if !ok {
			return errors.New("an entry is not a document")
		}
		return d.entry(entry, head, valid)
	})
}

// entry appends one record: first with only its lead, then it sets each member.
func (d *decoder) entry(entry []byte, head uint32, valid int64) error {
	if len(d.leads) > 0 {
		lead, ok := seconds(bsoncore.Document(entry).Lookup("fcst_lead"))
		if !ok {
			return errNoLead
		}
		if _, selected := slices.BinarySearch(d.leads, lead); !selected {
			return nil
		}
	}
	b := d.b
	d.hasLead = false
	b.AppendTimes(head, 0, valid, 0)
	i := b.Len() - 1
	for k := range b.Num {
		b.Num[k] = append(b.Num[k], record.Missing())
	}
	for k := range b.Text {
		b.Text[k] = append(b.Text[k], record.NA)
	}
	err := members(entry, func(key []byte, v bsoncore.Value) error { return d.member(i, key, v) })
	if b.Type.Group != nil {
		b.GroupEnd = append(b.GroupEnd, uint32(len(b.Group)))
	}
	if err == nil && !d.hasLead {
		return errNoLead
	}
	return err
}

func (d *decoder) member(i int, key []byte, v bsoncore.Value) error {
	b := d.b
	var ok bool
	switch string(key) {
	case "fcst_lead":
		b.Lead[i], ok = seconds(v)
		d.hasLead = true
	case "fcst_valid_end":
		b.ValidEnd[i], ok = wholeNumber(v)
	case "obs_lead":
		b.ObsLead[i], ok = seconds(v)
	case "obs_valid_beg":
		b.ObsBeg[i], ok = wholeNumber(v)
	case "obs_valid_end":
		b.ObsEnd[i], ok = wholeNumber(v)
	case "repeats":
		return d.repeats(v)
	default:
		var c *record.Column
		if c, ok = b.Type.Column(string(key)); !ok {
			return fmt.Errorf("member %s is not a column of %s", key, b.Type.Name)
		}
		if c.Kind == record.Text {
			b.Text[c.Slot][i], ok = v.StringValueOK()
		} else {
			b.Num[c.Slot][i], ok = number(v)
		}
	}
	if !ok {
		return fmt.Errorf("member %s has a value that is not of its column's type", key)
	}
	return nil
}

func (d *decoder) repeats(v bsoncore.Value) error {
	array, ok := v.ArrayOK()
	if !ok {
		return errors.New("repeats is not an array")
	}
	return members(array, func(_ []byte, v bsoncore.Value) error {
		f, ok := number(v)
		if !ok && v.Type != bsoncore.TypeNull {
			return errors.New("repeats contains a value that is not a number")
		}
		d.b.Group = append(d.b.Group, f)
		return nil
	})
}

// number returns a double, or an integer that another client has written.
func number(v bsoncore.Value) (float64, bool) {
	switch v.Type {
	case bsoncore.TypeDouble:
		return v.DoubleOK()
	case bsoncore.TypeInt32, bsoncore.TypeInt64:
		n, ok := v.AsInt64OK()
		return float64(n), ok && int64(float64(n)) == n
	}
	return record.Missing(), false
}

// wholeNumber returns an integer, or a double without a fraction, as which mongosh writes every number.
func wholeNumber(v bsoncore.Value) (int64, bool) {
	switch v.Type {
	case bsoncore.TypeDouble:
		f, ok := v.DoubleOK()
		return int64(f), ok && float64(int64(f)) == f
	case bsoncore.TypeInt32, bsoncore.TypeInt64:
		return v.AsInt64OK()
	}
	return 0, false
}

// seconds returns a lead.
func seconds(v bsoncore.Value) (int32, bool) {
	n, ok := wholeNumber(v)
	return int32(n), ok && int64(int32(n)) == n //nolint:gosec // compared
}

// stringBytes returns the bytes of a string within the document.
func stringBytes(v bsoncore.Value) ([]byte, bool) {
	if v.Type != bsoncore.TypeString || len(v.Data) < 5 {
		return nil, false
	}
	return v.Data[4 : len(v.Data)-1], true
}
