package river_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/barograph/barograph/engine/postgres"
	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/river"
)

// permutations returns all orders of n things.
func permutations(n int) (out [][]int) {
	if n == 0 {
		return [][]int{nil}
	}
	for _, p := range permutations(n - 1) {
		for at := range n {
			out = append(out, slices.Insert(slices.Clone(p), at, n-1))
		}
	}
	return out
}

// batchings returns all divisions of texts, in their order, into transactions.
func batchings(texts []string) (out [][]string) {
	for cuts := range 1 << (len(texts) - 1) {
		batches := []string{texts[0]}
		for i, text := range texts[1:] {
			if cuts>>i&1 == 1 {
				batches = append(batches, "")
			}
			batches[len(batches)-1] += text
		}
		out = append(out, batches)
	}
	return out
}

// emptyTables empties all tables that the poster fills.
func emptyTables(t *testing.T, db *pgx.Conn) {
	t.Helper()
	tables := rows(t, db, `SELECT table_name FROM information_schema.columns
		WHERE table_schema = current_schema() AND column_name IN ('postingtime', 'basistime')
		GROUP BY table_name HAVING table_name NOT IN ('purgeproduct')`)
	if _, err := db.Exec(t.Context(), "TRUNCATE "+strings.ReplaceAll(tables, "\n", ", ")); err != nil {
		t.Fatal(err)
	}
}

// age changes all posting times to one hour earlier. The tables show a row that is posted again, although the test
// takes less than the second of a posting time.
func age(t *testing.T, db *pgx.Conn) {
	t.Helper()
	tables := rows(t, db, "SELECT table_name FROM information_schema.columns "+
		"WHERE table_schema = current_schema() AND column_name = 'postingtime'")
	for table := range strings.SplitSeq(tables, "\n") {
		if _, err := db.Exec(t.Context(), "UPDATE "+table+" SET postingtime = postingtime - interval '1 hour'"); err != nil {
			t.Fatal(err)
		}
	}
}

// readAll returns the products of texts, with their texts.
func readAll(t *testing.T, texts string) (all []*river.Product) {
	t.Helper()
	in := river.Input{Options: shef.Options{Now: time.Now()}, KeepText: true}
	if err := in.Read(strings.NewReader(texts), "test", time.Now(), func(p *river.Product) error {
		all = append(all, p)
		return nil
	}); err != nil {
		t.Error(err)
	}
	return all
}

// postAll posts texts in one transaction.
func postAll(t *testing.T, p river.Poster, texts string) {
	t.Helper()
	if _, err := p.Post(t.Context(), readAll(t, texts)); err != nil {
		t.Fatal(err)
	}
}

// anyOrder posts texts in all orders, and each order in all divisions into transactions. All tables must be the same
// except the posting times, and posting everything again must change nothing, also no posting time. No trigger may fire.
// Finally the results of queries must be the wanted ones.
func anyOrder(t *testing.T, db *pgx.Conn, p river.Poster, texts []string, want map[string]string) {
	t.Helper()
	var first, firstOrder string
	for _, order := range permutations(len(texts)) {
		var ordered []string
		for _, i := range order {
			ordered = append(ordered, texts[i])
		}
		for _, batches := range batchings(ordered) {
			emptyTables(t, db)
			for _, batch := range batches {
				postAll(t, p, batch)
			}
			name := strings.Join(batches, "\n--- next transaction:\n")
			got := everything(t, db, "postingtime", "n") // n is the number of calls of the triggers
			if first == "" {
				first, firstOrder = got, name
			}
			if got != first {
				t.Fatalf("%s\n=== results in\n%s\n=== and\n%s\n=== in\n%s", name, got, firstOrder, first)
			}
			age(t, db)
			before := everything(t, db)
			for _, again := range append([]string{strings.Join(ordered, "")}, ordered...) {
				postAll(t, p, again)
				if after := everything(t, db); after != before {
					t.Fatalf("%s\n=== results in\n%s\n=== and posting again\n%s\n=== in\n%s", name, before, again, after)
				}
			}
		}
	}
	for query, want := range want {
		if got := rows(t, db, query); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", query, got, want)
		}
	}
}

// orderTables returns an IHFS for anyOrder, with a poster that fills all tables.
func orderTables(t *testing.T, name string) (*pgx.Conn, *river.IHFS) {
	t.Helper()
	db, p := stocked(t, name)
	if _, err := db.Exec(t.Context(), `INSERT INTO ingestfilter VALUES ('AAA','TB',0,'CZ','Z',1,'T','F','F');
		INSERT INTO riverstat VALUES ('AAA', 'F');
		UPDATE datalimits SET alarm_upper_limit = 30, alert_upper_limit = 20, gross_range_min = -10, gross_range_max = 50;
		INSERT INTO datalimits (pe, dur, monthdaystart, monthdayend, alarm_upper_limit, alert_upper_limit) VALUES
			('TB', 0, '01-01', '12-31', 60, 50), ('PC', 0, '01-01', '12-31', 9, 8)`); err != nil {
		t.Fatal(err)
	}
	p.Tokens.Unknown, p.Tokens.Latest, p.Tokens.Link = "IDS_AND_DATA", "ON", true
	p.Tokens.Alarm, p.Tokens.MaxForecast, p.Tokens.StoreText = true, true, true
	if err := p.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The original triggers of precipitation store the product that arrives first.
	if _, err := db.Exec(t.Context(), "DROP TRIGGER cur ON rawpp; DROP TRIGGER cur ON rawpc"); err != nil {
		t.Fatal(err)
	}
	for table := range strings.FieldsSeq("latestobsvalue commentvalue unkstn unkstnvalue rejecteddata productlink " +
		"alertalarmval textproduct riverstatus pairedvalue fcstheight") {
		if _, err := db.Exec(t.Context(), "INSERT INTO calls VALUES ('"+table+"', 0); CREATE TRIGGER called "+
			"AFTER INSERT OR UPDATE OR DELETE ON "+table+" FOR EACH ROW EXECUTE FUNCTION called()"); err != nil {
			t.Fatal(err)
		}
	}
	return db, p
}

// TestAnyOrderOfOneMinute: products of one minute that contradict each other, two of them with one name. The secondary
// tables have what the tables of values have.
func TestAnyOrderOfOneMinute(t *testing.T) {
	db, p := orderTables(t, "anyorder")
	if _, err := db.Exec(t.Context(), "INSERT INTO purgeproduct VALUES ('KLCHRR1LCH', 1), ('KLCHRR2LCH', 1)"); err != nil {
		t.Fatal(err)
	}
	then, earlier := at(-2*time.Hour), at(-3*time.Hour)
	line := func(at, values string) string { return ".A AAA " + at + "/" + values }
	const bad, unknown = ".A BBB ", ".A XXX "
	empty := product(-time.Hour)
	text := func(id string, lines ...string) string {
		return strings.Replace(empty, "RR1LCH\r\r\n", id+"\r\r\n"+strings.Join(lines, "\r\r\n"), 1)
	}
	texts := []string{
		text("RR1LCH", line(then, "HG 7 'a'/QR 1.5"), line(earlier, "HG 1/HG 4 'd'"), line(then, "PC 1.0 'same'/HP M"),
			bad+then+"/HG 11", bad+then+"/HG 9", unknown+then+"/HG 3"),
		text("RR2LCH", line(then, "HG 5 'b'/QR 1.5"), line(earlier, "HG M 'none'"), line(then, "PC 1.0 'same'/HP M 'M'"),
			bad+then+"/HG 12", unknown+then+"/HG 2/TA 50"),
		text("RR1LCH", line(then, "HG 9 'c'/QR 1.5"), line(earlier, "HG 3 'e'"), line(then, "PC 1.0 'other'/HP 10"),
			bad+then+"/HG 13/HG 14", unknown+earlier+"/HG 1", unknown+then+"/HG 4"),
	}
	anyOrder(t, db, p, texts, map[string]string{
		"SELECT pe, value, product_id FROM height WHERE lid = 'AAA'":             "HG 4 KLCHRR1LCH\nHG 5 KLCHRR2LCH\nHP 11.5 KLCHRR1LCH",
		"SELECT pe, value, product_id FROM latestobsvalue WHERE lid = 'AAA'":     "HG 5 KLCHRR2LCH\nHP 11.5 KLCHRR1LCH\nPC 1 KLCHRR2LCH\nQR 1500 KLCHRR2LCH",
		"SELECT pe, value, shef_comment FROM commentvalue WHERE pe <> 'HP'":      "HG 4 d\nHG 5 b\nPC 1 same",
		"SELECT value FROM rejecteddata":                                         "11\n12\n13\n14",
		"SELECT value FROM latestobsvalue WHERE lid = 'BBB'":                     "12",
		"SELECT pe, value FROM unkstnvalue":                                      "HG 1\nHG 2\nTA 50",
		"SELECT lid, product_id FROM unkstn":                                     "XXX KLCHRR2LCH",
		"SELECT lid, product_id FROM productlink":                                "AAA KLCHRR1LCH\nAAA KLCHRR2LCH\nBBB KLCHRR1LCH\nBBB KLCHRR2LCH",
		"SELECT product_id, position('HG 9 ' in product) > 0 m FROM textproduct": "KLCHRR1LCH true\nKLCHRR2LCH false",
	})
}

// TestAnyOrderOfTexts: three products of one minute with one name and one value differ in their comments. The tables keep
// two of the texts.
func TestAnyOrderOfTexts(t *testing.T) {
	db, p := orderTables(t, "anytext")
	if _, err := db.Exec(t.Context(), "INSERT INTO purgeproduct VALUES ('KLCHRR1LCH', 2)"); err != nil {
		t.Fatal(err)
	}
	template := product(-time.Hour, ".A AAA "+at(-2*time.Hour)+"/HG 1 'COMMENT'")
	var texts []string
	for _, comment := range []string{"a", "b", "c"} {
		texts = append(texts, strings.Replace(template, "COMMENT", comment, 1))
	}
	anyOrder(t, db, p, texts, map[string]string{
		"SELECT value, shef_comment FROM commentvalue":              "1 c",
		"SELECT substring(product FROM $$'(.)'$$) FROM textproduct": "b\nc",
	})
}

// TestAnyOrderOfTimes: products of different times of issue. A later product that repeats the value of the first one
// wins over a product that was issued between the two, even if that product arrives last.
func TestAnyOrderOfTimes(t *testing.T) {
	db, p := orderTables(t, "anytime")
	if _, err := db.Exec(t.Context(), "INSERT INTO purgeproduct VALUES ('KLCHRR1LCH', 1)"); err != nil {
		t.Fatal(err)
	}
	then, earlier, ahead := at(-2*time.Hour), at(-3*time.Hour), at(6*time.Hour)
	basis := time.Now().UTC().Add(-time.Hour).Format("/DC200601021504")
	line := func(kind, at, values string) string { return kind + " AAA " + at + values }
	texts := []string{
		product(-60*time.Minute, line(".A", then, "/HG 5 'a'/QR 1.5/PC 9.5"), line(".A", earlier, "/HG 25"), line(".A", ahead, basis+"/HGIFZ 9"),
			".A XXX "+then+"/HG 1/TA 50", ".A BBB "+then+"/HG 11"),
		product(-50*time.Minute, line(".A", then, "/HG 6 'b'/QR M"), line(".AR", earlier, basis+"/HG 8"), line(".A", ahead, basis+"/HGIFZ 12"),
			".A XXX "+earlier+"/HG 2", ".A XXX "+then+"/TA M", ".A BBB "+then+"/HG 11"),
		product(-40*time.Minute, line(".A", then, "/HG 5 'a'/QR M"), line(".A", ahead, basis+"/HGIFZ 9"), line(".A", then, basis+"/PC 9.5"),
			".A XXX "+then+"/HG 1", ".A BBB "+then+"/HG 8"),
	}
	anyOrder(t, db, p, texts, map[string]string{
		"SELECT value FROM height WHERE lid = 'AAA'":             "5\n8",
		"SELECT pe, value FROM latestobsvalue WHERE lid = 'AAA'": "HG 5\nPC 9.5\nQR 1500",
		"SELECT value, shef_comment FROM commentvalue":           "5 a",
		"SELECT value FROM fcstheight":                           "9",
		"SELECT value FROM riverstatus":                          "9",
		"SELECT pe, value FROM unkstnvalue":                      "HG 1\nHG 2\nTA -9999",
		"SELECT lid, value FROM rejecteddata":                    "BBB 11\nBBB 11",
		"SELECT pe, aa_categ, value FROM alertalarmval":          "PC ALARM 9.5",
	})
}

// TestAnyOrderOfProfiles: the values of a profile have one alarm, that of the most important limit. Contingency values
// raise none.
func TestAnyOrderOfProfiles(t *testing.T) {
	db, p := orderTables(t, "anyprofile")
	clock := map[string]string{}
	for name, ago := range map[string]time.Duration{"alarm": 2 * time.Hour, "second": 3 * time.Hour, "ended": 4 * time.Hour, "none": 5 * time.Hour} {
		clock[name] = at(-ago)
	}
	line := func(kind, at, values string) string { return kind + " AAA " + clock[at] + "/" + values }
	texts := []string{
		product(-60*time.Minute, line(".A", "alarm", "TB 5.065/TB 9.052/TBICZ 1.099"), line(".A", "second", "TB 2.055"),
			line(".A", "ended", "TB 5.070"), line(".A", "none", "TB 5.049")),
		product(-50*time.Minute, line(".A", "alarm", "TB 2.010"), line(".A", "second", "TB 7.055/TB 9.010"),
			line(".A", "ended", "TB 6.020"), line(".A", "none", "TB 6.048")),
		product(-40*time.Minute, line(".A", "alarm", "TB 3.055"), line(".A", "second", "TB 8.056/TBICZ 1.099"),
			line(".AR", "ended", "TB 5.010"), line(".A", "none", "TB 7.000")),
	}
	anyOrder(t, db, p, texts, map[string]string{
		"SELECT count(*) FROM pairedvalue":                        "15",
		"SELECT aa_categ, aa_check, value, ts FROM alertalarmval": "ALARM UPPER 65 RZ\nALERT UPPER 55 RZ",
	})
}

// TestThreePosters: three posters that post the same products at the same time, each in an order of its own, do not end
// in a deadlock. The tables are those of one transaction.
func TestThreePosters(t *testing.T) {
	db, p := orderTables(t, "threeposters")
	if _, err := db.Exec(t.Context(), "DROP FUNCTION called CASCADE"); err != nil { // its triggers lock rows in any order
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(5, 5))
	hour := func() string { return at(-time.Duration(1+r.IntN(3)) * time.Hour) }
	var texts []string
	for i := range 60 {
		var lines []string
		for range 5 {
			lines = append(lines,
				fmt.Sprintf(".A AAA %s/TB %d.0%d/HG %d 'c%d'", hour(), 1+r.IntN(3), 45+r.IntN(30), r.IntN(35), r.IntN(3)),
				fmt.Sprintf(".A XXX %s/HG %d", hour(), r.IntN(35)), fmt.Sprintf(".A BBB %s/HG %d", hour(), r.IntN(15)))
		}
		texts = append(texts, product(-time.Duration(60-i/3)*time.Minute, lines...))
	}
	postAll(t, p, strings.Join(texts, ""))
	want := everything(t, db, "postingtime")
	emptyTables(t, db)
	var posters sync.WaitGroup
	for k := range 3 {
		url := servers.Lab(t, postgres.Driver(), lab.Options{}).URL() + "?search_path=threeposters"
		one, err := river.OpenIHFS(t.Context(), url, p.Tokens)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { one.Close() })
		posters.Go(func() {
			for i := range texts {
				if _, err := one.Post(t.Context(), readAll(t, texts[(7*(k+1)*i+11*k)%len(texts)])); err != nil {
					t.Error(err)
				}
			}
		})
	}
	posters.Wait()
	postAll(t, p, strings.Join(texts, ""))
	if got := everything(t, db, "postingtime"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestAlarmOfProfileStays: a value at another depth does not write the alarm of the profile again.
func TestAlarmOfProfileStays(t *testing.T) {
	db, p := orderTables(t, "profilestays")
	then := at(-2 * time.Hour)
	post(t, p, product(-time.Hour, ".A AAA "+then+"/TB 5.065"))
	age(t, db)
	const alarms = "SELECT value, postingtime, (SELECT n FROM calls WHERE name = 'alertalarmval') FROM alertalarmval"
	before := rows(t, db, alarms)
	post(t, p, product(-50*time.Minute, ".A AAA "+then+"/TB 2.010"))
	if after := rows(t, db, alarms); after != before || !strings.HasPrefix(after, "65 ") {
		t.Errorf("%s changes to %s", before, after)
	}
	post(t, p, product(-40*time.Minute, ".AR AAA "+then+"/TB 5.010"))
	if after := rows(t, db, alarms); after != "" {
		t.Errorf("no depth has an alarm, and the profile has %s", after)
	}
}

// TestLatestFollowsPolicy: with a policy under which the first value stays, latestobsvalue keeps the value that the table
// of values keeps.
func TestLatestFollowsPolicy(t *testing.T) {
	db, p := stocked(t, "latestpolicy")
	p.Tokens.Latest, p.Tokens.Policy = "ON", posts.RevisedOnly
	then := at(-2 * time.Hour)
	for i, c := range []struct{ line, want string }{
		{".A AAA " + then + "/HG 5 'five'", "5"},
		{".A AAA " + then + "/HG 6 'six'", "5"},
		{".AR AAA " + then + "/HG 7 'seven'", "7"},
	} {
		post(t, p, product(time.Duration(i-60)*time.Minute, c.line))
		for _, table := range []string{"height", "latestobsvalue", "commentvalue"} {
			if got := rows(t, db, "SELECT value FROM "+table); got != c.want {
				t.Errorf("%s: %s has %s, want %s", c.line, table, got, c.want)
			}
		}
	}
	p.Tokens.Policy = posts.IfDifferent
	post(t, p, product(-30*time.Minute, ".A AAA "+then+"/HG 7 'the same'"))
	if got := rows(t, db, "SELECT value, shef_comment FROM commentvalue"); got != "7 the same" {
		t.Errorf("a new comment on the same value: %s", got)
	}
}

// TestWithoutHeading: a text without a heading changes nothing if it is posted again, although the time of its product
// is that of its arrival.
func TestWithoutHeading(t *testing.T) {
	db, p := stocked(t, "noheading")
	p.Tokens.Latest, p.Tokens.Unknown = "ON", "IDS_AND_DATA"
	text := ".A AAA " + at(-2*time.Hour) + "/HG 5 'five'/QR M\r\n.A XXX " + at(-2*time.Hour) + "/HG 1\r\n"
	in := river.Input{Options: shef.Options{Now: time.Now()}}
	var before string
	for i := range 3 {
		if err := in.Read(strings.NewReader(text), "test", time.Now().Add(time.Duration(i)*time.Minute), func(one *river.Product) error {
			_, err := p.Post(t.Context(), []*river.Product{one})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if now := everything(t, db); i > 0 && (now != before || !strings.Contains(now, "MSGPRODID")) {
			t.Errorf("%s\nchanges to\n%s", before, now)
		}
		age(t, db)
		before = everything(t, db)
	}
}

// TestTwoLatest: if another program stored two rows of a series in latestobsvalue, which has no declared key, a later
// value replaces both.
func TestTwoLatest(t *testing.T) {
	db, p := stocked(t, "twolatest")
	p.Tokens.Latest = "ON"
	if _, err := db.Exec(t.Context(), `INSERT INTO latestobsvalue (lid, pe, dur, ts, extremum, obstime, value) VALUES
		('AAA', 'HG', 0, 'RZ', 'Z', now() AT TIME ZONE 'UTC' - interval '1 day', 1), ('AAA', 'HG', 0, 'RZ', 'Z', NULL, 2),
		('AAA', 'HG', 0, 'RZ', 'Z', now() AT TIME ZONE 'UTC' - interval '2 days', 3)`); err != nil {
		t.Fatal(err)
	}
	post(t, p, product(-time.Hour, ".A AAA "+at(-36*time.Hour)+"/HG 4"))
	if got := rows(t, db, "SELECT value FROM latestobsvalue"); got != "1\n2\n3" {
		t.Errorf("an earlier value changes the rows to\n%s", got)
	}
	post(t, p, product(-time.Hour, ".A AAA "+at(-2*time.Hour)+"/HG 5"))
	if got := rows(t, db, "SELECT value FROM latestobsvalue"); got != "5\n5\n5" {
		t.Error(got)
	}
}
