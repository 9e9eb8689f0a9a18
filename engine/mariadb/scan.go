package mariadb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/formats/tpcds"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/flavour"
)

// scans opens the tables of the study scan, in a separate database. store_sales is partitioned by
// its ticket; partition i is in a data directory on path i modulo the number of the placement's paths. One thread
// answers a query and reads one partition after the other, regardless of the number of workers.
type scans struct{ *database }

const (
	starDatabase     = "star"                // without the URL's prefix
	starPlacement    = "barograph_placement" // a table with the placement of the others; a load creates it last
	starFolderPrefix = "barograph-mariadb-"
)

// star is the set of tables at a placement.
type star struct {
	db    *database
	place tables.Placement
	name  string // name of the database
}

// Open opens the tables.
func (s scans) Open(ctx context.Context, p tables.Placement) (*tables.Star, error) {
	if err := s.requireMariaDB("scan"); err != nil {
		return nil, err
	}
	if s.cluster {
		return nil, &fault.Error{
			Setting: s.redactedURL, Problem: "each node of a Galera cluster stores all rows, at the same paths",
			Cure: "scan on one node: `barograph lab up mariadb`",
		}
	}
	if p.Parallel() > 1 {
		s.log.Info("MariaDB answers a query with one thread, for any number of partitions and workers")
	}
	st := &star{db: s.database, place: p, name: s.prefix + starDatabase}
	return sqlengine.OpenStar(ctx, &sqlengine.StarEngine{
		Location: "database " + st.name, ReadOnly: s.readOnly, Text: st.text, ReadNote: st.note, Load: st.load, Plan: st.plan, Size: st.size,
		Rows: func(ctx context.Context, q tables.StarQuery, f func(row []any) error) error {
			return querier{s.pool}.Rows(ctx, st.text(q), nil, f)
		},
		ServerUsage: s.usage,
	}, p)
}

// table returns the quoted name of a table.
func (s *star) table(name string) string { return ident(s.name) + "." + ident(name) }

func (s *star) text(q tables.StarQuery) string {
	d := sqlengine.StarDialect{NullsLeast: true, Table: func(t tables.StarTable) string { return s.table(string(t)) }}
	return d.Text(q)
}

// note reads the placement of the existing tables; "" = no tables exist.
func (s *star) note(ctx context.Context) (text string, err error) {
	err = s.db.writes.QueryRowContext(ctx, "SELECT placement FROM "+s.table(starPlacement)).Scan(&text)
	if absent(err) || errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return text, callError(ctx, err)
}

// plan runs the query, and returns the number of rows that each step has read.
func (s *star) plan(ctx context.Context, q tables.StarQuery) (string, error) {
	var text string
	err := s.db.pool.QueryRowContext(ctx, "ANALYZE FORMAT=JSON "+s.text(q)).Scan(&text)
	return text + "\n", callError(ctx, err)
}

// size adds up the files of the partitions of store_sales by path.
func (s *star) size(ctx context.Context) ([]int64, error) {
	files, err := s.partitionFiles(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]int64, max(len(s.place.Paths), 1))
	for i := range files {
		out[i%len(out)] += files[i].bytes
	}
	return out, nil
}

// partitionFile is the file of a partition of store_sales.
type partitionFile struct {
	path  string
	bytes int64
}

// partitionFiles returns the files of store_sales, one for each partition.
func (s *star) partitionFiles(ctx context.Context) ([]partitionFile, error) {
	out := make([]partitionFile, s.place.Partitions)
	found := 0
	const text = "SELECT NAME, FILENAME, FILE_SIZE FROM information_schema.INNODB_SYS_TABLESPACES WHERE LOCATE(LOWER(CONCAT(" +
		fileNameOf + ", '/" + string(tables.StoreSales) + "#p#p')), LOWER(NAME)) = 1"
	err := querier{s.db.writes}.Rows(ctx, text, []any{s.name}, func(row []any) error {
		var name string
		var p partitionFile
		if err := sqlengine.Scan(row, &name, &p.path, &p.bytes); err != nil {
			return err
		}
		i, err := strconv.Atoi(name[strings.LastIndexByte(name, '#')+2:]) // …#P#p7
		if err != nil || i >= len(out) {
			return fmt.Errorf("mariadb: a partition has the unexpected name %s", name)
		}
		out[i] = p
		found++
		return nil
	})
	if err != nil {
		return nil, err
	}
	if found != len(out) {
		return nil, fmt.Errorf("mariadb: only %d of %d partitions have separate files; start the server with innodb_file_per_table",
			found, len(out))
	}
	return out, nil
}

// load replaces the tables.
func (s *star) load(ctx context.Context, files tables.StarFiles, note string) (tables.StarLoadResult, error) {
	if err := s.clear(ctx); err != nil {
		return tables.StarLoadResult{}, err
	}
	folders, err := s.folders(ctx)
	if err != nil {
		return tables.StarLoadResult{}, err
	}
	for _, t := range tables.StarTables() {
		if err := (querier{s.db.writes}).Exec(ctx, s.create(t, folders)); err != nil {
			return tables.StarLoadResult{}, creationError(ctx, folders, err)
		}
	}
	if err := s.checkPlacement(ctx, folders); err != nil {
		return tables.StarLoadResult{}, err
	}
	out, err := sqlengine.LoadStar(ctx, files, s.copy)
	if err != nil {
		return out, err
	}
	return out, s.finish(ctx, note)
}

// clear drops the tables, first the one with the placement, and then the empty folders.
func (s *star) clear(ctx context.Context) error {
	note, err := s.note(ctx)
	if err != nil {
		return err
	}
	statements := []string{"CREATE DATABASE IF NOT EXISTS " + ident(s.name), "DROP TABLE IF EXISTS " + s.table(starPlacement)}
	for _, t := range tables.StarTables() {
		statements = append(statements, "DROP TABLE IF EXISTS "+s.table(string(t)))
	}
	if err := s.execute(ctx, statements...); err != nil {
		return err
	}
	old, ok := sqlengine.ParsePlacement(note)
	if !ok {
		return nil
	}
	own, database, err := s.folder(ctx)
	for _, path := range old.Paths {
		_ = os.Remove(filepath.Join(path, own, database)) // it does not exist if the server runs on another machine
		_ = os.Remove(filepath.Join(path, own))
	}
	return err
}

// folder returns the name of the server's folder on a disk that other servers may share, and the name of the database's
// folder in it.
func (s *star) folder(ctx context.Context) (name, database string, err error) {
	const query = "SELECT CONCAT(@@hostname, ':', @@port, @@datadir), " + fileNameOf
	err = s.db.writes.QueryRowContext(ctx, query, s.name).Scan(&name, &database)
	return starFolderPrefix + fmt.Sprintf("%016x", xxh3.HashString(name)), database, callError(ctx, err)
}

// folders creates a folder on each path for the server's account.
func (s *star) folders(ctx context.Context) ([]string, error) {
	own, _, err := s.folder(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, path := range s.place.Paths {
		dir := filepath.Join(path, own)
		if err := sqlengine.CreateServerFolder(dir, Driver().Server.User); err != nil {
			return nil, err
		}
		out = append(out, dir)
	}
	return out, nil
}

// creationError explains why a table cannot be created.
func creationError(ctx context.Context, folders []string, err error) error {
	if ctx.Err() != nil || len(folders) == 0 || errors.Is(err, engine.ErrUnreachable) {
		return err
	}
	return &fault.Error{
		Setting: strings.Join(folders, ", "), Problem: "cannot contain partitions of a table", Err: err,
		Cure: "connect as a user with the privilege FILE; on the server's machine the server's account must own the folders and " +
			"have access to all their parent folders (chmod o+x)",
	}
}

// create returns the statement that creates a table.
func (s *star) create(t tables.StarTable, folders []string) string {
	var cols, keys []string
	for _, c := range tpcds.Columns(string(t)) {
		cols = append(cols, c.Name+" "+sqlengine.StarType(&c, ""))
		if c.Key {
			keys = append([]string{c.Name}, keys...) // store_sales: the ticket is first, as in the order of the files
		}
	}
	text := "CREATE TABLE " + s.table(string(t)) + " (" + strings.Join(cols, ", ") + ", PRIMARY KEY (" + strings.Join(keys, ", ") +
		")) ENGINE=InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
	if t != tables.StoreSales {
		return text
	}
	parts := make([]string, s.place.Partitions)
	for i := range parts {
		parts[i] = "PARTITION p" + strconv.Itoa(i)
		if len(folders) > 0 {
			parts[i] += " DATA DIRECTORY = " + flavour.Quote(folders[i%len(folders)])
		}
		parts[i] += " ENGINE = InnoDB"
	}
	return text + " PARTITION BY HASH (ss_ticket_number) (" + strings.Join(parts, ", ") + ")"
}

// checkPlacement checks that the server has put the partitions into the requested folders. If symbolic links
// are disabled, it ignores DATA DIRECTORY.
func (s *star) checkPlacement(ctx context.Context, folders []string) error {
	files, err := s.partitionFiles(ctx)
	if err != nil {
		return err
	}
	for i, p := range files {
		if len(folders) > 0 && !strings.HasPrefix(p.path, folders[i%len(folders)]+"/") {
			return &fault.Error{
				File: folders[i%len(folders)], Problem: "was ignored by the server, which used " + p.path,
				Cure: "start the server without --skip-symbolic-links",
			}
		}
	}
	return nil
}

// copy stores the rows of a file.
func (s *star) copy(ctx context.Context, t tables.StarTable, rows *sqlengine.StarRows) (int64, error) {
	c, err := s.db.writes.Conn(ctx)
	if err != nil {
		return 0, callError(ctx, err)
	}
	defer c.Close() //nolint:errcheck // it returns to the pool
	f := infile{table: s.table(string(t)), charset: "utf8mb4"}
	for _, col := range tpcds.Columns(string(t)) {
		f.columns = append(f.columns, col.Name)
	}
	f.rows = func(out *rowWriter) error {
		for rows.Next() {
			columns, i := rows.Row()
			dst := out.row()
			for k := range columns {
				if k > 0 {
					dst = append(dst, '\t')
				}
				dst = appendStar(dst, &columns[k], i)
			}
			if err := out.end(dst); err != nil {
				return err
			}
		}
		return nil
	}
	stored, err := f.load(ctx, c)
	return stored, callError(ctx, err)
}

// appendStar appends value i of a column for LOAD DATA.
func appendStar(dst []byte, v *tpcds.Vector, i int) []byte {
	switch {
	case v.Null[i]:
		return append(dst, null...)
	case v.Kind == tpcds.Char || v.Kind == tpcds.Varchar:
		return appendText(dst, v.Text[i])
	}
	return v.Append(dst, i)
}

// finish gathers statistics and writes the placement.
func (s *star) finish(ctx context.Context, note string) error {
	all := lists.Map(tables.StarTables(), func(t tables.StarTable) string { return s.table(string(t)) })
	return s.execute(ctx, "ANALYZE TABLE "+strings.Join(all, ", "),
		"CREATE TABLE "+s.table(starPlacement)+" (placement LONGTEXT NOT NULL) ENGINE=InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
		"INSERT INTO "+s.table(starPlacement)+" VALUES ("+flavour.Quote(note)+")")
}

// execute runs statements up to the first error.
func (s *star) execute(ctx context.Context, statements ...string) error {
	for _, text := range statements {
		if err := (querier{s.db.writes}).Exec(ctx, text); err != nil {
			return err
		}
	}
	return nil
}
