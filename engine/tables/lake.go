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

// Lake asks Parquet files on a store as the wide design's tables. It keeps
// nothing of the files in memory from one answer to the next, so that each is a
// cold one; what the servers of the store keep is theirs.
type Lake struct {
	// Write writes records of a line type that lie in a DuckDB file under the wide
	// design into files of a table, sorted, by the partition of t, in files of about
	// so many bytes; partitions with less have one smaller file each. Nil = the engine only reads.
	Write func(ctx context.Context, archive, subset string, t *LakeTable, bytes int64) error

	// Table makes the files of a table known; it is not there yet.
	Table func(ctx context.Context, t *LakeTable) error

	Phrase func(t *LakeTable, q *question.Question, c *design.Catalog) (*archive.Query, error)
	Ask    func(ctx context.Context, q *archive.Query, into *answer.Builder) error
	Close  func() error // forgets the tables; the files stay
}

// LakeTable is the files of a line type under one layout.
type LakeTable struct {
	Name      string // small letters, digits and _
	Type      *record.LineType
	Prefix    string // of the keys of its files, with a / at its end
	Partition Partition

	Files int   // that Write wrote
	Bytes int64 // of all of them
	Rows  int64
}

// Partition is by what files are partitioned.
type Partition string

// The partitions.
const (
	Unpartitioned Partition = "none"
	ByDay         Partition = "day" // of fcst_valid_beg
	ByModel       Partition = "model"
	ByVariable    Partition = "variable" // fcst_var
)

// PartColumn is the column by which files are partitioned: each of its values is a
// folder part=value, as Hive has it, and stands in no file. It is the day,
// 2019-01-01, or the model or variable with _ in place of what is no letter, digit, dot or
// minus: an escaped / is not found again by all engines.
const PartColumn = "part"

var notInParts = regexp.MustCompile(NotInParts)

// NotInParts is the expression for what has _ in its place.
const NotInParts = "[^A-Za-z0-9.-]"

// Part is the value of PartColumn for a model or variable.
func Part(value string) string { return notInParts.ReplaceAllString(value, "_") }

// Partitions are all of them.
func Partitions() []Partition { return []Partition{Unpartitioned, ByDay, ByModel, ByVariable} }
