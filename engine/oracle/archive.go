package oracle

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	goora "github.com/sijms/go-ora/v2"

	"barograph/answer"
	"barograph/design"
	"barograph/engine"
	"barograph/engine/sqlengine"
	"barograph/flavour"
	"barograph/question"
	"barograph/record"
)

// archive is the schema under one design.
type archive struct {
	db      *database
	design  design.Name
	dialect *flavour.Dialect
	known   sync.Map // names of tables that were seen; none is ever dropped
}

// Open opens the archive under a design.
func (db *database) Open(_ context.Context, n design.Name) (engine.Archive, error) {
	if _, ok := Driver().Offers[n]; !ok {
		return nil, fmt.Errorf("oracle: %s: %w", n, engine.ErrNoDesign)
	}
	return &archive{db: db, design: n, dialect: flavour.Oracle()}, nil
}

func (a *archive) Close() error { return nil }

func (a *archive) Subsets(ctx context.Context) ([]string, error) {
	all, err := a.db.names(ctx)
	if err != nil {
		return nil, err
	}
	subsets := []string{}
	for name := range all {
		if !strings.HasSuffix(name, "/"+a.ownName(sqlengine.CatalogTable)) {
			continue
		}
		var subset sql.NullString // a table's name may be a subset's cut short; the empty one is NULL
		err := a.db.pool.QueryRowContext(ctx, "SELECT subset FROM "+flavour.Ident(name)).Scan(&subset)
		if errors.Is(err, sql.ErrNoRows) { // made a moment ago
			continue
		}
		if err != nil {
			return nil, failed(ctx, err)
		}
		subsets = append(subsets, subset.String)
	}
	slices.Sort(subsets)
	return subsets, nil
}

// has reports whether a subset has a table.
func (a *archive) has(ctx context.Context, subset, table string) (bool, error) {
	name := flavour.OracleName(subset, table)
	if _, ok := a.known.Load(name); ok {
		return true, nil
	}
	var n int
	err := a.db.pool.QueryRowContext(ctx, "SELECT COUNT(*) FROM user_tables WHERE table_name = :1", name).Scan(&n)
	if n > 0 {
		a.known.Store(name, true)
	}
	return n > 0, failed(ctx, err)
}

func (a *archive) Catalog(ctx context.Context, subset string) (*design.Catalog, error) {
	ok, err := a.has(ctx, subset, a.ownName(sqlengine.CatalogTable))
	if err != nil || !ok {
		return design.NewCatalog(subset), err
	}
	c, err := a.readCatalog(ctx, a.db.pool, subset)
	return c, failed(ctx, err)
}

func (a *archive) readCatalog(ctx context.Context, q querier, subset string) (*design.Catalog, error) {
	var text []byte
	err := q.QueryRowContext(ctx, "SELECT catalog FROM "+a.own(subset, sqlengine.CatalogTable)+" WHERE id = 1").Scan(&text)
	switch {
	case errors.Is(err, sql.ErrNoRows) || err == nil && len(text) == 0:
		return design.NewCatalog(subset), nil
	case err != nil:
		return nil, err
	}
	return design.ParseCatalog(text)
}

func (a *archive) Marks(ctx context.Context, subset string) ([]engine.Mark, error) {
	ok, err := a.has(ctx, subset, a.ownName(sqlengine.MarksTable))
	if err != nil || !ok {
		return nil, err
	}
	rows, err := a.db.pool.QueryContext(ctx, "SELECT "+sqlengine.Names("", sqlengine.MarkColumns()[1:])+
		" FROM "+a.own(subset, sqlengine.MarksTable)+" ORDER BY seq")
	if err != nil {
		return nil, failed(ctx, err)
	}
	defer rows.Close() //nolint:errcheck // Err below says what went wrong
	var marks []engine.Mark
	for rows.Next() {
		var m engine.Mark
		var path, digest, loaded sql.NullString
		if err := rows.Scan(&path, &digest, &m.Bytes, &m.Read, &m.Stored, &m.Replaced, &m.Quarantined, &loaded); err != nil {
			return nil, err
		}
		m.Path, m.Digest = path.String, digest.String
		if m.Loaded, err = time.Parse(time.RFC3339Nano, loaded.String); err != nil {
			return nil, err
		}
		marks = append(marks, m)
	}
	return marks, failed(ctx, rows.Err())
}

// stored lists the line types that a subset has a table for.
func (a *archive) stored(ctx context.Context, subset string) ([]*record.LineType, error) {
	all, err := a.db.names(ctx)
	if err != nil || !all[flavour.OracleName(subset, a.ownName(sqlengine.CatalogTable))] {
		return nil, err
	}
	var types []*record.LineType
	for _, t := range record.Types() {
		if name, _, _ := sqlengine.Table(a.design, t); all[flavour.OracleName(subset, name)] {
			types = append(types, t)
		}
	}
	return types, nil
}

func (a *archive) Contents(ctx context.Context, subset string) (engine.Contents, error) {
	c := engine.Contents{Records: map[string]int64{}, Object: "rows"}
	if a.design == design.Document {
		c.Object = "documents"
	}
	types, err := a.stored(ctx, subset)
	if err != nil {
		return c, err
	}
	for _, t := range types {
		var objects, records int64
		if err := a.db.pool.QueryRowContext(ctx, a.counting(subset, t)).Scan(&objects, &records); err != nil {
			return c, failed(ctx, err)
		}
		c.Objects += objects
		if records > 0 {
			c.Records[t.Name] = records
		}
	}
	return c, nil
}

// counting is the query for the numbers of rows and of records of a type.
func (a *archive) counting(subset string, t *record.LineType) string {
	name, _, _ := sqlengine.Table(a.design, t)
	from := a.dialect.Table(subset, name)
	if a.design == design.Document {
		return "SELECT (SELECT COUNT(*) FROM " + from + "), (SELECT COUNT(*) FROM " + from +
			" r, JSON_TABLE(r.data FORMAT JSON, '$[*]' COLUMNS (fcst_lead NUMBER PATH '$.fcst_lead')) d) FROM DUAL"
	}
	return "SELECT COUNT(*), COUNT(*) FROM " + from
}

// Size counts the segments of this design's tables in all subsets, with their
// indexes and LOBs.
func (a *archive) Size(ctx context.Context) (int64, error) {
	tables := "table_name LIKE '%/doc!_%' ESCAPE '!'"
	if a.design == design.Normalized {
		tables = "table_name LIKE '%/line!_data!_%' ESCAPE '!' OR table_name LIKE '%/stat!_header' ESCAPE '!' OR table_name LIKE '%/data!_file' ESCAPE '!'"
	}
	tables = "(" + tables + " OR table_name LIKE '%/barograph!_" + string(a.design) + "!_%' ESCAPE '!')"
	var n sql.NullInt64
	err := a.db.pool.QueryRowContext(ctx, "SELECT SUM(bytes) FROM user_segments WHERE segment_name IN (SELECT table_name FROM user_tables WHERE "+tables+
		" UNION ALL SELECT index_name FROM user_indexes WHERE "+tables+" UNION ALL SELECT segment_name FROM user_lobs WHERE "+tables+")").Scan(&n)
	return n.Int64, failed(ctx, err)
}

func (a *archive) Phrase(ctx context.Context, q *question.Question, f flavour.Name) (*engine.Query, error) {
	if err := Driver().Express(a.design, f, q); err != nil {
		return nil, err
	}
	catalog, err := a.Catalog(ctx, q.Subset)
	if err != nil {
		return nil, err
	}
	return sqlengine.Phrase(a.dialect, a.design, f, q, catalog)
}

// exists reports whether there is anything to ask: a question of a table that is
// not there would be an error of the server's.
func (a *archive) exists(ctx context.Context, q *question.Question) (bool, error) {
	name, _, _ := sqlengine.Table(a.design, q.Type)
	return a.has(ctx, q.Subset, name)
}

// arguments are those of a query as the driver takes them: a list of ids may be
// longer than Oracle lets a text or RAW be.
func arguments(args []any) []any {
	out := slices.Clone(args)
	for i, v := range out {
		if text, ok := v.([]byte); ok {
			out[i] = goora.Blob{Data: text, Valid: true}
		}
	}
	return out
}

func (a *archive) Ask(ctx context.Context, q *engine.Query, into *answer.Builder) error {
	d := sqlengine.NewDecoder(a.design, q, into)
	if ok, err := a.exists(ctx, q.Question); err != nil || !ok {
		return err
	}
	rows, err := a.db.pool.QueryContext(ctx, q.Text, arguments(q.Args)...)
	if err != nil {
		return failed(ctx, err)
	}
	defer rows.Close() //nolint:errcheck // Err below says what went wrong
	cells := make([]any, len(q.Question.Columns))
	for k := range cells {
		cells[k] = cell{d.Value, k, q.Question.Columns[k].Kind == question.Time}
	}
	for rows.Next() {
		if err := rows.Scan(cells...); err != nil {
			return err
		}
		d.Row()
	}
	return failed(ctx, rows.Err())
}

// cell hands on a value as sqlengine takes it.
type cell struct {
	take func(k int, src any) error
	k    int
	time bool // an epoch or a TIMESTAMP
}

// Scan takes the driver's value: a NUMBER comes as its digits, and a TIMESTAMP,
// which has no zone, in some zone of the driver's.
func (c cell) Scan(src any) error {
	switch v := src.(type) {
	case time.Time:
		src = time.Date(v.Year(), v.Month(), v.Day(), v.Hour(), v.Minute(), v.Second(), 0, time.UTC)
	case string:
		if c.time {
			n, err := sqlengine.AsWhole(v)
			if err != nil {
				return err
			}
			src = n
		}
	}
	return c.take(c.k, src)
}
