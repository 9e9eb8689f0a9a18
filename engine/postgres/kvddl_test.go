package postgres_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/engine/postgres"
	"github.com/barograph/barograph/lab"
)

// Users' scripts create tables of every physical layout; errors name a line.
func TestScripts(t *testing.T) {
	d := databases{server: servers.Lab(t, postgres.Driver(), lab.Options{})}
	const made = "CREATE TABLE usertable (ycsb_key varchar(255) COLLATE \"C\" PRIMARY KEY, field0 text, field1 text)"
	enginetest.RunScripts(t, enginetest.Config{
		Driver: postgres.Driver(),
		URL:    func(t *testing.T) string { return d.url(t) },
	}, []enginetest.Script{
		{Name: "plain", Text: made, Form: "TABLE usertable USING heap"},
		{
			Name: "unlogged with fillfactor",
			Text: "CREATE UNLOGGED TABLE usertable (YCSB_KEY varchar(255) PRIMARY KEY, FIELD0 varchar(42), FIELD1 char(1)) " +
				"WITH (fillfactor = 70);", Form: "UNLOGGED TABLE usertable USING heap WITH (fillfactor=70)",
		},
		{
			Name: "partitions", Form: "PARTITION usertable_3 FOR VALUES WITH (modulus 4, remainder 3)",
			Text: made + " PARTITION BY HASH (ycsb_key);\n" +
				"CREATE TABLE usertable_0 PARTITION OF usertable FOR VALUES WITH (MODULUS 4, REMAINDER 0);\nCREATE TABLE " +
				"usertable_1 PARTITION OF usertable FOR VALUES WITH (MODULUS 4, REMAINDER 1);\n" +
				"CREATE TABLE usertable_2 PARTITION OF usertable FOR VALUES WITH (MODULUS 4, REMAINDER 2);\nCREATE TABLE " +
				"usertable_3 PARTITION OF usertable FOR VALUES WITH (MODULUS 4, REMAINDER 3);\n",
		},
		{
			Name: "covering index, compression, trigger", Form: "INCLUDE (field0, field1)",
			Text: "CREATE TABLE usertable (ycsb_key text, field0 text, field1 text, more int DEFAULT 1 NOT NULL);\n" +
				"ALTER TABLE usertable ALTER field0 SET STORAGE EXTERNAL;\nCREATE UNIQUE INDEX covering ON usertable (ycsb_key) " +
				"INCLUDE (field0, field1);\nCOMMENT ON TABLE usertable IS 'mine';",
		},
		{
			Name: "document", Layout: kv.Document,
			Text: "CREATE TABLE usertable (ycsb_key text PRIMARY KEY, doc jsonb NOT NULL)", Form: "doc jsonb NOT NULL",
		},
		{
			Name: "syntax", Text: "-- mine\nCREATE TABLE usertable (\n  ycsb_key text PRIMARY KEY,\n  field0 txet\n);", Line: 4,
			Want: `type "txet" does not exist`,
		},
		{
			Name: "second statement", Text: made + ";\n\nCREATE INDEX ON usertable (field9);", Line: 3,
			Want: `column "field9" does not exist`,
		},
		{
			Name: "no column", Text: "\nCREATE TABLE usertable (ycsb_key text PRIMARY KEY, field0 text)", Line: 2,
			Want: "creates the table usertable without the column field1; add the column field1 text",
		},
		{
			Name: "quoted column", Text: `CREATE TABLE usertable (ycsb_key text PRIMARY KEY, field0 text, "FIELD1" text)`,
			Line: 1, Want: "without the column field1",
		},
		{
			Name: "type", Text: "CREATE TABLE usertable (ycsb_key text PRIMARY KEY, field0 text, field1 bytea)", Line: 1,
			Want: "with the column field1 of type bytea",
		},
		{
			Name: "no key", Text: "CREATE TABLE usertable (ycsb_key text, field0 text, field1 text)", Line: 1,
			Want: "without a primary key or unique index over only ycsb_key",
		},
		{
			Name: "key of two columns",
			Text: "CREATE TABLE usertable (ycsb_key text, field0 text, field1 text, PRIMARY KEY (ycsb_key, field0))", Line: 1,
			Want: "over only ycsb_key",
		},
		{
			Name: "column that is needed",
			Text: "CREATE TABLE usertable (ycsb_key text PRIMARY KEY, field0 text, field1 text, more int NOT NULL)", Line: 1,
			Want: "with the column more",
		},
		{
			Name: "another table", Text: "CREATE TABLE mine (ycsb_key text PRIMARY KEY, field0 text, field1 text)",
			Want: "creates no table usertable",
		},
		{Name: "nothing", Text: "-- to do\n", Want: "contains no statement"},
		{
			Name: "no transaction", Text: made + ";\nCREATE TABLESPACE mine LOCATION '/nowhere'", Line: 2,
			Want: "cannot run inside a transaction block",
		},
		{
			Name: "document without one", Layout: kv.Document,
			Text: "CREATE TABLE usertable (ycsb_key text PRIMARY KEY, doc json)", Line: 1,
			Want: "with the column doc of type json",
		},
	})
}

// Barograph accepts a user's table with any physical layout. The names of the partitions of the layout hash differ from
// those of a user's partitions, and a user's partitions are not that layout.
func TestExistingTable(t *testing.T) {
	d := databases{server: servers.Lab(t, postgres.Driver(), lab.Options{})}
	url := d.url(t)
	execute(t, url, "CREATE TABLE usertable (ycsb_key varchar(255) PRIMARY KEY, field0 text, field1 text) PARTITION BY "+
		"RANGE (ycsb_key)")
	for _, part := range []string{"usertable_0 PARTITION OF usertable FOR VALUES FROM (MINVALUE) TO " +
		"('user5')", "usertable_1 PARTITION OF usertable FOR VALUES FROM ('user5') TO (MAXVALUE)"} {
		execute(t, url, "CREATE UNLOGGED TABLE "+part)
	}
	e, err := engine.Registry{postgres.Driver()}.Open(t.Context(), url, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	table := kv.Table{Name: "usertable", Fields: []string{"field0", "field1"}, Layout: kv.Columns}
	r, err := kv.DatabaseOf(e).Table(t.Context(), table)
	if err != nil {
		t.Fatal(err)
	}
	if form, err := r.Form(t.Context()); err != nil || !strings.Contains(form, "PARTITION BY RANGE (ycsb_key)") ||
		!strings.Contains(form, "UNLOGGED PARTITION usertable_1 FOR VALUES FROM ('user5') TO (MAXVALUE)") {
		t.Errorf("%v\n%s", err, form)
	}
	about := engine.About{Promises: engine.Promises(), Flushed: true}
	if err := r.DescribeDurability(t.Context(), &about); err != nil || about.Flushed {
		t.Errorf("unlogged partitions: %+v, %v", about, err)
	}
	for _, c := range []struct {
		change func(*kv.Table)
		want   string
	}{
		{func(c *kv.Table) { c.Layout, c.Make = kv.Hash, true }, "its layout is not hash"},
		{func(c *kv.Table) { c.Layout = kv.Document }, "without the column doc"},
		{func(c *kv.Table) { c.Fields = []string{"field0", "field2"} }, "without the column field2"},
	} {
		other := table
		c.change(&other)
		if _, err := kv.DatabaseOf(e).Table(t.Context(), other); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q is wanted: %v", c.want, err)
		}
	}
	execute(t, url, "DROP TABLE usertable")
	execute(t, url, "CREATE TABLE usertable_0 (a int)") // the user's, of something else
	table.Layout, table.Make = kv.Hash, true
	if _, err = kv.DatabaseOf(e).Table(t.Context(), table); err != nil {
		t.Errorf("hash next to a table usertable_0: %v", err)
	}
}

// The lab's server counts statements.
func TestStatements(t *testing.T) {
	l := servers.Lab(t, postgres.Driver(), lab.Options{})
	e, err := engine.Registry{postgres.Driver()}.Open(t.Context(), l.URL(), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	before, err := e.Statements(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	execute(t, l.URL(), "CREATE TABLE counted (a int)")
	for range 3 {
		execute(t, l.URL(), "INSERT INTO counted\n\tSELECT generate_series(1, 5)")
	}
	after, err := e.Statements(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	execute(t, l.URL(), "DROP TABLE counted")
	for _, s := range after {
		if s.Text == "INSERT INTO counted SELECT generate_series($1, $2)" {
			if s.Calls != 3 || s.Rows != 15 || s.Time <= 0 || slices.ContainsFunc(before, func(b engine.Statement) bool { return b.ID == s.ID }) {
				t.Errorf("%+v", s)
			}
			return
		}
	}
	t.Errorf("the insert is not among %d statements: %+v", len(after), after)
}
