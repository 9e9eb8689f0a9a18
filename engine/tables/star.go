package tables

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/formats/tpcds"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
)

// ErrPlacement is wrapped by the error of tables that were loaded at another placement.
var ErrPlacement error = fault.Class("the tables were loaded at another placement")

// ErrStarFiles is wrapped by the error about a folder without the files that an engine needs. The engine cannot load
// the tables of such a folder at any placement.
var ErrStarFiles = errors.New("the tables' files do not exist")

// StarTable names a table of the analytical workload: three of TPC-DS, with
// all columns of its specification, in its order.
type StarTable string

// The tables.
const (
	StoreSales StarTable = "store_sales" // the facts: 23 columns
	DateDim    StarTable = "date_dim"    // 28 columns, 73,049 rows at every scale
	Item       StarTable = "item"        // 22 columns
)

// StarTables lists all tables, the largest first.
func StarTables() []StarTable { return []StarTable{StoreSales, DateDim, Item} }

// StarFiles is a folder of generated tables, as `barograph synth tpcds` writes it. A table
// consists of the rows of all its files, in any order.
type StarFiles struct {
	Parquet map[StarTable][]string // absolute paths; DECIMAL(7,2) and dates as Parquet's own types, NULL as NULL

	// Documents are files with the same rows as one collection: JSON lines, each with its
	// table's name in table_name. They omit columns that are NULL; decimals are numbers and
	// dates ISO strings.
	Documents []string
}

// Placement determines on which disks the tables are, into how many partitions the facts are divided, and how many
// workers a query may use.
type Placement struct {
	Paths      []string // absolute paths of folders, one for each disk; nil = the engine's data folder
	Partitions int      // at least 1; partition i is on Paths[i%len(Paths)]
	Workers    int      // 0 = a worker for each partition

	// Replace allows tables that were loaded at another placement, because the caller will call
	// Load and replace them. Before Load, no other function works.
	Replace bool
}

// Path returns the folder of partition i; "" = the engine chooses.
func (p Placement) Path(i int) string {
	if len(p.Paths) == 0 {
		return ""
	}
	return p.Paths[i%len(p.Paths)]
}

// Parallel returns how many workers a query may use.
func (p Placement) Parallel() int {
	if p.Workers > 0 {
		return p.Workers
	}
	return p.Partitions
}

// Check returns an error if a placement is not possible.
func (p Placement) Check() error {
	if p.Partitions < 1 || p.Workers < 0 {
		setting := fmt.Sprintf("%d partitions, %d workers", p.Partitions, p.Workers)
		return &fault.Error{Setting: setting, Problem: "are not a valid placement", Cure: "name at least one partition, and 0 or more workers"}
	}
	for i, path := range p.Paths {
		if slices.Contains(p.Paths[:i], path) {
			return &fault.Error{Setting: path, Problem: "is named twice", Cure: "name each disk's folder once"}
		}
	}
	return nil
}

// CheckLoaded compares the requested placement with the placement at which the tables were loaded;
// the error wraps ErrPlacement.
func (p Placement) CheckLoaded(loaded Placement) error {
	if slices.Equal(p.Paths, loaded.Paths) && p.Partitions == loaded.Partitions {
		return nil
	}
	return &fault.Error{
		Setting: fmt.Sprintf("%d partitions over %q", p.Partitions, p.Paths),
		Problem: fmt.Sprintf("the tables were loaded in %d partitions over %q", loaded.Partitions, loaded.Paths),
		Cure:    "load them again, or name the placement at which they were loaded", Err: ErrPlacement,
	}
}

// StarQuery names a question of the analytical workload.
type StarQuery string

// The questions: TPC-DS's own with the values of its qualification, and the scan that the
// study repeats.
const (
	Q3      StarQuery = "q3"   // year, brand id, brand, sum of ss_ext_sales_price; manufacturer 128, November
	Q52     StarQuery = "q52"  // the same columns; manager 1, November 2000
	Q55     StarQuery = "q55"  // brand id, brand, sum; manager 28, November 1999
	ScanAll StarQuery = "scan" // the sum of ss_ext_sales_price over all of store_sales
)

// StarQueries lists all questions, in the order of reports.
func StarQueries() []StarQuery { return []StarQuery{Q3, Q52, Q55, ScanAll} }

// Summary is one line for people; "" for an unknown question.
func (q StarQuery) Summary() string {
	return map[StarQuery]string{
		Q3:      "TPC-DS Q3: sales of a manufacturer's brands in November, by year",
		Q52:     "TPC-DS Q52: sales of a manager's brands in November 2000",
		Q55:     "TPC-DS Q55: sales of a manager's brands in November 1999",
		ScanAll: "the sum of all sales: every row is read",
	}[q]
}

// StarRow is a row of an answer. Columns that the question does not have are zero. A brand
// or brand id that is NULL is also zero: the generator makes no brand id 0 and no empty brand.
type StarRow struct {
	Year    int64
	BrandID int64
	Brand   string // without the trailing spaces that CHAR(50) adds
	Cents   int64  // the sum of ss_ext_sales_price, in hundredths
	Null    bool   // the sum is NULL: the group has no row, or only NULLs
}

// Scans opens the tables of the study scan.
type Scans interface {
	// Open opens the tables at a placement, whether they were loaded or not. The error wraps
	// ErrPlacement if the tables were loaded over other paths or in another number of
	// partitions, unless Replace is set. The number of workers does not matter, because it does not
	// affect loaded data.
	Open(ctx context.Context, p Placement) (*Star, error)
}

// Star is an open set of tables of the study scan. Its functions are safe for concurrent use. If Plan, Size, Cold or
// Spent is nil, the engine does not offer it.
type Star struct {
	// Load replaces the tables by the rows of files. The rows are durable when it returns, and
	// the engine has gathered the statistics that a careful user would want.
	Load func(ctx context.Context, files StarFiles) (StarLoadResult, error)

	// Ask returns the answer to a question: at most 100 rows, in the question's order. NULL is
	// the least value: it is first in ascending and last in descending order. Before a load Ask
	// returns an error.
	Ask func(ctx context.Context, q StarQuery) ([]StarRow, error)

	// Text returns the query text of a question, in the engine's language.
	Text func(q StarQuery) string

	// Plan returns the engine's plan for a question, as text.
	Plan func(ctx context.Context, q StarQuery) (string, error)

	// Size returns the bytes of the facts on each path of the placement.
	Size func(ctx context.Context) ([]int64, error)

	// Cold makes the engine drop its caches of the tables. The caller drops the page cache of
	// the operating system.
	Cold func(ctx context.Context) error

	// Spent returns what the server has spent, including the last answer of this Star.
	Spent func(ctx context.Context) (engine.ServerUsage, error)

	// Processes returns the processes that the engine runs for these tables now, in addition to those
	// of engine.Engine. nil = it runs none.
	Processes func() []int32

	Close func() error
}

// StarLoadResult counts the rows that a load stored, by table.
type StarLoadResult struct {
	Rows map[StarTable]int64 `json:"rows"`
}

// StarLimit is the greatest number of rows of an answer.
const StarLimit = 100

// Columns returns the number of columns of a question's answer: year (not in Q55), brand id,
// brand and sum; the scan has only the sum.
func (q StarQuery) Columns() int {
	switch q {
	case Q3, Q52:
		return 4
	case Q55:
		return 3
	}
	return 1
}

// shape describes how answers to a question are ordered, limited and compared.
func (q StarQuery) shape() answer.Shape {
	// By number of columns: the indexes of the columns that determine the order. Year, sum, brand id; or sum, brand id.
	order := map[int][]int{4: {0, 3, 1}, 3: {2, 0}}
	return answer.Shape{Width: q.Columns(), By: order[q.Columns()], Limit: StarLimit, Degree: answer.EveryValue}
}

// compareRows orders rows as the question does. NULL is the least value: first in ascending,
// last in descending order. Rows for which it returns 0 may come in any order.
func compareRows(q StarQuery, a, b StarRow) int {
	sum := cmp.Compare(b.Cents, a.Cents)
	if a.Null != b.Null {
		if sum = -1; a.Null {
			sum = 1
		}
	}
	if q == Q3 || q == Q52 {
		return cmp.Or(cmp.Compare(a.Year, b.Year), sum, cmp.Compare(a.BrandID, b.BrandID))
	}
	return cmp.Or(sum, cmp.Compare(a.BrandID, b.BrandID))
}

// CompareStar compares an answer with all rows of the reference, which are in order. It
// compares rows that are equal in the question's order as sets. If the limit cuts such a
// set, the answer may contain any of its rows.
func CompareStar(q StarQuery, want, got []StarRow) (answer.Proof, error) {
	proof, err := answer.CompareLoose(answer.Expect(starAnswer(q, want), q.shape()), starAnswer(q, got), 0)
	if err != nil {
		err = fmt.Errorf("%s: %w", q, err)
	}
	return proof, err
}

// starAnswer converts rows to the columns and types of a question.
func starAnswer(q StarQuery, rows []StarRow) *answer.Loose {
	var out answer.Loose
	for _, r := range rows {
		out.Add(r.Values(q))
	}
	return &out
}

// Values returns the values of a question's columns; nil is NULL.
func (r StarRow) Values(q StarQuery) []any {
	row := []any{r.Year, r.BrandID, r.Brand, answer.Decimal(tpcds.AppendCents(nil, r.Cents))}
	for k, null := range []bool{r.Year == 0, r.BrandID == 0, r.Brand == "", r.Null} {
		if null {
			row[k] = nil
		}
	}
	return row[len(row)-q.Columns():]
}

// Header returns the names of a question's columns, as TPC-DS has them.
func (q StarQuery) Header() []string {
	return map[StarQuery][]string{
		Q3: {"d_year", "brand_id", "brand", "sum_agg"}, Q52: {"d_year", "brand_id", "brand", "ext_price"},
		Q55: {"brand_id", "brand", "ext_price"}, ScanAll: {"sum"},
	}[q]
}

// StarReference answers the questions of the study scan from the generated rows, without
// any database. Its sums are exact.
type StarReference struct {
	Rows    map[StarTable]int64
	Sold    int64 // rows of store_sales whose ss_ext_sales_price is not NULL
	answers map[StarQuery][]StarRow
}

// OpenStarFiles finds the files of a folder of generated tables.
func OpenStarFiles(dir string) (StarFiles, *tpcds.Manifest, error) {
	files := StarFiles{Parquet: map[StarTable][]string{}}
	m, err := tpcds.Open(dir)
	if err != nil {
		return files, nil, err
	}
	for table, list := range m.Parquet {
		if files.Parquet[StarTable(table)], err = tpcds.Paths(dir, list); err != nil {
			return files, nil, err
		}
	}
	files.Documents, err = tpcds.Paths(dir, m.Documents)
	return files, m, err
}

// starDate and starItem are the columns that the questions use. starKey is a group of a question, starSum its sum.
type (
	starDate struct{ year, month int64 }
	starItem struct {
		brandID, manufacturer, manager int64
		brand                          string
	}
	starKey struct {
		query         StarQuery
		year, brandID int64
		brand         string
	}
	starSum struct {
		cents     int64
		hasValues bool // at least one value is not NULL
	}
)

// starSums are the sums of one file of facts.
type starSums struct {
	rows, sold int64
	all        starSum
	groups     map[starKey]starSum
}

func (s *starSum) add(o starSum) { s.cents, s.hasValues = s.cents+o.cents, s.hasValues || o.hasValues }

// StarAnswers reads all rows and computes the answers to all questions.
func StarAnswers(ctx context.Context, files StarFiles) (*StarReference, error) {
	r := &StarReference{Rows: map[StarTable]int64{}, answers: map[StarQuery][]StarRow{}}
	dates, items := map[int64]starDate{}, map[int64]starItem{}
	err := dimension(files, DateDim, []string{"d_date_sk", "d_year", "d_moy"}, r.Rows, func(c []tpcds.Vector, i int) {
		dates[c[0].Int[i]] = starDate{c[1].Int[i], c[2].Int[i]}
	})
	if err != nil {
		return nil, err
	}
	itemColumns := []string{"i_item_sk", "i_brand_id", "i_manufact_id", "i_manager_id", "i_brand"}
	err = dimension(files, Item, itemColumns, r.Rows, func(c []tpcds.Vector, i int) {
		items[c[0].Int[i]] = starItem{c[1].Int[i], c[2].Int[i], c[3].Int[i], string(bytes.TrimRight(c[4].Text[i], " "))}
	})
	if err != nil {
		return nil, err
	}
	sums := make([]starSums, len(files.Parquet[StoreSales]))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, path := range files.Parquet[StoreSales] {
		g.Go(func() error {
			sums[i].groups = map[starKey]starSum{}
			return sums[i].read(ctx, path, dates, items)
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	r.merge(sums)
	return r, nil
}

// dimension reads columns of a small table, adds the number of its rows to count, and calls each for
// each row i of a vector. NULL is 0.
func dimension(files StarFiles, t StarTable, columns []string, count map[StarTable]int64, each func(c []tpcds.Vector, i int)) error {
	for _, path := range files.Parquet[t] {
		for rows, err := range tpcds.Read(path, string(t), columns...) {
			if err != nil {
				return err
			}
			count[t] += int64(rows.N)
			for i := range rows.N {
				each(rows.Columns, i)
			}
		}
	}
	return nil
}

// read sums the facts of a file.
func (s *starSums) read(ctx context.Context, path string, dates map[int64]starDate, items map[int64]starItem) error {
	for rows, err := range tpcds.Read(path, string(StoreSales), "ss_sold_date_sk", "ss_item_sk", "ss_ext_sales_price") {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		day, item, price := &rows.Columns[0], &rows.Columns[1], &rows.Columns[2]
		s.rows += int64(rows.N)
		for i := range rows.N {
			x := starSum{price.Int[i], !price.Null[i]}
			s.all.add(x)
			if x.hasValues {
				s.sold++
			}
			if day.Null[i] || item.Null[i] {
				continue // no row of the dimensions matches
			}
			d, known := dates[day.Int[i]]
			if !known || d.month != 11 {
				continue
			}
			if it, known := items[item.Int[i]]; known {
				s.addFact(d, it, x)
			}
		}
	}
	return nil
}

// addFact adds a sale of November to the sums of the questions that select it.
func (s *starSums) addFact(d starDate, it starItem, x starSum) {
	add := func(k starKey) {
		sum := s.groups[k]
		sum.add(x)
		s.groups[k] = sum
	}
	if it.manufacturer == 128 {
		add(starKey{Q3, d.year, it.brandID, it.brand})
	}
	if it.manager == 1 && d.year == 2000 {
		add(starKey{Q52, d.year, it.brandID, it.brand})
	}
	if it.manager == 28 && d.year == 1999 {
		add(starKey{Q55, 0, it.brandID, it.brand})
	}
}

// merge adds the sums of all files and sorts the answers.
func (r *StarReference) merge(sums []starSums) {
	all, groups := starSum{}, map[starKey]starSum{}
	for i := range sums {
		r.Rows[StoreSales] += sums[i].rows
		r.Sold += sums[i].sold
		all.add(sums[i].all)
		for k, x := range sums[i].groups {
			sum := groups[k]
			sum.add(x)
			groups[k] = sum
		}
	}
	for k, sum := range groups {
		row := StarRow{Year: k.year, BrandID: k.brandID, Brand: k.brand, Cents: sum.cents, Null: !sum.hasValues}
		r.answers[k.query] = append(r.answers[k.query], row)
	}
	r.answers[ScanAll] = []StarRow{{Cents: all.cents, Null: !all.hasValues}}
	for q, rows := range r.answers {
		slices.SortFunc(rows, func(a, b StarRow) int { return cmp.Or(compareRows(q, a, b), cmp.Compare(a.Brand, b.Brand)) })
	}
}

// Answer returns every row of the answer to a question, in its order, including rows beyond
// the question's limit of 100.
func (r *StarReference) Answer(q StarQuery) []StarRow { return slices.Clone(r.answers[q]) }

// Check compares an engine's answer with the reference.
func (r *StarReference) Check(q StarQuery, got []StarRow) (answer.Proof, error) {
	return CompareStar(q, r.Answer(q), got)
}
