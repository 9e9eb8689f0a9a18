package mongodb

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/record"
)

// A late swap fails, however late it is. Two loaders once owned one lock: the revision that the second one
// inserted had existed before and was removed.
func TestLateSwap(t *testing.T) {
	s := openStore(t)
	for rev := range int64(4) {
		if got, err := s.Swap(t.Context(), "a", []byte{byte('1' + rev)}, rev); got != rev+1 || err != nil {
			t.Fatalf("revision %d, %v", got, err)
		}
	}
	for rev := range int64(4) {
		if _, err := s.Swap(t.Context(), "a", []byte("late"), rev); !errors.Is(err, docengine.ErrChanged) {
			t.Errorf("a swap of revision %d: %v", rev, err)
		}
	}
	if text, rev, err := s.Load(t.Context(), "a"); string(text) != "4" || rev != 4 || err != nil {
		t.Errorf("the text is %s in revision %d, %v", text, rev, err)
	}
}

// openStore opens the store of a new server.
func openStore(t *testing.T) *store {
	t.Helper()
	u, err := url.Parse(enginetest.Lab(t, Driver(), lab.Options{}).URL())
	if err != nil {
		t.Fatal(err)
	}
	e, err := open(t.Context(), u, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	d, ok := archive.DatabaseOf(e).(*database)
	if !ok {
		t.Fatalf("the archives are a %T", archive.DatabaseOf(e))
	}
	return &store{d}
}

// A commit replaces documents that a failed commit left behind: the server may execute a write after the
// rollback.
func TestInsertReplacesRemains(t *testing.T) {
	s, lt := openStore(t), mustType(t, "SL1L2")
	documents := func(value string, ids ...string) (docs []docengine.Document) {
		for _, id := range ids {
			body, err := bson.Marshal(bson.D{{Key: "_id", Value: id}, {Key: "value", Value: value}})
			if err != nil {
				t.Fatal(err)
			}
			docs = append(docs, docengine.Document{ID: id, Body: body, Fresh: true})
		}
		return docs
	}
	if err := s.Write(t.Context(), "a", lt, documents("late", "2", "3")); err != nil {
		t.Fatal(err)
	}
	if err := s.Write(t.Context(), "a", lt, documents("new", "1", "2", "3", "4")); err != nil {
		t.Fatal(err)
	}
	n := 0
	err := s.Fetch(t.Context(), "a", lt, []string{"1", "2", "3", "4"}, func(id string, doc []byte) error {
		if value := bson.Raw(doc).Lookup("value").StringValue(); value != "new" {
			t.Errorf("document %s is the %s one", id, value)
		}
		n++
		return nil
	})
	if err != nil || n != 4 {
		t.Errorf("%d documents, %v", n, err)
	}
}

func mustType(t *testing.T, name string) *record.LineType {
	t.Helper()
	lt, ok := record.TypeByName(name)
	if !ok {
		t.Fatalf("no line type %s", name)
	}
	return lt
}

// An entry without a lead, or with a number that its column cannot have, is an error. It must not be read as
// a record of another lead.
func TestDamagedEntries(t *testing.T) {
	lt := mustType(t, "SL1L2")
	entry := func(change ...bson.E) bson.D {
		return append(bson.D{{Key: "fcst_lead", Value: int32(3600)}, {Key: "total", Value: 1.0}}, change...)
	}
	for name, c := range map[string]struct {
		entry bson.D
		good  bool
	}{
		"complete":          {entry(), true},
		"a lead of mongosh": {bson.D{{Key: "fcst_lead", Value: 3600.0}}, true},
		"no lead":           {bson.D{{Key: "total", Value: 1.0}}, false},
		"a long lead":       {bson.D{{Key: "fcst_lead", Value: int64(1<<32 + 3600)}}, false},
		"half a second":     {bson.D{{Key: "fcst_lead", Value: 3600.5}}, false},
		"half an end":       {entry(bson.E{Key: "fcst_valid_end", Value: 1546300800.5}), false},
		"a text":            {entry(bson.E{Key: "fbar", Value: "1"}), false},
		"a long integer":    {entry(bson.E{Key: "fbar", Value: int64(1<<53 + 1)}), false},
		"an unknown member": {entry(bson.E{Key: "wind", Value: 1.0}), false},
	} {
		doc, err := bson.Marshal(bson.D{{Key: "data", Value: bson.A{c.entry}}})
		if err != nil {
			t.Fatal(err)
		}
		for _, leads := range [][]int32{nil, {3600}} {
			var b record.Batch
			b.Reset(lt, "")
			err = newDecoder(&b, leads).data(bsoncore.Document(doc).Lookup("data"), b.AddHeader(record.DefaultHeader()), 0)
			if (err == nil) != c.good || c.good && (b.Len() != 1 || b.Lead[0] != 3600) {
				t.Errorf("%s, leads %v: %d records, %v", name, leads, b.Len(), err)
			}
		}
	}
}

// A time-out long before the deadline of the context is a server that is not reached.
func TestTimeOuts(t *testing.T) {
	late := fmt.Errorf("server selection: %w", context.DeadlineExceeded)
	for _, c := range []struct {
		left time.Duration // until the deadline; 0 = none
		want error
	}{{time.Hour, engine.ErrUnreachable}, {0, engine.ErrUnreachable}, {earlyTimeout / 2, context.DeadlineExceeded}} {
		ctx, stop := context.WithCancel(t.Context())
		if c.left > 0 {
			ctx, stop = context.WithTimeout(t.Context(), c.left)
		}
		err := callError(ctx, late)
		if stop(); !errors.Is(err, c.want) || errors.Is(err, engine.ErrUnreachable) != errors.Is(c.want, engine.ErrUnreachable) {
			t.Errorf("%v before the deadline: %v", c.left, err)
		}
	}
}
