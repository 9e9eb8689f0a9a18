package enginetest

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
)

// metrics compares a server's own counters with its work: totals have names, never shrink, and grow with the work.
func (c Config) metrics(t *testing.T) {
	e, err := engine.Registry{c.Driver}.Open(t.Context(), c.URL(t), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if e.Metrics == nil || kv.DatabaseOf(e) == nil {
		return // it offers no metrics
	}
	before, err := e.Metrics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.insertSome(t, e)
	after, err := e.Metrics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(before.Totals) == 0 || len(before.Totals) != len(after.Totals) {
		t.Fatalf("%d totals, then %d", len(before.Totals), len(after.Totals))
	}
	grown := 0
	for i, b := range before.Totals {
		a := after.Totals[i]
		if a.Name == "" || a.Name != b.Name || a.Unit != b.Unit || a.Value < b.Value {
			t.Errorf("%+v, then %+v", b, a)
		}
		if a.Value > b.Value {
			grown++
		}
		if isInserts.MatchString(a.Name) && (a.Value-b.Value < inserted || a.Value-b.Value > 1.5*inserted) {
			t.Errorf("%s counts %g of %d inserts as soon as their connections are closed", a.Name, a.Value-b.Value, inserted)
		}
	}
	if grown < 3 {
		t.Errorf("%d totals grew by the inserts: %+v", grown, after.Totals)
	}
	for _, s := range after.Sessions {
		if s.What == "" || s.Wait == "" || s.Count < 1 {
			t.Errorf("%+v", s)
		}
	}
}

// isInserts finds the totals that count inserted rows. A server may count a few rows of its own.
var isInserts = regexp.MustCompile(`(?i)^(tup|innodb_rows)_inserted$`)

// inserted is the number of records of insertSome.
const inserted = 200

// insertSome inserts records over twenty connections and closes the connections.
func (c Config) insertSome(t *testing.T, e *engine.Engine) {
	t.Helper()
	r, err := kv.DatabaseOf(e).Table(t.Context(), kvTable(kv.OfferOf(&c.Driver).Layouts[0]))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for first := range 20 {
		conn, err := r.Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for i := first; i < inserted; i += 20 {
			var row kv.Row
			for f := range kvFields {
				row.AddString(f, "value")
			}
			if err := conn.Insert(t.Context(), []byte("metrics"+strconv.Itoa(i)), &row); err != nil {
				t.Fatal(err)
			}
		}
	}
}
