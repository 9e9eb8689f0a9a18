package tpcds

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/duckdb/duckdb-go/v2/mapping"
	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/formats/tpcds"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/study/synth/tpcds/dsdgen"
)

// Options of Generate.
type Options struct {
	Scale     float64 // the scale factor: 1 has 2,880,404 sales
	Files     int     // of store_sales, 1 … 4096; 0 = 4 for each unit of the scale factor, within these limits
	Documents bool    // also write the collection of documents
	Workers   int     // files written concurrently; 0 = GOMAXPROCS

	// Program is the path of tpcgen-cli, which makes the rows of the TPC's kit; "" =
	// DuckDB's port, which makes other sales.
	Program string

	// Dense is for tests: most items get the manufacturer and the managers of the queries, and some
	// brands are NULL. Thus the queries have rows at a small scale, but the items are not those of TPC-DS.
	Dense bool

	// Progress receives each step. Several goroutines call it at the same time. nil = not called.
	Progress func(step string, done, total int)
}

// maxFiles limits the files of store_sales.
const maxFiles = 4096

func (o *Options) check() error {
	if o.Program != "" {
		if err := checkKitScale(o.Scale); err != nil {
			return err
		}
	} else if !(o.Scale >= 0.01) || o.Scale > 700 {
		// The generator does not terminate at 0.001 to 0.006, and its numbers overflow above 777.
		return &fault.Error{
			Setting: fmt.Sprintf("scale factor %g", o.Scale), Problem: "is not between 0.01 and 700",
			Cure: "choose another one: 0.01 has 28,810 sales, 1 has 2,880,404",
		}
	}
	if o.Files == 0 {
		o.Files = int(min(max(4*o.Scale, 1), maxFiles))
	}
	if o.Files < 1 || o.Files > maxFiles {
		return &fault.Error{
			Setting: "number of files", Problem: fmt.Sprintf("%d is not between 1 and %d", o.Files, maxFiles),
			Cure: "choose another number",
		}
	}
	if o.Workers < 1 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	return nil
}

// Generate writes the tables and a manifest into a folder, which it creates. It removes the files of an earlier
// generation from the folder; if its subfolders parquet and documents have other files, Generate returns an error.
func Generate(ctx context.Context, dir string, o Options) (m *tpcds.Manifest, err error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := prepare(dir, o.Documents); err != nil {
		return nil, err
	}
	db, err := newDatabase(dir, o.Workers)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.close()) }()
	o.Progress("generating", 0, 1)
	src, err := db.generate(ctx, &o)
	if err != nil {
		return nil, err
	}
	sales, err := db.count(ctx, src.table(tpcds.StoreSales))
	if err != nil {
		return nil, err
	}
	pieces := []*piece{{table: tpcds.Item, name: tpcds.Item}, {table: tpcds.DateDim, name: tpcds.DateDim}}
	if o.Dense {
		pieces[0].replaceClause = dense
	}
	for i := range int64(o.Files) {
		first, next := sales*i/int64(o.Files), sales*(i+1)/int64(o.Files)
		pieces = append(pieces, &piece{
			table: tpcds.StoreSales, name: fmt.Sprintf("%s-%04d", tpcds.StoreSales, i),
			where: fmt.Sprintf(" WHERE %[1]s >= %[2]d AND %[1]s < %[3]d",
				src.number, first, next),
		})
	}
	if err := writeAll(ctx, db, src, dir, pieces, o); err != nil {
		return nil, err
	}
	m = &tpcds.Manifest{
		Scale: o.Scale, Generator: src.generator, Rows: map[string]int64{}, Parquet: map[string][]tpcds.File{},
	}
	for _, p := range pieces {
		m.Rows[p.table] += p.rows
		m.Parquet[p.table] = append(m.Parquet[p.table], p.parquet)
		if o.Documents {
			m.Documents = append(m.Documents, p.documents)
		}
	}
	if m.Rows[tpcds.StoreSales] != sales {
		return nil, fmt.Errorf("%d sales were generated, but %d were written", sales, m.Rows[tpcds.StoreSales])
	}
	return m, m.Save(dir)
}

// dense replaces columns of items: four of five items get manufacturer 128, all get one of two managers, and some have
// no brand.
const dense = ` REPLACE (CASE WHEN i_item_sk % 5 > 0 THEN 128 ELSE i_manufact_id END AS i_manufact_id,
	CASE WHEN i_item_sk % 7 < 3 THEN 1 ELSE 28 END AS i_manager_id,
	CASE WHEN i_item_sk % 17 > 0 THEN i_brand_id END AS i_brand_id,
	CASE WHEN i_item_sk % 19 > 0 THEN i_brand END AS i_brand)`

// tableFile matches the names of the files that Generate makes. DuckDB writes a file as tmp_ first.
var tableFile = regexp.MustCompile(`^(tmp_)?(store_sales-\d{4}|date_dim|item)\.(parquet|jsonl)$`)

// checkTables returns an error if a folder contains anything but the files of an earlier generation.
func checkTables(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !tableFile.MatchString(e.Name()) {
			return &fault.Error{
				File: filepath.Join(dir, e.Name()), Problem: "is not a file of these tables, and would be removed",
				Cure: "move it, or name another folder",
			}
		}
	}
	return err
}

// prepare removes the files of an earlier generation from the folder, also of one that was killed.
func prepare(dir string, documents bool) error {
	for _, sub := range []string{"parquet", "documents"} {
		if err := checkTables(filepath.Join(dir, sub)); err != nil {
			return err
		}
	}
	for _, folder := range lists.Files(dir, databasePrefix+"*") { // lists.Files also returns folders
		if err := os.RemoveAll(folder); err != nil {
			return err
		}
	}
	if err := os.Remove(filepath.Join(dir, tpcds.ManifestName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, sub := range []string{"parquet", "documents"} {
		if err := os.RemoveAll(filepath.Join(dir, sub)); err != nil {
			return err
		}
		if sub == "documents" && !documents {
			continue
		}
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// source describes how to select the rows that a generator has made.
type source struct {
	generator string                    // name and version
	table     func(table string) string // SQL expression of a table
	columns   func(table string) string // SQL list of columns, with the types of the specification
	number    string                    // column with the number of a row
}

// generate makes the rows of all tables, by DuckDB's port or by tpcgen-cli.
func (d *database) generate(ctx context.Context, o *Options) (source, error) {
	if o.Program != "" {
		return d.generateByKit(ctx, o)
	}
	if err := dsdgen.Link(d.handle); err != nil {
		return source{}, err
	}
	dsdgenLock.Lock()
	defer dsdgenLock.Unlock()
	_, err := d.exec(ctx, "CALL dsdgen(sf = "+strconv.FormatFloat(o.Scale, 'f', -1, 64)+")")
	return source{
		generator: "dsdgen of DuckDB " + strings.TrimPrefix(mapping.LibraryVersion(), "v"), number: "rowid",
		table: func(table string) string { return table }, columns: func(string) string { return "*" },
	}, err
}

// piece is one file: a dimension table, or a range of store_sales.
type piece struct {
	table, name, where string
	replaceClause      string // SQL clause that replaces columns

	rows               int64
	parquet, documents tpcds.File
}

func writeAll(ctx context.Context, db *database, src source, dir string, pieces []*piece, o Options) error {
	var done atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(o.Workers)
	for _, p := range pieces {
		g.Go(func() error {
			err := p.write(ctx, db, src, dir, o.Documents)
			o.Progress("writing", int(done.Add(1)), len(pieces))
			return err
		})
	}
	return g.Wait()
}

// write writes the rows as Parquet, and as documents.
func (p *piece) write(ctx context.Context, db *database, src source, dir string, documents bool) (err error) {
	name := "parquet/" + p.name + ".parquet"
	path := filepath.Join(dir, filepath.FromSlash(name))
	selected := "SELECT " + src.columns(p.table) + " FROM " + src.table(p.table) + p.where
	p.rows, err = db.exec(ctx,
		"COPY (SELECT *"+p.replaceClause+" FROM ("+selected+")) TO "+quote(path)+" (FORMAT parquet)")
	if err != nil {
		return err
	}
	if p.parquet, err = file(dir, name); err != nil || !documents {
		return err
	}
	name = "documents/" + p.name + ".jsonl"
	if err := tpcds.WriteDocuments(filepath.Join(dir, filepath.FromSlash(name)), p.table, path); err != nil {
		return err
	}
	p.documents, err = file(dir, name)
	return err
}

// file describes a file of the folder.
func file(dir, name string) (tpcds.File, error) {
	info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return tpcds.File{}, err
	}
	return tpcds.File{Name: name, Bytes: info.Size()}, nil
}
