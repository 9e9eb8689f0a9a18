package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/barograph/barograph/fault"
)

// ErrPlacement is wrapped where tables lie otherwise than a placement says.
var ErrPlacement = errors.New("the tables were loaded under another placement")

// ErrStarFiles is wrapped where a folder of tables lacks the files that an
// engine takes: it can load them under no placement.
var ErrStarFiles = errors.New("the tables' files are not there")

// StarTable names a table of the analytical workload: three of TPC-DS, with
// all columns of its specification, in its order.
type StarTable string

// The tables.
const (
	StoreSales StarTable = "store_sales" // the facts: 23 columns
	DateDim    StarTable = "date_dim"    // 28 columns, 73,049 rows at every scale
	Item       StarTable = "item"        // 22 columns
)

// StarTables are all tables, the largest first.
func StarTables() []StarTable { return []StarTable{StoreSales, DateDim, Item} }

// StarFiles is a folder of generated tables, as `barograph synth tpcds` writes
// it. The rows of all files of a table are its rows, whatever their order.
type StarFiles struct {
	Parquet map[StarTable][]string // absolute paths; DECIMAL(7,2) and dates as Parquet's own types, NULL as NULL

	// Documents hold the same rows as one collection: JSON lines, each with
	// its table's name in table_name. Columns that are NULL are left out;
	// decimals are numbers, dates ISO strings.
	Documents []string
}

// Placement tells on which disks the tables lie, into how many parts the facts
// are divided, and how many workers an answer may use.
type Placement struct {
	Paths      []string // absolute folders, one a disk; nil = where the engine keeps its data
	Partitions int      // at least 1: part i lies on Paths[i%len(Paths)]
	Workers    int      // 0 = a worker for each part

	// Anew: tables that were loaded under another placement are no error, as
	// Load will replace them; before it nothing else works.
	Anew bool
}

// Path is the folder of part i; "" where the engine chooses.
func (p Placement) Path(i int) string {
	if len(p.Paths) == 0 {
		return ""
	}
	return p.Paths[i%len(p.Paths)]
}

// Parallel is how many workers an answer may use.
func (p Placement) Parallel() int {
	if p.Workers > 0 {
		return p.Workers
	}
	return p.Partitions
}

// Check reports whether a placement makes sense.
func (p Placement) Check() error {
	if p.Partitions < 1 || p.Workers < 0 {
		return &fault.Error{Setting: fmt.Sprintf("%d partitions, %d workers", p.Partitions, p.Workers), Problem: "make no placement", Cure: "name at least one partition"}
	}
	for i, path := range p.Paths {
		if slices.Contains(p.Paths[:i], path) {
			return &fault.Error{Setting: path, Problem: "is named twice", Cure: "name each disk's folder once"}
		}
	}
	return nil
}

// Holds compares the placement under which tables were loaded with the one
// that is asked for; the error wraps ErrPlacement.
func (p Placement) Holds(loaded Placement) error {
	if slices.Equal(p.Paths, loaded.Paths) && p.Partitions == loaded.Partitions {
		return nil
	}
	return &fault.Error{
		Setting: fmt.Sprintf("%d partitions over %q", p.Partitions, p.Paths), Problem: fmt.Sprintf("the tables were loaded in %d partitions over %q", loaded.Partitions, loaded.Paths),
		Cure: "load them anew, or name the placement under which they were loaded", Err: ErrPlacement,
	}
}

// StarQuery names a question of the analytical workload.
type StarQuery string

// The questions: TPC-DS's own with the values of its qualification, and the
// scan of the benchmark that the workload repeats.
const (
	Q3      StarQuery = "q3"   // year, brand id, brand, sum of ss_ext_sales_price; manufacturer 128, November
	Q52     StarQuery = "q52"  // the same columns; manager 1, November 2000
	Q55     StarQuery = "q55"  // brand id, brand, sum; manager 28, November 1999
	ScanAll StarQuery = "scan" // the sum of ss_ext_sales_price over all of store_sales
)

// StarQueries are all questions, in the order of reports.
func StarQueries() []StarQuery { return []StarQuery{Q3, Q52, Q55, ScanAll} }

// Summary is one line for people; "" for an unknown question.
func (q StarQuery) Summary() string {
	switch q {
	case Q3:
		return "TPC-DS Q3: sales of a manufacturer's brands in November, by year"
	case Q52:
		return "TPC-DS Q52: sales of a manager's brands in November 2000"
	case Q55:
		return "TPC-DS Q55: sales of a manager's brands in November 1999"
	case ScanAll:
		return "the sum of all sales: every row is read"
	}
	return ""
}

// StarRow is a row of an answer. What a question has no column for is zero,
// and so is a brand or its id that is NULL: the generator makes none that is 0
// or empty otherwise.
type StarRow struct {
	Year    int64
	BrandID int64
	Brand   string // without the spaces at its end, which CHAR(50) adds
	Cents   int64  // the sum of ss_ext_sales_price, in hundredths
	Null    bool   // the sum is NULL: no row, or NULLs alone
}

// Scans opens tables of the analytical workload: the scan workload.
type Scans interface {
	// Open opens the tables under a placement, whether they were loaded yet or
	// not. Tables that were loaded over other paths or in another number of
	// parts are an error that wraps ErrPlacement, unless Anew is set; workers
	// are no part of what is loaded.
	Open(ctx context.Context, p Placement) (*Star, error)
}

// Star is a set of tables of the analytical workload; its functions are safe
// for concurrent use. A nil Plan, Size or Cold means "cannot".
type Star struct {
	// Load makes the tables anew from files, durable when it returns, with
	// whatever statistics a careful user would have the engine gather.
	Load func(ctx context.Context, files StarFiles) (StarLoaded, error)

	// Ask answers a question: at most 100 rows, in the order that the question
	// asks for. NULL is the least value: first going up, last going down. Before
	// a load it is an error.
	Ask func(ctx context.Context, q StarQuery) ([]StarRow, error)

	// Text is what is sent for a question, in the engine's language.
	Text func(q StarQuery) string

	// Plan is the engine's plan of a question, as text.
	Plan func(ctx context.Context, q StarQuery) (string, error)

	// Size tells how many bytes the facts take on each path of the placement.
	Size func(ctx context.Context) ([]int64, error)

	// Cold has the engine forget what it holds of the tables in memory. The
	// operating system's page cache is the caller's matter.
	Cold func(ctx context.Context) error

	Close func() error
}

// StarLoaded is what a load has stored: rows by table.
type StarLoaded struct {
	Rows map[StarTable]int64 `json:"rows"`
}
