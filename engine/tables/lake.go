package tables

import (
	"context"
	"regexp"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// Lake queries Parquet files in an object store as the tables of design wide. It keeps
// nothing of the files in memory between two queries; every query starts cold. The servers
// of the store may cache.
type Lake struct {
	// Write writes the records of a line type from a DuckDB file of design wide into sorted
	// files of a table, partitioned by t.Partition, with about bytes bytes each. A partition with
	// fewer bytes has one smaller file. Nil = the engine only reads.
	Write func(ctx context.Context, archive, subset string, t *LakeTable, bytes int64) error

	// Table registers the files of a table that is not registered yet.
	Table func(ctx context.Context, t *LakeTable) error

	// Phrase returns the query for a question about a table.
	Phrase func(t *LakeTable, q *question.Question, c *design.Catalog) (*archive.Query, error)
	Ask    func(ctx context.Context, q *archive.Query, into *answer.Builder) error
	Close  func() error // unregisters the tables; the files stay
}

// LakeTable is the set of files of a line type with one partitioning.
type LakeTable struct {
	Name      string // small letters, digits and _
	Type      *record.LineType
	Prefix    string // of the keys of its files; it ends with /
	Partition Partition

	Files int   // number of files that Write wrote
	Bytes int64 // bytes of all these files
	Rows  int64
}

// Partition names the column by which files are partitioned.
type Partition string

// The partitionings.
const (
	Unpartitioned Partition = "none"
	ByDay         Partition = "day" // of fcst_valid_beg
	ByModel       Partition = "model"
	ByVariable    Partition = "variable" // fcst_var
)

// PartColumn is the column by which files are partitioned. As in Hive, each of its values is
// a folder part=value, and no file contains the column. The value is the day, 2019-01-01, or
// the model or variable with _ for each character that is not a letter, digit, dot or
// minus, because not all engines find an escaped / again.
const PartColumn = "part"

var unsafePartChars = regexp.MustCompile(UnsafePartChars)

// UnsafePartChars is the regular expression of the characters that Part replaces by _.
const UnsafePartChars = "[^A-Za-z0-9.-]"

// Part returns the value of PartColumn for a model or variable.
func Part(value string) string { return unsafePartChars.ReplaceAllString(value, "_") }

// Partitions lists all partitionings.
func Partitions() []Partition { return []Partition{Unpartitioned, ByDay, ByModel, ByVariable} }
