package sqlengine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// storedRow is the row of a record of GRAD in a design: a model of version V12.0, valid at 1970-01-02, 36 hours ahead.
func storedRow(n design.Name, lt *record.LineType) (cols []Column, row []any) {
	_, cols, _ = DesignTable(n, lt)
	if n == design.Normalized {
		cols = append(HeaderColumns()[1:], cols...)
	}
	for _, c := range cols {
		var v any
		switch c.From {
		case Header:
			v = map[record.Field]string{record.Version: "V12.0", record.Model: "GFS"}[c.Field]
		case ValidBeg, ValidEnd, ObsBeg, ObsEnd:
			v = "1970-01-02 00:00:00"
		case InitBeg:
			v = time.Unix(86400-36*3600, 0).UTC()
		case ValidEpoch:
			v = int64(86400)
		case Lead:
			if v = int64(36 * 3600); n == design.Normalized {
				v = int64(360000)
			}
		case ObsLead:
			if v = int64(3600); n == design.Normalized {
				v = int64(10000)
			}
		case LineNum:
			v = int64(7)
		case Data:
			v = 0.5
		default:
			v = int64(1)
		}
		row = append(row, v)
	}
	return cols, row
}

// Records are read from rows of both designs. Times, leads and keys that do not fit together are errors, and so are values
// of another type, which name the column.
func TestRecordsOfRows(t *testing.T) {
	lt, _ := record.TypeByName("GRAD")
	for _, n := range []design.Name{design.Normalized, design.Wide} {
		cols, row := storedRow(n, lt)
		decode := func(change map[string]any) (*record.Batch, error) {
			d := NewRecordDecoder(n, lt, cols, AsRepeats)
			changed := slices.Clone(row)
			for k, c := range cols {
				if v, ok := change[c.Name]; ok {
					changed[k] = v
				}
			}
			if err := d.SetRow(changed); err != nil {
				return nil, err
			}
			return &d.Batch, d.EndRow()
		}
		b, err := decode(map[string]any{lt.Columns[0].Name: -9999.0})
		if err != nil || b.Len() != 1 || b.Valid[0] != 86400 || b.Lead[0] != 36*3600 || b.ObsLead[0] != 3600 || b.ObsBeg[0] != 86400 || b.ObsEnd[0] != 86400 || b.ValidEnd[0] != 86400 {
			t.Fatalf("%s: %+v, %v", n, b, err)
		}
		if h := b.Header(0); h[record.Version] != "V12.0" || h[record.Model] != "GFS" || b.Num[1][0] != 0.5 || math.IsNaN(b.Num[0][0]) != (n == design.Normalized) {
			t.Errorf("%s: %v, numbers %v", n, h, b.Num)
		}
		for _, c := range []struct {
			column string
			value  any
			want   string // part of the error
		}{
			{"fcst_lead", int64(5), "fcst_lead is 5, but the times of the row give "},
			{"fcst_init_beg", "1970-01-01 00:00:00", "but the times of the row give "},
			{"fcst_valid_beg", true, "GRAD, column fcst_valid_beg: expected integer"},
			{"fcst_valid_end", "x", "GRAD, column fcst_valid_end: "},
			{"fcst_init_beg", "x", "GRAD, column fcst_init_beg: "},
			{"obs_valid_beg", "x", "GRAD, column obs_valid_beg: "},
			{"obs_valid_end", "x", "GRAD, column obs_valid_end: "},
			{"obs_lead", "x", "GRAD, column obs_lead: "},
			{"model", 0.5, "GRAD, column model: expected text"},
			{lt.Columns[1].Name, "x", "GRAD, column " + lt.Columns[1].Name + ": "},
		} {
			if _, err := decode(map[string]any{c.column: c.value}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %s = %v: %v", n, c.column, c.value, err)
			}
		}
		if n == design.Wide {
			if _, err := decode(map[string]any{"fcst_valid_epoch": int64(86401)}); err == nil || err.Error() != "GRAD: fcst_valid_epoch is 86401, but fcst_valid_beg of the row is 86400" {
				t.Error(err)
			}
		}
		var hash record.Hasher
		hash.SetBatch(b)
		key := AppendIdentity(nil, hash.Key(0))
		withKey := append(slices.Clone(cols), Column{Name: "key", From: Identity})
		for _, c := range []struct {
			key any
			ok  bool
		}{{key, true}, {append([]byte{key[0] ^ 1}, key[1:]...), false}, {string(key), false}} {
			d := NewRecordDecoder(n, lt, withKey, AsRepeats)
			err := d.SetRow(append(slices.Clone(row), c.key))
			if err == nil {
				err = d.EndRow()
			}
			if (err == nil) != c.ok {
				t.Errorf("%s, key %T: %v", n, c.key, err)
			}
		}
	}
}

// A dump yields the records of full batches at once, and the others at the end.
func TestDumpOfRows(t *testing.T) {
	lt, _ := record.TypeByName("GRAD")
	cols, row := storedRow(design.Wide, lt)
	const rows = 2*archive.DumpRows + 1
	broken := errors.New("broken")
	for _, fails := range []bool{false, true} {
		q := &manyRows{row: row, n: rows}
		if fails {
			q.err = broken
		}
		total, headers := 0, 0
		var last error
		for b, err := range archive.Dump(func(to *archive.Dumper) error {
			return NewRecordDecoder(design.Wide, lt, cols, AsRepeats).DumpQuery(t.Context(), q, "SELECT", to)
		}) {
			if last = err; err == nil {
				total, headers = total+b.Len(), max(headers, len(b.Headers))
			}
		}
		if fails && !errors.Is(last, broken) || !fails && (last != nil || total != rows) || headers != 1 {
			t.Errorf("%d records, %d headers, %v", total, headers, last)
		}
	}
}

// manyRows is a server that returns one row n times, and then an error.
type manyRows struct {
	row []any
	n   int
	err error
}

func (*manyRows) Exec(context.Context, string, ...any) error { return nil }

func (q *manyRows) Rows(_ context.Context, _ string, _ []any, f func([]any) error) error {
	for range q.n {
		if err := f(q.row); err != nil {
			return err
		}
	}
	return q.err
}

// A document whose id or time as text differs from its header and time was changed.
func TestCheckOfADocument(t *testing.T) {
	lt, _ := record.TypeByName("GRAD")
	h := record.Header{record.Model: "GFS"}
	id, iso := string(design.AppendKey(nil, lt, "s", &h, 86400)), "1970-01-02T00:00:00Z"
	for _, c := range []struct {
		id, iso, want string
	}{{id, iso, ""}, {id + "x", iso, "GRAD: the document has the id "}, {id, "1970-01-02T00:00:01Z", "GRAD: fcst_valid_beg is \"1970-01-02T00:00:00Z\" in the document "}} {
		var key []byte
		if err := CheckDoc(lt, "s", &h, 86400, []byte(c.id), []byte(c.iso), &key); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), "GRAD: ") {
			t.Errorf("%q, %q: %v", c.id, c.iso, err)
		}
	}
}

// Values of a reply become values of an answer, by type. A reply with another number of columns is an error.
func TestResultsOfRows(t *testing.T) {
	lt, _ := record.TypeByName("GRAD")
	q := &question.Question{Name: "q", Type: lt, Columns: []question.Column{
		{Name: "model", Kind: question.Text, Role: question.HeaderField, Field: record.Model}, {Name: "fcst_valid_beg", Kind: question.Time, Role: question.ValidBeg},
	}}
	var into answer.Builder
	into.Reset(q.Columns)
	d := NewResultDecoder(design.Wide, &archive.Query{Question: q}, &into)
	for _, text := range []string{"GFS", "GFS", "NAM"} {
		d.AddText(0, []byte(text))
		d.AddTime(1, 86400)
		d.EndRow()
	}
	if err := d.AddRow([]any{"ECM", "1970-01-02 00:00:00"}); err != nil {
		t.Error(err)
	}
	if err := d.AddRow([]any{"ECM"}); err == nil || err.Error() != "the reply has 1 columns, the query selects 2" {
		t.Error(err)
	}
	if err := d.AddRow([]any{"ECM", "x"}); err == nil {
		t.Error("x is a time")
	}
	if into.Rows != 4 {
		t.Errorf("%d rows", into.Rows)
	}
}

// Columns that identify a record are in the index of a table; its values and its lead, which times give, are not.
func TestIdentityColumns(t *testing.T) {
	names := func(cols []Column) string {
		var all []string
		for _, c := range cols {
			all = append(all, c.Name)
		}
		return strings.Join(all, " ")
	}
	grad, _ := record.TypeByName("GRAD")
	if got := names(IdentityColumns(LineColumns(grad))); !strings.HasPrefix(got, "stat_header_id fcst_valid_beg fcst_valid_end fcst_init_beg obs_lead obs_valid_beg obs_valid_end") || strings.Contains(got, "total") || strings.Contains(got, "fcst_lead") {
		t.Error(got)
	}
	mpr, _ := record.TypeByName("MPR")
	if got := names(IdentityColumns(WideColumns(mpr))); !strings.HasPrefix(got, "version model ") || !strings.Contains(got, "fcst_valid_epoch") || !strings.Contains(got, "obs_sid") || strings.Contains(got, "data_file") {
		t.Error(got)
	}
}

// Text that an engine cannot store is refused in each header and column, before the commit.
func TestLoaderChecksTexts(t *testing.T) {
	mpr, _ := record.TypeByName("MPR")
	newBatch := func() *record.Batch {
		b := &record.Batch{}
		b.Reset(mpr, "a.stat")
		b.AppendTimes(b.AddHeader(record.DefaultHeader()), 0, 0, 5)
		for k := range b.Num {
			b.Num[k] = append(b.Num[k], 1)
		}
		for k := range b.Text {
			b.Text[k] = append(b.Text[k], "x")
		}
		return b
	}
	add := func(b *record.Batch) error {
		l := (&Archive{}).NewLoader("s", LoadSession{CheckText: Storable{Product: "X"}.Check})
		return l.Add(t.Context(), b)
	}
	if err := add(newBatch()); err != nil {
		t.Error(err)
	}
	for k := range len(newBatch().Text) {
		b := newBatch()
		if b.Text[k][0] = "\xff"; add(b) == nil {
			t.Errorf("text %d is accepted", k)
		}
	}
	for f := range record.NumFields {
		b := newBatch()
		if b.Headers[0][f] = "\xff"; add(b) == nil {
			t.Errorf("field %s is accepted", f)
		}
	}
	empty := &record.Batch{}
	empty.Reset(mpr, "a.stat")
	if empty.AddHeader(record.Header{record.Model: "\xff"}); add(empty) != nil {
		t.Error("a batch without records stores no header")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (&Archive{}).NewLoader("s", LoadSession{}).Add(ctx, newBatch()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// recordedTexts is a Querier that records statements, and returns one number for each query.
type recordedTexts struct {
	texts []string
	n     int64
}

func (r *recordedTexts) Exec(_ context.Context, text string, args ...any) error {
	r.texts = append(r.texts, fmt.Sprintf("%s %s", text, args))
	return nil
}

func (r *recordedTexts) Rows(_ context.Context, text string, _ []any, f func([]any) error) error {
	r.texts = append(r.texts, text)
	return f([]any{r.n})
}

// The default of a session locks the row with the version, and each commit increments it.
func TestVersionOfTheCatalog(t *testing.T) {
	a := &Archive{Design: design.Wide, Placeholder: "$1", Dialect: &flavour.Dialect{Table: func(_, table string) string { return table }}}
	q := &recordedTexts{n: 41}
	l := a.NewLoader("s", LoadSession{})
	if n, err := l.lockVersion(t.Context(), q); err != nil || n != 41 {
		t.Errorf("%d, %v", n, err)
	}
	l.catalog, l.catalogVersion = design.NewCatalog(""), 41
	if err := l.writeCatalog(t.Context(), q); err != nil || l.catalogVersion != 42 || l.catalog.Subset != "s" {
		t.Errorf("version %d, %v", l.catalogVersion, err)
	}
	if q.texts[0] != "SELECT version FROM barograph_wide_catalog WHERE id = 1 FOR UPDATE" ||
		!strings.HasPrefix(q.texts[1], "UPDATE barograph_wide_catalog SET version = version + 1, catalog = $1 WHERE id = 1 [{") {
		t.Errorf("%q", q.texts)
	}
}

// The query for all records joins lines with their headers in the normalized design, and reads one table in others.
func TestSelectAll(t *testing.T) {
	lt, _ := record.TypeByName("GRAD")
	dialect := &flavour.Dialect{Table: func(subset, table string) string { return subset + "." + table }}
	for _, c := range []struct {
		a    *Archive
		end  string
		cols int
	}{
		{&Archive{Design: design.Wide}, "\x00 FROM s.wide_grad ld", len(WideColumns(lt))},
		{&Archive{Design: design.Normalized}, "\n  FROM s.line_data_grad ld JOIN s.stat_header h ON h.stat_header_id = ld.stat_header_id", len(LineColumns(lt)) + len(HeaderColumns()) - 1},
		{&Archive{Design: design.Normalized, JoinOperator: "ANY JOIN"}, "\n  FROM s.line_data_grad ld ANY JOIN s.stat_header h ON h.stat_header_id = ld.stat_header_id", len(LineColumns(lt)) + len(HeaderColumns()) - 1},
	} {
		c.a.Dialect = dialect
		text, cols, err := c.a.selectAll(t.Context(), nil, "s", lt)
		if err != nil || !strings.HasSuffix(text, strings.TrimPrefix(c.end, "\x00")) || len(cols) != c.cols || strings.Contains(text, "h.stat_header_id, ") {
			t.Errorf("%s: %d columns, %v", text, len(cols), err)
		}
		if n := strings.Count(text[:strings.Index(text, "FROM")], ","); n != c.cols-1 {
			t.Errorf("%d columns are selected, %d are described", n+1, c.cols)
		}
	}
	a := &Archive{}
	if a.Where(lt) != "" || a.entriesJSON("d") != "d" {
		t.Error("an archive without a filter")
	}
	a.RowFilter = func(t *record.LineType) string { return t.Name + " IS OURS" }
	a.EntriesJSON = func(data string) string { return "json(" + data + ")" }
	if a.Where(lt) != " WHERE GRAD IS OURS" || a.entriesJSON("d") != "json(d)" {
		t.Error(a.Where(lt), a.entriesJSON("d"))
	}
	a.Recover = func(context.Context, string) error { return errUncountable }
	if _, err := a.Marks(t.Context(), "s"); !errors.Is(err, errUncountable) {
		t.Error(err)
	}
}
