package enginetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
)

// kvFields are the fields of the suite's tables.
var kvFields = []string{"field0", "field1", "Field2", "f3"} //nolint:gochecknoglobals // a constant table

// kvTable returns the suite's table with a layout.
func kvTable(l kv.Layout) kv.Table {
	return kv.Table{Name: "usertable", Fields: kvFields, Layout: l, Make: true}
}

// RunRecords runs only the tests of records under keys, for a server or a setting in addition to the one of Run.
func RunRecords(t *testing.T, cfg Config) { cfg.runKV(t) }

// runKV runs the tests of records under keys.
func (c Config) runKV(t *testing.T) {
	t.Run("records", c.kvOffer)
	t.Run("metrics", c.metrics)
	for _, l := range kv.OfferOf(&c.Driver).Layouts {
		t.Run("records/layout="+string(l), func(t *testing.T) {
			e, err := engine.Registry{c.Driver}.Open(t.Context(), c.URL(t), engine.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			r, err := kv.DatabaseOf(e).Table(t.Context(), kvTable(l))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			t.Run("history", func(t *testing.T) {
				steps := 300
				if c.thin() {
					steps = 100
				}
				for seed := range c.repetitions(t, 3, 1) {
					if err := CheckKV(t.Context(), r, uint64(seed), steps); err != nil {
						t.Fatalf("seed %d: %v", seed, err)
					}
				}
			})
			t.Run("layouts", func(t *testing.T) { c.otherLayouts(t, e, l) })
			k := kvSuite{r, l}
			t.Run("scans", func(t *testing.T) {
				switch _, none := kv.OfferOf(&c.Driver).NoScan[l]; {
				case none != (k.connect(t).Scan == nil):
					t.Fatalf("the driver offers no scan: %v; Scan is nil: %v", none, !none)
				case none:
					t.Skip("the driver offers no scan of this layout")
				}
				k.scans(t)
			})
			t.Run("values", k.values)
			t.Run("order", k.order)
			t.Run("batches", k.batches)
			t.Run("workers", k.workers)
			t.Run("paths", k.paths)
			t.Run("transactions", func(t *testing.T) { c.kvTransactions(t, k) })
			t.Run("cancel", k.cancel)
			t.Run("clear", k.clear)
		})
		if c.Reopenable {
			t.Run("records/layout="+string(l)+"/persist", func(t *testing.T) { c.kvPersist(t, l) })
		}
	}
}

// otherLayouts opens a table of one layout with the other layouts. That must fail, because the times of
// one layout must not be reported as those of another.
func (c Config) otherLayouts(t *testing.T, e *engine.Engine, layout kv.Layout) {
	for _, l := range kv.OfferOf(&c.Driver).Layouts {
		if l == layout {
			continue
		}
		table := kvTable(l)
		table.Make = false
		r, err := kv.DatabaseOf(e).Table(t.Context(), table)
		if err == nil {
			t.Errorf("a table made as %s was opened as %s", layout, l)
			r.Close()
		}
	}
}

// kvOffer compares the Driver with the Engine, and tests misuse of tables.
func (c Config) kvOffer(t *testing.T) {
	e, err := engine.Registry{c.Driver}.Open(t.Context(), c.URL(t), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if (kv.DatabaseOf(e) == nil) != (len(kv.OfferOf(&c.Driver).Layouts) == 0) {
		t.Fatalf("the driver offers the layouts %v; the engine has the ability: %t",
			kv.OfferOf(&c.Driver).Layouts, kv.DatabaseOf(e) != nil)
	}
	if kv.DatabaseOf(e) == nil {
		return
	}
	unknown := kv.Table{Name: "t", Fields: kvFields, Layout: "origami", Make: true}
	if _, err := kv.DatabaseOf(e).Table(t.Context(), unknown); !errors.Is(err, engine.ErrNoDesign) {
		t.Errorf("an unknown layout: %v", err)
	}
	absent := kv.Table{Name: "absent", Fields: kvFields}
	if _, err := kv.DatabaseOf(e).Table(t.Context(), absent); err == nil || !strings.Contains(err.Error(), "load") {
		t.Errorf("a table that was not loaded: %v", err)
	}
	for _, bad := range []kv.Table{
		{Name: "a; DROP TABLE b", Fields: kvFields, Make: true},
		{Name: "t", Fields: []string{"x", "X"}, Make: true},
		{Name: "t", Make: true},
		{Name: "t", Fields: []string{"ycsb_key"}, Make: true},
		{Name: "t", Fields: []string{"'"}, Make: true},
	} {
		if _, err := kv.DatabaseOf(e).Table(t.Context(), bad); err == nil {
			t.Errorf("%+v was made", bad)
		}
	}
}

// kvSuite is an open table.
type kvSuite struct {
	*kv.Records
	layout kv.Layout
}

func (k kvSuite) connect(t *testing.T) *kv.Conn {
	t.Helper()
	c, err := k.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// kvRecord returns a row with all fields.
func kvRecord(values ...string) *kv.Row {
	r := &kv.Row{}
	for i := range kvFields {
		r.AddString(i, values[i%len(values)])
	}
	return r
}

func scanKeys(ctx context.Context, c *kv.Conn, from string, n int) (keys []string, err error) {
	err = c.Scan(ctx, []byte(from), n, nil, func(key []byte, r *kv.Row) error {
		if r.Len() != len(kvFields) {
			return fmt.Errorf("record %s has %d fields of %d", key, r.Len(), len(kvFields))
		}
		keys = append(keys, string(key))
		return nil
	})
	return keys, err
}

// existingKeys returns which of some keys have a record, ascending. It scans, or reads if the layout cannot be scanned.
func existingKeys(ctx context.Context, c *kv.Conn, from string, keys []string) (existing []string, err error) {
	if c.Scan != nil {
		all, err := scanKeys(ctx, c, from, 2*len(keys))
		return slices.DeleteFunc(all, func(key string) bool { return !slices.Contains(keys, key) }), err
	}
	var row kv.Row
	for _, key := range keys {
		row.Reset()
		err := c.Read(ctx, []byte(key), nil, &row)
		if err == nil {
			existing = append(existing, key)
		} else if !errors.Is(err, kv.ErrNotFound) {
			return existing, err
		}
	}
	return existing, nil
}

// scans scans 0, 1, n and n+1 records, records after the last key, and ranges that end before the last
// record. go-ycsb's etcd binding fails if more keys follow, its pg, mysql and sqlite bindings return records without
// an order, and YCSB divides by the number of records, also if it is zero.
func (k kvSuite) scans(t *testing.T) {
	c := k.connect(t)
	var all []string
	for i := range 9 {
		all = append(all, fmt.Sprintf("scan%d", i))
	}
	for _, i := range []int{4, 2, 8, 0, 6, 1, 7, 3, 5} {
		if err := c.Insert(t.Context(), []byte(all[i]), kvRecord("v")); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range []struct {
		from string
		n    int
		want []string
	}{
		{"scan0", 0, nil},
		{"scan0", 1, all[:1]},
		{"scan0", 8, all[:8]},
		{"scan0", 9, all},
		{"scan0", 10, all},
		{"scan", 3, all[:3]},
		{"scan35", 2, all[4:6]},
		{"scan8", 5, all[8:]},
		{"scan9", 5, nil},
		{"~", 1000, nil},
	} {
		got, err := scanKeys(t.Context(), c, x.from, x.n)
		if err != nil || !slices.Equal(got, x.want) {
			t.Errorf("scan of %d from %s: %v, %v; want %v", x.n, x.from, got, err, x.want)
		}
	}
	stop := errors.New("enough")
	seen := 0
	err := c.Scan(t.Context(), []byte("scan0"), 5, kv.Fields{1}, func(_ []byte, r *kv.Row) error {
		if f, v := r.At(0); r.Len() != 1 || f != 1 || string(v) != "v" {
			t.Errorf("one field of a scan: %d fields, field %d is %q", r.Len(), f, v)
		}
		if seen++; seen == 2 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || seen != 2 {
		t.Errorf("a scan that is stopped: %v after %d records", err, seen)
	}
	if got, err := scanKeys(t.Context(), c, "scan0", 2); err != nil || !slices.Equal(got, all[:2]) {
		t.Errorf("the scan after it: %v, %v", got, err)
	}
}

// values stores YCSB's kinds of values and others.
func (k kvSuite) values(t *testing.T) {
	c := k.connect(t)
	var printable []byte
	for b := byte(' '); b <= 127; b++ {
		printable = append(printable, b)
	}
	values := []string{
		"", " ", "a ", string(printable), `"\" \\ \u0041 ''`, "äß水", "\t\n\r\x01", "null", "12",
		strings.Repeat("x", 4095), strings.Repeat("y", 4096), strings.Repeat(`"`, 70_000),
	}
	for i, v := range values {
		key, row, got := fmt.Appendf(nil, "value%d", i), kvRecord(v, "other"), &kv.Row{}
		if err := c.Insert(t.Context(), key, row); err != nil {
			t.Fatalf("%.40q: %v", v, err)
		}
		if err := c.Read(t.Context(), key, nil, got); err != nil || !got.Equal(row) {
			t.Errorf("%.40q is read as %v, %.80q", v, err, got.Data())
		}
		part := &kv.Row{}
		part.AddString(1, v)
		part.AddString(3, v+"!")
		if err := c.Update(t.Context(), key, part); err != nil {
			t.Fatalf("update to %.40q: %v", v, err)
		}
		got.Reset()
		want := &kv.Row{}
		for f, s := range []string{v, v, v, v + "!"} {
			want.AddString(f, s)
		}
		if err := c.Read(t.Context(), key, nil, got); err != nil || !got.Equal(want) {
			t.Errorf("updated to %.40q, it is read as %v, %.80q", v, err, got.Data())
		}
		got.Reset()
		if err := c.Read(t.Context(), key, kv.Fields{1, 3}, got); err != nil || !got.Equal(part) {
			t.Errorf("two fields of %.40q: %v, %.80q", v, err, got.Data())
		}
	}
}

// order tests that keys are distinguished and ordered bytewise.
func (k kvSuite) order(t *testing.T) {
	c := k.connect(t)
	keys := []string{
		"order/A", "order/B", "order/a", "order/a ", "order/a  ", "order/aa", "order/user10", "order/user9", "order/ä",
	}
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(len(keys)) {
		if err := c.Insert(t.Context(), []byte(keys[i]), kvRecord(keys[i])); err != nil {
			t.Fatalf("%q: %v", keys[i], err)
		}
	}
	if c.Scan != nil {
		if got, err := scanKeys(t.Context(), c, "order/", len(keys)); err != nil || !slices.Equal(got, keys) {
			t.Errorf("order %q, %v; want %q", got, err, keys)
		}
	}
	for _, key := range keys {
		got := &kv.Row{}
		if err := c.Read(t.Context(), []byte(key), nil, got); err != nil || !got.Equal(kvRecord(key)) {
			t.Errorf("%q is read as %v, %q", key, err, got.Data())
		}
	}
	if err := c.Read(t.Context(), []byte("ORDER/A"), nil, &kv.Row{}); !errors.Is(err, kv.ErrNotFound) {
		t.Errorf("a key in another case: %v", err)
	}
}

// batches tests that a batch stores all records or none, and every field of each (go-ycsb's batch insert of
// the run phase writes one field of ten).
func (k kvSuite) batches(t *testing.T) {
	c := k.connect(t)
	if c.InsertMany == nil {
		t.Skip("the engine inserts no batches")
	}
	batch := func(names ...string) (rows []kv.KeyRow) {
		for _, n := range names {
			rows = append(rows, kv.KeyRow{Key: []byte("batch" + n), Row: kvRecord(n, n+"'", n+`"`, "")})
		}
		return rows
	}
	keys := func() []string {
		got, err := existingKeys(t.Context(), c, "batch", []string{"batch0", "batch1", "batch2", "batch3", "batch4"})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for _, rows := range [][]kv.KeyRow{batch("1", "2", "3"), batch("4"), batch()} {
		if err := c.InsertMany(t.Context(), rows); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"batch1", "batch2", "batch3", "batch4"}
	if got := keys(); !slices.Equal(got, want) {
		t.Fatalf("the batches stored %v", got)
	}
	for _, rows := range [][]kv.KeyRow{batch("0", "3"), batch("0", "0")} {
		if err := c.InsertMany(t.Context(), rows); !errors.Is(err, kv.ErrExists) {
			t.Errorf("a batch with a key that is taken: %v", err)
		}
	}
	if got := keys(); !slices.Equal(got, want) {
		t.Errorf("after failed batches there are %v", got)
	}
	got := &kv.Row{}
	if err := c.Read(t.Context(), []byte("batch3"), nil, got); err != nil || !got.Equal(batch("3")[0].Row) {
		t.Errorf("a record of a batch: %v, %q", err, got.Data())
	}
}

// workers tests concurrency. Of several inserts of one key one must succeed. Updates of different fields of
// one record must all be stored. An inserted record is deleted at most once, also if another worker inserts its key
// again meanwhile: a delete that reports a missing record must delete nothing.
func (k kvSuite) workers(t *testing.T) {
	const workers, rounds, contested = 4, 25, "worker99"
	var mu sync.Mutex
	inserts, deletes := map[string]int{}, map[string]int{}
	shared := kvRecord("-")
	if err := k.connect(t).Insert(t.Context(), []byte("shared"), shared); err != nil {
		t.Fatal(err)
	}
	count := func(m map[string]int, key []byte, err, expected error) error {
		if err == nil {
			mu.Lock()
			defer mu.Unlock()
			m[string(key)]++
		} else if !errors.Is(err, expected) {
			return err
		}
		return nil
	}
	g, ctx := errgroup.WithContext(t.Context())
	for w := range workers {
		c := k.connect(t)
		g.Go(func() error {
			row := &kv.Row{}
			for i := range rounds {
				key := fmt.Appendf(nil, "worker%02d", i)
				if err := count(inserts, key, c.Insert(ctx, key, kvRecord("w")), kv.ErrExists); err != nil {
					return err
				}
				row.Reset()
				row.AddString(w, fmt.Sprint(i))
				if err := c.Update(ctx, []byte("shared"), row); err != nil {
					return err
				}
				if c.Delete == nil {
					continue
				}
				key = fmt.Appendf(nil, "worker%02d", i/2)
				if err := count(deletes, key, c.Delete(ctx, key), kv.ErrNotFound); err != nil {
					return err
				}
				var err error
				if key = []byte(contested); w%2 == 0 {
					err = count(inserts, key, c.Insert(ctx, key, kvRecord("w")), kv.ErrExists)
				} else {
					err = count(deletes, key, c.Delete(ctx, key), kv.ErrNotFound)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for i := range rounds {
		keys = append(keys, fmt.Sprintf("worker%02d", i))
	}
	if k.connect(t).Delete != nil {
		keys = append(keys, contested)
	}
	existing, err := existingKeys(t.Context(), k.connect(t), "worker", keys)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		left := inserts[key] - deletes[key]
		if has := slices.Contains(existing, key); inserts[key] < 1 || left != 0 && left != 1 || has != (left == 1) {
			t.Errorf("%s: %d inserts and %d deletes succeeded; it exists: %v", key, inserts[key], deletes[key], has)
		}
	}
	got := &kv.Row{}
	err = k.connect(t).Read(t.Context(), []byte("shared"), nil, got)
	if err != nil || !got.Equal(kvRecord(fmt.Sprint(rounds-1))) {
		t.Errorf("updates of different fields by workers: %v, %q", err, got.Data())
	}
}

// paths reads and updates values within documents.
func (k kvSuite) paths(t *testing.T) {
	c := k.connect(t)
	if c.ReadPath == nil {
		t.Skip("the layout has no documents, or the engine does not reach into them")
	}
	key, got := []byte("path"), &kv.Row{}
	if err := c.Insert(t.Context(), key, kvRecord("a", "b", "c", "d")); err != nil {
		t.Fatal(err)
	}
	if err := c.ReadPath(t.Context(), key, "$.Field2", got); err != nil || string(got.Data()) != "c" {
		t.Errorf("a path: %v, %q", err, got.Data())
	}
	for _, x := range []struct{ key, path string }{{"absent", "$.f3"}, {"path", "$.f4"}} {
		if err := c.ReadPath(t.Context(), []byte(x.key), x.path, got); !errors.Is(err, kv.ErrNotFound) {
			t.Errorf("%v: %v", x, err)
		}
	}
	if c.UpdatePath == nil {
		return
	}
	if err := c.UpdatePath(t.Context(), key, "$.f3", []byte(`"new"`)); err != nil {
		t.Fatal(err)
	}
	if err := c.UpdatePath(t.Context(), []byte("absent"), "$.f3", []byte("x")); !errors.Is(err, kv.ErrNotFound) {
		t.Errorf("a path of no record: %v", err)
	}
	got.Reset()
	if err := c.Read(t.Context(), key, nil, got); err != nil || !got.Equal(kvRecord("a", "b", "c", `"new"`)) {
		t.Errorf("after the update of a path: %v, %q", err, got.Data())
	}
}

// cancel tests calls with a canceled context: they must return its error. An error must not count as success, as in
// go-ycsb's redis binding.
func (k kvSuite) cancel(t *testing.T) {
	c := k.connect(t)
	if err := c.Insert(t.Context(), []byte("cancel"), kvRecord("v")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	row := &kv.Row{}
	errs := map[string]error{
		"read":   c.Read(ctx, []byte("cancel"), nil, row),
		"insert": c.Insert(ctx, []byte("cancel2"), kvRecord("v")),
		"update": c.Update(ctx, []byte("cancel"), kvRecord("w")),
	}
	if c.Delete != nil {
		errs["delete"] = c.Delete(ctx, []byte("cancel"))
	}
	if c.InsertMany != nil {
		errs["batch"] = c.InsertMany(ctx, []kv.KeyRow{{Key: []byte("cancel3"), Row: kvRecord("v")}})
	}
	if c.ReadPath != nil {
		errs["path"] = c.ReadPath(ctx, []byte("cancel"), "$.f3", row)
	}
	if c.Scan != nil {
		errs["scan"] = c.Scan(ctx, []byte("cancel"), 1, nil, func([]byte, *kv.Row) error { return nil })
	}
	for name, err := range errs {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a canceled context: %v", name, err)
		}
	}
}

// clear removes all records, twice, and inserts one of them again.
func (k kvSuite) clear(t *testing.T) {
	if k.Clear == nil {
		t.Skip("the engine removes single records only")
	}
	c := k.connect(t)
	keys := []string{"clear1", "clear2"}
	for range 2 {
		for _, key := range keys {
			if err := c.Insert(t.Context(), []byte(key), kvRecord(key)); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if err := k.Clear(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		left, err := scanKeys(t.Context(), c, "", 10)
		n, failed := k.Count(t.Context())
		if err != nil || failed != nil || n != 0 || len(left) != 0 {
			t.Errorf("the cleared table has %d records, %q; %v, %v", n, left, err, failed)
		}
	}
}

// kvPersist reopens a table, first for writing and then read-only.
func (c Config) kvPersist(t *testing.T, l kv.Layout) {
	url := c.URL(t)
	table := kvTable(l)
	withTable := func(o engine.Options, f func(r *kv.Records, c *kv.Conn)) {
		t.Helper()
		e, err := engine.Registry{c.Driver}.Open(t.Context(), url, o)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		r, err := kv.DatabaseOf(e).Table(t.Context(), table)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		conn, err := r.Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		f(r, conn)
	}
	var keys []string
	for i := range 20 {
		keys = append(keys, fmt.Sprintf("k%02d", i))
	}
	withTable(engine.Options{}, func(_ *kv.Records, c *kv.Conn) {
		for i, key := range keys {
			if err := c.Insert(t.Context(), []byte(key), kvRecord(fmt.Sprint(i))); err != nil {
				t.Fatal(err)
			}
		}
	})
	table.Make = false
	for _, o := range []engine.Options{{}, {ReadOnly: true}} {
		withTable(o, func(r *kv.Records, c *kv.Conn) {
			if got, err := existingKeys(t.Context(), c, "", keys); err != nil || len(got) != 20 {
				t.Errorf("opened again, there is %v, %v", got, err)
			}
			if r.Count != nil {
				if n, err := r.Count(t.Context()); err != nil || n != 20 {
					t.Errorf("opened again, there are %d records, %v", n, err)
				}
			}
			if r.Partitions != nil { // by prefixes of keys that are longer than these keys
				if n, err := r.Partitions(t.Context()); err != nil || n != 20 {
					t.Errorf("opened again, there are %d partitions, %v", n, err)
				}
			}
			if err := c.Update(t.Context(), []byte("k00"), kvRecord("0")); (err == nil) == o.ReadOnly {
				t.Errorf("an update with %+v: %v", o, err)
			}
			if o.ReadOnly && r.Clear != nil && r.Clear(t.Context()) == nil {
				t.Error("a read-only table was cleared")
			}
		})
	}
	table.Make = true // Make must not lose anything
	withTable(engine.Options{}, func(_ *kv.Records, c *kv.Conn) {
		if err := c.Insert(t.Context(), []byte("k00"), kvRecord("x")); !errors.Is(err, kv.ErrExists) {
			t.Errorf("a second load: %v; want 0 new records", err)
		}
	})
}
