package postgres_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/postgres"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// open opens an archive in a fresh database.
func (d *databases) open(t *testing.T, n design.Name) (archive.Archive, string) {
	t.Helper()
	url := d.url(t)
	e, err := engine.Registry{postgres.Driver()}.Open(t.Context(), url, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := archive.DatabaseOf(e).Open(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = a.Close(), e.Close() })
	return a, url
}

func TestDefectsOfLoaders(t *testing.T) {
	d := &databases{server: servers.Lab(t, postgres.Driver(), lab.Options{})}
	c := enginetest.Config{Driver: postgres.Driver(), URL: func(t *testing.T) string { return d.url(t) }}
	enginetest.RunDefects(t, c, func(t *testing.T, url, catalog string, full bool) {
		t.Helper()
		if !full {
			execute(t, url, "DROP TRIGGER full_disk ON a."+catalog)
			return
		}
		execute(t, url,
			"CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF new.version > 3 THEN RAISE '"+enginetest.DiskFull+"'; END IF; RETURN new; END $$",
			"CREATE TRIGGER full_disk BEFORE UPDATE ON a."+catalog+" FOR EACH ROW EXECUTE FUNCTION full_disk()")
	})
	t.Run("plans", d.plans)
	t.Run("a stranger's view", d.strangersView)
	t.Run("an index that lacks a row", d.incompleteIndex)
}

// incompleteIndex: an index that is valid in itself and lacks a row of its table makes
// questions lose the row, so verify reports it.
func (d *databases) incompleteIndex(t *testing.T) {
	a, url := d.open(t, design.Normalized)
	loadOne(t, a)
	check, _ := a.(archive.Checker)
	if problems, err := check.Check(t.Context(), "a"); err != nil || len(problems) > 0 {
		t.Fatalf("an intact archive: %q, %v", problems, err)
	}
	const set = "UPDATE pg_index SET indisready = %[1]t, indisvalid = %[1]t WHERE indrelid = 'a.line_data_sal1l2'::regclass"
	execute(t, url, fmt.Sprintf(set, false))
	execute(t, url, "INSERT INTO a.line_data_sal1l2 SELECT * FROM a.line_data_sal1l2")
	execute(t, url, fmt.Sprintf(set, true))
	if problems, err := check.Check(t.Context(), "a"); err != nil || len(problems) == 0 || !strings.Contains(problems[0], "matching index tuple") {
		t.Errorf("%q, %v", problems, err)
	}
}

// loadOne stores a record of SAL1L2 in subset a.
func loadOne(t *testing.T, a archive.Archive) {
	t.Helper()
	lt, _ := record.TypeByName("SAL1L2")
	s := enginetest.Series{Type: lt, Header: record.DefaultHeader(), Lead: []int32{0}, Valid: []int64{1546300800}}
	enginetest.StoreBatches(t, a, "a", enginetest.Generate(3, 1, s)[0].Batches...)
}

// strangersView: a view that has a table's name, or a policy on a table, is refused,
// because its functions would run with the reader's rights.
func (d *databases) strangersView(t *testing.T) {
	for _, evil := range []string{
		"ALTER TABLE a.line_data_sal1l2 RENAME TO kept; CREATE FUNCTION f() RETURNS bool LANGUAGE sql AS 'SELECT true'; CREATE VIEW a.line_data_sal1l2 AS SELECT * FROM a.kept WHERE f()",
		"ALTER TABLE a.line_data_sal1l2 ENABLE ROW LEVEL SECURITY",
	} {
		a, url := d.open(t, design.Normalized)
		loadOne(t, a)
		execute(t, url, evil)
		e, err := engine.Registry{postgres.Driver()}.Open(t.Context(), url, engine.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if a, err = archive.DatabaseOf(e).Open(t.Context(), design.Normalized); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Contents(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "plain tables") {
			t.Errorf("%s: %v", evil, err)
		}
	}
}

// plans: METviewer's BINARY prevents the use of any index (METviewer F5). Each flavour's plan shows what it reads.
func (d *databases) plans(t *testing.T) {
	lt, _ := record.TypeByName("SAL1L2")
	var series []enginetest.Series
	for i := range 200 {
		h := record.DefaultHeader()
		h[record.Version], h[record.Model], h[record.ObType], h[record.FcstVar], h[record.FcstLev] = "V01", "GFS", "ANL", "HGT", "P500"
		h[record.VxMask] = fmt.Sprintf("M%03d", i)
		s := enginetest.Series{Type: lt, Header: h, Lead: []int32{0, 86400}}
		for k := range int64(40) {
			s.Valid = append(s.Valid, 1546300800+k*21600)
		}
		series = append(series, s)
	}
	q := &question.Question{Name: "one mask", Subset: "a", Type: lt, Valid: question.Times{First: 1546300800, Last: 1546300800 + 4*21600, Step: 21600}}
	q.Header[record.VxMask] = []string{"M100"}
	q.Header[record.Model] = []string{"GFS"}
	var err error
	if q.Columns, err = question.Columns(lt, "fcst_valid_beg", "fcst_lead", "fabar"); err != nil {
		t.Fatal(err)
	}
	q.Order = q.Columns[:2]
	files := enginetest.Generate(3, 1, series...)
	for n, flavours := range enginetest.Offered(postgres.Driver()) {
		a, _ := d.open(t, n)
		enginetest.StoreBatches(t, a, "a", files[0].Batches...)
		for _, f := range flavours {
			p, err := a.Phrase(t.Context(), q, f)
			if err != nil {
				t.Fatalf("%s, %s: %v", n, f, err)
			}
			plan, err := a.Explain(t.Context(), p)
			if err != nil {
				t.Fatalf("%s, %s: %v", n, f, err)
			}
			if !strings.Contains(plan.Text, "Buffers:") || !strings.Contains(plan.Text, "actual time") {
				t.Errorf("%s, %s: the plan lacks time or pages:\n%s", n, f, plan.Text)
			}
			name, _, _ := sqlengine.DesignTable(n, lt)
			switch scanned := strings.Contains(plan.Text, "Seq Scan on "+name); {
			case f == flavour.MetviewerSQL && strings.Contains(plan.Text, "Index Cond: (convert_to"):
				t.Errorf("an index serves BINARY:\n%s", plan.Text)
			case f != flavour.MetviewerSQL && scanned:
				t.Errorf("%s, %s: the complete table is read:\n%s", n, f, plan.Text)
			}
			var into answer.Builder
			if err := a.Ask(t.Context(), p, &into); err != nil || into.Rows != 10 {
				t.Errorf("%s, %s: %d rows, %v; want 10", n, f, into.Rows, err)
			}
		}
	}
}
