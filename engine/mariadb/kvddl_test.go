package mariadb_test

import (
	"strconv"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/engine/mariadb"
	"github.com/barograph/barograph/lab"
)

// Users' scripts create tables of every physical layout; errors name a line.
func TestScripts(t *testing.T) {
	l := mariadb.Servers.Lab(t, mariadb.Driver(), lab.Options{Memory: 1 << 30})
	const made = "CREATE TABLE usertable (ycsb_key varchar(255) PRIMARY KEY, field0 text, field1 text)"
	enginetest.RunScripts(t, enginetest.Config{Driver: mariadb.Driver(), URL: fresh(l, "")}, []enginetest.Script{
		{Name: "plain", Text: made, Form: "CREATE TABLE `usertable`"},
		{
			Name: "another storage engine",
			Text: "CREATE TABLE usertable (YCSB_KEY varbinary(255) PRIMARY KEY, FIELD0 varchar(42), FIELD1 char(1)) " +
				"ENGINE=Aria;", Form: "ENGINE=Aria",
		},
		{
			Name: "compressed", Text: made + " ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8 COMMENT 'mine'",
			Form: "ROW_FORMAT=COMPRESSED",
		},
		{Name: "escapes", Text: made + ` COMMENT 'it\'s; mine'`, Form: "it''s; mine"},
		{Name: "partitions", Text: made + " PARTITION BY KEY (ycsb_key) PARTITIONS 5", Form: "PARTITIONS 5"},
		{Name: "ranges", Text: made +
			" PARTITION BY RANGE COLUMNS (ycsb_key) (PARTITION a VALUES LESS THAN ('user5'), PARTITION b VALUES LESS THAN " +
			"(MAXVALUE))", Form: "RANGE  COLUMNS(`ycsb_key`)"},
		{
			Name: "second index", Form: "KEY `covering` (`ycsb_key`,`field0`(10))",
			Text: "CREATE TABLE usertable (id int AUTO_INCREMENT PRIMARY KEY, ycsb_key varchar(255) UNIQUE, field0 longtext, " +
				"field1 text);\nCREATE INDEX covering ON usertable (ycsb_key, field0(10));",
		},
		{
			Name: "document", Layout: kv.Document,
			Text: "CREATE TABLE usertable (ycsb_key varchar(255) PRIMARY KEY, doc json NOT NULL)", Form: "json_valid",
		},
		{Name: "syntax", Text: "# mine\nCREATE TABLE usertable (\n  ycsb_key varchar(255) PRIMARY KEY,\n  field0 text " +
			"text\n);", Line: 4, Want: "near 'text )'"},
		{Name: "second statement", Text: made + ";\n\nCREATE INDEX i ON usertable (field9);", Line: 3, Want: "field9"},
		{
			Name: "no column", Text: "\nCREATE TABLE usertable (ycsb_key varchar(255) PRIMARY KEY, field0 text)", Line: 2,
			Want: "creates the table usertable without the column field1; add the column field1 longtext",
		},
		{
			Name: "type", Text: "CREATE TABLE usertable (ycsb_key varchar(255) PRIMARY KEY, field0 text, field1 int)", Line: 1,
			Want: "with the column field1 of type int",
		},
		{
			Name: "no key", Text: "CREATE TABLE usertable (ycsb_key varchar(255), field0 text, field1 text)", Line: 1,
			Want: "without a primary key or unique index over only ycsb_key",
		},
		{
			Name: "part of a key",
			Text: "CREATE TABLE usertable (ycsb_key varchar(255), field0 text, field1 text, UNIQUE (ycsb_key(10)))", Line: 1,
			Want: "over only ycsb_key",
		},
		{
			Name: "column that is needed",
			Text: "CREATE TABLE usertable (ycsb_key varchar(255) PRIMARY KEY, field0 text, field1 text, more int NOT NULL)",
			Line: 1, Want: "with the column more",
		},
		{
			Name: "another table", Text: "CREATE TABLE mine (ycsb_key varchar(255) PRIMARY KEY, field0 text, field1 text)",
			Want: "creates no table usertable",
		},
		{Name: "nothing", Text: "# to do\n", Want: "contains no statement"},
	})
}

// The performance schema counts statements, including prepared ones.
func TestObserved(t *testing.T) {
	l := mariadb.Servers.Lab(t, mariadb.Driver(), lab.Options{Memory: 1 << 30, Profile: "observed"})
	e, err := engine.Registry{mariadb.Driver()}.Open(t.Context(), fresh(l, "")(t), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	before, err := e.Statements(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := kv.DatabaseOf(e).Table(t.Context(), kv.Table{Name: "usertable", Fields: []string{"field0"}, Make: true})
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const inserts = 50
	for i := range inserts {
		var row kv.Row
		row.AddString(0, "value")
		if err := c.Insert(t.Context(), []byte("user"+strconv.Itoa(i)), &row); err != nil {
			t.Fatal(err)
		}
	}
	after, err := e.Statements(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var calls, rows int64
	for i, all := range [][]engine.Statement{before, after} {
		for _, s := range all {
			if sign := int64(2*i - 1); s.Text == "all executions of prepared statements together" {
				calls, rows = calls+sign*s.Calls, rows+sign*s.Rows
			}
		}
	}
	if calls < inserts || rows < inserts || rows > 2*inserts {
		t.Errorf("%d calls and %d rows of %d inserts: %+v", calls, rows, inserts, after)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
