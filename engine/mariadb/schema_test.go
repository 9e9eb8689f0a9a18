package mariadb

import (
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// openIn opens an archive of a lab.
func openIn(t *testing.T, l *lab.Lab, rest string, n design.Name) *openArchive {
	t.Helper()
	u, err := url.Parse(l.URL() + rest)
	if err != nil {
		t.Fatal(err)
	}
	e, err := open(t.Context(), u, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	a, err := archive.DatabaseOf(e).Open(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return a.(*openArchive)
}

// texts returns the rows of a query; a blank separates columns.
func texts(t *testing.T, a *openArchive, query string, args ...any) []string {
	t.Helper()
	rows, err := a.db.pool.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close() // Err below reports the error
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for rows.Next() {
		cells, into := make([]*string, len(names)), make([]any, len(names))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		var words []string
		for _, c := range cells {
			if c == nil {
				words = append(words, "NULL")
			} else {
				words = append(words, *c)
			}
		}
		out = append(out, strings.Join(words, " "))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// batch makes records of one header; fill sets the values of each.
func batch(lineType, path string, h record.Header, n int, fill func(b *record.Batch, i int)) *record.Batch {
	lt, _ := record.TypeByName(lineType)
	b := &record.Batch{}
	b.Reset(lt, path)
	head := b.AddHeader(h)
	for i := range n {
		b.AppendTimes(head, int32(i)*3600, 1546300800, uint32(i+1))
		for k := range b.Num {
			b.Num[k] = append(b.Num[k], float64(k+1))
		}
		for k := range b.Text {
			b.Text[k] = append(b.Text[k], record.NA)
		}
		if fill != nil {
			fill(b, i)
		}
		if lt.Group != nil {
			b.GroupEnd = append(b.GroupEnd, uint32(len(b.Group)))
		}
	}
	return b
}

func header(version, model string) record.Header {
	h := record.DefaultHeader()
	h[record.Version], h[record.Model], h[record.FcstVar], h[record.ObsVar], h[record.InterpPnts] = version, model, "TMP", "TMP", "4"
	return h
}

// commit stores batches in one commit of a new loader.
func commit(t *testing.T, a *openArchive, subset string, batches ...*record.Batch) (archive.CommitResult, error) {
	t.Helper()
	l, err := a.Loader(t.Context(), subset)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // nothing is left uncommitted
	c := archive.Commit{Catalog: design.NewCatalog(subset)}
	for _, b := range batches {
		if err := l.Add(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		c.Catalog.Add(b)
	}
	return l.Commit(t.Context(), c)
}

func sum(t *testing.T, a *openArchive, subset string) (d record.Digest) {
	t.Helper()
	var h record.Hasher
	for b, err := range a.Dump(t.Context(), subset) {
		if err != nil {
			t.Fatal(err)
		}
		d.Add(h.DigestOf(b))
	}
	return d
}

func want(batches ...*record.Batch) (d record.Digest) {
	var h record.Hasher
	for _, b := range batches {
		d.Add(h.DigestOf(b))
	}
	return d
}

// Every column of every line type has a place: one of METviewer's, or a twin.
func TestEveryColumnHasAPlace(t *testing.T) {
	for _, lt := range record.Types() {
		known := map[string]bool{}
		for _, c := range lineColumns(lt) {
			if c.met.kind == none {
				continue
			}
			if known[c.met.name] {
				t.Errorf("%s: two columns are stored in %s", lt.Name, c.met.name)
			}
			known[c.met.name] = true
		}
		for _, m := range parseColumns(metviewerLines[lt.Name], lt.Name) {
			filled := known[m.name] || m.name == "line_data_id" || m.name == "mpr_climo" || lt.Name == "ENSCNT" && strings.Contains(m.name, "_")
			if !filled {
				t.Errorf("%s: METviewer's column %s is never filled", lt.Name, m.name)
			}
		}
		if !hasTable(lt) {
			continue
		}
		if name, cols := childTable(tableOf(lt)); (lt.Group != nil) != (name != "") || (lt.Group != nil && len(cols) != len(lt.Group.Fields)) {
			t.Errorf("%s: child table %q with %d columns", lt.Name, name, len(cols))
		}
		if hasLineID(lt) != strings.Contains(metviewerLines[lt.Name], "line_data_id#") {
			t.Errorf("%s: line_data_id", lt.Name)
		}
	}
}

// TestSizeOfADesign: three designs in one database have three sizes, which together are the size of the database.
func TestSizeOfADesign(t *testing.T) {
	l := Servers.Lab(t, Driver(), lab.Options{Memory: 1 << 30})
	var archives []*openArchive
	for i, n := range []design.Name{design.Normalized, design.Document, design.Wide} {
		a := openIn(t, l, "size_", n)
		if _, err := commit(t, a, "s", batch("SL1L2", "dir/a.stat", header("V01", "GFS"), 3*(i+1), nil)); err != nil {
			t.Fatal(err)
		}
		archives = append(archives, a)
	}
	var sizes []int64
	var sum int64
	var all []string
	for range 10 { // the server updates its estimates for InnoDB in the background
		sizes, sum = nil, 0
		for _, a := range archives {
			n, err := a.Size(t.Context())
			if err != nil || n <= 0 {
				t.Fatalf("%s has %d bytes, %v", a.Design, n, err)
			}
			sizes, sum = append(sizes, n), sum+n
		}
		all = texts(t, archives[0], "SELECT CAST(SUM(data_length + index_length) AS SIGNED) FROM information_schema.tables WHERE table_schema = ?", archives[0].database("s"))
		if all[0] == strconv.FormatInt(sum, 10) {
			return
		}
	}
	t.Errorf("sizes %v are %d together; the database has %q", sizes, sum, all)
}

// METviewer sees its own schema in a database, before and after the first value that METviewer's columns cannot store.
func TestMETviewerSeesItsOwnTables(t *testing.T) {
	l := Servers.Lab(t, Driver(), lab.Options{Memory: 1 << 30})
	for _, c := range []struct{ query, engine, indexes string }{
		{"v1_", "MyISAM", "line_data_sl1l2_data_file_id_pk stat_header_id_idx"},
		{"v2_?engine=innodb&apply_indexes=true", "InnoDB", "line_data_sl1l2_data_file_id_pk line_data_sl1l2_fcst_init_beg_idx line_data_sl1l2_fcst_lead_idx line_data_sl1l2_fcst_valid_beg_idx PRIMARY stat_header_id_idx"}, // the key is that of the invisible column,
	} {
		a := openIn(t, l, c.query, design.Normalized)
		db := a.database("s")
		plain := batch("SL1L2", "dir/a.stat", header("V01", "GFS"), 3, nil)
		if _, err := commit(t, a, "s", plain); err != nil {
			t.Fatal(err)
		}
		seen := "SELECT * FROM " + a.table("s", "line_data_sl1l2") + " ORDER BY line_num"
		row := texts(t, a, seen)
		if len(row) != 3 || row[1] != "1 1 2 1 2019-01-01 00:00:00 2019-01-01 00:00:00 2018-12-31 23:00:00 0 2019-01-01 00:00:00 2019-01-01 00:00:00 1 2 3 4 5 6 7" {
			t.Errorf("rows %q", row)
		}
		if got := texts(t, a, "SELECT DISTINCT engine, table_collation FROM information_schema.tables WHERE table_schema = ? AND table_name NOT LIKE 'barograph%'", db); !slices.Equal(got, []string{c.engine + " latin1_swedish_ci"}) {
			t.Errorf("METviewer's tables are %q", got)
		}
		got := texts(t, a, "SELECT DISTINCT index_name FROM information_schema.statistics WHERE table_schema = ? AND table_name = 'line_data_sl1l2' ORDER BY 1", db)
		if strings.Join(got, " ") != c.indexes {
			t.Errorf("indexes %q", got)
		}
		if twins := texts(t, a, "SELECT column_name FROM information_schema.columns WHERE table_schema = ? AND table_name IN ('stat_header', 'line_data_sl1l2') AND column_name LIKE 'barograph%' AND column_name <> ?", db, rowColumn); len(twins) > 0 {
			t.Errorf("plain records made %q", twins)
		}
		odd := batch("SL1L2", "dir/b.stat", header("V01", "Größe"), 2, func(b *record.Batch, i int) { b.Num[0][i] = 1e10 + 0.5 })
		if _, err := commit(t, a, "s", odd); err != nil {
			t.Fatal(err)
		}
		if again := texts(t, a, seen); !slices.Equal(again[:1], row[:1]) || !strings.Contains(strings.Join(again, "\n"), " 4294967295 2 3") {
			t.Errorf("rows %q", again)
		}
		if got := texts(t, a, "SELECT * FROM "+a.table("s", "stat_header")); len(got) != 2 || got[1] != "2 V01 Größe NA TMP NA NA TMP NA NA NA NA NA 4 NA NA" {
			t.Errorf("headers %q", got)
		}
		if got, want := sum(t, a, "s"), want(plain, odd); got != want {
			t.Errorf("digest %v, want %v", got, want)
		}
	}
}

// The text of metviewer-sql is METviewer's own if METviewer's columns store all values.
func TestPlainQuestionsArePlain(t *testing.T) {
	l := Servers.Lab(t, Driver(), lab.Options{Memory: 1 << 30})
	a := openIn(t, l, "q_", design.Normalized)
	if _, err := commit(t, a, "s", batch("SAL1L2", "a.vsdb", header("V01", "GFS"), 3, nil)); err != nil {
		t.Fatal(err)
	}
	q, err := question.Find("test_3")
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := a.Catalog(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.Phrase(t.Context(), q.InSubset("s"), flavour.MetviewerSQL)
	if err != nil {
		t.Fatal(err)
	}
	golden, err := flavour.Build(dialectIn("q_"), design.Normalized, flavour.MetviewerSQL, q.InSubset("s"), catalog)
	if err != nil || p.Text != golden.Text {
		t.Errorf("the text is\n%s\nwant\n%s", p.Text, golden.Text)
	}
	if _, err := a.Phrase(t.Context(), q.InSubset("s"), flavour.CachedSQL); err == nil {
		t.Error("a query cache is offered where the server has none")
	}
	if plan, err := a.Explain(t.Context(), p); err != nil || !strings.Contains(plan.Text, "query_block") {
		t.Errorf("plan %s, %v", plan.Text, err)
	}
}

// Repeating columns are in METviewer's child tables. For lines with many of them METdbLoad drops a record, or writes
// values of another one.
func TestChildTables(t *testing.T) {
	l := Servers.Lab(t, Driver(), lab.Options{Memory: 1 << 30})
	a := openIn(t, l, "c_", design.Normalized)
	pct := batch("PCT", "a.stat", header("V12.0.0", "GFS"), 2, func(b *record.Batch, i int) {
		b.Num[1][i] = 3
		b.Group = append(b.Group, 0, float64(10+i), 5, 0.5, 7, 8, 1)
	})
	eclv := batch("ECLV", "a.stat", header("V12.0.0", "GFS"), 1, func(b *record.Batch, _ int) { b.Group = append(b.Group, 0.05, 0.5, 0.1, 0.25) })
	mctc := batch("MCTC", "a.stat", header("V12.0.0", "GFS"), 1, func(b *record.Batch, _ int) { b.Group = append(b.Group, 1, 2, 3, 4) })
	for range 2 { // the second time the tables contain the records
		if _, err := commit(t, a, "s", pct, eclv, mctc); err != nil {
			t.Fatal(err)
		}
		for query, want := range map[string]string{
			"SELECT i_value, thresh_i, oy_i, on_i FROM " + a.table("s", "line_data_pct_thresh") + " ORDER BY line_data_id, i_value":                                "1 0 10 5|2 0.5 7 8|1 0 11 5|2 0.5 7 8",
			"SELECT i_value, x_pnt_i, y_pnt_i FROM " + a.table("s", "line_data_eclv_pnt") + " ORDER BY i_value":                                                    "1 0.05 0.5|2 0.1 0.25",
			"SELECT i_value, j_value, fi_oj FROM " + a.table("s", "line_data_mctc_cnt") + " ORDER BY 1, 2":                                                         "1 1 1|1 2 2|2 1 3|2 2 4",
			"SELECT count(*) FROM " + a.table("s", "line_data_pct") + " JOIN " + a.table("s", "line_data_pct_thresh") + " USING (line_data_id) WHERE n_thresh = 2": "4",
		} {
			if got := strings.Join(texts(t, a, query), "|"); got != want {
				t.Errorf("%s: %s, want %s", query, got, want)
			}
		}
		if got, want := sum(t, a, "s"), want(pct, eclv, mctc); got != want {
			t.Errorf("digest %v, want %v", got, want)
		}
	}
}

// TestMissingTexts: METdbLoad writes a missing text of a line as -9999, and NA into stat_header. A text that is -9999
// is read back unchanged.
func TestMissingTexts(t *testing.T) {
	l := Servers.Lab(t, Driver(), lab.Options{Memory: 1 << 30})
	a := openIn(t, l, "m_", design.Normalized)
	mpr := batch("MPR", "a.stat", header("V12.0.0", "GFS"), 3, func(b *record.Batch, i int) {
		for s := range b.Text {
			b.Text[s][i] = []string{record.NA, "-9999", "KDEN"}[i]
		}
	})
	if _, err := commit(t, a, "s", mpr); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(texts(t, a, "SELECT obs_sid FROM "+a.table("s", "line_data_mpr")+" ORDER BY line_num"), "|"); got != "-9999|-9999|KDEN" {
		t.Errorf("obs_sid is %s", got)
	}
	if got, want := sum(t, a, "s"), want(mpr); got != want {
		t.Errorf("digest %v, want %v", got, want)
	}
}

// Paths that METviewer's data_file cannot store, or treats as equal, are distinct files.
func TestAwkwardPaths(t *testing.T) {
	l := Servers.Lab(t, Driver(), lab.Options{Memory: 1 << 30})
	a := openIn(t, l, "f_", design.Normalized)
	long := strings.Repeat("folder/", 30)
	for range 2 {
		for i, p := range []string{"d/a.stat", "d/A.stat", "D/a.stat", "d/a.stat ", long + "a.stat", long + "b.stat", "é/x.stat", "e/x.stat", "a\tb\\/c\n.stat"} {
			if _, err := commit(t, a, "s", batch("SL1L2", p, header("V01", "M"+strconv.Itoa(i)), 1, nil)); err != nil {
				t.Fatalf("%q: %v", p, err)
			}
		}
		if got := texts(t, a, "SELECT count(*) FROM "+a.table("s", "data_file")); got[0] != "9" {
			t.Errorf("%s files", got)
		}
	}
}

// METviewer's columns cut DESC of 50 characters to 40, and 8 headers to one; a
// path of more than 120 becomes a digest. The result counts both, and the archive stores the complete texts.
func TestCutTextsAreCounted(t *testing.T) {
	l := Servers.Lab(t, Driver(), lab.Options{Memory: 1 << 30})
	a := openIn(t, l, "cut_", design.Normalized)
	var all []*record.Batch
	for i := range 8 {
		h := header("V12.0.0", "GFS")
		h[record.Descr] = strings.Repeat("d", 49) + strconv.Itoa(i)
		all = append(all, batch("SL1L2", strings.Repeat("folder/", 30)+"a.stat", h, 2, nil))
	}
	got, err := commit(t, a, "s", all...)
	if want := map[string]int64{"stat_header.descr": 8, "data_file.path": 1}; err != nil || !maps.Equal(got.ShortTexts, want) {
		t.Errorf("cut %v, %v; want %v", got.ShortTexts, err, want)
	}
	if got, want := sum(t, a, "s"), want(all...); got != want {
		t.Errorf("the digest is %v, want %v", got, want)
	}
	mpr := batch("MPR", "a.stat", header("V12.0.0", "GFS"), 3, func(b *record.Batch, _ int) {
		c, _ := b.Type.Column("obs_qc")
		b.Text[c.Slot][b.Len()-1] = strings.Repeat("q", 40)
	})
	if got, err := commit(t, a, "s", mpr); err != nil || got.ShortTexts["line_data_mpr.obs_qc"] != 3 {
		t.Errorf("cut %v, %v; want 3 of obs_qc", got.ShortTexts, err)
	}
	if got, err := commit(t, a, "s", all...); err != nil || got.ShortTexts != nil {
		t.Errorf("a duplicate: cut %v, %v", got.ShortTexts, err)
	}
}

// A value that does not fit is an error of the commit, which stores nothing. METdbLoad logs it and continues, with
// status 0.
func TestValuesThatDoNotFitAreRefused(t *testing.T) {
	l := Servers.Lab(t, Driver(), lab.Options{Memory: 1 << 30})
	for _, n := range []design.Name{design.Document, design.Wide} {
		a := openIn(t, l, "r_", n)
		good := batch("SL1L2", "a.stat", header("V01", "GFS"), 3, nil)
		if _, err := commit(t, a, "s", good); err != nil {
			t.Fatal(err)
		}
		for _, model := range []string{strings.Repeat("x", 300), "bad \xff byte"} {
			_, err := commit(t, a, "s", batch("SAL1L2", "b.stat", header("V01", "GFS"), 3, nil), batch("SL1L2", "b.stat", header("V01", model), 2, nil))
			if err == nil || !strings.Contains(err.Error(), "does not fit") {
				t.Errorf("%s, %.20q: error %v", n, model, err)
			}
			if got := sum(t, a, "s"); got != want(good) {
				t.Errorf("%s: a commit that failed left something: %v", n, got)
			}
		}
	}
	a := openIn(t, l, "r2_", design.Normalized) // METviewer's tables have a place for both
	odd := batch("SL1L2", "b.stat", header("bad \xff byte", strings.Repeat("x", 300)), 2, nil)
	if _, err := commit(t, a, "s", odd); err != nil {
		t.Fatal(err)
	}
	if got := sum(t, a, "s"); got != want(odd) {
		t.Errorf("digest %v, want %v", got, want(odd))
	}
}

// A dump and a query return every double unchanged, from a column and from a member of a JSON document.
func TestDoublesAreExact(t *testing.T) {
	l := Servers.Lab(t, Driver(), lab.Options{Memory: 1 << 30})
	n := 20000 // times 5 columns and 3 designs
	if testing.Short() {
		n = 2000
	}
	rng := rand.New(rand.NewPCG(5, 6))
	b := batch("SL1L2", "a.stat", header("V12.0.0", "GFS"), n, func(b *record.Batch, i int) {
		v := b.Valid[i] + int64(i/50)*3600 // a document has as many leads as in files
		b.Lead[i], b.Valid[i], b.ValidEnd[i], b.ObsBeg[i], b.ObsEnd[i] = int32(i%50), v, v, v, v
		for k := 1; k < len(b.Num); k++ {
			b.Num[k][i] = anyDouble(rng, i+k)
		}
	})
	cols, err := question.Columns(b.Type, "fcst_valid_beg", "fcst_lead", "fbar", "obar", "fobar", "ffbar", "oobar", "mae")
	if err != nil {
		t.Fatal(err)
	}
	q := &question.Question{Name: "doubles", Subset: "s", Type: b.Type, Columns: cols}
	ref := answer.NewReference(q)
	ref.Add(b)
	expected := ref.Answers()[0]
	for _, d := range []design.Name{design.Normalized, design.Document, design.Wide} {
		a := openIn(t, l, "d_", d)
		if _, err := commit(t, a, "s", b); err != nil {
			t.Fatal(err)
		}
		if got := sum(t, a, "s"); got != want(b) {
			t.Errorf("%s: digest %v, want %v", d, got, want(b))
		}
		proven(t, a, q, expected)
	}
}

// proven asks a question in every flavour that can express it.
func proven(t *testing.T, a *openArchive, q *question.Question, want *answer.Answer) {
	t.Helper()
	for _, f := range enginetest.Offered(Driver())[a.Design] {
		p, err := a.Phrase(t.Context(), q, f)
		if errors.Is(err, flavour.ErrCannotExpress) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		var into answer.Builder
		if err := a.Ask(t.Context(), p, &into); err != nil {
			t.Fatal(err)
		}
		if _, err := answer.Compare(want, &into.Answer); err != nil {
			t.Errorf("%s, %s: %v", a.Design, f, err)
		}
	}
}

// anyDouble is a double of one of several kinds: any bits, decimals as in files, integers, neighbours of powers of
// two and ten, subnormals.
func anyDouble(r *rand.Rand, kind int) float64 {
	var f float64
	switch kind % 6 {
	case 0:
		f = math.Float64frombits(r.Uint64())
	case 1:
		f = float64(r.Int64N(2e9)-1e9) / math.Pow10(r.IntN(10))
	case 2:
		f = float64(r.Int64()) * math.Pow(2, float64(r.IntN(20)))
	case 3:
		f = math.Nextafter(math.Pow10(r.IntN(600)-300), float64(r.IntN(2))*1e308)
	case 4:
		f = math.Float64frombits(r.Uint64() >> (12 + r.IntN(52)))
	case 5:
		f = math.Nextafter(math.Ldexp(1, r.IntN(2000)-1000), float64(r.IntN(2))*1e308)
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return math.MaxFloat64
	}
	return f
}

func TestURLs(t *testing.T) {
	for _, c := range []struct{ raw, addr, net string }{
		{"mariadb:", "127.0.0.1:3306", "tcp"},
		{"mariadb://u:p@db.example/mv_", "db.example:3306", "tcp"},
		{"mariadb://u@[::1]:33/", "[::1]:33", "tcp"},
		{"mariadb://u@[::1]/", "[::1]:3306", "tcp"},
		{"mariadb://root@/x?socket=/tmp/s", "/tmp/s", "unix"},
	} {
		u, err := url.Parse(c.raw)
		if err != nil {
			t.Fatal(err)
		}
		if cfg := configs(u, nil)[0]; cfg.Addr != c.addr || cfg.Net != c.net {
			t.Errorf("%s: %s %s", c.raw, cfg.Net, cfg.Addr)
		}
	}
	for _, bad := range []string{"mariadb://h/?engine=Aria", "mariadb://h/?apply_indexes=maybe"} {
		u, err := url.Parse(bad)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := open(t.Context(), u, engine.Options{}); err == nil || !strings.Contains(err.Error(), "parameter") {
			t.Errorf("%s: error %v", bad, err)
		}
	}
	u, _ := url.Parse("mariadb://root:secret@127.0.0.1:1/")
	if _, err := open(t.Context(), u, engine.Options{}); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v", err)
	}
}
