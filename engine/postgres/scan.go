package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/zeebo/xxh3"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/formats/tpcds"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/flavour"
)

// scans opens the tables of the study scan, which are in a separate schema. store_sales is
// partitioned by the hash of its ticket; partition i is in a tablespace on path i modulo the number of the
// placement's paths. date_dim and item are in the database's default tablespace.
type scans struct{ *database }

// starSchema contains the tables. A subset's schema of the same name would contain tables of
// other names.
const starSchema = "barograph_star"

func starTable(t tables.StarTable) string { return starSchema + "." + string(t) }

// placementPrefix is the prefix of the comment of store_sales, which contains the placement at which the
// table was loaded. An incomplete load leaves no comment.
const placementPrefix = "barograph placement "

// star is the set of tables at a placement.
type star struct {
	db    *database
	pool  *pgxpool.Pool // pool of sessions whose queries use the placement's workers
	place tables.Placement
}

// Open opens the tables.
func (s scans) Open(ctx context.Context, p tables.Placement) (*tables.Star, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	st := &star{db: s.database, place: p}
	config := s.pool.Config()
	setParallel(config.ConnConfig.RuntimeParams, p.Parallel())
	var err error
	if st.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, callError(ctx, err)
	}
	out, err := sqlengine.OpenStar(ctx, &sqlengine.StarEngine{
		Location: "schema " + starSchema, ReadOnly: s.readOnly, Text: st.text, ReadNote: st.note, Load: st.load, Plan: st.plan, Size: st.size,
		Rows: func(ctx context.Context, q tables.StarQuery, f func(row []any) error) error {
			// A text keeps a sum exact.
			return querier{st.pool}.Rows(ctx, st.text(q), []any{pgx.QueryResultFormats{pgx.TextFormatCode}}, f)
		},
		ServerUsage: func(ctx context.Context) (engine.ServerUsage, error) { return usage(ctx, st.pool) },
		Close:       func() error { st.pool.Close(); return nil },
	}, p)
	if err == nil {
		err = st.warnAboutWorkers(ctx)
	}
	if err != nil {
		st.pool.Close()
		return nil, err
	}
	return out, nil
}

// setParallel sets the parameters of a session whose queries use the given number of processes, including
// its own. With these parameters the planner assumes that workers cost nothing. Otherwise it would use
// fewer for small tables.
func setParallel(params map[string]string, workers int) {
	params["max_parallel_workers_per_gather"] = strconv.Itoa(workers - 1)
	params["max_parallel_workers"] = strconv.Itoa(max(workers-1, 8)) // 8 is the server's default
	params["parallel_leader_participation"] = "on"
	params["enable_parallel_append"] = "on"
	params["min_parallel_table_scan_size"] = "0"
	params["parallel_setup_cost"], params["parallel_tuple_cost"] = "0", "0"
}

// warnAboutWorkers warns if the server has fewer worker processes than a query is to use. The server then
// uses fewer without an error.
func (s *star) warnAboutWorkers(ctx context.Context) error {
	var limit int
	if err := s.pool.QueryRow(ctx, "SELECT current_setting('max_worker_processes')::int").Scan(&limit); err != nil {
		return callError(ctx, err)
	}
	if s.place.Parallel()-1 > limit {
		s.db.log.Warn("the server has fewer processes than a query is to use; raise max_worker_processes and restart it",
			"workers", s.place.Parallel(), "max_worker_processes", limit)
	}
	return nil
}

// note returns the comment of the existing store_sales; "" = the table or its comment does not exist.
func (s *star) note(ctx context.Context) (string, error) {
	var comment string
	const query = "SELECT coalesce(obj_description(to_regclass($1), 'pg_class'), '')"
	err := s.db.pool.QueryRow(ctx, query, starTable(tables.StoreSales)).Scan(&comment)
	return strings.TrimPrefix(comment, placementPrefix), callError(ctx, err)
}

func (s *star) text(q tables.StarQuery) string {
	d := sqlengine.StarDialect{Table: starTable}
	return d.Text(q)
}

// plan runs the query, because only then the plan contains the number of workers.
func (s *star) plan(ctx context.Context, q tables.StarQuery) (string, error) {
	lines, err := sqlengine.QueryTexts(ctx, querier{s.pool}, "EXPLAIN (ANALYZE, BUFFERS) "+s.text(q))
	return strings.Join(lines, "\n") + "\n", err
}

// size adds up the sizes of the partitions of store_sales by path.
func (s *star) size(ctx context.Context) ([]int64, error) {
	out := make([]int64, max(len(s.place.Paths), 1))
	for i := range s.place.Partitions {
		var n int64
		if err := s.pool.QueryRow(ctx, "SELECT pg_table_size($1::regclass)", partitionName(i)).Scan(&n); err != nil {
			return nil, err
		}
		out[i%len(out)] += n
	}
	return out, nil
}

// partitionName returns the name of partition i of store_sales.
func partitionName(i int) string { return starTable(tables.StoreSales) + "_p" + strconv.Itoa(i) }

// hasCode reports whether the server returned an error with one of these codes.
func hasCode(err error, codes ...string) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && slices.Contains(codes, e.Code)
}

// load replaces the tables. It writes the comment with their placement last: nobody queries the
// tables of an incomplete load.
func (s *star) load(ctx context.Context, files tables.StarFiles, note string) (tables.StarLoadResult, error) {
	spaces, err := s.makeSpaces(ctx)
	if err != nil {
		return tables.StarLoadResult{}, err
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return execute(ctx, tx.Conn(), s.create(spaces)...) })
	if err != nil {
		return tables.StarLoadResult{}, callError(ctx, err)
	}
	if err := s.dropSpaces(ctx, spaces); err != nil {
		return tables.StarLoadResult{}, err
	}
	out, err := sqlengine.LoadStar(ctx, files, s.copy)
	if err != nil {
		return out, err
	}
	return out, s.finish(ctx, note)
}

// create returns the statements that create the empty tables. A partition's parallel_workers
// determines the number of workers that scan it, not its size.
func (s *star) create(spaces []string) []string {
	out := []string{"CREATE SCHEMA IF NOT EXISTS " + starSchema}
	for _, t := range tables.StarTables() {
		table := "CREATE TABLE " + starTable(t) + " (" + flavour.Join(tpcds.Columns(string(t)), ", ", func(c tpcds.Column) string {
			return c.Name + " " + sqlengine.StarType(&c, ` COLLATE "C"`)
		}) + ")"
		if t == tables.StoreSales {
			table += " PARTITION BY HASH (ss_ticket_number)"
		}
		out = append(out, "DROP TABLE IF EXISTS "+starTable(t), table)
	}
	for i := range s.place.Partitions {
		part := fmt.Sprintf("CREATE TABLE %s PARTITION OF %s FOR VALUES WITH (MODULUS %d, REMAINDER %d) WITH (parallel_workers = %d)",
			partitionName(i), starTable(tables.StoreSales), s.place.Partitions, i, maxWorkers)
		if len(spaces) > 0 {
			part += " TABLESPACE " + spaces[i%len(spaces)]
		}
		out = append(out, part)
	}
	return out
}

// maxWorkers is the greatest value of a table's parallel_workers. With it, the session's limit
// determines the number of workers.
const maxWorkers = 1024

// copy stores the rows of a file.
func (s *star) copy(ctx context.Context, t tables.StarTable, rows *sqlengine.StarRows) (int64, error) {
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return 0, err
	}
	defer c.Release()
	return copyFrom(ctx, c.Conn().PgConn(), "COPY "+starTable(t)+" FROM STDIN BINARY", func(dst []byte) ([]byte, error) {
		if !rows.Next() {
			if err := rows.Err(); err != nil {
				return dst, err
			}
			return dst, io.EOF
		}
		columns, i := rows.Row()
		dst = binary.BigEndian.AppendUint16(dst, uint16(len(columns)))
		for k := range columns {
			dst = appendStar(dst, &columns[k], i)
		}
		return dst, nil
	})
}

// appendStar appends value i of a column in the format of COPY.
func appendStar(dst []byte, v *tpcds.Vector, i int) []byte {
	if v.Null[i] {
		return appendNull(dst)
	}
	switch v.Kind {
	case tpcds.Char, tpcds.Varchar:
		return appendText(dst, v.Text[i])
	case tpcds.Date:
		return appendInt(dst, v.Int[i]-postgresEpoch/86400)
	case tpcds.Decimal:
		return appendCents(dst, v.Int[i])
	case tpcds.Big:
		return appendBig(dst, v.Int[i])
	}
	return appendInt(dst, v.Int[i])
}

// appendCents appends hundredths as a numeric: the number of base-10,000 digits, the weight of
// the first digit, the sign, the number of displayed decimals, the digits.
func appendCents(dst []byte, cents int64) []byte {
	const negative = 0x4000
	var digits [6]uint16
	n, sign, u := len(digits)-1, uint16(0), uint64(cents)
	if cents < 0 {
		sign, u = negative, -u
	}
	digits[n] = uint16(u % 100 * 100)
	for whole := u / 100; whole > 0; whole /= 10000 {
		n--
		digits[n] = uint16(whole % 10000)
	}
	count := len(digits) - n
	dst = binary.BigEndian.AppendUint32(dst, uint32(8+2*count))
	for _, v := range [...]uint16{uint16(count), uint16(count - 2), sign, 2} {
		dst = binary.BigEndian.AppendUint16(dst, v)
	}
	for _, d := range digits[n:] {
		dst = binary.BigEndian.AppendUint16(dst, d)
	}
	return dst
}

// finish creates the keys of the small tables, gathers statistics, freezes rows so later scans do not write,
// and flushes pages to disk.
func (s *star) finish(ctx context.Context, note string) error {
	statements := []string{
		"ALTER TABLE " + starTable(tables.DateDim) + " ADD PRIMARY KEY (d_date_sk)",
		"ALTER TABLE " + starTable(tables.Item) + " ADD PRIMARY KEY (i_item_sk)",
	}
	for _, t := range tables.StarTables() {
		statements = append(statements, "VACUUM (FREEZE, ANALYZE) "+starTable(t))
	}
	for _, text := range statements {
		if _, err := s.pool.Exec(ctx, text); err != nil {
			return err
		}
	}
	const notAllowed = "42501"
	if _, err := s.pool.Exec(ctx, "CHECKPOINT"); err != nil && !hasCode(err, notAllowed) {
		return err
	}
	_, err := s.pool.Exec(ctx, "COMMENT ON TABLE "+starTable(tables.StoreSales)+" IS "+flavour.Quote(placementPrefix+note))
	return err
}

// databaseID identifies the database among all that may share a disk or a server: the names of
// tablespaces are global to a server, and their folders are on shared disks.
func (s *star) databaseID(ctx context.Context) (string, error) {
	var name string
	err := s.pool.QueryRow(ctx, "SELECT system_identifier || '/' || current_database() FROM pg_control_system()").Scan(&name)
	return fmt.Sprintf("%016x", xxh3.HashString(name)), callError(ctx, err)
}

func starSpacePrefix(database string) string { return "barograph_star_" + database + "_" }

func starSpace(database, path string) string {
	return starSpacePrefix(database) + fmt.Sprintf("%016x", xxh3.HashString(path))
}

// makeSpaces creates a tablespace on each path and returns their names.
func (s *star) makeSpaces(ctx context.Context) ([]string, error) {
	if len(s.place.Paths) == 0 {
		return nil, nil
	}
	database, err := s.databaseID(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, path := range s.place.Paths {
		name, dir := starSpace(database, path), filepath.Join(path, "barograph-postgres-"+database)
		out = append(out, name)
		var exists bool
		if err := s.pool.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_tablespace WHERE spcname = $1)", name).Scan(&exists); err != nil {
			return nil, callError(ctx, err)
		}
		if exists {
			continue
		}
		// This has no effect if the server runs on another machine.
		folderErr := sqlengine.CreateServerFolder(dir, Driver().Server.User)
		_, err := s.pool.Exec(ctx, "CREATE TABLESPACE "+name+" LOCATION "+flavour.Quote(dir))
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil && folderErr != nil:
			return nil, folderErr
		case err != nil:
			return nil, &fault.Error{
				File: dir, Problem: "cannot be a tablespace", Err: err,
				Cure: "connect as a superuser; on the server's machine the folder must be empty and owned by the server's account, " +
					"which must also have access to all its parent folders (chmod o+x)",
			}
		}
	}
	return out, nil
}

// dropSpaces drops the tablespaces of earlier placements, and their folders.
func (s *star) dropSpaces(ctx context.Context, current []string) error {
	database, err := s.databaseID(ctx)
	if err != nil {
		return err
	}
	rows, err := s.pool.Query(ctx, "SELECT spcname, pg_tablespace_location(oid) FROM pg_tablespace "+
		"WHERE starts_with(spcname, $1) AND spcname <> ALL ($2)",
		starSpacePrefix(database), append([]string{}, current...)) // a nil slice would be NULL
	if err != nil {
		return callError(ctx, err)
	}
	old := map[string]string{}
	var name, dir string
	if _, err = pgx.ForEachRow(rows, []any{&name, &dir}, func() error { old[name] = dir; return nil }); err != nil {
		return callError(ctx, err)
	}
	for name, dir := range old {
		if _, err := s.pool.Exec(ctx, "DROP TABLESPACE "+name); err != nil {
			return callError(ctx, err)
		}
		_ = os.Remove(dir) // it is empty; it does not exist if the server runs on another machine
	}
	return nil
}
