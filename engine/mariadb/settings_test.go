package mariadb

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/record"
)

// TestServerSettings: global settings of a user's server change neither what Barograph stores nor what it reports.
func TestServerSettings(t *testing.T) {
	l := enginetest.Lab(t, Driver(), lab.Options{Memory: 1 << 30})
	admin := openIn(t, l, "admin_", design.Normalized)
	set := func(t *testing.T, name, value string) {
		t.Helper()
		before := texts(t, admin, "SELECT @@GLOBAL."+name)[0]
		if err := admin.exec(t.Context(), "SET GLOBAL "+name+" = "+value); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if _, err := strconv.ParseUint(before, 10, 64); err != nil {
				before = "'" + before + "'"
			}
			if err := admin.exec(context.Background(), "SET GLOBAL "+name+" = "+before); err != nil {
				t.Error(err)
			}
		})
	}
	one := func(file string) *record.Batch { return batch("SL1L2", file, header("V01", "M"), 2, nil) }

	t.Run("no warnings", func(t *testing.T) { // LOCAL converts errors of values to warnings
		set(t, "max_error_count", "0")
		a := openIn(t, l, "warnings_", design.Normalized)
		if _, err := commit(t, a, "s", one("a")); err != nil {
			t.Fatal(err)
		}
		c, err := a.db.writes.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		f := infile{table: a.table("s", "metadata"), columns: []string{"category"}, charset: "utf8mb4"}
		f.rows = func(out *rowWriter) error { return out.end(append(out.row(), strings.Repeat("x", 300)...)) }
		if _, err := f.load(t.Context(), c); err == nil || !strings.Contains(err.Error(), "does not fit") {
			t.Errorf("a text of 300 letters in a column of 30: %v", err)
		}
	})
	t.Run("no autocommit", func(t *testing.T) {
		set(t, "autocommit", "0")
		a := openIn(t, l, "auto_?engine=InnoDB", design.Normalized)
		if _, err := commit(t, a, "s", one("a")); err != nil {
			t.Fatal(err)
		}
		if err := a.Label(t.Context(), "s", archive.Label{User: "me", XML: "<load_spec/>"}); err != nil {
			t.Fatal(err)
		}
		other := openIn(t, l, "auto_?engine=InnoDB", design.Normalized)
		if n := texts(t, other, "SELECT count(*) FROM "+other.table("s", "instance_info")); n[0] != "1" {
			t.Errorf("another session sees %s labels", n[0])
		}
	})
	t.Run("dirty reads", func(t *testing.T) {
		set(t, "tx_isolation", "'READ-UNCOMMITTED'")
		a := openIn(t, l, "dirty_", design.Wide)
		if got := texts(t, a, "SELECT @@tx_isolation"); got[0] != "REPEATABLE-READ" {
			t.Errorf("a session has %s", got[0])
		}
	})
	t.Run("limited selects", func(t *testing.T) {
		set(t, "sql_select_limit", "1")
		a := openIn(t, l, "limited_", design.Wide)
		if _, err := commit(t, a, "s", one("a")); err != nil {
			t.Fatal(err)
		}
		if d := sum(t, a, "s"); d.Records != 2 {
			t.Errorf("%d records, want 2", d.Records)
		}
	})
	t.Run("small packets", func(t *testing.T) { // the numbers of all removed rows do not fit in one statement
		set(t, "max_allowed_packet", "524288")
		a := openIn(t, l, "packets_", design.Normalized)
		b := batch("SL1L2", "a", header("V01", "M"), 100_000, nil)
		for i := range b.Len() {
			b.Lead[i], b.Valid[i], b.ValidEnd[i] = 0, b.Valid[i]+int64(i), b.ValidEnd[i]+int64(i)
			b.ObsBeg[i], b.ObsEnd[i] = b.Valid[i], b.Valid[i]
		}
		if _, err := commit(t, a, "s", b); err != nil {
			t.Fatal(err)
		}
		loader, err := a.Loader(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		defer loader.Close()
		if err := archive.Trim(t.Context(), loader, b.Valid[b.Len()-1]); err != nil {
			t.Error(err)
		}
		if d := sum(t, openIn(t, l, "packets_", design.Normalized), "s"); d.Records != 1 {
			t.Errorf("%d records are left of %d, want 1", d.Records, b.Len())
		}
	})
}

// TestOtherStorageEngine: a load uses the storage engine of the existing tables, whatever the URL requests. A commit
// that fails late leaves no row in tables without transactions.
func TestOtherStorageEngine(t *testing.T) {
	l := Servers.Lab(t, Driver(), lab.Options{Memory: 1 << 30})
	for _, engines := range [][2]string{{myISAM, innoDB}, {innoDB, myISAM}} {
		prefix := "other" + strings.ToLower(engines[0]) + "_"
		a := openIn(t, l, prefix+"?engine="+engines[0], design.Normalized)
		if _, err := commit(t, a, "s", batch("SL1L2", "a", header("V01", "M"), 3, nil)); err != nil {
			t.Fatal(err)
		}
		before := sum(t, a, "s")
		other := openIn(t, l, prefix+"?engine="+engines[1], design.Normalized)
		trigger := ident(a.database("s")) + ".late"
		err := a.exec(t.Context(), "CREATE TRIGGER "+trigger+" BEFORE UPDATE ON "+a.OwnTable("s", "barograph_catalog")+
			" FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'too late'")
		if err != nil {
			t.Fatal(err)
		}
		_, err = commit(t, other, "s", batch("SL1L2", "b", header("V01", "N"), 5, nil))
		if err == nil || !strings.Contains(err.Error(), "too late") {
			t.Fatalf("%v: %v", engines, err)
		}
		if err := a.exec(t.Context(), "DROP TRIGGER "+trigger); err != nil {
			t.Fatal(err)
		}
		if after := sum(t, a, "s"); after != before {
			t.Errorf("%v: after a failed commit the archive contains %v, before %v", engines, after, before)
		}
		if _, err := commit(t, other, "s", batch("SL1L2", "b", header("V01", "N"), 5, nil)); err != nil {
			t.Error(err)
		}
		if after := sum(t, a, "s"); after.Records != 8 {
			t.Errorf("%v: %d records, want 8", engines, after.Records)
		}
	}
}

// TestForeignCatalogOfOneSecond: the server counts the changes of a table in seconds. A catalog that was read in the
// second of a change does not hide later changes of that second.
func TestForeignCatalogOfOneSecond(t *testing.T) {
	l := Servers.Lab(t, Driver(), lab.Options{Memory: 1 << 30})
	a := openIn(t, l, "second_", design.Normalized)
	if _, err := commit(t, a, "s", batch("SL1L2", "a", header("V12.0", "M"), 1, nil)); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"barograph_normalized_catalog", "barograph_normalized_marks"} {
		if err := a.exec(t.Context(), "DROP TABLE "+a.table("s", table)); err != nil {
			t.Fatal(err)
		}
	}
	other := openIn(t, l, "second_", design.Normalized)
	lines := other.table("s", "line_data_sl1l2")
	const columns = "stat_header_id, data_file_id, line_num, fcst_lead, fcst_valid_beg, fcst_valid_end, fcst_init_beg, obs_lead, " +
		"obs_valid_beg, obs_valid_end, total, fbar, obar, fobar, ffbar, oobar, mae"
	for n := int64(2); n <= 6; n++ {
		if err := other.exec(t.Context(), "INSERT INTO "+lines+" ("+columns+") SELECT "+
			strings.Replace(columns, "fcst_valid_beg,", "fcst_valid_beg + INTERVAL 1 DAY,", 1)+" FROM "+lines+
			" ORDER BY fcst_valid_beg DESC LIMIT 1"); err != nil {
			t.Fatal(err)
		}
		c, err := other.Catalog(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Digest().Records; got != n {
			t.Fatalf("after %d inserts the catalog counts %d records", n, got)
		}
	}
}

// TestNamesWithSpecialCharacters: a prefix may contain characters that the names of files encode.
func TestNamesWithSpecialCharacters(t *testing.T) {
	l := Servers.Lab(t, Driver(), lab.Options{Memory: 1 << 30})
	for _, prefix := range []string{"plain_", "a=b-", `back\slash '"`, "Größe Ω`"} {
		u, err := url.Parse(l.URL() + url.PathEscape(prefix))
		if err != nil {
			t.Fatal(err)
		}
		d, err := openDatabase(t.Context(), u, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer d.close()
		all := configs(u, nil)
		st := &star{db: d, place: tables.Placement{Partitions: 2}, name: d.prefix + starDatabase}
		if err := st.execute(t.Context(), "CREATE DATABASE "+ident(st.name), st.create(tables.StoreSales, nil)); err != nil {
			t.Fatal(err)
		}
		if sizes, err := st.size(t.Context()); err != nil || len(sizes) != 1 || sizes[0] == 0 {
			t.Errorf("%q: the star's partitions have %v bytes, %v", prefix, sizes, err)
		}
		store, err := postTables{d, all}.Open(t.Context(), posts.Tables{Design: posts.Single, Make: true})
		if err != nil {
			t.Fatal(err)
		}
		if size, err := store.Size(t.Context()); err != nil || size.TableBytes == 0 {
			t.Errorf("%q: the tables of values have %d bytes, %v", prefix, size.TableBytes, err)
		}
		for range 2 { // the second call finds the table
			r, err := kvTables{d, all}.Table(t.Context(), kv.Table{Name: "t", Fields: []string{"a"}, Layout: kv.Hash, Make: true})
			if err != nil {
				t.Errorf("%q: %v", prefix, err)
				break
			}
			if n, err := r.Count(t.Context()); err != nil || n != 0 {
				t.Errorf("%q: %d records, %v", prefix, n, err)
			}
		}
		for _, name := range []string{starDatabase, postDatabase, recordsDatabase} {
			err := drop(func(s string) error { return querier{d.writes}.Exec(t.Context(), s) }, d.prefix+name)
			if err != nil {
				t.Error(err)
			}
		}
	}
}

// TestOwnTablesKeepSubsets: the database of a user's own tables, which each run replaces, is no subset's database.
func TestOwnTablesKeepSubsets(t *testing.T) {
	l := Servers.Lab(t, Driver(), lab.Options{Memory: 1 << 30})
	a := openIn(t, l, "kept_", design.Normalized)
	if _, err := commit(t, a, ownDatabase, batch("SL1L2", "a", header("V01", "M"), 2, nil)); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(l.URL())
	if err != nil {
		t.Fatal(err)
	}
	own, err := a.db.openOwn(configs(u, nil))(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	if d := sum(t, openIn(t, l, "kept_", design.Normalized), ownDatabase); d.Records != 2 {
		t.Errorf("%d records are left, want 2", d.Records)
	}
}

// TestControlCharactersInLabels: latin1 has no letters from U+0080 to U+009F.
func TestControlCharactersInLabels(t *testing.T) {
	l := Servers.Lab(t, Driver(), lab.Options{Memory: 1 << 30})
	a := openIn(t, l, "control_", design.Normalized)
	if _, err := commit(t, a, "s", batch("SL1L2", "a", header("V01", "M"), 1, nil)); err != nil {
		t.Fatal(err)
	}
	for r := rune(0x80); r < 0xa0; r++ {
		if err := a.Label(t.Context(), "s", archive.Label{User: "me" + string(r), XML: "<load_spec/>"}); err != nil {
			t.Errorf("%U: %v", r, err)
		}
	}
	if got := texts(t, a, "SELECT DISTINCT updater FROM "+a.table("s", "instance_info")); len(got) != 1 || got[0] != "me?" {
		t.Errorf("%q", got)
	}
}

// TestTrimBesideForeignRows: Trim does not remove records that another program has loaded, which the catalog does not
// count. It reports them before it writes anything.
func TestTrimBesideForeignRows(t *testing.T) {
	l := Servers.Lab(t, Driver(), lab.Options{Memory: 1 << 30})
	for _, name := range []string{"SL1L2", "RHIST"} {
		a := openIn(t, l, "trim"+strings.ToLower(name)+"_", design.Normalized)
		fill := func(b *record.Batch, _ int) {
			if b.Type.Group != nil {
				b.Group = append(b.Group, 1, 2)
			}
		}
		if _, err := commit(t, a, "s", batch(name, "a", header("V12.0", "M"), 2, fill)); err != nil {
			t.Fatal(err)
		}
		lines := a.table("s", "line_data_"+strings.ToLower(name))
		id := ""
		if name == "RHIST" {
			id = "line_data_id, "
		}
		if err := a.exec(t.Context(), "INSERT INTO "+lines+" ("+id+"stat_header_id, data_file_id, line_num, fcst_lead, fcst_valid_beg, fcst_valid_end, "+
			"fcst_init_beg, obs_lead, obs_valid_beg, obs_valid_end) SELECT "+strings.Replace(id, "line_data_id", "99", 1)+
			"1, 1, 7, 30000, fcst_valid_beg, fcst_valid_end, fcst_init_beg, 0, obs_valid_beg, obs_valid_end FROM "+lines+" LIMIT 1"); err != nil {
			t.Fatal(err)
		}
		loader, err := a.Loader(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		defer loader.Close()
		err = archive.Trim(t.Context(), loader, 1546300801)
		if err == nil || !strings.Contains(err.Error(), "another program") || !strings.Contains(err.Error(), "adopt") {
			t.Errorf("%s: %v", name, err)
		}
		if n := texts(t, a, "SELECT count(*) FROM "+lines); n[0] != "3" {
			t.Errorf("%s: %s rows are left, want 3", name, n[0])
		}
	}
}

// TestConnectionLostBetweenCommits: the server may close an idle connection (wait_timeout). The next commit opens
// another.
func TestConnectionLostBetweenCommits(t *testing.T) {
	l := Servers.Lab(t, Driver(), lab.Options{Memory: 1 << 30})
	for _, n := range []design.Name{design.Normalized, design.Wide} {
		a := openIn(t, l, "lost"+string(n)+"_", n)
		loader, err := a.Loader(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		defer loader.Close()
		for k, model := range []string{"A", "B"} {
			ids := texts(t, a, "SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND command = 'Sleep'")
			for _, id := range ids {
				_ = a.exec(t.Context(), "KILL "+id) // it may have ended
			}
			b := batch("SL1L2", model, header("V01", model), 2, nil)
			if err := loader.Add(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			c := archive.Commit{Catalog: design.NewCatalog("s")}
			c.Catalog.Add(b)
			if _, err := loader.Commit(t.Context(), c); err != nil {
				t.Errorf("%s, commit %d: %v", n, k, err)
			}
		}
		if d := sum(t, a, "s"); d.Records != 4 {
			t.Errorf("%s: %d records, want 4", n, d.Records)
		}
	}
}

// TestPacketTooLarge: the error of a statement that is too long names the server's setting.
func TestPacketTooLarge(t *testing.T) {
	err := callError(t.Context(), fmt.Errorf("commit: %w", mysql.ErrPktTooLarge))
	if !strings.Contains(err.Error(), "SET GLOBAL max_allowed_packet") ||
		callError(t.Context(), err).Error() != err.Error() {
		t.Error(err)
	}
}

// TestTimeoutOfOneStream: if one of two sessions with the same query reaches its time limit, the other completes it.
func TestTimeoutOfOneStream(t *testing.T) {
	l := Servers.Lab(t, Driver(), lab.Options{Memory: 1 << 30})
	a := openIn(t, l, "streams_", design.Normalized)
	u, err := url.Parse(l.URL())
	if err != nil {
		t.Fatal(err)
	}
	own, err := a.db.openOwn(configs(u, nil))(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	const text = "SELECT SLEEP(2)"
	running := func() string {
		return texts(t, a, "SELECT count(*) FROM information_schema.processlist WHERE info LIKE ?", "%"+text)[0]
	}
	limited, cancel := context.WithCancel(t.Context())
	errs := [2]chan error{make(chan error, 1), make(chan error, 1)}
	for i, ctx := range []context.Context{limited, t.Context()} {
		go func() { errs[i] <- own.Ask(ctx, text, func([]any) error { return nil }) }()
	}
	for running() != "2" {
		if len(errs[1]) > 0 {
			t.Fatal(<-errs[1])
		}
	}
	cancel()
	if err := <-errs[0]; !errors.Is(err, context.Canceled) {
		t.Errorf("the canceled query: %v", err)
	}
	for running() == "2" {
		if len(errs[1]) > 0 {
			t.Fatal("the session of the canceled query still runs it")
		}
	}
	if err := <-errs[1]; err != nil {
		t.Errorf("the other query: %v", err)
	}
}

// TestOneStatementPerQuery: the time of a query of a user's own contains one round trip. If the server has closed the
// idle connections, the next query opens another.
func TestOneStatementPerQuery(t *testing.T) {
	l := Servers.Lab(t, Driver(), lab.Options{Memory: 1 << 30})
	a := openIn(t, l, "one_", design.Normalized)
	u, err := url.Parse(l.URL())
	if err != nil {
		t.Fatal(err)
	}
	own, err := a.db.openOwn(configs(u, nil))(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	var seen []string
	const text = "SELECT CONCAT(CONNECTION_ID(), ' ', VARIABLE_VALUE) FROM information_schema.SESSION_STATUS WHERE VARIABLE_NAME = 'QUESTIONS'"
	for range 2 {
		if err := own.Ask(t.Context(), text, func(row []any) error { seen = append(seen, fmt.Sprint(row[0])); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	var session, next, before, after int
	if _, err := fmt.Sscan(strings.Join(seen, " "), &session, &before, &next, &after); err != nil {
		t.Fatal(err)
	}
	if session != next || after-before != 1 {
		t.Errorf("%q: session, statements", seen)
	}
	if err := a.exec(t.Context(), fmt.Sprint("KILL ", session)); err != nil {
		t.Fatal(err)
	}
	if err := own.Ask(t.Context(), "SELECT 1", func([]any) error { return nil }); err != nil {
		t.Errorf("after the server has closed the connection: %v", err)
	}
}
