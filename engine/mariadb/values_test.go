package mariadb

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// A number is stored exactly, or as the nearest number of METviewer's column. NULL or -9999 is a missing one.
func TestNumbersInColumns(t *testing.T) {
	for _, c := range []struct {
		kind  kind
		f     float64
		want  string
		exact bool
	}{
		{unsigned, 0, "0", true},
		{unsigned, 4294967295, "4294967295", true},
		{unsigned, 4294967296, "4294967295", false},
		{unsigned, -1, "0", false},
		{unsigned, 1.5, "2", false},
		{unsigned, math.NaN(), `\N`, true},
		{signed, -2147483648, "-2147483648", true},
		{signed, -2147483649, "-2147483648", false},
		{signed, 2147483647, "2147483647", true},
		{signed, 2147483648, "2147483647", false},
		{signed, math.NaN(), "-9999", true},
		{boolean, 1, "1", true},
		{boolean, 0, "0", true},
		{boolean, 2, "1", false},
		{boolean, -1, "0", false},
		{boolean, math.NaN(), "0", true},
		{none, math.NaN(), "", true},
		{none, 1, "", false},
		{double, math.NaN(), "-9999", true},
		{double, 0.1, "0.1", true},
		{double, 1e300, "1e+300", true},
		{varchar, 1.2345, "1.23", false},
		{varchar, 12.5, "12.5", true},
		{varchar, 1.25, "1.25", true},
		{varchar, math.NaN(), "-9999", true},
	} {
		col := &column{met: metCol{kind: c.kind, width: 4}}
		if got, exact := col.number([]byte("x"), c.f); string(got) != "x"+c.want || exact != c.exact {
			t.Errorf("kind %d, %v: %q, exact %t", c.kind, c.f, got, exact)
		}
	}
}

// A text is stored exactly, or shortened and in latin1. A number in a text is exact if the server writes it as it is.
func TestTextsInColumns(t *testing.T) {
	header := func(k kind) *column {
		return &column{met: metCol{kind: k, width: 4}, alias: "h", Column: sqlengine.Column{From: sqlengine.Header}}
	}
	line := &column{met: metCol{kind: varchar, width: 5}, alias: "ld", Column: sqlengine.Column{From: sqlengine.Header}}
	for _, c := range []struct {
		col   *column
		text  string
		want  string
		exact bool
	}{
		{header(varchar), "abcd", "abcd", true},
		{header(varchar), "abcde", "abcd", false},
		{header(varchar), "ö", "\xf6", false},
		{header(varchar), "\u00a0\u00ff", "\xa0\xff", false},
		{header(varchar), "\u009f\u0100", "??", false},
		{header(varchar), "\u007f\u0080", "\u007f?", false},
		{header(varchar), "a\t\n\\", `a\t\n\\`, true},
		{header(varchar), "\x00", `\0`, true},
		{header(varchar), "NA", "NA", true},
		{header(varchar), "", "", true},
		{line, "NA", "-9999", true},
		{line, "-9999", "-9999", false},
		{line, "ab", "ab", true},
		{header(unsigned), "16", "16", true},
		{header(unsigned), "016", "16", false},
		{header(unsigned), "4294967295", "4294967295", true},
		{header(unsigned), "4294967296", `\N`, false},
		{header(unsigned), "NA", `\N`, false},
		{header(double), "0.05", "0.05", true},
		{header(double), "0.050", "0.05", false},
		{header(double), "NA", "-9999", true},
		{header(double), "x", "-9999", false},
		{header(double), "NaN", "-9999", false},
		{header(double), "Inf", "-9999", false},
		{header(double), "0.0001", "0.0001", false},
		{header(double), "0.0002", "0.0002", true},
		{header(double), "999999", "999999", true},
		{header(double), "1000000", "1e+06", false},
		{header(double), "1.2345678", "1.2345678", true},
		{header(double), "1.23456789", "1.23456789", false},
		{header(none), "NA", "", true},
		{header(none), "a", "", false},
	} {
		if got, exact := c.col.text([]byte("x"), c.text); string(got) != "x"+c.want || exact != c.exact {
			t.Errorf("kind %d, %q: %q, exact %t", c.col.met.kind, c.text, got, exact)
		}
	}
	if got, exact := appendLatin(nil, "aöb", 2); string(got) != "a\xf6" || exact {
		t.Errorf("%q", got)
	}
	for text, want := range map[string]string{"abcdef": "abcd", "ö": "ö", "水": "?", "\u0080": "?", "\u009f": "?", "\u00a0": "\u00a0", "\u00ff\u0100": "\u00ff?"} {
		if got := latin(text, 4); got != want {
			t.Errorf("label %q: %q", text, got)
		}
	}
}

// The value of a column of an archive: METviewer's column, its twin before it, or what METdataio's update scripts would
// fill into a column that an older schema lacks.
func TestExpressions(t *testing.T) {
	lineColumn := func(lineType, name string) column {
		lt, _ := record.TypeByName(lineType)
		for _, c := range lineColumns(lt) {
			if c.Name == name {
				return c
			}
		}
		t.Fatalf("%s has no column %s", lineType, name)
		return column{}
	}
	for _, c := range []struct {
		lineType, name string
		twins          string
		want           string
	}{
		{"SL1L2", "fbar", "", "ld.fbar"},
		{"SL1L2", "fbar", "barograph_fbar", "COALESCE(ld.barograph_fbar, ld.fbar)"},
		{"SL1L2", "mae", "lacks mae", "NULL"},
		{"PCT", "n_thresh", "", "(ld.n_thresh + 1)"},
		{"PCT", "n_thresh", "barograph_n_thresh", "COALESCE(ld.barograph_n_thresh, (ld.n_thresh + 1))"},
		{"MCTC", "ec_value", "lacks ec_value", "1 / ld.n_cat"},
		{"MCTS", "ec_value", "lacks ec_value", "1 / ld.n_cat"},
		{"CTC", "ec_value", "lacks ec_value", "0.5"},
		{"MPR", "obs_sid", "", "IF(BINARY ld.obs_sid = '-9999', 'NA', ld.obs_sid)"},
		{"MPR", "obs_sid", "lacks obs_sid", "'NA'"},
		{"SL1L2", "cov_thresh", "", "'NA'"},
		{"NBRCTC", "cov_thresh", "", "IF(BINARY ld.cov_thresh = '-9999', 'NA', ld.cov_thresh)"},
		{"CTS", "alpha", "", "IF(ld.alpha = -9999, 'NA', CAST(ld.alpha AS CHAR))"},
	} {
		twins := map[string]bool{}
		if c.twins != "" {
			twins[c.twins] = true
		}
		col := lineColumn(c.lineType, c.name)
		if got := col.expr(twins); got != c.want {
			t.Errorf("%s %s with %q: %s, want %s", c.lineType, c.name, c.twins, got, c.want)
		}
	}
	for name, want := range map[string]string{"fbar": "DOUBLE", "fcst_lead": "INT", "alpha": "LONGBLOB"} {
		col := lineColumn("SL1L2", name)
		if got := col.twinType(); got != want {
			t.Errorf("the twin of %s is %s, want %s", name, got, want)
		}
	}
	if c := lineColumn("MPR", "obs_sid"); c.twinType() != "LONGBLOB" || c.twin() != "barograph_obs_sid" || !c.mayNeedTwin() {
		t.Errorf("%+v", c)
	}
	for name, may := range map[string]bool{"fcst_lead": true, "obs_lead": true, "fcst_valid_beg": false, "line_num": false, "stat_header_id": false} {
		if c := lineColumn("SL1L2", name); c.mayNeedTwin() != may {
			t.Errorf("%s may need a twin: %t", name, !may)
		}
	}
}

// An older schema lacks columns of METviewer 5.1; only those are marked.
func TestLackingColumns(t *testing.T) {
	twins := map[string]bool{}
	lt, _ := record.TypeByName("SL1L2")
	for _, c := range lineColumns(lt) {
		if c.met.kind != none && c.Name != "mae" {
			twins[c.met.name] = true
		}
	}
	before := len(twins)
	if markLacking("line_data_sl1l2", twins); len(twins) != before+1 || !twins["lacks mae"] {
		t.Errorf("%v", twins)
	}
	headers := map[string]bool{}
	for _, c := range parseColumns(metviewerHeader, "") {
		headers[c.name] = c.name != "descr" && c.name != "fcst_units"
	}
	markLacking(design.HeaderTable, headers)
	for name, lacking := range headers {
		if is := strings.HasPrefix(name, lacksPrefix); is && (!lacking || name != "lacks descr" && name != "lacks fcst_units") {
			t.Errorf("%q", name)
		}
	}
	if !headers["lacks descr"] || !headers["lacks fcst_units"] {
		t.Errorf("%v", headers)
	}
}

// The notation of METviewer's columns has a suffix for each type, default and NOT NULL.
func TestNotationOfColumns(t *testing.T) {
	for text, want := range map[string]string{
		"a": "a DOUBLE", "a~": "a DOUBLE DEFAULT -9999", "a=0.5": "a DOUBLE DEFAULT 0.5", "a#": "a INT UNSIGNED", "a%": "a INT",
		"a%~": "a INT DEFAULT -9999", "a:32": "a VARCHAR(32)", "a@": "a DATETIME", "a?": "a TINYINT(1)", "a#!": "a INT UNSIGNED NOT NULL",
		"a:40='NA'": "a VARCHAR(40) DEFAULT 'NA'", "a:8 b": "a VARCHAR(8), b DOUBLE",
	} {
		if got := columnsDDL(text, ", "); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	names := func(cols []metCol) string {
		var all []string
		for _, c := range cols {
			all = append(all, c.name+" "+c.sqlType())
		}
		return strings.Join(all, ", ")
	}
	if got := names(parseColumns("obs_sid..seeps", "SEEPS_MPR")); !strings.HasPrefix(got, "obs_sid VARCHAR(32), obs_lat DOUBLE, obs_lon DOUBLE, ") || !strings.HasSuffix(got, "seeps DOUBLE") {
		t.Errorf("SEEPS_MPR: %s", got)
	}
	if got := names(columnsOf("SL1L2", "total", "fbar")); got != "total INT UNSIGNED, fbar DOUBLE" {
		t.Errorf("SL1L2: %s", got)
	}
	if got := names(columnsOf("SL1L2", "fbar", "obar~")); got != "fbar DOUBLE DEFAULT -9999, obar DOUBLE DEFAULT -9999" {
		t.Errorf("SL1L2: %s", got)
	}
	for table, want := range map[string]string{
		"line_data_sal1l2": "line_data_sal2l1_data_file_id_pk", "line_data_enscnt": "line_data_enscnt_file_id_pk", "line_data_cnt": "line_data_cnt_data_file_id_pk",
	} {
		if got := fileKey(table); got != want {
			t.Errorf("%s: %s", table, got)
		}
	}
}

// day returns a batch of two records of one header at 2019-01-01 12:00.
func day(change func(b *record.Batch)) *record.Batch {
	b := batch("SL1L2", "a.stat", header("V12.0", "GFS"), 2, nil)
	if change != nil {
		change(b)
	}
	return b
}

// The server computes a column whose value is the same for all records of a commit; all others are sent.
func TestConstantColumns(t *testing.T) {
	column := func(from sqlengine.Source) sqlengine.Column { return sqlengine.Column{Name: "x", From: from} }
	number := sqlengine.Column{Name: "fbar", From: sqlengine.Data, Data: record.Column{Kind: record.Float, Slot: 1}}
	text := sqlengine.Column{From: sqlengine.Data, Data: record.Column{Kind: record.Text}}
	model := sqlengine.Column{Name: "model", From: sqlengine.Header, Field: record.Model}
	missing := func(b *record.Batch) { b.Num[1][0], b.Num[1][1] = math.NaN(), math.NaN() }
	for _, c := range []struct {
		name    string
		column  sqlengine.Column
		batches []*record.Batch
		want    string
	}{
		{"no batch", column(sqlengine.ValidEnd), nil, ""},
		{"end of the valid time", column(sqlengine.ValidEnd), []*record.Batch{day(nil), day(nil)}, "fcst_valid_beg"},
		{"another end", column(sqlengine.ValidEnd), []*record.Batch{day(nil), day(func(b *record.Batch) { b.ValidEnd[1]++ })}, ""},
		{"begin of the observations", column(sqlengine.ObsBeg), []*record.Batch{day(nil)}, "fcst_valid_beg"},
		{"another begin", column(sqlengine.ObsBeg), []*record.Batch{day(func(b *record.Batch) { b.ObsBeg[0]-- })}, ""},
		{"end of the observations", column(sqlengine.ObsEnd), []*record.Batch{day(nil)}, "fcst_valid_beg"},
		{"another end of them", column(sqlengine.ObsEnd), []*record.Batch{day(func(b *record.Batch) { b.ObsEnd[0]-- })}, ""},
		{"no observation lead", column(sqlengine.ObsLead), []*record.Batch{day(nil)}, "0"},
		{"an observation lead", column(sqlengine.ObsLead), []*record.Batch{day(func(b *record.Batch) { b.ObsLead[1] = 1 })}, ""},
		{"leads differ", column(sqlengine.Lead), []*record.Batch{day(nil)}, ""},
		{"numbers", number, []*record.Batch{day(nil)}, ""},
		{"missing numbers", number, []*record.Batch{day(missing), day(missing)}, "MISSING"},
		{"some missing numbers", number, []*record.Batch{day(missing), day(nil)}, ""},
		{"texts", text, []*record.Batch{day(nil)}, ""},
		{"one model", model, []*record.Batch{day(nil), day(nil)}, "'GFS'"},
		{"two models", model, []*record.Batch{day(nil), day(func(b *record.Batch) { b.Headers[0][record.Model] = "NAM" })}, ""},
		{"a quote", model, []*record.Batch{day(func(b *record.Batch) { b.Headers[0][record.Model] = "a'b" })}, "'a''b'"},
		{"a zero byte", model, []*record.Batch{day(func(b *record.Batch) { b.Headers[0][record.Model] = "a\x00" })}, ""},
		{"no UTF-8", model, []*record.Batch{day(func(b *record.Batch) { b.Headers[0][record.Model] = "\xff" })}, ""},
		{"no header", model, []*record.Batch{{}}, ""},
	} {
		if got := constantExpr(&c.column, c.batches, "MISSING"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	sent, names, set := splitConstants([]sqlengine.Column{model, number, column(sqlengine.ObsLead)}, []*record.Batch{day(nil)})
	if len(sent) != 1 || sent[0].Name != "fbar" || !slices.Equal(names, []string{"fbar"}) || !slices.Equal(set, []string{"model = 'GFS'", "x = 0"}) {
		t.Errorf("%+v, %q, %q", sent, names, set)
	}
}

// Times have 14 digits if the year has four, and are cached up to a limit.
func TestTimesForTheServer(t *testing.T) {
	var c timeCache
	for _, x := range []struct {
		at   time.Time
		want string
	}{
		{time.Date(2019, 1, 2, 3, 4, 5, 0, time.UTC), "20190102030405"},
		{time.Date(1000, 1, 1, 0, 0, 0, 0, time.UTC), "10000101000000"},
		{time.Date(999, 12, 31, 0, 0, 0, 0, time.UTC), "0999-12-31 00:00:00"},
		{time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC), "99991231000000"},
		{time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), "10000-01-01 00:00:00"},
	} {
		for range 2 {
			if got := c.text(x.at.Unix()); got != x.want {
				t.Errorf("%s: %s", x.at, got)
			}
		}
	}
	for i := range int64(maxCachedTimes + 10) {
		c.text(i)
	}
	if n := len(c.known); n == 0 || n > maxCachedTimes || maxCachedTimes != 65536 {
		t.Errorf("%d times are cached", n)
	}
	if got := moment(0); got != "'1970-01-01 00:00:00'" {
		t.Error(got)
	}
}

// Documents become rows with the members that a question needs, each once, with its type.
func TestEntryColumns(t *testing.T) {
	got := entryColumns([]question.Column{
		{Name: "fcst_lead", Role: question.Lead}, {Name: "fbar", Kind: question.Number}, {Name: "fbar", Kind: question.Number}, {Name: "obs_sid", Kind: question.Text},
	})
	if !strings.Contains(got, "PATH '$.fbar'") || strings.Count(got, "fbar DOUBLE PATH") != 1 || strings.Count(got, " PATH ") != 3 ||
		!strings.Contains(got, " INT PATH ") || !strings.Contains(got, " VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH ") {
		t.Error(got)
	}
	d := dialectIn("")
	if got := d.Equal("a", []string{"x"}); got != "a = 'x' AND BINARY a = 'x'" {
		t.Error(got)
	}
	if got := d.Equal("a", []string{"x", "y"}); got != "a IN "+flavour.List([]string{"x", "y"}, flavour.Quote)+" AND BINARY a IN "+flavour.List([]string{"x", "y"}, flavour.Quote) {
		t.Error(got)
	}
}

// written returns what write writes for LOAD DATA.
func written(t *testing.T, write func(out *rowWriter) error) string {
	t.Helper()
	in, to := io.Pipe()
	out := &rowWriter{to: to}
	go func() {
		err := write(out)
		if err == nil {
			err = out.flush()
		}
		to.CloseWithError(err)
	}()
	text, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The repeating columns of a record are rows of a child table; an incomplete last group is completed or omitted.
func TestGroupsOfAChildTable(t *testing.T) {
	two, square := parseColumns("thresh_i oy_i#", ""), parseColumns("fi_oj#!", "")
	for _, c := range []struct {
		columns      []metCol
		values       []float64
		square, only bool
		want         string
	}{
		{two, []float64{0, 5, 0.5, 7}, false, false, "9\t1\t0\t5\n9\t2\t0.5\t7\n"},
		{two, []float64{0, 5, 1}, false, false, "9\t1\t0\t5\n9\t2\t1\t0\n"},
		{two, []float64{0, 5, 1}, false, true, "9\t1\t0\t5\n"},
		{two, []float64{0, 5}, false, true, "9\t1\t0\t5\n"},
		{two, nil, false, false, ""},
		{two, []float64{math.NaN(), math.NaN()}, false, false, "9\t1\t-9999\t0\n"},
		{square, []float64{1, 2, 3, 4}, true, false, "9\t1\t1\t1\n9\t1\t2\t2\n9\t2\t1\t3\n9\t2\t2\t4\n"},
		{square, nil, true, false, ""},
	} {
		got := written(t, func(out *rowWriter) error { return appendGroups(out, 9, c.columns, c.values, c.square, c.only) })
		if got != c.want {
			t.Errorf("%v: %q, want %q", c.values, got, c.want)
		}
	}
	named := parseColumns("diag_i:3 value_i", "")
	if got := written(t, func(out *rowWriter) error {
		return appendNamed(out, 7, named, []string{"a", "bcde"}, []float64{1, 2, 3})
	}); got != "7\t1\ta\t1\n7\t2\tbcd\t2\n7\t3\tNA\t3\n" {
		t.Errorf("%q", got)
	}
}

// Rows are passed on when about 64 KiB are complete.
func TestRowsArePassedOn(t *testing.T) {
	in, to := io.Pipe()
	out := &rowWriter{to: to}
	if feedBytes != 65536 {
		t.Errorf("%d bytes", feedBytes)
	}
	if err := out.end(append(out.row(), make([]byte, feedBytes-2)...)); err != nil || len(out.buf) != feedBytes-1 || out.rows != 1 {
		t.Errorf("%d bytes, %d rows: %v", len(out.buf), out.rows, err)
	}
	read := make(chan int)
	go func() {
		n, _ := io.ReadFull(in, make([]byte, feedBytes))
		read <- n
	}()
	if err := out.end(out.row()); err != nil || len(out.buf) != 0 || out.rows != 2 {
		t.Errorf("%d bytes, %d rows: %v", len(out.buf), out.rows, err)
	}
	if n := <-read; n != feedBytes {
		t.Errorf("%d bytes were read", n)
	}
}

// A row of LOAD DATA has one cell for each column that is sent.
func TestTextRow(t *testing.T) {
	put := func(r *textRow) string {
		r.begin(nil)
		r.Null(0)
		r.Text(1, "a\tb")
		r.Integer(2, -5)
		r.Number(3, 0.5)
		r.Time(4, 0)
		r.List(5, []float64{1, 2})
		r.JSON(6, []byte(`["\n"]`))
		return string(r.dst)
	}
	if got, want := put(&textRow{}), "\\N\ta\\tb\t-5\t0.5\t19700101000000\t[1,2]\t"+`["\\n"]`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for k := range 7 {
		sent := make([]bool, 7)
		sent[k] = true
		if got, want := put(&textRow{sent: sent}), strings.Split(put(&textRow{}), "\t")[k]; got != want {
			t.Errorf("only column %d: %q, want %q", k, got, want)
		}
	}
}

// METviewer's unique key ignores letter case and blanks at the end. Paths that it takes for equal, or that do not fit, get
// a name with a digest.
func TestNamesOfFiles(t *testing.T) {
	w := &lineWriter{folded: map[fileName]fileName{}}
	for _, c := range []struct {
		path, dir, name string
		complete        bool
	}{
		{"in/a.stat", "in", "a.stat", true},
		{"in/a.stat", "in", "a.stat", true},
		{"in/A.stat", "", "A.stat ", false},
		{"in /a.stat", "", "a.stat ", false},
		{"b.stat", "", "b.stat", true},
		{strings.Repeat("d", 120) + "/" + strings.Repeat("n", 110), strings.Repeat("d", 120), strings.Repeat("n", 110), true},
		{strings.Repeat("d", 121) + "/x", "", "x ", false},
		{"x/" + strings.Repeat("n", 111), "", strings.Repeat("n", 70) + " ", false},
		{"ö/x", "", "x ", false},
	} {
		f, complete := w.file(c.path)
		if complete != c.complete || complete && f != (fileName{c.dir, c.name}) {
			t.Errorf("%s: %+v, complete %t", c.path, f, complete)
		}
		if !complete && (len(f.dir) != 16 || !strings.HasPrefix(f.name, c.name) || len(f.name) != len(c.name)+16) {
			t.Errorf("%s: %+v", c.path, f)
		}
	}
	if (fileName{"A  ", "b "}).fold() != (fileName{"a", "B"}).fold() {
		t.Error("blanks and letter case differ")
	}
}

// The records that a commit may replace are looked up by their headers, each once, and the span of their times.
func TestSpanOfAProbe(t *testing.T) {
	if headers, times := (probe{}).span(); headers != nil || times != "" {
		t.Errorf("%v %q", headers, times)
	}
	p := probe{{7, 100}: {}, {3, 300}: {}, {7, 200}: {}}
	headers, times := p.span()
	if !slices.Equal(headers, []int64{3, 7}) || times != " AND ld.fcst_valid_beg BETWEEN '1970-01-01 00:01:40' AND '1970-01-01 00:05:00'" {
		t.Errorf("%v %q", headers, times)
	}
	if got := whereHeaders(headers); got != " WHERE ld.stat_header_id IN "+flavour.List([]string{"3", "7"}, func(s string) string { return s }) {
		t.Error(got)
	}
}

// Two records replace one each; one of an unknown header, and one of another program, are kept.
func TestReplacedRows(t *testing.T) {
	newTable := func(id int64) *lineTable {
		b := day(nil)
		lt := &lineTable{name: "line_data_sl1l2", batches: []*record.Batch{b}, headerIDs: [][]int64{{4}}, probed: map[int64]struct{}{4: {}}, replaced: map[int64][]int64{}}
		lt.hash.SetBatch(b)
		lt.existing.Put(lt.hash.Key(1), rowRef{header: 4, id: id, batch: b, row: 1})
		return lt
	}
	stored := archive.CommitResult{Replaced: map[string]int64{}}
	lt := newTable(77)
	if err := lt.replace(&stored); err != nil || stored.New != 1 || fmt.Sprint(lt.replaced) != "map[4:[77]]" {
		t.Errorf("%+v, %v, %v", stored, lt.replaced, err)
	}
	if !lt.existing.Empty() {
		t.Error("the existing records are kept")
	}
	if err := newTable(-1).replace(&archive.CommitResult{Replaced: map[string]int64{}}); err == nil || err.Error() != "line_data_sl1l2 contains the record of a.stat:2, which another program has loaded" {
		t.Error(err)
	}
	if err := newTable(0).replace(&archive.CommitResult{Replaced: map[string]int64{}}); err != nil {
		t.Errorf("row 0: %v", err)
	}
	lt = newTable(77)
	lt.probed = map[int64]struct{}{}
	if err := lt.replace(&archive.CommitResult{Replaced: map[string]int64{}}); err != nil || len(lt.replaced) != 0 {
		t.Errorf("not looked up: %v, %v", lt.replaced, err)
	}
}
