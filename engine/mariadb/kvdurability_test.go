package mariadb_test

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/engine/mariadb"
	"github.com/barograph/barograph/lab"
)

// A table of another storage engine does not have the durability that About reports of InnoDB.
func TestTableOfAnotherStorageEngine(t *testing.T) {
	l := mariadb.Servers.Lab(t, mariadb.Driver(), lab.Options{Memory: 1 << 30})
	e, err := engine.Registry{mariadb.Driver()}.Open(t.Context(), l.URL()+"weighed_", engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	r, err := kv.DatabaseOf(e).Table(t.Context(), kv.Table{Name: "weighed", Fields: []string{"a"}, Layout: kv.Columns, Make: true})
	if err != nil {
		t.Fatal(err)
	}
	weigh := func() engine.About {
		a := engine.About{Acknowledged: "InnoDB: on disk", Promises: engine.Promises(), Flushed: true, Settings: map[string]string{}}
		if err := r.DescribeDurability(t.Context(), &a); err != nil {
			t.Fatal(err)
		}
		return a
	}
	if a := weigh(); a.Acknowledged != "InnoDB: on disk" || !a.Flushed || a.Settings["table.engine"] != "InnoDB" || a.Settings["table.row_format"] == "" {
		t.Errorf("InnoDB: %+v", a)
	}
	t.Cleanup(func() { drop(t, l, "weighed_") })
	db, err := sql.Open("mysql", dsn(t, l.URL(), "/"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "ALTER TABLE weighed_ycsb.weighed ENGINE=Aria"); err != nil {
		t.Fatal(err)
	}
	if a := weigh(); !strings.Contains(a.Acknowledged, "Aria") || len(a.Promises) != 0 || a.Flushed {
		t.Errorf("Aria: %+v", a)
	}
}
