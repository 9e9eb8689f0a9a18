package postgres_test

import (
	"strings"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/engine/postgres"
	"github.com/barograph/barograph/lab"
)

// A write to an unlogged table is less durable than the server's settings promise, even if only a partition is
// unlogged.
func TestUnloggedTable(t *testing.T) {
	d := databases{server: servers.Lab(t, postgres.Driver(), lab.Options{})}
	for layout, unlogged := range map[kv.Layout]string{kv.Columns: "weighed_columns", kv.Hash: "weighed_hash_hash_3"} {
		url := d.url(t)
		e, err := engine.Registry{postgres.Driver()}.Open(t.Context(), url, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		r, err := kv.DatabaseOf(e).Table(t.Context(), kv.Table{Name: "weighed_" + string(layout), Fields: []string{"a"}, Layout: layout, Make: true})
		if err != nil {
			t.Fatal(err)
		}
		weigh := func() engine.About {
			a := engine.About{Acknowledged: "on disk", Promises: engine.Promises(), Flushed: true}
			if err := r.DescribeDurability(t.Context(), &a); err != nil {
				t.Fatal(err)
			}
			return a
		}
		if a := weigh(); a.Acknowledged != "on disk" || len(a.Promises) != 5 || !a.Flushed {
			t.Errorf("%s, logged: %+v", layout, a)
		}
		execute(t, url, "ALTER TABLE "+unlogged+" SET UNLOGGED")
		if a := weigh(); !strings.Contains(a.Acknowledged, "unlogged") || len(a.Promises) != 0 || a.Flushed {
			t.Errorf("%s, unlogged: %+v", layout, a)
		}
	}
}
