package tables_test

import (
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/query/answer"
	generate "github.com/barograph/barograph/study/synth/tpcds"
)

// generated generates tables and computes the answers to all questions.
func generated(t *testing.T, o generate.Options) *tables.StarReference {
	t.Helper()
	dir := t.TempDir()
	if _, err := generate.Generate(t.Context(), dir, o); err != nil {
		t.Fatal(err)
	}
	files, _, err := tables.OpenStarFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := tables.StarAnswers(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestStarAtHundredth compares the reference at scale factor 0.01 with known counts and a known sum.
func TestStarAtHundredth(t *testing.T) {
	r := generated(t, generate.Options{Scale: 0.01})
	if r.Rows[tables.StoreSales] != 28810 || r.Rows[tables.DateDim] != 73049 || r.Rows[tables.Item] != 180 || r.Sold != 27564 {
		t.Errorf("%v rows, %d sold", r.Rows, r.Sold)
	}
	if all := r.Answer(tables.ScanAll); len(all) != 1 || all[0].Cents != 5270027714 || all[0].Null {
		t.Errorf("the sum is %v", all)
	}
}

// TestStarAtOne compares the reference at scale factor 1, of the rows that the TPC's own kit makes, with
// answers on which several systems agree. Some of these systems order NULL first and some last.
func TestStarAtOne(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT TESTED in short mode: scale factor 1 has 2,880,404 sales")
	}
	enginetest.Needs(t, lab.TPCGen())
	program, err := lab.TPCGenProgram()
	if err != nil {
		t.Fatal(err)
	}
	root := os.Getenv("BAROGRAPH_DATA")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "data")
	}
	if _, err := os.Stat(filepath.Join(root, "tpcds")); err != nil {
		t.Skipf("NOT TESTED: the corrected answers of TPC-DS are missing: %v; set BAROGRAPH_DATA", err)
	}
	r := generated(t, generate.Options{Scale: 1, Program: program})
	if r.Rows[tables.StoreSales] != 2880404 || r.Rows[tables.Item] != 18000 || r.Rows[tables.DateDim] != 73049 {
		t.Errorf("%v rows", r.Rows)
	}
	for name, query := range map[string]tables.StarQuery{
		"q03.sf1.nulls_first.tsv": tables.Q3, "q03.sf1.nulls_last.tsv": tables.Q3,
		"q52.sf1.nulls_first.tsv": tables.Q52, "q52.sf1.nulls_last.tsv": tables.Q52,
	} {
		// No row has a NULL, so both orders are the order of the question.
		proof, err := r.Check(query, readAnswers(t, filepath.Join(root, "tpcds", name)))
		if err != nil || proof.Degree() != answer.EveryValue {
			t.Errorf("%s: %s, %v", name, proof.Degree(), err)
		}
	}
}

// readAnswers reads a file of answers: year, brand id, brand, sum.
func readAnswers(t *testing.T, path string) (out []tables.StarRow) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := csv.NewReader(strings.NewReader(string(text)))
	lines.Comma = '\t'
	all, err := lines.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range all {
		year, err1 := strconv.ParseInt(line[0], 10, 64)
		id, err2 := strconv.ParseInt(line[1], 10, 64)
		sum, err3 := strconv.ParseFloat(line[3], 64)
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		brand := strings.TrimRight(line[2], " ")
		out = append(out, tables.StarRow{Year: year, BrandID: id, Brand: brand, Cents: int64(sum*100 + .5)})
	}
	return out
}

// TestCompareStar: CompareStar accepts answers with another order of rows that tie, and refuses wrong answers.
func TestCompareStar(t *testing.T) {
	want := []tables.StarRow{
		{Year: 1998, BrandID: 3, Brand: "c", Cents: 900},
		{Year: 1998, BrandID: 1, Brand: "a", Cents: 500},
		{Year: 1998, BrandID: 1, Brand: "b", Cents: 500},
		{Year: 1998, Brand: "n", Cents: 0, Null: true},
		{Year: 1999, BrandID: 1, Brand: "a", Cents: 100},
	}
	check := func(name string, correct bool, got []tables.StarRow) {
		t.Helper()
		if _, err := tables.CompareStar(tables.Q3, want, got); (err == nil) != correct {
			t.Errorf("%s: %v", name, err)
		}
	}
	check("the same", true, slices.Clone(want))
	swap := func(i, j int) []tables.StarRow {
		out := slices.Clone(want)
		out[i], out[j] = out[j], out[i]
		return out
	}
	if p, err := tables.CompareStar(tables.Q3, want, want); err != nil || p.Degree() != answer.EveryValue || p.Rows() != len(want) {
		t.Errorf("the proof is %s, %d rows, %v", p.Degree(), p.Rows(), err)
	}
	check("two swapped rows that tie", true, swap(1, 2))
	check("two swapped rows that do not tie", false, swap(0, 1))
	check("a missing row", false, want[:4])
	check("no rows", false, nil)
	cent := slices.Clone(want)
	cent[4].Cents++
	check("a cent more", false, cent)
	twice := slices.Clone(want)
	twice[2] = twice[1]
	check("a row twice, another missing", false, twice)
	null := slices.Clone(want)
	null[3].Null = false
	check("0 in place of NULL", false, null)

	long := make([]tables.StarRow, tables.StarLimit+3)
	for i := range long {
		long[i] = tables.StarRow{BrandID: 1, Brand: strconv.Itoa(i), Cents: 7}
	}
	if p, err := tables.CompareStar(tables.Q55, long, long[3:]); err != nil || p.Degree() != answer.Undetermined {
		t.Errorf("the limit cuts through rows that tie: %s, %v", p.Degree(), err)
	}
	if _, err := tables.CompareStar(tables.Q55, long, long); err == nil {
		t.Error("CompareStar accepts more rows than the limit")
	}
}

// TestPlacementErrors: an error of a placement has one problem and its cure.
func TestPlacementErrors(t *testing.T) {
	loaded := tables.Placement{Partitions: 2}.CheckLoaded(tables.Placement{Partitions: 4})
	invalid := tables.Placement{Partitions: 4, Workers: -1}.Check()
	for _, c := range []struct {
		err  error
		want string
	}{
		{loaded, "2 partitions over []: the tables were loaded in 4 partitions over []; load them again, or name the placement at which they were loaded"},
		{invalid, "4 partitions, -1 workers are not a valid placement; name at least one partition, and 0 or more workers"},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("%v, want %s", c.err, c.want)
		}
	}
	if !errors.Is(loaded, tables.ErrPlacement) {
		t.Errorf("%v is no ErrPlacement", loaded)
	}
}
