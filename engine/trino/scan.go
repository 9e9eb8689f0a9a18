package trino

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
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
	"github.com/barograph/barograph/query/flavour"
)

// scans opens the tables of the study scan: Parquet files that Barograph writes, one or more for each
// partition of store_sales.
type scans struct{ *database }

// star is the tables at a placement.
type star struct {
	db    *database
	place tables.Placement
	files atomic.Int64 // number of files of this load, for their names
}

// Open opens the tables.
func (s scans) Open(ctx context.Context, p tables.Placement) (*tables.Star, error) {
	st := &star{db: s.database, place: p}
	return sqlengine.OpenStar(ctx, &sqlengine.StarEngine{
		Location: "schema " + st.schema(), ReadOnly: s.readOnly, Text: st.text, ReadNote: st.note, Load: st.load, Rows: st.rows, Plan: st.plan, Size: st.size,
		// The server keeps nothing of files in memory between queries.
		DropCaches:  func(context.Context) error { return nil },
		ServerUsage: s.client.spent,
	}, p)
}

// schema returns the name of the tables' schema, with its catalog.
func (s *star) schema() string { return s.db.catalog + "." + s.db.name + "_star" }

func (s *star) table(t tables.StarTable) string { return s.schema() + "." + string(t) }

func (s *star) text(q tables.StarQuery) string {
	d := sqlengine.StarDialect{Table: s.table}
	return d.Text(q)
}

// session sets the number of the placement's workers. They are distributed over the nodes: so many of a
// node's threads read files at once.
func (s *star) session() string {
	return fmt.Sprintf("max_drivers_per_task=%d", max((s.place.Parallel()+s.db.nodes-1)/s.db.nodes, 1))
}

// note returns the comment of store_sales with the placement; "" = the table does not exist, or its load is incomplete.
func (s *star) note(ctx context.Context) (note string, err error) {
	err = s.db.client.run(ctx, request{
		text: "SELECT coalesce(comment, '') FROM system.metadata.table_comments WHERE catalog_name = " + flavour.Quote(s.db.catalog) +
			" AND schema_name = " + flavour.Quote(s.db.name+"_star") + " AND table_name = " + flavour.Quote(string(tables.StoreSales)),
		row: func(row gjson.Result) error { note = row.Get("0").String(); return nil },
	})
	return note, err
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

// plan returns the plan with the cost of each step: it runs the query.
func (s *star) plan(ctx context.Context, q tables.StarQuery) (text string, err error) {
	err = s.db.client.run(ctx, request{text: "EXPLAIN ANALYZE " + s.text(q), session: s.session(), row: func(row gjson.Result) error {
		text += row.Get("0").String() + "\n"
		return nil
	}})
	return text, err
}

// homes returns the folders of the tables on each path of a placement, or a folder next to the server's own
// tables if the placement has no paths.
func (s *star) homes(ctx context.Context, paths []string) ([]string, error) {
	own := fmt.Sprintf("barograph-trino-%016x", xxh3.HashString(s.db.client.base+"/"+s.schema()))
	var out []string
	for _, p := range paths {
		out = append(out, filepath.Join(p, own))
	}
	if out != nil {
		return out, nil
	}
	location := ""
	err := s.db.client.run(ctx, request{text: "SHOW CREATE SCHEMA " + s.schema(), row: func(row gjson.Result) error {
		_, rest, _ := strings.Cut(row.Get("0").String(), "'local://")
		location, _, _ = strings.Cut(rest, "'")
		return nil
	}})
	if err == nil && location == "" {
		err = &fault.Error{Setting: "schema " + s.schema(), Problem: "is on no local path", Cure: "name paths, or a catalog whose metastore is on a local path"}
	}
	return []string{filepath.Join(path.Dir(path.Dir(location)), own)}, err
}

// part returns the folder of partition i.
func part(homes []string, i int) string {
	return filepath.Join(homes[i%len(homes)], "part-"+fmt.Sprintf("%04d", i))
}

// size adds up the files of the partitions by path.
func (s *star) size(ctx context.Context) ([]int64, error) {
	homes, err := s.homes(ctx, s.place.Paths)
	if err != nil {
		return nil, err
	}
	out := make([]int64, len(homes))
	for i := range s.place.Partitions {
		entries, err := os.ReadDir(part(homes, i))
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

// load writes the files and replaces the tables. It writes the comment with the placement last.
func (s *star) load(ctx context.Context, files tables.StarFiles, note string) (out tables.StarLoadResult, err error) {
	homes, err := s.clear(ctx)
	if err != nil {
		return out, err
	}
	out, err = sqlengine.LoadStar(ctx, files, func(ctx context.Context, t tables.StarTable, rows *sqlengine.StarRows) (int64, error) {
		return s.write(ctx, homes, t, rows)
	})
	if err != nil {
		return out, err
	}
	for _, text := range s.create(homes, note) {
		if err := s.db.client.run(ctx, request{text: text}); err != nil {
			return out, s.refused(ctx, err)
		}
	}
	return out, nil
}

// refused returns the error of a server that does not accept the tables, with advice.
func (s *star) refused(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &fault.Error{
		Setting: "catalog " + s.db.catalog, Problem: "does not accept the tables", Err: err,
		Cure: "every node must see the files at the same paths, with fs.native-local.enabled=true and local.location=/, and hive.allow-register-partition-procedure must be true",
	}
}

// clear drops the tables and removes their files from all paths.
func (s *star) clear(ctx context.Context) ([]string, error) {
	if err := s.db.client.run(ctx, request{text: "CREATE SCHEMA IF NOT EXISTS " + s.schema()}); err != nil {
		return nil, err
	}
	homes, err := s.homes(ctx, s.place.Paths)
	if err != nil {
		return nil, err
	}
	folders := homes
	note, err := s.note(ctx)
	if err != nil {
		return nil, err
	}
	if loaded, ok := sqlengine.ParsePlacement(note); ok {
		old, err := s.homes(ctx, loaded.Paths)
		if err != nil {
			return nil, err
		}
		folders = append(append([]string{}, homes...), old...)
	}
	for _, t := range tables.StarTables() {
		if err := s.db.client.run(ctx, request{text: "DROP TABLE IF EXISTS " + s.table(t)}); err != nil {
			return nil, err
		}
	}
	for _, home := range folders {
		if err := os.RemoveAll(home); err != nil {
			return nil, err
		}
	}
	for i := range s.place.Partitions {
		if err := os.MkdirAll(part(homes, i), 0o755); err != nil {
			return nil, err
		}
	}
	for _, t := range tables.StarTables() {
		if err := os.MkdirAll(filepath.Join(homes[0], string(t)), 0o755); err != nil {
			return nil, err
		}
	}
	return homes, nil
}

// create returns the statements that create the tables of the files, and gather statistics.
func (s *star) create(homes []string, note string) []string {
	var out []string
	for _, t := range tables.StarTables() {
		var cols []string
		for _, c := range tpcds.Columns(string(t)) {
			cols = append(cols, c.Name+" "+starType(&c))
		}
		with := "format = 'PARQUET', external_location = " + location(filepath.Join(homes[0], string(t)))
		if t == tables.StoreSales {
			cols = append(cols, "part integer")
			with += ", partitioned_by = ARRAY['part']"
		}
		out = append(out, "CREATE TABLE "+s.table(t)+" ("+strings.Join(cols, ", ")+") WITH ("+with+")")
	}
	for i := range s.place.Partitions {
		out = append(out, fmt.Sprintf("CALL %s.system.register_partition(schema_name => %s, table_name => %s, partition_columns => ARRAY['part'], partition_values => ARRAY['%d'], location => %s)",
			s.db.catalog, flavour.Quote(s.db.name+"_star"), flavour.Quote(string(tables.StoreSales)), i, location(part(homes, i))))
	}
	for _, t := range tables.StarTables() {
		out = append(out, "ANALYZE "+s.table(t))
	}
	return append(out, "COMMENT ON TABLE "+s.table(tables.StoreSales)+" IS "+flavour.Quote(note))
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

// write writes the rows of a file: of store_sales into a file for each partition, by the ticket, of another
// table into one file.
func (s *star) write(ctx context.Context, homes []string, t tables.StarTable, rows *sqlengine.StarRows) (n int64, err error) {
	name := fmt.Sprintf("%06d.parquet", s.files.Add(1))
	paths := []string{filepath.Join(homes[0], string(t), name)}
	if t == tables.StoreSales {
		paths = make([]string, s.place.Partitions)
		for i := range paths {
			paths[i] = filepath.Join(part(homes, i), name)
		}
	}
	parts := make([]*partWriter, 0, len(paths))
	defer func() {
		for _, p := range parts {
			err = errors.Join(err, p.close())
		}
	}()
	ticket := 0
	for k, c := range tpcds.Columns(string(t)) {
		if c.Name == "ss_ticket_number" {
			ticket = k
		}
	}
	for _, path := range paths {
		p, err := newPartWriter(path, t)
		if err != nil {
			return 0, err
		}
		parts = append(parts, p)
	}
	for rows.Next() {
		columns, i := rows.Row()
		at := 0
		if t == tables.StoreSales {
			at = int(uint64(columns[ticket].Int[i]) % uint64(len(parts)))
		}
		if err := parts[at].add(columns, i); err != nil {
			return 0, err
		}
		if n++; n%batchRows == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
	}
	return n, rows.Err()
}

// batchRows is the number of rows that are passed to the encoder at once.
const batchRows = 1024

// partWriter writes a Parquet file.
type partWriter struct {
	file     *os.File
	out      *parquet.GenericWriter[any]
	leaf     []int // index of the leaf of each column of the table
	batch    []parquet.Row
	buffered int
}

// newPartWriter begins a file with the columns of a table, which it finds by their names.
func newPartWriter(path string, t tables.StarTable) (*partWriter, error) {
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
	p := &partWriter{file: f, out: parquet.NewGenericWriter[any](f, schema, parquet.Compression(&parquet.Zstd)), batch: make([]parquet.Row, batchRows)}
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
func (p *partWriter) add(columns []tpcds.Vector, i int) error {
	row := p.batch[p.buffered]
	for k := range columns {
		at := p.leaf[k]
		row[at] = starValue(&columns[k], i, at)
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

func (p *partWriter) flush() error {
	_, err := p.out.WriteRows(p.batch[:p.buffered])
	p.buffered = 0
	return err
}

// close completes the file and flushes it to disk.
func (p *partWriter) close() error {
	return errors.Join(p.flush(), p.out.Close(), p.file.Sync(), p.file.Close())
}
