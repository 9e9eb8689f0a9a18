package mongodb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
)

// kvTables opens tables of records under keys. A table is a collection; a record is a document {_id: key, field0:
// value, …}, as in YCSB's binding (MongoDbClient). Values are binary, because that binding reads nothing
// else. Values that are texts are also read.
type kvTables struct{ *database }

type kvTable struct {
	*database
	collection *mongo.Collection
	fields     []string
	index      map[string]int // by field name

	// busy serializes writes of one record on FerretDB, which loses one of two concurrent updates. Nil on
	// other servers, whose updates are atomic.
	busy *kv.Stripes
}

// Table opens or creates a table.
func (k kvTables) Table(ctx context.Context, t kv.Table) (*kv.Records, error) {
	if err := t.Choose(Driver()); err != nil {
		return nil, err
	}
	if t.Name == metaCollection {
		return nil, &fault.Error{
			Setting: "table", Problem: t.Name + " is the name of a collection of the archive", Cure: "choose another name",
		}
	}
	tb := &kvTable{database: k.database, collection: k.db.Collection(t.Name), fields: t.Fields, index: map[string]int{}}
	for i, f := range t.Fields {
		tb.index[f] = i
	}
	if k.build.ferret() {
		tb.busy = kv.NewStripes()
	}
	existing, err := k.db.ListCollectionNames(ctx, bson.D{{Key: "name", Value: t.Name}})
	if err == nil && len(existing) == 0 {
		if err := t.MissingError(k.readOnly); err != nil {
			return nil, err
		}
		err = k.make(ctx, t.Name)
	}
	if err != nil {
		return nil, callError(ctx, err)
	}
	return kv.NewRecords(k.readOnly, tb.connect, func(ctx context.Context) (int64, error) {
		n, err := tb.collection.CountDocuments(ctx, bson.D{})
		return n, callError(ctx, err)
	}), nil
}

// namespaceExists is the error code of a collection that another client has created.
const namespaceExists = 48

func (k kvTables) make(ctx context.Context, name string) error {
	err := k.db.CreateCollection(ctx, name)
	if e, ok := errors.AsType[mongo.CommandError](err); ok && e.Code == namespaceExists {
		err = nil
	}
	if err == nil && k.shard != "" {
		err = k.client.Database("admin").RunCommand(ctx, shardCommand(k.database.database, name, k.shard)).Err()
	}
	return err
}

func (tb *kvTable) connect() *kv.Conn {
	c := &kvConn{kvTable: tb, cells: make([][]byte, len(tb.fields))}
	return &kv.Conn{
		Read: c.read, Insert: c.insert, Update: c.update, Scan: c.scan, Delete: c.delete,
		ReadPath: c.readPath, UpdatePath: c.updatePath,
	}
}

// kvConn is a connection: a table and the memory of one worker.
type kvConn struct {
	*kvTable
	row   kv.Row
	cells [][]byte // values of the decoded document, by field
	doc   []byte
}

// byID returns the filter of a record.
func byID(key []byte) bson.D { return bson.D{{Key: "_id", Value: string(key)}} }

// projection selects fields; nil = all.
func (c *kvConn) projection(f kv.Fields, id bool) any {
	if f == nil {
		return nil
	}
	p := make(bson.D, 0, 1+len(f))
	if !id {
		p = append(p, bson.E{Key: "_id", Value: 0})
	}
	for _, i := range f {
		p = append(p, bson.E{Key: c.fields[i], Value: 1})
	}
	return p
}

// bytesOf returns the bytes of a binary value or a text.
func bytesOf(v bsoncore.Value) ([]byte, bool) {
	if _, b, ok := v.BinaryOK(); ok {
		return b, true
	}
	return stringBytes(v)
}

// decode appends the fields of a document, in their order, and returns its _id, which is part of it.
func (c *kvConn) decode(doc []byte, f kv.Fields, into *kv.Row) (id []byte, err error) {
	clear(c.cells)
	err = members(doc, func(key []byte, v bsoncore.Value) error {
		i, ok := c.index[string(key)]
		switch {
		case string(key) == "_id":
			id, _ = stringBytes(v)
		case ok:
			if c.cells[i], ok = bytesOf(v); !ok {
				return fmt.Errorf("member %s is neither binary nor a text", key)
			}
		}
		return nil
	})
	for i, v := range c.cells {
		if v != nil && (f == nil || slices.Contains(f, i)) {
			into.Add(i, v)
		}
	}
	return id, err
}

func (c *kvConn) read(ctx context.Context, key []byte, f kv.Fields, into *kv.Row) error {
	doc, err := c.find(ctx, key, c.projection(f, false))
	if err == nil {
		_, err = c.decode(doc, f, into)
	}
	return err
}

// find reads a document with a projection.
func (c *kvConn) find(ctx context.Context, key []byte, projection any) (bson.Raw, error) {
	o := options.FindOne()
	if projection != nil {
		o.SetProjection(projection)
	}
	doc, err := c.collection.FindOne(ctx, byID(key), o).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) && ctx.Err() == nil {
		return nil, kv.ErrNotFound
	}
	return doc, callError(ctx, err)
}

// append appends the members of a row to the document that begins at start in dst, and completes it.
func (c *kvConn) append(dst []byte, start int32, r *kv.Row) []byte {
	for i := range r.Len() {
		field, v := r.At(i)
		dst = bsoncore.AppendBinaryElement(dst, c.fields[field], 0, v)
	}
	return endDocument(dst, start)
}

var errNotUTF8 = errors.New("mongodb: a key is not UTF-8 text")

func (c *kvConn) insert(ctx context.Context, key []byte, r *kv.Row) error {
	if !utf8.Valid(key) {
		return errNotUTF8
	}
	start, doc := bsoncore.AppendDocumentStart(c.doc[:0])
	c.doc = c.append(bsoncore.AppendStringElement(doc, "_id", string(key)), start, r)
	_, err := c.collection.InsertOne(ctx, bson.Raw(c.doc))
	if mongo.IsDuplicateKeyError(err) {
		return kv.ErrExists
	}
	return callError(ctx, err)
}

// lock locks a record on FerretDB.
func (tb *kvTable) lock(ctx context.Context, key []byte) (unlock func(), err error) {
	if tb.busy == nil {
		return func() {}, nil
	}
	return tb.busy.Lock(ctx, key)
}

// set replaces members of a record.
func (c *kvConn) set(ctx context.Context, key []byte, members any) error {
	unlock, err := c.lock(ctx, key)
	if err != nil {
		return err
	}
	defer unlock()
	done, err := c.collection.UpdateOne(ctx, byID(key), bson.D{{Key: "$set", Value: members}})
	if err == nil && done.MatchedCount == 0 {
		return kv.ErrNotFound
	}
	return callError(ctx, err)
}

func (c *kvConn) update(ctx context.Context, key []byte, r *kv.Row) error {
	start, doc := bsoncore.AppendDocumentStart(c.doc[:0])
	c.doc = c.append(doc, start, r)
	return c.set(ctx, key, bson.Raw(c.doc))
}

func (c *kvConn) delete(ctx context.Context, key []byte) error {
	unlock, err := c.lock(ctx, key)
	if err != nil {
		return err
	}
	defer unlock()
	done, err := c.collection.DeleteOne(ctx, byID(key))
	if err == nil && done.DeletedCount == 0 {
		return kv.ErrNotFound
	}
	return callError(ctx, err)
}

// recordsPerReply is the greatest number of records in one reply, which the server limits to 16 MB.
const recordsPerReply = 10_000

func (c *kvConn) scan(
	ctx context.Context, from []byte, n int, f kv.Fields, each func(key []byte, r *kv.Row) error,
) error {
	if n <= 0 { // for the server 0 means no limit
		return ctx.Err()
	}
	batch := int32(min(n, recordsPerReply)) //nolint:gosec // at most recordsPerReply
	o := options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}).SetLimit(int64(n)).SetBatchSize(batch)
	if f != nil {
		o.SetProjection(c.projection(f, true))
	}
	rows, err := c.collection.Find(ctx, bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: string(from)}}}}, o)
	if err != nil {
		return callError(ctx, err)
	}
	return walk(ctx, rows, func(doc bson.Raw) error {
		c.row.Reset()
		key, err := c.decode(doc, f, &c.row)
		if err != nil {
			return err
		}
		return each(key, &c.row)
	})
}

// member returns a path in the server's notation: a.b.
func member(path string) (string, error) {
	name, ok := strings.CutPrefix(path, "$.")
	if !ok || name == "" || strings.ContainsAny(name, "$[]") {
		return "", fmt.Errorf("mongodb: the path %q does not name a member; write it like $.name or $.name.name", path)
	}
	return name, nil
}

func (c *kvConn) readPath(ctx context.Context, key []byte, path string, into *kv.Row) error {
	name, err := member(path)
	if err != nil {
		return err
	}
	doc, err := c.find(ctx, key, bson.D{{Key: "_id", Value: 0}, {Key: name, Value: 1}})
	if err != nil {
		return err
	}
	v, err := bsoncore.Document(doc).LookupErr(strings.Split(name, ".")...)
	if err != nil {
		return kv.ErrNotFound // the path does not exist
	}
	b, ok := bytesOf(v)
	if !ok {
		return fmt.Errorf("mongodb: the value at %s is neither binary nor text", path)
	}
	into.Add(0, b)
	return nil
}

func (c *kvConn) updatePath(ctx context.Context, key []byte, path string, value []byte) error {
	name, err := member(path)
	if err != nil {
		return err
	}
	return c.set(ctx, key, bson.D{{Key: name, Value: bson.Binary{Data: value}}})
}
