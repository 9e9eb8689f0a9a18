package couchbase

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/couchbase/gocbcore/v10"
	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/lab"
)

// reach opens the store of a bucket.
func reach(t *testing.T, raw string) *store {
	t.Helper()
	u, err := url.Parse(raw)
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
	return &store{database: d}
}

// TestService tests what the conformance suite does not: errors of single operations, bulk requests, and faults of
// the server.
func TestService(t *testing.T) {
	l := enginetest.Lab(t, Driver(), lab.Options{})
	named := fresh(l, "")
	t.Run("revisions", func(t *testing.T) { revisions(t, reach(t, named(t))) })
	t.Run("sub-documents", func(t *testing.T) { subDocuments(t, reach(t, named(t))) })
	t.Run("long texts", func(t *testing.T) { longTexts(t, reach(t, named(t))) })
	t.Run("bulk gets", func(t *testing.T) { bulkGets(t, reach(t, named(t)+"&in_flight=600")) })
	t.Run("many clients", func(t *testing.T) { concurrentClients(t, reach(t, named(t)+"&in_flight=2000")) })
	t.Run("records of many fields", func(t *testing.T) { manyFields(t, reach(t, named(t))) })
	t.Run("indexes", func(t *testing.T) {
		indexes(t, reach(t, strings.Replace(named(t), "indexes=false", "indexes=true", 1)+"&retry=fail-fast&query_timeout=1s"))
	})
	t.Run("retries", func(t *testing.T) { retries(t, l, named) })
	t.Run("time-outs", func(t *testing.T) { timeOuts(t, l, named) })
	t.Run("durability", func(t *testing.T) { durability(t, reach(t, named(t)+"&durability=majority")) })
}

// indexes checks that a loader creates the indexes when it is opened. On the mock, which has no N1QL, the error
// shows the attempt.
func indexes(t *testing.T, s *store) {
	a, err := s.Open(t.Context(), design.Document)
	if err != nil {
		t.Fatal(err)
	}
	if l, err := a.Loader(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "CREATE INDEX") {
		t.Errorf("a loader was opened without indexes: %v, %v", l, err)
	}
}

// revisions checks that swaps of an existing key, a missing key and an outdated CAS return ErrChanged and change
// nothing.
func revisions(t *testing.T, s *store) {
	ctx := t.Context()
	if text, rev, err := s.Load(ctx, "a"); text != nil || rev != 0 || err != nil {
		t.Errorf("a text that does not exist: %s, %d, %v", text, rev, err)
	}
	first, err := s.Swap(ctx, "a", []byte(`"1"`), 0)
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.Swap(ctx, "a", []byte(`"2"`), first)
	if err != nil || second == first {
		t.Fatalf("revisions %d and %d, %v", first, second, err)
	}
	for name, swap := range map[string]struct {
		name string
		rev  int64
	}{"the key exists": {"a", 0}, "the CAS is outdated": {"a", first}, "the key does not exist": {"b", second}} {
		if _, err := s.Swap(ctx, swap.name, []byte(`"3"`), swap.rev); !errors.Is(err, docengine.ErrChanged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if text, rev, err := s.Load(ctx, "a"); string(text) != `"2"` || rev != second || err != nil {
		t.Errorf("afterwards the text is %s, %d, %v", text, rev, err)
	}
	if err := s.Delete(ctx, []string{"nowhere"}); err != nil {
		t.Errorf("a text that does not exist is removed: %v", err)
	}
}

// subDocuments counts the leads of documents without reading the documents.
func subDocuments(t *testing.T, s *store) {
	ctx := t.Context()
	for id, body := range map[string]string{"two": `{"data":[{"fcst_lead":0},{"fcst_lead":3600}]}`, "none": `{"data":[]}`, "other": `{"x":1}`} {
		if err := s.upsert(ctx, id, []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[string]int64{"two": 2, "none": 0} {
		if n, err := s.leads(ctx, id); n != want || err != nil {
			t.Errorf("%s has %d leads, %v; want %d", id, n, err, want)
		}
	}
	if _, err := s.leads(ctx, "other"); !errors.Is(err, gocbcore.ErrPathNotFound) {
		t.Errorf("a document without leads: %v", err)
	}
	if _, err := s.leads(ctx, "absent"); !errors.Is(err, gocbcore.ErrDocumentNotFound) {
		t.Errorf("no document: %v", err)
	}
}

// documents returns n documents, and their ids.
func documents(n int) (docs []docengine.Document, ids []string) {
	for i := range n {
		id := fmt.Sprintf("id%05d", i)
		docs, ids = append(docs, docengine.Document{ID: id, Body: fmt.Appendf(nil, "%d", i)}), append(ids, id)
	}
	return docs, ids
}

// bulkGets checks that documents come in the order of the ids, whatever the order of the replies, and that ids
// without a document are omitted.
func bulkGets(t *testing.T, s *store) {
	ctx := t.Context()
	docs, ids := documents(2000)
	if err := s.Write(ctx, "a", nil, docs); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	var asked []string
	for i, id := range ids {
		asked = append(asked, id)
		if i%3 == 0 {
			asked = append(asked, "absent"+id)
		}
	}
	var got []string
	err := s.get(ctx, asked, func(id string, text []byte) error {
		if id != fmt.Sprintf("id%05s", text) {
			t.Errorf("%s contains %s", id, text)
		}
		got = append(got, id)
		return nil
	})
	if err != nil || !slices.Equal(got, ids) {
		t.Errorf("%d documents of %d came, or not in order; %v", len(got), len(ids), err)
	}
	enough, seen := errors.New("enough"), 0
	err = s.get(ctx, ids, func(string, []byte) error {
		if seen++; seen == 300 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || seen != 300 {
		t.Errorf("stopped after %d: %v", seen, err)
	}
	gone, stop := context.WithCancel(ctx)
	if err := s.get(gone, ids, func(string, []byte) error { stop(); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled at the first document: %v", err)
	}
}

// concurrentClients checks that several clients with many ids together stay below the number of operations that
// the SDK can queue.
func concurrentClients(t *testing.T, s *store) {
	docs, ids := documents(1500)
	if err := s.Write(t.Context(), "a", nil, docs); err != nil {
		t.Fatal(err)
	}
	group, ctx := errgroup.WithContext(t.Context())
	for range 4 {
		group.Go(func() error {
			n := 0
			err := s.get(ctx, ids, func(string, []byte) error { n++; return nil })
			if err == nil && n != len(ids) {
				err = fmt.Errorf("%d documents of %d", n, len(ids))
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}

// manyFields updates more fields than one sub-document operation can change. Such an update replaces the document
// and must not lose concurrent updates.
func manyFields(t *testing.T, s *store) {
	table := kv.Table{Name: "t", Make: true}
	for i := range maxChanges + 4 {
		table.Fields = append(table.Fields, fmt.Sprint("f", i))
	}
	r, err := kvTables{s.database}.Table(t.Context(), table)
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var row, want kv.Row
	for i := range table.Fields {
		row.AddString(i, "old")
	}
	if err := c.Insert(t.Context(), []byte("k"), &row); err != nil {
		t.Fatal(err)
	}
	group, ctx := errgroup.WithContext(t.Context())
	for w := range 2 { // each repeatedly updates the common fields, and finally one field of its own
		c, err := r.Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		group.Go(func() error {
			var some, last kv.Row
			for i := range maxChanges + 2 {
				some.AddString(i, "new")
			}
			last.AddString(maxChanges+2+w, "new")
			for range 10 {
				if err := c.Update(ctx, []byte("k"), &some); err != nil {
					return err
				}
			}
			return c.Update(ctx, []byte("k"), &last)
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	for i := range table.Fields {
		want.AddString(i, "new")
	}
	row.Reset()
	if err := c.Read(t.Context(), []byte("k"), nil, &row); err != nil || !row.Equal(&want) {
		t.Errorf("%v, %s", err, row.Data())
	}
	if err := c.Update(t.Context(), []byte("absent"), &want); !errors.Is(err, kv.ErrNotFound) {
		t.Errorf("an update of no record: %v", err)
	}
}

// control sends a command to the mock (see its README), for all buckets.
func control(t *testing.T, l *lab.Lab, command string) {
	t.Helper()
	rest(t, l, http.MethodGet, "/mock/"+command, nil)
}

// temporary is the status of a temporary failure, and get is the opcode of the operation that the mock lets fail.
const (
	temporary = 0x86
	get       = 0x00
)

func fail(t *testing.T, l *lab.Lab, times int) {
	t.Helper()
	control(t, l, fmt.Sprintf("OPFAIL?code=%d&count=%d&operation=%d", temporary, times, get))
}

// retries checks that a failed operation is repeated until the time-out or not at all, as the URL demands, and that
// a failure is never taken for a missing document.
func retries(t *testing.T, l *lab.Lab, named func(*testing.T) string) {
	raw := named(t)
	patient, hasty, eager := reach(t, raw), reach(t, raw+"&retry=fail-fast"), reach(t, raw+"&kv_timeout=300ms")
	docs, ids := documents(4)
	if err := patient.Write(t.Context(), "a", nil, docs); err != nil {
		t.Fatal(err)
	}
	read := func(s *store) (n int, err error) {
		err = s.get(t.Context(), ids, func(string, []byte) error { n++; return nil })
		return n, err
	}
	fail(t, l, 6)
	if n, err := read(patient); n != len(ids) || err != nil {
		t.Errorf("after some failures %d documents are read, %v", n, err)
	}
	fail(t, l, -1)
	defer fail(t, l, 0)
	if n, err := read(hasty); !errors.Is(err, gocbcore.ErrTemporaryFailure) {
		t.Errorf("without retries: %d documents, %v", n, err)
	}
	if n, err := read(eager); !errors.Is(err, gocbcore.ErrTimeout) {
		t.Errorf("failing until the time-out: %d documents, %v", n, err)
	}
}

// timeOuts checks that a late reply is an error and no missing document, and that the client uses the server again
// when it answers.
func timeOuts(t *testing.T, l *lab.Lab, named func(*testing.T) string) {
	s := reach(t, named(t)+"&kv_timeout=200ms")
	docs, ids := documents(3)
	if err := s.Write(t.Context(), "a", nil, docs); err != nil {
		t.Fatal(err)
	}
	control(t, l, "HICCUP?msecs=700&offset=1")
	err := s.get(t.Context(), ids, func(string, []byte) error { return nil })
	if !errors.Is(err, gocbcore.ErrTimeout) {
		t.Errorf("a server that sleeps: %v", err)
	}
	control(t, l, "HICCUP?msecs=0&offset=0")
	n := 0
	for errors.Is(err, gocbcore.ErrTimeout) { // it still sleeps once for each request that it got before
		n = 0
		err = s.get(t.Context(), ids, func(string, []byte) error { n++; return nil })
	}
	if n != len(ids) || err != nil {
		t.Errorf("when the server is awake again, %d documents are read, %v", n, err)
	}
}

// durability checks that the first durable write to a server without durability is an error, and that nothing is
// reported as stored.
func durability(t *testing.T, s *store) {
	if err := s.Put(t.Context(), "a", []byte(`"1"`)); !errors.Is(err, gocbcore.ErrFeatureNotAvailable) {
		t.Errorf("a durable write to a server without durability: %v", err)
	}
	docs, _ := documents(3)
	if err := s.Write(t.Context(), "a", nil, docs); !errors.Is(err, gocbcore.ErrFeatureNotAvailable) {
		t.Errorf("durable documents: %v", err)
	}
	a, err := s.Open(t.Context(), design.Document)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Loader(t.Context(), "a"); !errors.Is(err, gocbcore.ErrFeatureNotAvailable) {
		t.Errorf("a durable load: %v", err)
	}
	if names, err := a.Subsets(t.Context()); len(names) > 0 || err != nil {
		t.Errorf("afterwards the subsets are %v, %v", names, err)
	}
}

// longTexts stores texts that are longer than Couchbase's limit of a document. Each stored document must be shorter,
// and a replaced or deleted text must leave no piece.
func longTexts(t *testing.T, s *store) {
	ctx, short, other := t.Context(), []byte(`{"SL1L2":["a"]}`), []byte(`["a"]`)
	long := func(c string) []byte { return []byte(`{"SL1L2":["` + strings.Repeat(c, 2*pieceBytes) + `"]}`) }
	pieces := func() []string {
		t.Helper()
		names, err := s.pieces(ctx, "ids::a::1")
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	if err := s.Put(ctx, "ids::a::2", other); err != nil {
		t.Fatal(err)
	}
	var before []string
	for _, text := range [][]byte{short, long("x"), long("y"), short} {
		if err := s.Put(ctx, "ids::a::1", text); err != nil {
			t.Fatal(err)
		}
		got, err := s.Get(ctx, []string{"ids::a::1", "ids::a::2", "absent"})
		if err != nil || len(got) != 2 || string(got["ids::a::1"]) != string(text) || string(got["ids::a::2"]) != string(other) {
			t.Fatalf("%d texts, the first of %d bytes, not %d; %v", len(got), len(got["ids::a::1"]), len(text), err)
		}
		names := pieces()
		if (len(names) == 3) != (len(text) > pieceBytes) {
			t.Errorf("a text of %d bytes has the pieces %q", len(text), names)
		}
		stored, err := s.texts(ctx, append(slices.Clone(names), before...))
		if err != nil || len(stored) != len(names) {
			t.Errorf("%d pieces are stored, %d of them of the current text; %v", len(stored), len(names), err)
		}
		for name, piece := range stored {
			if len(piece) > pieceBytes {
				t.Errorf("%s has %d bytes", name, len(piece))
			}
		}
		before = names
	}
	if err := s.Put(ctx, "ids::a::1", long("z")); err != nil {
		t.Fatal(err)
	}
	names := pieces()
	if err := s.docs.remove(ctx, keyOf(metaPrefix+names[1])); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(ctx, []string{"ids::a::1"}); err == nil || !strings.Contains(err.Error(), names[1]+" is missing") {
		t.Errorf("a text without its second piece: %v", err)
	}
	if err := s.Delete(ctx, []string{"ids::a::1", "absent"}); err != nil {
		t.Fatal(err)
	}
	if left, err := s.texts(ctx, append(names, "ids::a::1")); err != nil || len(left) > 0 {
		t.Errorf("after the deletion %d texts are left, %v", len(left), err)
	}
}
