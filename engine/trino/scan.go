package trino

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/parquet-go/parquet-go"
	"github.com/tidwall/gjson"
	"github.com/zeebo/xxh3"

	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/formats/tpcds"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/flavour"
)

// scans opens the tables of the study scan: Parquet files that Barograph writes, one or more for each
// partition of store_sales.
type scans struct{ *database }

// star is the tables at a placement.
type star struct {
	db    *database
	place tables.Placement
	files atomic.Int64 // number of source files that have been copied; it names the copies
}

// Open opens the tables.
func (s scans) Open(ctx context.Context, p tables.Placement) (*tables.Star, error) {
	st := &star{db: s.database, place: p}
	return sqlengine.OpenStar(ctx, &sqlengine.StarEngine{
		Location: "schema " + st.schema(), ReadOnly: s.readOnly, ServerUsage: s.client.usage,
		Text: st.text, ReadNote: st.note, Load: st.load, Rows: st.rows, Plan: st.plan, Size: st.size,
		// The server keeps nothing of files in memory between queries.
		DropCaches: func(context.Context) error { return nil },
	}, p)
}

// schema returns the name of the tables' schema, with its catalog.
func (s *star) schema() string { return s.db.catalog + "." + s.db.name + "_star" }

func (s *star) table(t tables.StarTable) string { return s.schema() + "." + string(t) }

func (s *star) text(q tables.StarQuery) string {
	d := sqlengine.StarDialect{Table: s.table}
	return d.Text(q)
}

// session returns the session property with the number of threads that read files at once on each node. All
// nodes together have the placement's number of workers, rounded up.
func (s *star) session() string {
	return fmt.Sprintf("max_drivers_per_task=%d", max((s.place.Parallel()+s.db.nodes-1)/s.db.nodes, 1))
}

// loading precedes the placement in the comment of store_sales while a load has not finished.
const loading = "loading "

// note returns the placement in the comment of store_sales; "" = the table does not exist, or its load is incomplete.
func (s *star) note(ctx context.Context) (string, error) {
	comment, err := s.comment(ctx)
	if strings.HasPrefix(comment, loading) {
		comment = ""
	}
	return comment, err
}

// comment returns the comment of store_sales; "" = the table does not exist, or has none.
func (s *star) comment(ctx context.Context) (comment string, err error) {
	err = s.db.client.run(ctx, request{
		text: "SELECT coalesce(comment, '') FROM system.metadata.table_comments" +
			" WHERE catalog_name = " + flavour.Quote(s.db.catalog) + " AND schema_name = " + flavour.Quote(s.db.name+"_star") +
			" AND table_name = " + flavour.Quote(string(tables.StoreSales)),
		row: func(row gjson.Result) error { comment = row.Get("0").String(); return nil },
	})
	return comment, err
}

func (s *star) rows(ctx context.Context, q tables.StarQuery, f func(row []any) error) error {
	return s.db.client.run(ctx, request{text: s.text(q), session: s.session(), row: func(row gjson.Result) error {
		var values []any
		for _, v := range row.Array() {
			if v.Type == gjson.Null {
				values = append(values, nil)
			} else {
				values = append(values, v.String())
			}
		}
		return f(values)
	}})
}

// plan runs the query and returns its plan with the cost of each step.
func (s *star) plan(ctx context.Context, q tables.StarQuery) (text string, err error) {
	explain := "EXPLAIN ANALYZE " + s.text(q)
	err = s.db.client.run(ctx, request{text: explain, session: s.session(), row: func(row gjson.Result) error {
		text += row.Get("0").String() + "\n"
		return nil
	}})
	return text, err
}

// homes returns the folder for new tables on each path of the placement. If the placement has no paths, homes returns
// one folder, next to the folder in which the server keeps its tables.
func (s *star) homes(ctx context.Context) ([]string, error) {
	own := fmt.Sprintf("barograph-trino-%016x", xxh3.HashString(s.db.client.base+"/"+s.schema()))
	if len(s.place.Paths) > 0 {
		return onPaths(s.place.Paths, own), nil
	}
	folder := ""
	err := s.db.client.run(ctx, request{text: "SHOW CREATE SCHEMA " + s.schema(), row: func(row gjson.Result) error {
		folder = localFolder(row.Get("0").String())
		return nil
	}})
	if err == nil && folder == "" {
		err = &fault.Error{
			Setting: "schema " + s.schema(), Problem: "is on no local path",
			Cure: "name paths, or a catalog whose metastore is on a local path",
		}
	}
	if err != nil {
		return nil, err
	}
	return []string{filepath.Join(path.Dir(path.Dir(folder)), own)}, nil
}

// onPaths returns the folder of a name on each path.
func onPaths(paths []string, name string) []string {
	return lists.Map(paths, func(p string) string { return filepath.Join(p, name) })
}

// ownFolder matches the names of the folders that homes returns.
var ownFolder = regexp.MustCompile(`^barograph-trino-[0-9a-f]{16}$`)

// folders returns the folders of the existing tables, one for each path of the placement in the comment of store_sales,
// and this comment; nil = Barograph has stored no tables. The location of store_sales contains the name of the folders.
// homes may return another name, because that name depends on how the user writes the server's address.
func (s *star) folders(ctx context.Context) (folders []string, comment string, err error) {
	statement := ""
	err = s.db.client.run(ctx, request{
		text: "SHOW CREATE TABLE " + s.table(tables.StoreSales),
		row:  func(row gjson.Result) error { statement = row.Get("0").String(); return nil },
	})
	if e, ok := errors.AsType[*serverError](err); ok && e.name == "TABLE_NOT_FOUND" {
		return nil, "", nil
	}
	if err == nil {
		comment, err = s.comment(ctx)
	}
	if err != nil {
		return nil, "", err
	}
	properties := statement[max(strings.LastIndex(statement, "external_location"), 0):] // after the comment
	home := path.Dir(localFolder(properties))
	if !ownFolder.MatchString(path.Base(home)) {
		return nil, comment, nil
	}
	loaded, _ := sqlengine.ParsePlacement(strings.TrimPrefix(comment, loading))
	if len(loaded.Paths) == 0 {
		return []string{home}, comment, nil
	}
	return onPaths(loaded.Paths, path.Base(home)), comment, nil
}

// localFolder returns the path in the statement that creates a schema or a table; "" = it is not local. In the
// statement two quotes stand for a quote of the path.
func localFolder(statement string) string {
	_, rest, _ := strings.Cut(statement, "'local://")
	var folder strings.Builder
	for {
		before, after, _ := strings.Cut(rest, "'")
		folder.WriteString(before)
		if rest, _ = strings.CutPrefix(after, "'"); rest == after {
			return folder.String()
		}
		folder.WriteByte('\'')
	}
}

// partitionFolder returns the folder of partition i.
func partitionFolder(homes []string, i int) string {
	return filepath.Join(homes[i%len(homes)], "part-"+fmt.Sprintf("%04d", i))
}

// size returns the bytes of the partitions' files on each path.
func (s *star) size(ctx context.Context) ([]int64, error) {
	homes, _, err := s.folders(ctx)
	if err == nil && homes == nil {
		err = &fault.Error{
			Setting: s.table(tables.StoreSales), Problem: "is in no folder of Barograph", Cure: "load the tables again",
		}
	}
	if err != nil {
		return nil, err
	}
	out := make([]int64, len(homes))
	for i := range s.place.Partitions {
		entries, err := os.ReadDir(partitionFolder(homes, i))
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				return nil, err
			}
			out[i%len(out)] += info.Size()
		}
	}
	return out, nil
}

// load replaces the tables and writes their files. From the first file on, the comment of store_sales contains the
// placement; the prefix that marks it as incomplete is removed last.
func (s *star) load(ctx context.Context, files tables.StarFiles, note string) (out tables.StarLoadResult, err error) {
	homes, err := s.clear(ctx)
	if err != nil {
		return out, err
	}
	if err := s.run(ctx, s.create(homes, note)); err != nil {
		return out, err
	}
	for i := range s.place.Partitions {
		if err := os.MkdirAll(partitionFolder(homes, i), 0o755); err != nil {
			return out, err
		}
	}
	write := func(ctx context.Context, t tables.StarTable, rows *sqlengine.StarRows) (int64, error) {
		return s.write(ctx, homes, t, rows)
	}
	out, err = sqlengine.LoadStar(ctx, files, write)
	if err != nil {
		return out, err
	}
	return out, s.run(ctx, s.complete(homes, note))
}

// run runs statements up to the first error.
func (s *star) run(ctx context.Context, statements []string) error {
	for _, text := range statements {
		if err := s.db.client.run(ctx, request{text: text}); err != nil {
			return s.createError(ctx, err)
		}
	}
	return nil
}

// createError adds a cure to the error of a server that does not create the tables.
func (s *star) createError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &fault.Error{
		Setting: "catalog " + s.db.catalog, Problem: "does not accept the tables", Err: err,
		Cure: "let every node see the files at the same paths, and set in the catalog fs.native-local.enabled=true, " +
			"local.location=/ and hive.allow-register-partition-procedure=true",
	}
}

// clear drops the tables and removes their files from all paths, also those of an incomplete load. It returns the empty
// folders of the new tables. Until it has removed all files, the comment names their paths: an interrupted call leaves
// none that the next call does not find.
func (s *star) clear(ctx context.Context) ([]string, error) {
	if err := s.db.client.run(ctx, request{text: "CREATE SCHEMA IF NOT EXISTS " + s.schema()}); err != nil {
		return nil, err
	}
	homes, err := s.homes(ctx)
	if err != nil {
		return nil, err
	}
	folders, comment, err := s.folders(ctx)
	if err != nil {
		return nil, err
	}
	if comment != "" && !strings.HasPrefix(comment, loading) {
		if err := s.db.client.run(ctx, request{text: s.commentOn(loading + comment)}); err != nil {
			return nil, err
		}
	}
	for _, home := range append(folders, homes...) {
		if err := os.RemoveAll(home); err != nil {
			return nil, err
		}
	}
	for _, t := range tables.StarTables() {
		if err := s.db.client.run(ctx, request{text: "DROP TABLE IF EXISTS " + s.table(t)}); err != nil {
			return nil, err
		}
		if err := os.MkdirAll(filepath.Join(homes[0], string(t)), 0o755); err != nil {
			return nil, err
		}
	}
	return homes, nil
}

// commentOn returns the statement that writes the comment of store_sales.
func (s *star) commentOn(text string) string {
	return "COMMENT ON TABLE " + s.table(tables.StoreSales) + " IS " + flavour.Quote(text)
}

// create returns the statements that create the tables, which have no files yet.
func (s *star) create(homes []string, note string) []string {
	var out []string
	for _, t := range tables.StarTables() {
		var cols []string
		for _, c := range tpcds.Columns(string(t)) {
			cols = append(cols, c.Name+" "+starType(&c))
		}
		comment, with := "", "format = 'PARQUET', external_location = "+location(filepath.Join(homes[0], string(t)))
		if t == tables.StoreSales {
			cols = append(cols, "part integer")
			with += ", partitioned_by = ARRAY['part']"
			comment = " COMMENT " + flavour.Quote(loading+note)
		}
		out = append(out, "CREATE TABLE "+s.table(t)+" ("+strings.Join(cols, ", ")+")"+comment+" WITH ("+with+")")
	}
	return out
}

// complete returns the statements that register the partitions, gather statistics, and mark the load as complete.
func (s *star) complete(homes []string, note string) (out []string) {
	for i := range s.place.Partitions {
		out = append(out, fmt.Sprintf("CALL %s.system.register_partition(schema_name => %s, table_name => %s,"+
			" partition_columns => ARRAY['part'], partition_values => ARRAY['%d'], location => %s)",
			s.db.catalog, flavour.Quote(s.db.name+"_star"), flavour.Quote(string(tables.StoreSales)), i,
			location(partitionFolder(homes, i))))
	}
	for _, t := range tables.StarTables() {
		out = append(out, "ANALYZE "+s.table(t))
	}
	return append(out, s.commentOn(note))
}

// location returns a folder in the connector's notation, quoted.
func location(folder string) string { return flavour.Quote("local://" + folder) }

func starType(c *tpcds.Column) string {
	switch c.Kind {
	case tpcds.Big:
		return "bigint"
	case tpcds.Decimal:
		return "decimal(7,2)"
	case tpcds.Date:
		return "date"
	case tpcds.Char, tpcds.Varchar: // files contain texts without padding spaces
		return "varchar(" + strconv.Itoa(c.Size) + ")"
	}
	return "integer"
}

// write copies the rows of one of the user's files. Rows of store_sales go into one file for each partition, by
// their ticket; rows of another table go into one file.
func (s *star) write(
	ctx context.Context, homes []string, t tables.StarTable, rows *sqlengine.StarRows,
) (n int64, err error) {
	name := fmt.Sprintf("%06d.parquet", s.files.Add(1))
	paths := []string{filepath.Join(homes[0], string(t), name)}
	if t == tables.StoreSales {
		paths = make([]string, s.place.Partitions)
		for i := range paths {
			paths[i] = filepath.Join(partitionFolder(homes, i), name)
		}
	}
	writers := make([]*parquetWriter, 0, len(paths))
	defer func() {
		for _, w := range writers {
			err = errors.Join(err, w.close())
		}
	}()
	ticket := 0
	for k, c := range tpcds.Columns(string(t)) {
		if c.Name == "ss_ticket_number" {
			ticket = k
		}
	}
	for _, path := range paths {
		w, err := newParquetWriter(path, t)
		if err != nil {
			return 0, err
		}
		writers = append(writers, w)
	}
	for rows.Next() {
		columns, i := rows.Row()
		partition := 0
		if t == tables.StoreSales {
			partition = int(uint64(columns[ticket].Int[i]) % uint64(len(writers)))
		}
		if err := writers[partition].add(columns, i); err != nil {
			return 0, err
		}
		if n++; n%batchRows == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
	}
	return n, rows.Err()
}

// batchRows is the number of rows that a parquetWriter passes to the encoder at once.
const batchRows = 1024

// parquetWriter writes a Parquet file.
type parquetWriter struct {
	file     *os.File
	out      *parquet.GenericWriter[any]
	leaf     []int // index of the leaf of each column of the table
	batch    []parquet.Row
	buffered int
}

// newParquetWriter creates a file with the columns of a table. The file's schema has them in the order of their
// names.
func newParquetWriter(path string, t tables.StarTable) (*parquetWriter, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	columns := tpcds.Columns(string(t))
	group := parquet.Group{}
	for _, c := range columns {
		group[c.Name] = parquet.Optional(starNode(&c))
	}
	schema := parquet.NewSchema(string(t), group)
	out := parquet.NewGenericWriter[any](f, schema, parquet.Compression(&parquet.Zstd))
	p := &parquetWriter{file: f, out: out, batch: make([]parquet.Row, batchRows)}
	for _, c := range columns {
		leaf, _ := schema.Lookup(c.Name)
		p.leaf = append(p.leaf, leaf.ColumnIndex)
	}
	for i := range p.batch {
		p.batch[i] = make(parquet.Row, len(columns))
	}
	return p, nil
}

func starNode(c *tpcds.Column) parquet.Node {
	switch c.Kind {
	case tpcds.Big:
		return parquet.Int(64)
	case tpcds.Decimal:
		return parquet.Decimal(2, 7, parquet.Int32Type)
	case tpcds.Date:
		return parquet.Date()
	case tpcds.Char, tpcds.Varchar:
		return parquet.String()
	}
	return parquet.Int(32)
}

// add appends row i of columns.
func (p *parquetWriter) add(columns []tpcds.Vector, i int) error {
	row := p.batch[p.buffered]
	for k := range columns {
		leaf := p.leaf[k]
		row[leaf] = starValue(&columns[k], i, leaf)
	}
	if p.buffered++; p.buffered == len(p.batch) {
		return p.flush()
	}
	return nil
}

// starValue returns value i of a column. It copies texts, because the next row group overwrites them.
func starValue(v *tpcds.Vector, i, leaf int) parquet.Value {
	if v.Null[i] {
		return parquet.NullValue().Level(0, 0, leaf)
	}
	switch v.Kind {
	case tpcds.Char, tpcds.Varchar:
		return parquet.ByteArrayValue(append([]byte(nil), v.Text[i]...)).Level(0, 1, leaf)
	case tpcds.Big:
		return parquet.Int64Value(v.Int[i]).Level(0, 1, leaf)
	}
	return parquet.Int32Value(int32(v.Int[i])).Level(0, 1, leaf)
}

func (p *parquetWriter) flush() error {
	_, err := p.out.WriteRows(p.batch[:p.buffered])
	p.buffered = 0
	return err
}

// close completes the file and flushes it to disk.
func (p *parquetWriter) close() error {
	return errors.Join(p.flush(), p.out.Close(), p.file.Sync(), p.file.Close())
}
