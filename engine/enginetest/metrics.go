package enginetest

import (
	"strconv"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
)

// metrics holds what a server tells of itself against what it did: totals have
// names, never shrink, and grow with the work that is done.
func (c Config) metrics(t *testing.T) {
	e, err := engine.Registry{c.Driver}.Open(t.Context(), c.URL(t), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if e.Metrics == nil || kv.Of(e) == nil {
		return // it promises none
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
	}
	if grown < 3 {
		t.Errorf("%d totals grew by 200 inserts: %+v", grown, after.Totals)
	}
	for _, s := range after.Sessions {
		if s.What == "" || s.Wait == "" || s.Count < 1 {
			t.Errorf("%+v", s)
		}
	}
}

// insertSome inserts 200 records and closes the connection.
func (c Config) insertSome(t *testing.T, e *engine.Engine) {
	t.Helper()
	r, err := kv.Of(e).Table(t.Context(), kvTable(kv.Promised(&c.Driver).Layouts[0]))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	conn, err := r.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for i := range 200 {
		var row kv.Row
		for f := range kvFields {
			row.AddString(f, "value")
		}
		if err := conn.Insert(t.Context(), []byte("metrics"+strconv.Itoa(i)), &row); err != nil {
			t.Fatal(err)
		}
	}
}
