package river_test

import (
	"context"
	"errors"
	"fmt"
	neturl "net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/postgres"
	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/river"
)

var servers enginetest.Servers

// ihfs creates an IHFS in its own schema and returns its URL. Columns and keys are those of a dump
// of the real database (hd_ob83krf). The triggers are our own: they count their calls, and write
// curpp and curpc.
func ihfs(t *testing.T, schema string) (url string, db *pgx.Conn) {
	t.Helper()
	url = servers.Lab(t, postgres.Driver(), lab.Options{}).URL() + "?search_path=" + schema
	text, err := os.ReadFile("testdata/ihfs.sql")
	if err != nil {
		t.Fatal(err)
	}
	if db, err = pgx.Connect(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close(context.Background()) })
	if _, err := db.Exec(t.Context(), "DROP SCHEMA IF EXISTS "+schema+" CASCADE; CREATE SCHEMA "+schema+"; "+string(text)); err != nil {
		t.Fatal(err)
	}
	return url, db
}

const stations = `INSERT INTO location VALUES ('AAA', 1), ('BBB', 1), ('OFF', 0), ('ODD', 2);
	INSERT INTO geoarea VALUES ('AREA');
	INSERT INTO ingestfilter SELECT lid, pe, dur, ts, 'Z', 1, ingest, 'F', 'F' FROM (VALUES
		('AAA','HG',0,'RZ','T'), ('AAA','HG',0,'FZ','T'), ('AAA','HG',0,'CZ','T'), ('AAA','HG',0,'PZ','T'),
		('AAA','QR',0,'RZ','T'), ('AAA','PP',1001,'RZ','T'),
		('AAA','PC',0,'RZ','T'), ('AAA','TB',0,'RZ','T'), ('AAA','TA',0,'RZ','F'), ('AAA','PP',3001,'RZ','T'), ('AAA','HP',0,'RZ','T'),
		('BBB','HG',0,'RZ','T'), ('OFF','HG',0,'RZ','T'), ('AREA','PP',1006,'FL','T'), ('AREA','PP',1006,'PM','T'),
		('AREA','PP',1006,'RZ','T')) v(lid, pe, dur, ts, ingest);
	INSERT INTO adjustfactor VALUES ('AAA','HP',0,'RZ','Z',0,1,null,0.5);
	INSERT INTO datalimits (pe, dur, monthdaystart, monthdayend, gross_range_min, gross_range_max, reason_range_min, reason_range_max) VALUES
		('HG',0,'01-01','06-30',-1,1,null,null), ('HG',0,'07-01','12-31',-10,50,0,40);
	INSERT INTO locdatalimits (lid, pe, dur, monthdaystart, monthdayend, gross_range_min, gross_range_max) VALUES
		('BBB','HG',0,'01-01','12-31',0,10);`

// rows returns the sorted result of a query, one line per row.
func rows(t *testing.T, db *pgx.Conn, query string) string {
	t.Helper()
	q, err := db.Query(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(q, pgx.RowToMap)
	if err != nil {
		t.Fatal(query, err)
	}
	names := q.FieldDescriptions()
	var lines []string
	for _, r := range all {
		var cells []string
		for _, n := range names {
			v := r[n.Name]
			if at, ok := v.(time.Time); ok {
				v = at.Format("0102T15:04")
			}
			cells = append(cells, fmt.Sprint(v))
		}
		lines = append(lines, strings.Join(cells, " "))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// everything returns all rows of all tables of a schema, without the given columns.
func everything(t *testing.T, db *pgx.Conn, without ...string) string {
	t.Helper()
	var out []string
	tables := rows(t, db, "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()")
	for table := range strings.SplitSeq(tables, "\n") {
		var text string
		query := "SELECT coalesce(string_agg(x::text, E'\\n' ORDER BY x::text), '') " +
			"FROM (SELECT to_jsonb(y) - $1::text[] x FROM " + table + " y) z"
		if err := db.QueryRow(t.Context(), query, append([]string{}, without...)).Scan(&text); err != nil { // nil is NULL
			t.Fatal(table, err)
		}
		if table == "location" && text == "" {
			t.Fatal("no row is read")
		}
		out = append(out, table, text)
	}
	return strings.Join(out, "\n")
}

// post posts texts one after the other, each in one transaction.
func post(t *testing.T, p river.Poster, texts ...string) (total river.Tally) {
	t.Helper()
	in := river.Input{Options: shef.Options{Now: time.Now()}}
	for _, text := range texts {
		var all []*river.Product
		if err := in.Read(strings.NewReader(text), "test", time.Now(), func(p *river.Product) error {
			all = append(all, p)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		tallies, err := p.Post(t.Context(), all)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range tallies {
			total.Add(one)
		}
	}
	return total
}

// at formats a time near the present in SHEF's form.
func at(d time.Duration) string { return time.Now().UTC().Add(d).Format("20060102 Z DH1504") }

func product(issued time.Duration, lines ...string) string {
	clock := time.Now().UTC().Add(issued).Format("021504")
	return "\x01\r\r\n123 \r\r\nSRUS54 KLCH " + clock + "\r\r\nRR1LCH\r\r\n" + strings.Join(lines, "\r\r\n") + "\r\r\n\x03"
}

func TestIHFS(t *testing.T) {
	url, db := ihfs(t, "once")
	if _, err := db.Exec(t.Context(), stations); err != nil {
		t.Fatal(err)
	}
	tokens := river.DefaultTokens()
	tokens.Unknown, tokens.Latest, tokens.Link = "IDS_AND_DATA", "VALID_ONLY", true
	p, err := river.OpenIHFS(t.Context(), url, tokens)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	then, older := at(-2*time.Hour), at(-3*time.Hour)
	texts := []string{
		product(-time.Hour,
			".A AAA "+then+"/HG 3.5 'rising'/QR 1.5/PPH .1/PC 2.0/TB 6.065/TA 70/HP 10",
			".A AAA "+older+"/HG 3.25Q/PC 1.9",
			".A BBB "+then+"/HG 11/HGIRZX 3",
			".A OFF "+then+"/HG 1",
			".A ODD "+then+"/HG 1",
			".A XXX "+then+"/HG 1/TA 50",
			".A AAA "+at(-30*24*time.Hour)+"/HG 1/PPM 5.0",
			".A AAA "+at(time.Hour)+"/HG 1",
			".A AAA "+at(100*time.Hour)+"/DC"+time.Now().UTC().Format("200601021504")+"/HGIFZ 9/HGICZ 8",
			".A AAA "+then+"/HGIPZ 4",
			".A AREA "+then+"/PPQFL 1.0/PPQPM .5/PPQRZ .4",
		),
	}
	want := river.Tally{river.Inserted: 14, river.Rejected: 1, river.Unknown: 3, river.Inactive: 2, river.Filtered: 2, river.Outside: 2}
	got := post(t, p, texts...)
	if got != want {
		t.Errorf("tally %v, want %v", got, want)
	}
	hour := func(d time.Duration) string { return time.Now().UTC().Add(d).Format("0102T15:04") }
	for query, want := range map[string]string{
		"SELECT lid, value, shef_qual_code q, quality_code, revision, product_id FROM height": "" +
			"AAA 11.5 Z 1879048191 0 KLCHRR1LCH\nAAA 3.25 Q 1341128703 0 KLCHRR1LCH\nAAA 3.5 Z 1879048191 0 KLCHRR1LCH",
		"SELECT pe, value FROM discharge":                                                                 "QR 1500",
		"SELECT pe, dur, value FROM rawpp":                                                                "PP 1001 0.1\nPP 3001 5",
		"SELECT pe, dur, value FROM rawpc":                                                                "PC 0 1.9\nPC 0 2",
		"SELECT ref_value, value FROM pairedvalue":                                                        "6 65",
		"SELECT probability, value FROM fcstheight":                                                       "-1 9",
		"SELECT value FROM contingencyvalue":                                                              "8",
		"SELECT pe, ts, value FROM procvalue":                                                             "HG PZ 4",
		"SELECT lid, dur, ts, value FROM arealfcst":                                                       "AREA 1006 FL 1",
		"SELECT lid, ts, value FROM arealobs":                                                             "AREA PM 0.5",
		"SELECT lid, pe, value, quality_code, reject_type, userid FROM rejecteddata":                      "BBB HG 11 803209215 A SHEFdec",
		"SELECT lid, value, shef_comment, obstime FROM (SELECT *, validtime obstime FROM commentvalue) x": "AAA 3.5 rising " + hour(-2*time.Hour),
		"SELECT lid, product_id FROM unkstn":                                                              "AREA KLCHRR1LCH\nXXX KLCHRR1LCH",
		"SELECT lid, pe, value FROM unkstnvalue":                                                          "AREA PP 0.4\nXXX HG 1\nXXX TA 50",
		"SELECT lid, pe, value, obstime FROM latestobsvalue WHERE pe <> 'PP'": "AAA HG 3.5 " + hour(-2*time.Hour) + "\n" +
			"AAA HP 11.5 " + hour(-2*time.Hour) + "\nAAA PC 2 " + hour(-2*time.Hour) + "\nAAA QR 1500 " + hour(-2*time.Hour),
		"SELECT lid FROM productlink": "AAA\nAREA\nBBB",
		"SELECT * FROM calls":         "discharge 1\nheight 3\nrawpc 2\nrawpp 2",
		"SELECT pe, value FROM curpc": "PC 1.9\nPC 2",
	} {
		if got := rows(t, db, query); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", query, got, want)
		}
	}
	before := everything(t, db)
	time.Sleep(1100 * time.Millisecond) // the next second of posting
	wantAgain := river.Tally{
		river.Unchanged: 14, river.Rejected: 1, river.Unknown: 3, river.Inactive: 2, river.Filtered: 2, river.Outside: 2,
	}
	if again := post(t, p, texts...); again != wantAgain {
		t.Errorf("posted again: %v", again)
	}
	if after := everything(t, db); after != before {
		t.Errorf("posting again changes\n%s\nto\n%s", before, after)
	}
}

// TestRejectedAgain posts the same bad reading in several products of one second, in one transaction and in several
// transactions. Each reading gets its row, and no product loses its good values.
func TestRejectedAgain(t *testing.T) {
	db, p := stocked(t, "rejectedagain")
	then := at(-2 * time.Hour)
	text := func(i int) string {
		return product(time.Duration(i-60)*time.Minute, ".A BBB "+then+"/HG 11", fmt.Sprintf(".A AAA %s/HG %d", then, i))
	}
	for i := range 4 {
		post(t, p, text(2*i)+text(2*i+1))
	}
	if got := rows(t, db, "SELECT count(*), count(DISTINCT postingtime), count(DISTINCT producttime) FROM rejecteddata"); got != "8 8 8" {
		t.Errorf("rejecteddata: %s rows, times of posting and products, want 8 of each", got)
	}
	if got := rows(t, db, "SELECT value FROM height"); got != "7" {
		t.Errorf("height: %s, want 7", got)
	}
}

// TestRefusedByTable: if a constraint of the database refuses one value, the rest of its
// product and of its batch is posted.
func TestRefusedByTable(t *testing.T) {
	db, p := stocked(t, "refusedbytable")
	if _, err := db.Exec(t.Context(), "ALTER TABLE height ADD CHECK (value <> 13)"); err != nil {
		t.Fatal(err)
	}
	then := at(-2 * time.Hour)
	text := product(-time.Hour, ".A AAA "+then+"/HG 13/QR 1/PC 2.5") + product(-time.Hour, ".A BBB "+then+"/HG 5 'caf\xe9'")
	var total river.Tally
	var refusals []string
	file := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	texts, err := formats.NewTexts(t.Context(), []string{file}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = river.Post(t.Context(), texts, &river.Input{}, p, func(p *river.Product, one river.Tally) error {
		total.Add(one)
		refusals = append(refusals, p.Refusals...)
		return nil
	})
	isAsWanted := total == river.Tally{river.Inserted: 3, river.Refused: 1}
	if err != nil || !isAsWanted || len(refusals) != 1 || !strings.Contains(refusals[0], "AAA HGIRZZZ") {
		t.Errorf("%v, %q: %v", total, refusals, err)
	}
	if got := rows(t, db, "SELECT shef_comment FROM commentvalue"); got != "caf?" {
		t.Errorf("comment %q", got)
	}
}

// TestQualifiersAndFactors compares with golden values of AWIPS's formula, (value / divisor + base) × multiplier +
// adder, and of the qualifiers that change quality_code (ShefQC).
func TestQualifiersAndFactors(t *testing.T) {
	db, p := stocked(t, "factors")
	if _, err := db.Exec(t.Context(), `DELETE FROM adjustfactor; INSERT INTO adjustfactor VALUES
		('AAA','HG',0,'RZ','Z',2,3,5,7), ('AAA','QR',0,'RZ','Z',null,null,null,null), ('AAA','PC',0,'RZ','Z',4,null,null,1);
		DELETE FROM datalimits`); err != nil {
		t.Fatal(err)
	}
	if err := p.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct{ text, query, want string }{
		{"HG 10", "SELECT value FROM height", "47"}, // (10/2 + 3) × 5 + 7
		{"QR 1.5", "SELECT value FROM discharge", "1500"},
		{"PC 8.0", "SELECT value FROM rawpc", "3"}, // 8/4 + 1
		{"HG M", "SELECT value FROM height", "-9999"},
		{"HG 1", "SELECT to_hex(quality_code) FROM height", "6fffffff"},
		{"HG 1Q", "SELECT to_hex(quality_code) FROM height", "4fefffff"}, // bits 20 and 29
		{"HG 1F", "SELECT to_hex(quality_code) FROM height", "4fefffff"},
		{"HG 1R", "SELECT to_hex(quality_code) FROM rejecteddata", "2f7fffff"}, // bits 23 and 30
		{"HG 1B", "SELECT to_hex(quality_code) FROM rejecteddata", "2f7fffff"},
		{"HG 1E", "SELECT to_hex(quality_code) FROM height", "6fffffff"},
	} {
		if _, err := db.Exec(t.Context(), "TRUNCATE height, rejecteddata"); err != nil {
			t.Fatal(err)
		}
		post(t, p, product(time.Duration(i-60)*time.Minute, ".A AAA "+at(-2*time.Hour)+"/"+c.text))
		if got := rows(t, db, c.query); got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
}

// TestIHFSPolicies checks the result of a second value of one key under every policy.
func TestIHFSPolicies(t *testing.T) {
	url, db := ihfs(t, "policies")
	if _, err := db.Exec(t.Context(), stations); err != nil {
		t.Fatal(err)
	}
	then := at(-2 * time.Hour)
	line := func(kind, value string) string { return kind + " AAA " + then + "/HG " + value }
	for policy, want := range map[posts.Policy]string{
		posts.GoodStays:            "2 1 2 -9999 1 1",
		posts.Overwrite:            "2 -9999 2 -9999 1 2",
		posts.RevisedOnly:          "1 1 2 -9999 1 1",
		posts.IfDifferent:          "2 -9999 2 -9999 1 1",
		posts.IfDifferentOrRevised: "2 -9999 2 -9999 1 1",
	} {
		tokens := river.DefaultTokens()
		tokens.Policy = policy
		p, err := river.OpenIHFS(t.Context(), url, tokens)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, second := range []string{line(".A", "2"), line(".A", "M"), line(".AR", "2"), line(".AR", "M"), line(".A", "1"), "late"} {
			if _, err := db.Exec(t.Context(), "DELETE FROM height"); err != nil {
				t.Fatal(err)
			}
			post(t, p, product(-time.Hour, line(".A", "1")))
			if second == "late" {
				post(t, p, product(-90*time.Minute, line(".A", "2")))
			} else {
				post(t, p, product(-50*time.Minute, second))
			}
			got = append(got, rows(t, db, "SELECT value FROM height"))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %s, want %s", policy, s, want)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestTokens(t *testing.T) {
	tokens := river.DefaultTokens()
	var reported []string
	tell := func(err error) { reported = append(reported, err.Error()) }
	const file = `# a site's
shef_winpast : 5 # days
shef_duplicate : USE_REVCODE
shef_post_baddata: pe
whfs_x : y
shef_load_ingest : ON
shef_post_latest : "ON"
shef_load_maxfcst : ON
basis_hours_filter : 48
shef_out : OFF
shef_winfutur : 3
shef_perflog : ON
SHEF_winpast : 3
`
	if err := tokens.Read(strings.NewReader(file), "f", tell); err != nil {
		t.Fatal(err)
	}
	if tokens.Past != 120*time.Hour || tokens.OldestBasis != 48*time.Hour || tokens.Policy != posts.RevisedOnly ||
		!tokens.KeepBad || tokens.Latest != "ON" || !tokens.LearnIngest || !tokens.MaxForecast {
		t.Errorf("%+v", tokens)
	}
	if len(reported) != 2 || !strings.Contains(reported[0], "f:11: shef_winfutur") ||
		!strings.Contains(reported[0], "did you mean shef_winfuture?") ||
		!strings.Contains(reported[1], "did you mean shef_winpast?") {
		t.Errorf("%q", reported)
	}
	reported = nil
	err := tokens.Read(strings.NewReader("gage_pp_enabled : ON\ngage_pp_log : x\n"), "f", tell)
	if err != nil || len(reported) != 1 || !strings.Contains(reported[0], "did you mean gage_pp_enable?") {
		t.Errorf("%q: %v", reported, err)
	}
	for _, text := range []string{"gage_pp_enable = ON\n", ".A AAA 1120 DH12/HG 1 : the stage : 2\n"} {
		if err := tokens.Read(strings.NewReader(text), "f", tell); err == nil || !strings.Contains(err.Error(), "has no line of tokens") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, bad := range []string{
		"shef_procobs : YES", "shef_storetext : maybe", "intppq : 4", "intpc : NaN", "intpc : 31",
		"shef_duplicate : MAYBE", "shef_winpast : x", "shef_winpast : 200000", "shef_post_unk : SOME",
	} {
		if err := tokens.Read(strings.NewReader("\n"+bad), "f", tell); err == nil || !strings.Contains(err.Error(), "f:2") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestNoIHFS: OpenIHFS refuses a database that is not an IHFS.
func TestNoIHFS(t *testing.T) {
	url := servers.Lab(t, postgres.Driver(), lab.Options{}).URL()
	_, err := river.OpenIHFS(t.Context(), url, river.DefaultTokens())
	if err == nil || !strings.Contains(err.Error(), "has no table adjustfactor") {
		t.Error(err)
	}
}

// stocked returns an IHFS with stations, and a poster for it.
func stocked(t *testing.T, name string) (*pgx.Conn, *river.IHFS) {
	t.Helper()
	url, db := ihfs(t, name)
	if _, err := db.Exec(t.Context(), stations); err != nil {
		t.Fatal(err)
	}
	p, err := river.OpenIHFS(t.Context(), url, river.DefaultTokens())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return db, p
}

// TestMissingTables: Reload reports a missing table or column before the service posts anything. IsTemporary returns
// true for errors that pass or that somebody can repair, such as a missing privilege, and false for errors about
// values.
func TestMissingTables(t *testing.T) {
	db, p := stocked(t, "lacks")
	for _, c := range []struct{ away, back, want string }{
		{
			"ALTER TABLE pairedvalue DROP COLUMN ref_value", "ALTER TABLE pairedvalue ADD ref_value integer",
			"table pairedvalue without the column ref_value",
		},
		{"ALTER TABLE location RENAME post TO posts", "ALTER TABLE location RENAME posts TO post", "table location without the column post"},
		{"ALTER TABLE snow DROP COLUMN revision", "ALTER TABLE snow ADD revision smallint", "table snow without the column revision"},
		{"ALTER TABLE height RENAME TO heights", "ALTER TABLE heights RENAME TO height", "no table height"},
	} {
		if _, err := db.Exec(t.Context(), c.away); err != nil {
			t.Fatal(err)
		}
		if err := p.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
		if _, err := db.Exec(t.Context(), c.back); err != nil {
			t.Fatal(err)
		}
		if err := p.Reload(t.Context()); err != nil {
			t.Error(err)
		}
	}
	for code, want := range map[string]bool{
		"42501": true, "53100": true, "25006": true, "28P01": true, "40P01": true, "57P01": true,
		"42P01": false, "22003": false, "23505": false, "P0001": false,
	} {
		if got := p.IsTemporary(&pgconn.PgError{Code: code}); got != want || (&river.Archive{}).IsTemporary(&pgconn.PgError{Code: code}) != want {
			t.Errorf("%s: again %v, want %v", code, got, want)
		}
	}
}

// TestConnectionLost: if a database stops while the poster reads its tables, the error is the same as for a database
// that cannot be reached at all. Then the service waits for it.
func TestConnectionLost(t *testing.T) {
	db, p := stocked(t, "lost")
	tx, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.WithoutCancel(t.Context()))
	if _, err := tx.Exec(t.Context(), "LOCK TABLE location IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- p.Reload(t.Context()) }()
	until(t, "a session that ends", func() bool {
		var n int
		err := tx.QueryRow(t.Context(), "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE wait_event_type = 'Lock'").Scan(&n)
		return err == nil && n == 1
	})
	if err := <-ended; !errors.Is(err, engine.ErrUnreachable) {
		t.Errorf("it ended with %v", err)
	}
}

// TestIHFSPassword: if the URL is in a file, the poster reads the file again for each connection.
func TestIHFSPassword(t *testing.T) {
	url, db := ihfs(t, "password")
	account := func(password string) string {
		if _, err := db.Exec(t.Context(), "ALTER ROLE river PASSWORD '"+password+"'"); err != nil {
			t.Fatal(err)
		}
		u, err := neturl.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		u.User = neturl.UserPassword("river", password)
		return u.String()
	}
	const role = "DROP ROLE IF EXISTS river; CREATE ROLE river LOGIN; GRANT USAGE ON SCHEMA password TO river; " +
		"GRANT ALL ON ALL TABLES IN SCHEMA password TO river"
	if _, err := db.Exec(t.Context(), role); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "url")
	if err := os.WriteFile(file, []byte(account("one")), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := river.OpenIHFS(t.Context(), "@"+file, river.DefaultTokens())
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	two := account("two")
	if err := p.Reload(t.Context()); err == nil || !errors.Is(err, engine.ErrUnreachable) || !p.IsTemporary(err) {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(file, []byte(two), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.Reload(t.Context()), p.Close()); err != nil {
		t.Error(err)
	}
}

// TestIHFSRead: Values returns stored values as SHEF values that the encoder accepts. It restores the letters of codes
// from numbers, thousands, and pairs that the IHFS stores in one value.
func TestIHFSRead(t *testing.T) {
	_, p := stocked(t, "reads")
	then := time.Now().UTC().Add(-2 * time.Hour).Truncate(time.Minute)
	text := product(-time.Hour,
		".AR AAA "+then.Format("20060102 Z DH1504")+"/HG 3.5Q/QR 1.234/PPH .1/PC 2.0/TB -6.065/HP M",
		".A AAA "+then.Add(100*time.Hour).Format("20060102 Z DH1504")+"/DC"+then.Format("200601021504")+"/HGIFZZM 9/HGICZ 8")
	post(t, p, text)
	read := func(from, to time.Time) (out []string) {
		t.Helper()
		var values []record.Gauge
		if err := p.Values(t.Context(), from.Unix(), to.Unix(), func(r *shef.Result) error {
			values = append(values, r.Values...)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		e := shef.NewEncoder(&b, nil)
		for i := range values {
			if err := e.Write(&values[i]); err != nil {
				t.Error(err)
			}
			g := &values[i]
			created := time.Duration(0)
			if g.Created != record.NoTime {
				created = time.Unix(g.Created, 0).Sub(then)
			}
			value := fmt.Sprint(g.Value, string(rune(g.Quality)))
			out = append(out, fmt.Sprint(g.Station, " ", g.Code, " ", value, " ", g.Duration, " ", g.Probability, " ",
				created, " ", g.Revised, " ", time.Unix(g.Time, 0).Sub(then)))
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		slices.Sort(out)
		return out
	}
	want := []string{
		"AAA HGICZZZ 8Z 0 -1 0s false 100h0m0s",
		"AAA HGIFZZM 9Z 0 -0.5 0s false 100h0m0s",
		"AAA HGIRZZZ 3.5Q 0 -1 0s true 0s",
		"AAA HPIRZZZ -9999Z 0 -1 0s true 0s",
		"AAA PCIRZZZ 2Z 0 -1 0s true 0s",
		"AAA PPHRZZZ 0.1Z 1001 -1 0s true 0s",
		"AAA QRIRZZZ 1.234Z 0 -1 0s true 0s",
		"AAA TBIRZZZ -6.065Z 0 -1 0s true 0s",
	}
	if got := read(then.AddDate(-1, 0, 0), then.AddDate(1, 0, 0)); !slices.Equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
	if got := read(then.Add(time.Second), then.AddDate(1, 0, 0)); len(got) != 2 {
		t.Errorf("of a time: %q", got)
	}
}

// TestNarrow: a number that does not fit into its IHFS column is refused and named. Its neighbors
// are posted.
func TestNarrow(t *testing.T) {
	db, p := stocked(t, "narrow")
	if _, err := db.Exec(t.Context(), `INSERT INTO ingestfilter VALUES ('AAA','TV',0,'RZ','Z',1,'T','F','F');
		INSERT INTO adjustfactor VALUES ('AAA','QR',0,'RZ','Z',1e-300,0,1,0)`); err != nil {
		t.Fatal(err)
	}
	if err := p.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	then := at(-2 * time.Hour)
	got := post(t, p, product(-time.Hour,
		".A AAA "+then+"/TV 3000000000.045/HG 2/QR 1000000000/PC 2.5",
		".A AAA "+at(-3*time.Hour)+"/TV 268435455.0457001/TV 268435456.045"))
	if got != (river.Tally{river.Inserted: 3, river.Refused: 3}) {
		t.Errorf("%v", got)
	}
	if got := rows(t, db, "SELECT ref_value, value FROM pairedvalue"); got != "268435455 45.7001" {
		t.Errorf("pairedvalue: %s", got)
	}
}
