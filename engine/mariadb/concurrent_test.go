package mariadb

import (
	"net/url"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/record"
)

// METdbLoad loads while a commit is in flight: it reads the greatest numbers, and the commit waits. Otherwise both
// would give the same numbers to different headers. Then a commit is interrupted, and METdbLoad loads after the
// remaining rows. The rollback of the commit keeps the rows of METdbLoad.
func TestLoadsWithMETdbLoad(t *testing.T) {
	l := Servers.Lab(t, Driver(), lab.Options{Memory: 1 << 30})
	a := openIn(t, l, "beside_", design.Normalized)
	ours := batch("PCT", "d/a.stat", header("V12.0", "OURS"), 3, func(b *record.Batch, _ int) { b.Group = append(b.Group, 0, 1, 2, 1) })
	if _, err := commit(t, a, "s", ours); err != nil {
		t.Fatal(err)
	}
	c, err := a.db.writes.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() // the test's
	do := func(text string) {
		t.Helper()
		if _, err := c.ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	db := "`beside_s`."
	theirs := func(model string) { // as METdbLoad: MAX + 1, by the order of columns
		t.Helper()
		do("SET @line = (SELECT MAX(line_data_id) + 1 FROM " + db + "line_data_pct), @head = (SELECT MAX(stat_header_id) + 1 FROM " + db + "stat_header), @file = (SELECT MAX(data_file_id) + 1 FROM " + db + "data_file)")
		do("INSERT INTO " + db + "data_file VALUES (@file, 7, '" + model + ".stat', '/d', NOW(), NOW())")
		do("INSERT INTO " + db + "stat_header VALUES (@head, 'V12.0', '" + model + "', 'NA', 'TMP', 'NA', 'Z2', 'TMP', 'NA', 'Z2', 'NA', 'NA', 'NA', 4, 'NA', 'NA')")
		do("INSERT INTO " + db + "line_data_pct VALUES (@line, @head, @file, 1, 60000, 20190101060000, 20190101060000, 20190101000000, 0, 20190101060000, 20190101060000, 'NA', 4, 1)")
		do("INSERT INTO " + db + "line_data_pct_thresh VALUES (@line, 1, 0, 7, 9)")
	}
	do("LOCK TABLES " + db + "data_file WRITE, " + db + "stat_header WRITE, " + db + "line_data_pct WRITE, " + db + "line_data_pct_thresh WRITE")
	done := make(chan error, 1)
	go func() {
		_, err := commit(t, a, "s", batch("PCT", "d/b.stat", header("V12.0", "NEXT"), 3, func(b *record.Batch, _ int) { b.Group = append(b.Group, 0, 3, 4, 1) }))
		done <- err
	}()
	theirs("THEIRS")
	do("UNLOCK TABLES")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	check := func(rows, headers string) {
		t.Helper()
		got := texts(t, a, "SELECT count(DISTINCT line_data_id), count(DISTINCT stat_header_id), count(DISTINCT data_file_id), group_concat(DISTINCT model ORDER BY model) "+
			"FROM "+db+"line_data_pct JOIN "+db+"stat_header USING (stat_header_id) JOIN "+db+"data_file USING (data_file_id)")
		if got[0] != rows+" "+headers {
			t.Errorf("%s, want %s %s", got[0], rows, headers)
		}
	}
	check("7 3 3", "NEXT,OURS,THEIRS")
	if d := sum(t, a, "s"); d.Records != 7 { // the foreign row is read, with its thresholds
		t.Errorf("%d records", d.Records)
	}

	// A commit of four rows is interrupted after two of them; METdbLoad loads after it.
	next := texts(t, a, "SELECT next_row FROM "+a.OwnTable("s", "barograph_catalog"))[0]
	for _, part := range []string{"'line_data_pct', 'line_data_id', " + next, "'line_data_pct_thresh', 'line_data_id', " + next, "'stat_header', 'stat_header_id', 4", "'data_file', 'data_file_id', 4"} {
		do("INSERT INTO " + db + pendingTable + " VALUES (" + part + ")")
	}
	do("INSERT INTO " + db + "data_file SELECT 4, 7, 'dead.stat', '/d', NOW(), NULL")
	do("INSERT INTO " + db + "stat_header SELECT 4, version, 'DEAD', descr, fcst_var, fcst_units, fcst_lev, obs_var, obs_units, obs_lev, obtype, vx_mask, interp_mthd, interp_pnts, fcst_thresh, obs_thresh FROM " + db + "stat_header WHERE stat_header_id = 1")
	for range 2 {
		do("INSERT INTO " + db + "line_data_pct (line_data_id, stat_header_id, data_file_id, barograph_repeats) SELECT MAX(line_data_id) + 1, 4, 4, '[]' FROM " + db + "line_data_pct")
	}
	theirs("LATER")
	b := openIn(t, l, "beside_", design.Normalized) // the next client
	if d := sum(t, b, "s"); d.Records != 8 {
		t.Errorf("%d records", d.Records)
	}
	check("8 4 4", "LATER,NEXT,OURS,THEIRS")
	if got := texts(t, a, "SELECT count(*) FROM "+db+"line_data_pct_thresh"); got[0] != "8" {
		t.Errorf("%s thresholds", got[0])
	}
	if got := texts(t, a, "SELECT group_concat(filename ORDER BY data_file_id) FROM "+db+"data_file"); strings.Contains(got[0], "dead") {
		t.Error(got[0])
	}
}

// A user who may only read can ask. A user who may also insert cannot load: the loader reports the missing privileges
// before it writes anything. A user who may change rows can load.
func TestRights(t *testing.T) {
	l := Servers.Lab(t, Driver(), lab.Options{Memory: 1 << 30})
	a := openIn(t, l, "rights_", design.Normalized)
	one := func(file string) *record.Batch { return batch("SL1L2", file, header("V01", file), 2, nil) }
	if _, err := commit(t, a, "s", one("a")); err != nil {
		t.Fatal(err)
	}
	user := func(rights string) *openArchive {
		name := "u" + strings.ToLower(strings.NewReplacer(",", "", " ", "").Replace(rights))
		for _, s := range []string{"CREATE USER " + name + "@'%' IDENTIFIED BY 'p'", "GRANT " + rights + " ON rights_s.* TO " + name + "@'%'"} {
			if err := a.exec(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		u, err := url.Parse(l.URL() + "rights_")
		if err != nil {
			t.Fatal(err)
		}
		u.User = url.UserPassword(name, "p")
		e, err := open(t.Context(), u, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { e.Close() })
		n, err := archive.DatabaseOf(e).Open(t.Context(), design.Normalized)
		if err != nil {
			t.Fatal(err)
		}
		return n.(*openArchive)
	}
	const all = "SELECT, INSERT, UPDATE, DELETE, LOCK TABLES"
	for rights, may := range map[string]bool{"SELECT": false, "SELECT, INSERT": false, "SELECT, INSERT, LOCK TABLES": false, "SELECT, INSERT, UPDATE, DELETE": false, all: true} {
		u := user(rights)
		before := sum(t, u, "s")
		l, err := u.Loader(t.Context(), "s")
		if err == nil {
			l.Close()
			_, err = commit(t, u, "s", one("of "+rights))
		}
		if may != (err == nil) || err != nil && (!strings.Contains(err.Error(), "lacks privileges for a load") || sum(t, u, "s") != before) {
			t.Errorf("%s: %v", rights, err)
		}
	}
	if d := sum(t, a, "s"); d.Records != 4 {
		t.Errorf("%d records", d.Records)
	}
	odd := header("V01", strings.Repeat("a long name of a model ", 5)) // needs a twin
	if _, err := commit(t, user("ALTER, "+all), "s", batch("SL1L2", "long", odd, 1, nil)); err != nil {
		t.Error(err)
	}
}

// METviewer's menus: metadata has one row, instance_info one for each load, from 0.
func TestLabels(t *testing.T) {
	l := Servers.Lab(t, Driver(), lab.Options{Memory: 1 << 30})
	for _, rest := range []string{"label_", "label2_?engine=InnoDB"} {
		a := openIn(t, l, rest, design.Normalized)
		if _, err := commit(t, a, "s", batch("SL1L2", "a", header("V01", "M"), 1, nil)); err != nil {
			t.Fatal(err)
		}
		for _, label := range []archive.Label{
			{Group: "NO GROUP", Description: "x"},
			{Group: "Site"},
			{Group: "Site", Description: "first", User: "me", XML: "<load_spec/>"},
			{Group: "Größe", Description: strings.Repeat("long ", 100), User: "me", Note: "why \U0001F642", XML: strings.Repeat("x", 1<<17)},
			{Note: "nothing is kept"},
		} {
			if err := a.Label(t.Context(), "s", label); err != nil {
				t.Fatal(err)
			}
		}
		if got := texts(t, a, "SELECT CONVERT(category USING utf8mb4), char_length(description) FROM "+a.table("s", "metadata")); strings.Join(got, "; ") != "Größe 300" {
			t.Errorf("metadata %q", got)
		}
		got := texts(t, a, "SELECT instance_info_id, updater, update_detail, length(load_xml) FROM "+a.table("s", "instance_info")+" ORDER BY 1")
		if strings.Join(got, "; ") != "0 me  12; 1 me why ? 65535" {
			t.Errorf("instance_info %q", got)
		}
	}
}
