package own

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/flavour"
)

//go:embed sets/*.sql
var sets embed.FS

// Sets returns the names of the ready sets of questions.
func Sets() []string { return []string{"clicks", "documents", "star"} }

// Set returns the questions of a ready set.
func Set(name string) ([]*Question, error) {
	if !slices.Contains(Sets(), name) {
		return nil, fault.Unknown("--set", name, Sets())
	}
	text, err := sets.ReadFile("sets/" + name + ".sql")
	if err != nil {
		return nil, err
	}
	all, err := parse(nil, name+".sql", name, "", string(text))
	return all, errors.Join(err, checkComplete(all, nil))
}

// tableQueries are the queries that generate the rows of the sets' tables, with DuckDB. They compute pseudorandom
// numbers by integer arithmetic, so every version of DuckDB generates the same rows. The macro m(i, k), which
// MakeTables creates, is pseudorandom number k of row i.
var tableQueries = map[string]string{ //nolint:gochecknoglobals // a constant table
	"clicks": `SELECT i AS row_id,
	TIMESTAMP '2024-07-01 00:00:00' + to_seconds((i * 2592000 // ${rows}) + m(i, 1) % 60) AS event_time,
	CAST(event_time AS DATE) AS event_date,
	hour(event_time)::SMALLINT AS event_hour,
	CASE WHEN m(i, 2) % 3 = 0 THEN m(i, 3) % 50 ELSE m(i, 3) % (1 + ${rows} // 12) END AS user_id,
	(m(i, 4) % (1 + m(i, 5) % 100))::INTEGER AS counter_id, (m(i, 6) % (1 + m(i, 7) % 300))::INTEGER AS region_id,
	CASE WHEN m(i, 8) % 40 = 0 THEN (1 + m(i, 9) % 20)::SMALLINT ELSE 0::SMALLINT END AS campaign_id,
	'https://' || (['www', 'shop', 'news', 'mail'])[1 + m(i, 10) % 4] || '.example/'
	|| (m(i, 11) % (1 + m(i, 12) % 5000)) AS url,
	CASE WHEN m(i, 13) % 8 = 0 THEN 'how to ' || (m(i, 14) % (1 + m(i, 15) % 2000)) ELSE '' END AS search_phrase,
	(m(i, 16) % 5)::SMALLINT AS engine_id, (m(i, 17) % 4)::SMALLINT AS phone_kind,
	CASE WHEN m(i, 18) % 10 = 0 THEN 'model ' || (m(i, 19) % 60) ELSE '' END AS phone_model,
	(320 + m(i, 20) % 2240)::SMALLINT AS width,
	CASE WHEN m(i, 21) % 7 = 0 THEN 1::SMALLINT ELSE 0::SMALLINT END AS is_refresh,
	(m(i, 22) % 100000) / 977.0::DOUBLE AS duration,
	CASE WHEN m(i, 23) % 20 = 0 THEN ((m(i, 24) % 1000000) / 100)::DECIMAL(9, 2) END AS price
	FROM range(${rows}) t(i)`,
	"documents": `SELECT i AS row_id, '{"did":"did:' || (m(i, 1) % (1 + ${rows} // 20))
	|| '","time_us":' || (1720000000000000 + i * 1000 + m(i, 2) % 1000) || ',"hour":' || (m(i, 3) % 24)
	|| ',"kind":"' || (CASE WHEN m(i, 4) % 50 = 0 THEN 'identity' ELSE 'commit' END)
	|| '","commit":{"operation":"' || (CASE WHEN m(i, 5) % 12 = 0 THEN 'delete' ELSE 'create' END)
	|| '","collection":"app.'
	|| (['like', 'like', 'like', 'post', 'post', 'repost', 'follow', 'block'])[1 + m(i, 6) % 8]
	|| '","record":{"text":"' || repeat('word ', (m(i, 7) % 40)::BIGINT) || '"}}}' AS doc
	FROM range(${rows}) t(i)`,
}

// MakeTables makes the table of a set in a folder, unless the folder already contains the table. For the set star it
// makes none: it only checks that `barograph synth tpcds` made its tables.
func MakeTables(ctx context.Context, all engine.Registry, set, dir string, rows int64) (err error) {
	if set == "star" {
		_, _, err := tables.OpenStarFiles(dir)
		return err
	}
	file := filepath.Join(dir, set+".parquet")
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	db, err := all.Open(ctx, reference+"::memory:", engine.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	own, err := tables.DatabasesOf(db).Own(ctx, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, own.Close()) }()
	err = exec(ctx, own, "CREATE MACRO square(x) AS (x * x) % 2147483647")
	if err == nil {
		err = exec(ctx, own, "CREATE MACRO m(i, k) AS square(square((i * 1103515245 + k * 12345) % 2147483647) + k * 7919)")
	}
	if err == nil {
		query := strings.ReplaceAll(tableQueries[set], "${rows}", fmt.Sprint(rows))
		err = exec(ctx, own, "COPY ("+query+") TO "+flavour.Quote(file+".new")+" (FORMAT parquet)")
	}
	if err == nil {
		err = os.Rename(file+".new", file)
	}
	return err
}
