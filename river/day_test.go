package river_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/postgres"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/river"
)

// TestDay simulates two days of a river forecast center: the day on which daylight time ends, and the day on which it
// begins. Six offices send readings, forecasts, revisions, repetitions, late and doubled products, and bad, missing and
// questionable values, in .A, .B and .E messages with times in three forms. The test kills the service repeatedly, and
// stops the database for a while. It derives the rows that the tables must contain from the values that it sent, by
// rules that this file implements again: it uses neither the decoder nor the poster. Without BAROGRAPH_SOAK the test
// sends a fifth of the products and kills the service 3 times instead of 30 times.

const (
	childDay  = "BAROGRAPH_RIVER_DAY"
	childEnds = "BAROGRAPH_RIVER_ENDS" // true: the service ends when everything is posted
	good      = 0x6FFFFFFF
)

// day is one of the two days, in the Central zone.
type day struct {
	begins        time.Time
	change        time.Time // the first time of the second offset
	before, after time.Duration
	twice         time.Duration // for so long after the change the clock repeats the times before it
}

func days() map[string]day {
	return map[string]day{
		"autumn": {
			time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 1, 7, 0, 0, 0, time.UTC),
			-5 * time.Hour, -6 * time.Hour, time.Hour,
		},
		"spring": {time.Date(2027, 3, 14, 0, 0, 0, 0, time.UTC), time.Date(2027, 3, 14, 8, 0, 0, 0, time.UTC), -6 * time.Hour, -5 * time.Hour, 0},
	}
}

func (d day) ends() time.Time { return d.begins.Add(30 * time.Hour) }

// dayTokens returns the tokens of the service in TestDay.
func dayTokens() river.Tokens {
	t := river.DefaultTokens()
	t.Unknown, t.Latest, t.Alarm, t.Precipitation, t.StoreText = "IDS_AND_DATA", "ON", true, true, true
	return t
}

// dayWant returns the rows that the tables must contain after the day, by table and by key.
func dayWant(products []*dayProduct, sent []*daySent) map[string]map[string]string {
	out := map[string]map[string]string{}
	put := func(table, key, row string) {
		if out[table] == nil {
			out[table] = map[string]string{}
		}
		out[table][key] = row
	}
	clock := func(at time.Time) string { return at.UTC().Format("02T15:04") }
	sent = slices.Clone(sent)
	slices.SortStableFunc(sent, func(a, b *daySent) int { return a.issued.Compare(b.issued) })
	final, latest := map[string]*daySent{}, map[string]*daySent{}
	for _, v := range sent {
		s := v.series
		key := fmt.Sprint(s.lid, " ", s.pe, " ", s.dur, " ", s.ts, " ", clock(v.at))
		switch name := s.lid[:3]; {
		case name == "NEW":
			put("unkstn", s.lid, "")
			put("unkstnvalue", key, fmt.Sprint(unknownValue(v)))
			continue
		case name == "OFF", !s.admitted:
			continue
		}
		if old := latest[s.lid+s.text]; s.ts == "RZ" && (old == nil || old.at.Before(v.at) || old.at.Equal(v.at)) {
			latest[s.lid+s.text] = v
			put("latestobsvalue", fmt.Sprint(s.lid, " ", s.pe, " ", s.dur), fmt.Sprintf("%s %.4f", clock(v.at), v.stored()))
		}
		if v.code() < 1<<30 {
			put("rejecteddata", key+" "+v.product+" "+clock(v.issued), fmt.Sprintf("%.4f %d", v.stored(), v.code()))
			continue
		}
		key += " " + clock(v.basis)
		if old := final[key]; old == nil || !v.missing || v.revised || old.missing {
			final[key] = v
		}
	}
	for key, v := range final {
		s, qualifier, revision := v.series, "Z", 0
		if v.qualifier != 0 {
			qualifier = string(v.qualifier)
		}
		if v.revised {
			revision = 1
		}
		if s.ts == "RZ" {
			key = strings.TrimSuffix(key, " "+clock(time.Time{}))
		}
		put(s.table, key, fmt.Sprintf("%.4f %s %d %d", v.stored(), qualifier, v.code(), revision))
		if x := v.stored(); s.pe == "HG" && !v.missing {
			switch {
			case x >= 35:
				put("alertalarmval", key, fmt.Sprintf("ALARM UPPER %.4f", x))
			case x >= 30:
				put("alertalarmval", key, fmt.Sprintf("ALERT UPPER %.4f", x))
			}
		}
	}
	daySlots(final, put)
	versions := map[string][]*dayProduct{}
	for _, p := range products {
		versions[p.id] = append(versions[p.id], p)
		put("purgeproduct", p.id, "3")
	}
	for id, list := range versions {
		slices.SortFunc(list, func(a, b *dayProduct) int { return b.issued.Compare(a.issued) })
		for _, p := range list[:min(3, len(list))] {
			put("textproduct", id+" "+clock(p.issued), fmt.Sprint(strings.Contains(id, "RVF"), " ", strings.Count(p.text, "\r\r\n.")))
		}
	}
	return out
}

// unknownValue returns the stored value of a station that the database does not know: the value that was sent, without
// conversion of units and without factors.
func unknownValue(v *daySent) string {
	x := float64(v.number) / math.Pow10(v.series.decimals)
	if v.missing {
		x = -9999
	}
	return fmt.Sprintf("%.4f", x)
}

// daySlots puts the rows of hourlypp and hourlypc. A slot contains the value that is nearest to its hour, within ten
// minutes.
func daySlots(final map[string]*daySent, put func(table, key, row string)) {
	type slot struct {
		table, lid string
		hour       time.Time
	}
	best := map[slot]*daySent{}
	for _, v := range final {
		table := map[string]string{"PPH": "hourlypp", "PC": "hourlypc"}[v.series.text]
		if table == "" {
			continue
		}
		for _, hour := range []time.Time{v.at.Truncate(time.Hour), v.at.Truncate(time.Hour).Add(time.Hour)} {
			far := func(x *daySent) float64 { return math.Abs(x.at.Sub(hour).Minutes()) }
			k := slot{table, v.series.lid, hour}
			old := best[k]
			switch {
			case far(v) > 10:
			case old == nil, old.missing && !v.missing:
				best[k] = v
			case old.missing == v.missing && (far(v) < far(old) || far(v) == far(old) && v.at.After(old.at)):
				best[k] = v
			}
		}
	}
	for k, v := range best {
		day, hour := k.hour, k.hour.Hour()
		if hour == 0 {
			day, hour = day.Add(-24*time.Hour), 24
		}
		n := -9999.0
		if !v.missing {
			n = math.Round(v.stored() * 100)
		}
		put(k.table, fmt.Sprint(k.lid, " ", day.Format("02"), " ", hour), fmt.Sprintf("%.0f %d", n, int(v.at.Sub(k.hour).Minutes())))
	}
}

// dayGot returns the rows that the tables contain, in the form of dayWant.
func dayGot(t *testing.T, db *pgx.Conn) map[string]map[string]string {
	t.Helper()
	const series = "lid || ' ' || pe || ' ' || dur || ' ' || ts || ' ' || to_char(%s, 'DD\"T\"HH24:MI')"
	observed, ahead := fmt.Sprintf(series, "obstime"), fmt.Sprintf(series, "validtime")
	const cells = "to_char(value, 'FM99999999990.0000') || ' ' || shef_qual_code || ' ' || quality_code || ' ' || revision"
	queries := map[string]string{
		"fcstheight": "SELECT " + ahead + " || ' ' || to_char(basistime, 'DD\"T\"HH24:MI'), " + cells,
		"rejecteddata": "SELECT " + ahead + " || ' ' || product_id || ' ' || to_char(producttime, 'DD\"T\"HH24:MI'), " +
			"to_char(value, 'FM99999999990.0000') || ' ' || quality_code",
		"unkstn":      "SELECT lid, ''",
		"unkstnvalue": "SELECT " + observed + ", to_char(value, 'FM99999999990.0000')",
		"latestobsvalue": "SELECT lid || ' ' || pe || ' ' || dur, " +
			"to_char(obstime, 'DD\"T\"HH24:MI') || ' ' || to_char(value, 'FM99999999990.0000')",
		"alertalarmval": "SELECT " + ahead + " || CASE ts WHEN 'FF' THEN ' ' || to_char(basistime, 'DD\"T\"HH24:MI') ELSE '' END, " +
			"aa_categ || ' ' || aa_check || ' ' || " +
			"to_char(value, 'FM99999999990.0000')",
		"textproduct": "SELECT product_id || ' ' || to_char(producttime, 'DD\"T\"HH24:MI'), " +
			"(prodtype = 'F')::text || ' ' || (length(product) - length(replace(product, E'\\n.', E'\\n')))",
		"purgeproduct": "SELECT product_id, num_versions::text",
	}
	for _, table := range []string{"height", "discharge", "rawpp", "rawpc", "temperature"} {
		queries[table] = "SELECT " + observed + ", " + cells
	}
	for _, table := range []string{"hourlypp", "hourlypc"} {
		var hours []string
		for i := 1; i <= 24; i++ {
			letter := fmt.Sprintf("substr(minute_offset, %d, 1)", i)
			minutes := "CASE WHEN " + letter + " = '0' THEN 0 WHEN " + letter + " >= 'a' THEN 96 - ascii(" + letter + ") " +
				"ELSE ascii(" + letter + ") - 64 END"
			hours = append(hours, fmt.Sprintf("(%d, hour%d, %s)", i, i, minutes))
		}
		queries[table] = "SELECT lid || ' ' || to_char(obsdate, 'DD') || ' ' || h.n, h.v || ' ' || h.m " +
			"FROM " + table + ", LATERAL (VALUES " + strings.Join(hours, ", ") + ") h(n, v, m) WHERE h.v IS NOT NULL"
	}
	out := map[string]map[string]string{}
	for table, query := range queries {
		if !strings.Contains(query, " FROM ") {
			query += " FROM " + table
		}
		q, err := db.Query(t.Context(), query)
		if err != nil {
			t.Fatal(table, err)
		}
		rows := map[string]string{}
		var key, row string
		if _, err := pgx.ForEachRow(q, []any{&key, &row}, func() error {
			if old, twice := rows[key]; twice {
				t.Errorf("%s: two rows have the key %s: %s, %s", table, key, old, row)
			}
			rows[key] = row
			return nil
		}); err != nil {
			t.Fatal(table, query, err)
		}
		out[table] = rows
	}
	return out
}

func TestDay(t *testing.T) {
	kills, scale := 3, 4
	if enginetest.Nightly() {
		kills, scale = 30, 20
	}
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv(enginetest.EnvSeed); text != "" {
		fmt.Sscan(text, &seed)
	}
	t.Logf("%s=%d", enginetest.EnvSeed, seed)
	for name, d := range days() {
		t.Run(name, func(t *testing.T) { d.run(t, name, seed, kills, scale) })
	}
}

func (d day) run(t *testing.T, name string, seed uint64, kills, scale int) {
	products, sent, all := d.feed(seed, scale)
	url, db := ihfs(t, "day_"+name)
	for _, s := range all {
		ingest := map[bool]string{true: "T", false: "F"}[s.admitted]
		post := map[string]any{"DAY": 1, "OFF": 0}[s.lid[:3]]
		text := "INSERT INTO ingestfilter VALUES ($1, $2, $3, $4, 'Z', 1, $5, 'F', 'T')"
		if _, err := db.Exec(t.Context(), text, s.lid, s.pe, s.dur, s.ts, ingest); err != nil {
			t.Fatal(err)
		}
		const station = "INSERT INTO location SELECT $1::varchar, $2::smallint WHERE $2 IS NOT NULL ON CONFLICT DO NOTHING"
		if _, err := db.Exec(t.Context(), station, s.lid, post); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Exec(t.Context(), `INSERT INTO datalimits VALUES ('HG', 0, '01-01', '12-31', -10, 50, 0, 40, 30, 35, NULL, NULL);
		INSERT INTO adjustfactor SELECT DISTINCT lid, 'HP', 0, 'RZ', 'Z', NULL::float8, 3, 2, 1 FROM location`); err != nil {
		t.Fatal(err)
	}
	for _, p := range products {
		const purge = "INSERT INTO purgeproduct SELECT $1::varchar, 3 " +
			"WHERE NOT EXISTS (SELECT FROM purgeproduct WHERE product_id = $1)"
		if _, err := db.Exec(t.Context(), purge, p.id); err != nil {
			t.Fatal(err)
		}
	}
	dayService(t, url, name, seed, kills, products)
	var err error
	if db, err = pgx.Connect(t.Context(), url); err != nil { // the server was away
		t.Fatal(err)
	}
	defer db.Close(context.WithoutCancel(t.Context()))
	want, got := dayWant(products, sent), dayGot(t, db)
	rows := 0
	for _, table := range slices.Sorted(maps.Keys(want)) {
		var missing, extra, different []string
		for key, row := range want[table] {
			switch found, is := got[table][key]; {
			case !is:
				missing = append(missing, key+": "+row)
			case found != row:
				different = append(different, key+": "+found+", want "+row)
			}
		}
		for key, row := range got[table] {
			if _, is := want[table][key]; !is {
				extra = append(extra, key+": "+row)
			}
		}
		rows += len(want[table])
		t.Logf("%-15s %7d rows: %d missing, %d extra, %d different", table, len(want[table]), len(missing), len(extra), len(different))
		for what, list := range map[string][]string{"missing": missing, "extra": extra, "different": different} {
			if slices.Sort(list); len(list) > 0 {
				t.Errorf("%s: %d %s, such as %q", table, len(list), what, list[:min(3, len(list))])
			}
		}
	}
	t.Logf("%d products, %d values sent, %d kills: %d rows", len(products), len(sent), kills, rows)
	if rows < 500 {
		t.Errorf("only %d rows: the day proves too little", rows)
	}
}

// dayService runs the service over the day. It kills the service while it posts, and stops the database for a twelfth
// of the day.
func dayService(t *testing.T, url, day string, seed uint64, kills int, products []*dayProduct) {
	t.Helper()
	server := servers.Lab(t, postgres.Driver(), lab.Options{})
	dir, r := t.TempDir(), rand.New(rand.NewPCG(seed, 39))
	n := 0
	deliver := func(p *dayProduct) {
		path := filepath.Join(dir, fmt.Sprintf("%05d-%s", n, p.id))
		if n++; os.WriteFile(path+".tmp", []byte(p.text), 0o600) != nil || os.Rename(path+".tmp", path) != nil {
			t.Fatal("the spool cannot be written")
		}
	}
	start := func(ends bool) *exec.Cmd {
		child := exec.CommandContext(t.Context(), os.Args[0])
		child.Env = append(os.Environ(), childSpool+"="+dir, childURL+"="+url, childDay+"="+day, childEnds+"="+fmt.Sprint(ends))
		child.Stderr = os.Stderr
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		return child
	}
	slices.SortStableFunc(products, func(a, b *dayProduct) int { return cmp.Compare(a.arrives.Unix(), b.arrives.Unix()) })
	for k := range kills {
		child := start(false)
		for _, p := range products[k*len(products)/kills : (k+1)*len(products)/kills] {
			if deliver(p); r.IntN(12) == 0 {
				deliver(p) // doubled, as over two paths
			}
		}
		if k == kills/2 {
			if err := server.Kill(0); err != nil {
				t.Fatal(err)
			}
			time.Sleep(500 * time.Millisecond)
			if err := server.Restart(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Duration(100+r.IntN(600)) * time.Millisecond)
		child.Process.Kill()
		if child.Wait(); child.ProcessState.ExitCode() != -1 {
			t.Fatal("the service ended by itself")
		}
	}
	if err := start(true).Wait(); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "[0-9]*")); len(left) > 0 {
		t.Errorf("%d files wait", len(left))
	}
	if failed, _ := filepath.Glob(filepath.Join(dir, "failed", "*")); len(failed) > 0 {
		t.Errorf("failed: %q", failed)
	}
}
