package duckdb

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
)

// openArchive is the archive of one design in a file. It is safe for concurrent use: every call
// has its own connection.
type openArchive struct {
	*sqlengine.Archive
	db *database
}

// newArchive opens the archive of a design.
func newArchive(db *database, n design.Name) *openArchive {
	a := &openArchive{db: db}
	condition := " FROM duckdb_tables() WHERE database_name = " + flavour.Quote(db.alias)
	dialect := *dialectIn("")
	dialect.Table = func(subset, table string) string { return a.dialect(subset).Table(subset, table) }
	a.Archive = &sqlengine.Archive{
		Driver: Driver, Design: n, Dialect: &dialect, Pool: pool{db}, MarksAsJSON: true,
		SubsetIn: func(_ context.Context, schema string) (string, bool, error) {
			return schemaSubset(schema), true, nil
		},
		// One list for all subsets: an archive may have many subsets, and a list takes as long as a catalog.
		TablesQuery: func(string) (string, []any) {
			return "SELECT schema_name || '/' || table_name" + condition, nil
		},
		NonTablesQuery: func(string) (string, []any) {
			return "SELECT schema_name || '/' || view_name FROM duckdb_views() WHERE database_name = " + flavour.Quote(db.alias), nil
		},
		ListedName: func(subset, table string) string { return schemaName(subset) + "/" + table },
		NameOwn:    func(table string) string { return table + "_" + string(n) },
		CountDocs: func(from string) string {
			return "SELECT count(*), coalesce(sum(len(data)), 0)::BIGINT FROM " + from
		},
	}
	a.ContainersQuery = "SELECT schema_name" + condition + " AND table_name = " + flavour.Quote(a.OwnName(sqlengine.CatalogTable))
	return a
}

// pool is a Querier that takes a connection for each statement.
type pool struct{ db *database }

// Exec runs a statement.
func (p pool) Exec(ctx context.Context, text string, args ...any) error {
	return p.db.withConn(ctx, func(c *conn) error { return c.Exec(ctx, text, args...) })
}

// Rows passes each row to f.
func (p pool) Rows(ctx context.Context, text string, args []any, f func(row []any) error) error {
	return p.db.withConn(ctx, func(c *conn) error { return c.Rows(ctx, text, args, f) })
}

// withConn runs f on a connection.
func (db *database) withConn(ctx context.Context, f func(c *conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c, err := db.take()
	if err != nil {
		return err
	}
	defer db.put(c)
	return f(c)
}

// Phrase writes a question as DuckDB's SQL.
func (a *openArchive) Phrase(ctx context.Context, q *question.Question, f flavour.Name) (*archive.Query, error) {
	out, err := a.PhraseIn(ctx, a.dialect(q.Subset), q, f)
	if err != nil || a.Design != design.Normalized ||
		!slices.ContainsFunc(q.Columns, func(c question.Column) bool { return c.Role == question.Lead }) {
		return out, err
	}
	catalog, err := a.Catalog(ctx, q.Subset)
	if err == nil {
		out.Text += leadNote(catalog.Facts(q).Versions)
	}
	return out, err
}

// Size checkpoints DuckDB's log and returns the size of file and log. The file contains all
// designs that were loaded into it.
func (a *openArchive) Size(ctx context.Context) (size int64, err error) {
	if !a.db.readOnly {
		// While a loader writes, DuckDB refuses the checkpoint. Then the log counts unchanged.
		if err := a.Pool.Exec(ctx, "CHECKPOINT"); err != nil && ctx.Err() != nil {
			return 0, err
		}
	}
	if a.db.path == "" {
		return sqlengine.QueryNumber(ctx, a.Pool, "SELECT sum(block_size * used_blocks)::BIGINT FROM pragma_database_size()")
	}
	return engine.Bytes(a.db.path, a.db.path+".wal")
}

// literal writes an integer into a statement.
func literal(v int64) string { return strconv.FormatInt(v, 10) }

// The layout of a file: three headers and then blocks, each after its checksum
// (DuckDB's src/include/duckdb/storage/storage_info.hpp and src/common/checksum.cpp).
const (
	headerBytes  = 4096
	headers      = 3
	iterationAt  = 1 * 8 // in the second and the third header; the header with the greater number is valid
	freeListAt   = 3 * 8
	blocksAt     = 4 * 8
	noList       = math.MaxUint64
	listParts    = 64 // of a block of metadata; each starts with the address of the next part
	blockSizeAt  = 5 * 8
	mostBlock    = 256 << 10
	leastBlock   = 16 << 10
	checksumSeed = 5381
	checksumMix  = 0xbf58476d1ce4e5b9
)

// Check compares the checksum of every block of the file with its content. DuckDB itself checks
// only blocks that it reads. Check ignores blocks after the number in the header: a checkpoint
// that was killed or found the disk full has left them. It ignores missing blocks at the end of the
// file if all are free: DuckDB shortens the file after it has written the header.
func (a *openArchive) Check(ctx context.Context, _ string) (problems []string, err error) {
	if a.db.path == "" {
		return nil, nil
	}
	return checkFile(ctx, a.db.path)
}

func checkFile(ctx context.Context, path string) (problems []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it is only read
	head := make([]byte, headers*headerBytes)
	if _, err := f.ReadAt(head, 0); err != nil {
		return nil, err
	}
	bad := func(at int) {
		problems = append(problems, fmt.Sprintf("the block at byte %d of the file does not match its checksum", at))
	}
	var blocks, size, latest, list uint64
	for at := 0; at < len(head); at += headerBytes {
		part := head[at : at+headerBytes]
		if !matchesChecksum(part) {
			bad(at)
			continue
		}
		if n := binary.LittleEndian.Uint64(part[iterationAt:]); at > 0 && (size == 0 || n > latest) {
			latest, list = n, binary.LittleEndian.Uint64(part[freeListAt:])
			blocks, size = binary.LittleEndian.Uint64(part[blocksAt:]), binary.LittleEndian.Uint64(part[blockSizeAt:])
		}
	}
	if size < leastBlock || size > mostBlock {
		return append(problems, "the file's header is damaged"), nil
	}
	block := make([]byte, size)
	for i := uint64(0); i < blocks && ctx.Err() == nil; i++ {
		at := len(head) + int(i*size) //nolint:gosec // less than the size of a file
		if _, err := f.ReadAt(block, int64(at)); errors.Is(err, io.EOF) {
			if len(problems) > 0 || !allFree(f, list, size, i, blocks) {
				problems = append(problems, fmt.Sprintf("the file is truncated within block %d of %d", i+1, blocks))
			}
			return problems, nil
		} else if err != nil {
			return problems, err
		}
		if !matchesChecksum(block) {
			bad(at)
		}
	}
	return problems, ctx.Err()
}

// allFree reports whether DuckDB's list of free blocks has all blocks from first to before end. The
// list is a number and the blocks, in parts of blocks of metadata (src/storage/metadata/metadata_reader.cpp).
func allFree(f io.ReaderAt, list, size, first, end uint64) bool {
	part := make([]byte, (size-8)/listParts&^7)
	free, count := map[uint64]bool{}, uint64(noList)
	for read := uint64(0); list != noList && read < count; {
		block, index := list&(1<<56-1), list>>56
		at := headers*headerBytes + block*size + 8 + index*uint64(len(part))
		if _, err := f.ReadAt(part, int64(at)); err != nil { //nolint:gosec // an error if it is not within the file
			return false
		}
		list = binary.LittleEndian.Uint64(part)
		values := part[8:]
		if count == noList {
			count, values = binary.LittleEndian.Uint64(values), values[8:]
		}
		if count > end {
			return false
		}
		for ; len(values) >= 8 && read < count; read, values = read+1, values[8:] {
			free[binary.LittleEndian.Uint64(values)] = true
		}
	}
	for ; first < end; first++ {
		if !free[first] {
			return false
		}
	}
	return true
}

// hasHeader reports whether a file is DuckDB's: at least one of two headers matches its checksum.
func hasHeader(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // it is only read
	head := make([]byte, headers*headerBytes)
	_, err = io.ReadFull(f, head)
	return err == nil && (matchesChecksum(head[headerBytes:2*headerBytes]) || matchesChecksum(head[2*headerBytes:]))
}

// matchesChecksum reports whether a header or a block matches its checksum.
func matchesChecksum(b []byte) bool { return binary.LittleEndian.Uint64(b) == checksum(b[8:]) }

func checksum(b []byte) uint64 {
	sum := uint64(checksumSeed)
	for ; len(b) >= 8; b = b[8:] {
		sum ^= binary.LittleEndian.Uint64(b) * checksumMix
	}
	return sum
}

// Explain returns DuckDB's physical plan. It runs the query once more under EXPLAIN ANALYZE to
// find what the scans read.
func (a *openArchive) Explain(ctx context.Context, q *archive.Query) (plan archive.Plan, err error) {
	err = a.db.withConn(ctx, func(c *conn) error {
		if plan.Text, err = c.lastColumn(ctx, "EXPLAIN "+q.Text, q.Args...); err != nil {
			if ok, e := a.Exists(ctx, q.Question); e == nil && !ok {
				plan.Text = "(the subset has no records of " + q.Question.Type.Name + ")"
				return nil
			}
			return err
		}
		profile, err := c.lastColumn(ctx, "EXPLAIN (ANALYZE, FORMAT JSON) "+q.Text, q.Args...)
		if err != nil {
			return err
		}
		if plan.Access, err = accesses([]byte(profile)); err != nil {
			return err
		}
		for i := range plan.Access {
			s := &plan.Access[i]
			rows, err := sqlengine.QueryNumber(ctx, c, "SELECT count(*) FROM "+a.Dialect.Table(q.Question.Subset, flavour.Ident(s.Object)))
			if err != nil {
				return err
			}
			if s.Method == archive.FullScan && s.Examined < rows {
				s.Method = archive.PrunedScan
			}
		}
		return nil
	})
	return plan, err
}

// lastColumn joins the texts in the last column of a reply.
func (c *conn) lastColumn(ctx context.Context, text string, args ...any) (string, error) {
	r, err := c.query(ctx, text, args...)
	if err != nil {
		return "", err
	}
	defer r.close()
	var b strings.Builder
	for r.next() {
		v := r.vector(len(r.types) - 1)
		for i := range r.rows {
			b.Write(v.text(i))
		}
	}
	return b.String(), nil
}

// operator is a node of EXPLAIN (ANALYZE, FORMAT JSON).
type operator struct {
	Kind    string `json:"operator_type"`
	Scanned int64  `json:"operator_rows_scanned"` // rows of the row groups that zone maps did not exclude
	Rows    int64  `json:"operator_cardinality"`  // rows that passed its filters
	Info    struct {
		Table string `json:"Table"` // file.schema.table
		Type  string `json:"Type"`  // Sequential Scan, Index Scan
	} `json:"extra_info"`
	Children []operator `json:"children"`
}

// accesses reads the scans of tables from DuckDB's profile.
func accesses(profile []byte) ([]archive.Access, error) {
	var root operator
	if err := json.Unmarshal(profile, &root); err != nil {
		return nil, err
	}
	var out []archive.Access
	var walk func(o *operator)
	walk = func(o *operator) {
		if o.Kind == "TABLE_SCAN" && o.Info.Table != "" {
			a := archive.Access{
				Object: o.Info.Table[strings.LastIndexByte(o.Info.Table, '.')+1:], Method: archive.FullScan,
				Examined: o.Scanned, Kept: o.Rows, Counted: true,
			}
			if o.Info.Type == "Index Scan" {
				a.Method = archive.IndexScan
			}
			out = append(out, a)
		}
		for i := range o.Children {
			walk(&o.Children[i])
		}
	}
	walk(&root)
	return out, nil
}
