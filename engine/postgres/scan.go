package postgres

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/sqlengine"
)

// scans opens the tables of the analytical workload, which lie in a schema of
// their own. store_sales is divided by the hash of its ticket, part i in a
// tablespace on the placement's path i; date_dim and item lie with the
// database's other tables.
type scans struct{ *database }

// starSchema holds the tables. A subset's schema of the same name would hold
// tables of other names.
const starSchema = "barograph_star"

func starTable(t engine.StarTable) string { return starSchema + "." + string(t) }

// placed begins the comment of store_sales, which tells the placement under
// which it was loaded. A load that was broken off has left none.
const placed = "barograph placement "

// star is the tables under a placement.
type star struct {
	db    *database
	pool  *pgxpool.Pool // of sessions whose answers use the placement's workers
	place engine.Placement
}

// Open opens the tables.
func (s scans) Open(ctx context.Context, p engine.Placement) (*engine.Star, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	st := &star{db: s.database, place: p}
	config := s.pool.Config()
	parallel(config.ConnConfig.RuntimeParams, p.Parallel())
	var err error
	if st.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, sqlengine.Failed(ctx, err)
	}
	out, err := sqlengine.OpenStar(ctx, &sqlengine.StarEngine{
		Where: "schema " + starSchema, ReadOnly: s.readOnly, Text: st.text, Note: st.note, Load: st.load, Plan: st.plan, Size: st.size,
		Rows: func(ctx context.Context, q engine.StarQuery, f func(row []any) error) error { // as texts: a sum then comes as it is
			return querier{st.pool}.Rows(ctx, st.text(q), []any{pgx.QueryResultFormats{pgx.TextFormatCode}}, f)
		},
		Close: func() error { st.pool.Close(); return nil },
	}, p)
	if err == nil {
		err = st.enough(ctx)
	}
	if err != nil {
		st.pool.Close()
		return nil, err
	}
	return out, nil
}

// parallel are the settings of a session whose answers are worked on by so
// many processes, of which its own is one. The planner reckons with workers
// that cost nothing, as it would do with fewer for tables that are small.
func parallel(set map[string]string, workers int) {
	set["max_parallel_workers_per_gather"] = strconv.Itoa(workers - 1)
	set["max_parallel_workers"] = strconv.Itoa(max(workers-1, 8)) // 8 is the server's default
	set["parallel_leader_participation"] = "on"
	set["enable_parallel_append"] = "on"
	set["min_parallel_table_scan_size"] = "0"
	set["parallel_setup_cost"], set["parallel_tuple_cost"] = "0", "0"
}

// enough warns where the server has fewer processes for workers than an answer
// is meant to use: it then uses fewer and does not say so.
func (s *star) enough(ctx context.Context) error {
	var most int
	if err := s.pool.QueryRow(ctx, "SELECT current_setting('max_worker_processes')::int").Scan(&most); err != nil {
		return sqlengine.Failed(ctx, err)
	}
	if s.place.Parallel()-1 > most {
		s.db.log.Warn("the server has fewer processes than an answer is meant to use; raise max_worker_processes and start it anew",
			"workers", s.place.Parallel(), "max_worker_processes", most)
	}
	return nil
}

// note reads what is there of store_sales' comment; "" = there is none.
func (s *star) note(ctx context.Context) (string, error) {
	var comment string
	err := s.db.pool.QueryRow(ctx, "SELECT coalesce(obj_description(to_regclass($1), 'pg_class'), '')", starTable(engine.StoreSales)).Scan(&comment)
	return strings.TrimPrefix(comment, placed), sqlengine.Failed(ctx, err)
}

func (s *star) text(q engine.StarQuery) string {
	d := sqlengine.StarDialect{Table: starTable}
	return d.Text(q)
}

// plan runs the question, so that the plan tells how many workers there were.
func (s *star) plan(ctx context.Context, q engine.StarQuery) (string, error) {
	lines, err := sqlengine.Texts(ctx, querier{s.pool}, "EXPLAIN (ANALYZE, BUFFERS) "+s.text(q))
	return strings.Join(lines, "\n") + "\n", err
}

// size adds up the parts of store_sales by their paths.
func (s *star) size(ctx context.Context) ([]int64, error) {
	out := make([]int64, max(len(s.place.Paths), 1))
	for i := range s.place.Partitions {
		var n int64
		if err := s.pool.QueryRow(ctx, "SELECT pg_table_size($1::regclass)", partName(i)).Scan(&n); err != nil {
			return nil, err
		}
		out[i%len(out)] += n
	}
	return out, nil
}

// partName is the name of part i of store_sales.
func partName(i int) string { return starTable(engine.StoreSales) + "_p" + strconv.Itoa(i) }

// has reports whether the server answered with an error of this code.
func has(err error, code string) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == code
}
