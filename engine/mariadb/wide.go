package mariadb

import (
	"cmp"
	"context"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/record"
)

// newLoader returns the loader of the designs whose tables have transactions.
func (l *baseLoader) newLoader() archive.Loader {
	s := sqlengine.LoadSession{
		Transaction: l.transaction,
		MakeTable: func(ctx context.Context, _ sqlengine.Querier, t *record.LineType) error {
			return querier{l.a.db.writes}.Exec(ctx, l.a.db.translate(l.a.typeTable(l.subset, t)))
		},
		MakeCommits: true, Insert: l.insert, InsertLines: l.insertLines, Replace: l.resolveExisting, Upserts: true, Close: l.Close,
	}
	var out *sqlengine.Loader
	s.MergeDocs = func(
		ctx context.Context, q sqlengine.Querier, g *design.Grouper, candidates []design.Row, stored *archive.CommitResult,
	) error {
		l.batches = g.Batches
		defer func() { l.batches = nil }()
		return out.StoreDocs(ctx, q, g, candidates, stored)
	}
	out = l.a.NewLoader(l.subset, s)
	return out
}

// transaction runs f in a transaction under the subset's lock.
func (l *baseLoader) transaction(ctx context.Context, f func(q sqlengine.Querier) error) error {
	return l.retryCommit(ctx, func() error {
		err := l.locked(ctx, func() error {
			if err := l.a.recover(ctx, l.conn, l.subset); err != nil {
				return err
			}
			if err := l.startTransaction(ctx); err != nil {
				return err
			}
			if err := f(querier{l.conn}); err != nil {
				return err
			}
			return l.commitTransaction(ctx)
		})
		if err != nil {
			err = callError(ctx, err)
			l.rollBack(context.WithoutCancel(ctx))
		}
		return err
	})
}

// insert loads rows and replaces rows with the same key.
func (l *baseLoader) insert(ctx context.Context, _ sqlengine.Querier, table string, cols []sqlengine.Column, next sqlengine.Next) error {
	sent, names, set := splitConstants(cols, l.batches)
	to := &textRow{sent: make([]bool, len(cols))}
	for k := range cols {
		to.sent[k] = slices.ContainsFunc(sent, func(c sqlengine.Column) bool { return c.Name == cols[k].Name })
	}
	f := infile{table: table, columns: names, charset: "utf8mb4", replace: true, set: strings.Join(set, ", ")}
	f.rows = func(out *rowWriter) error {
		for {
			to.begin(out.row())
			if ok, err := next(to); err != nil || !ok {
				return err
			}
			if err := out.end(to.dst); err != nil {
				return err
			}
		}
	}
	_, err := f.load(ctx, l.conn)
	return err
}

// insertLines loads the rows of the wide design, whose key is the record's identity, in the order of the
// table's primary key.
func (l *baseLoader) insertLines(ctx context.Context, _ sqlengine.Querier, table string, cols []sqlengine.Column, lines *sqlengine.Lines) error {
	sent, names, set := splitConstants(cols, lines.Batches)
	set = append(set, wideKey+" = UNHEX(@k)")
	rows := slices.Clone(lines.Rows)
	slices.SortStableFunc(rows, func(a, b design.Row) int { return cmp.Compare(a.Valid, b.Valid) })
	keys := keysOf(lines)
	f := infile{table: table, columns: append([]string{"@k"}, names...), charset: "utf8mb4", replace: true, set: strings.Join(set, ", ")}
	f.rows = func(out *rowWriter) error {
		to := &textRow{}
		for _, r := range rows {
			to.begin(out.row())
			to.cell(0)
			to.dst = hex.AppendEncode(to.dst, keys(r))
			lines.Put(to, sent, r)
			if err := out.end(to.dst); err != nil {
				return err
			}
		}
		return nil
	}
	_, err := f.load(ctx, l.conn)
	return err
}

// wideLines returns the query for records of a wide table with their keys, and its columns.
func (a *openArchive) wideLines(
	_ context.Context, _ sqlengine.Querier, subset string, t *record.LineType,
) (string, []sqlengine.Column, error) {
	table, cols := a.Table(subset, t)
	cols = append(slices.Clone(cols), sqlengine.Column{Name: wideKey, From: sqlengine.Identity})
	return "SELECT " + sqlengine.ColumnList("ld.", cols) + " FROM " + table + " ld", cols, nil
}

// OneOfEach returns why the wide design stores only one record of an identity.
func (a *openArchive) OneOfEach() string {
	if a.Design == design.Wide {
		return "a row's primary key is its record's identity"
	}
	return ""
}

// keysOf returns the identity of a record, which is the key of its wide row.
func keysOf(lines *sqlengine.Lines) func(r design.Row) []byte {
	hashes := make([]record.Hasher, len(lines.Batches))
	for i, b := range lines.Batches {
		hashes[i].SetBatch(b)
	}
	key := make([]byte, 0, 16)
	return func(r design.Row) []byte {
		return sqlengine.AppendIdentity(key, hashes[r.Batch].Key(int(r.Row)))
	}
}

// recordsPerQuery is the number of records in one query.
const recordsPerQuery = 2000

// resolveExisting finds the records that wide rows replace. LOAD DATA REPLACE replaces them.
func (l *baseLoader) resolveExisting(
	ctx context.Context, q sqlengine.Querier, lines *sqlengine.Lines, candidates []design.Row, stored *archive.CommitResult,
) error {
	keys, resolve := keysOf(lines), l.a.Resolver(ctx, q, l.subset, lines, stored)
	for some := range slices.Chunk(candidates, recordsPerQuery) {
		where := " WHERE (ld.fcst_valid_epoch, ld." + wideKey + ") IN " + flavour.List(some, func(r design.Row) string {
			return "(" + decimal(r.Valid) + ", x'" + hex.EncodeToString(keys(r)) + "')"
		})
		if err := resolve(where); err != nil {
			return err
		}
	}
	return nil
}

// textRow is a Sink that writes a row for LOAD DATA.
type textRow struct {
	dst   []byte
	sent  []bool // columns to send; nil = all
	first bool
	times timeCache
}

func (t *textRow) begin(dst []byte) { t.dst, t.first = dst, true }

// cell starts the value of a column. It returns false for a column that is not sent.
func (t *textRow) cell(k int) bool {
	if t.sent != nil && !t.sent[k] {
		return false
	}
	if !t.first {
		t.dst = append(t.dst, '\t')
	}
	t.first = false
	return true
}

func (t *textRow) Null(k int) {
	if t.cell(k) {
		t.dst = append(t.dst, null...)
	}
}

func (t *textRow) Text(k int, s string) {
	if t.cell(k) {
		t.dst = appendText(t.dst, s)
	}
}

func (t *textRow) Integer(k int, v int64) {
	if t.cell(k) {
		t.dst = strconv.AppendInt(t.dst, v, 10)
	}
}

func (t *textRow) Number(k int, f float64) {
	if t.cell(k) {
		t.dst = strconv.AppendFloat(t.dst, f, 'g', -1, 64)
	}
}

func (t *textRow) Time(k int, epoch int64) {
	if t.cell(k) {
		t.dst = append(t.dst, t.times.text(epoch)...)
	}
}

func (t *textRow) List(k int, values []float64) {
	if t.cell(k) {
		t.dst = design.AppendRepeats(t.dst, values)
	}
}

func (t *textRow) JSON(k int, entries []byte) {
	if t.cell(k) {
		t.dst = appendText(t.dst, entries)
	}
}
