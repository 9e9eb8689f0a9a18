package postgres

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/zeebo/xxh3"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/record"
)

// The tables of a subset, in its schema:
//
//	barograph_<design>_catalog   one row; the subset exists if it does
//	barograph_<design>_marks     the completely loaded files
//	stat_header, data_file, line_data_<type>   normalized
//	doc_<type>                   document
//	wide_<type>                  wide
//
// The designs may exist in the same schema. The table of a line type is created with its first
// record.

// types are PostgreSQL's types of columns. Counts are doubles, as in records, to lose nothing.
var types = sqlengine.TypeNames{ //nolint:gochecknoglobals // a constant table
	sqlengine.Text: `text COLLATE "C"`, sqlengine.Integer: "integer", sqlengine.BigInt: "bigint", sqlengine.Timestamp: "timestamp",
	sqlengine.Count: "double precision", sqlengine.Double: "double precision", sqlengine.Doubles: "double precision[]",
	sqlengine.Entries: "jsonb",
}

// subsetTables returns the statements that create a subset.
func (a *openArchive) subsetTables(subset string) []string {
	catalog := a.OwnTable(subset, sqlengine.CatalogTable)
	return append([]string{
		"CREATE SCHEMA IF NOT EXISTS " + flavour.Ident(schemaName(subset)),
		"CREATE TABLE IF NOT EXISTS " + catalog + ` (
  id integer PRIMARY KEY CHECK (id = 1),
  subset text NOT NULL,
  version bigint NOT NULL, -- counts the commits: a loader notices those of others
  catalog text
)`,
		"INSERT INTO " + catalog + " VALUES (1, " + flavour.Quote(subset) + ", 0, NULL) ON CONFLICT DO NOTHING",
		sqlengine.CreateText(a.OwnTable(subset, sqlengine.MarksTable), sqlengine.MarkColumns(), types.Of),
	}, a.HeaderTableTexts(subset, "stat_header_unique_pk", &types)...)
}

// typeTables returns the statements that create the table of a line type.
//
// METviewer's stat_header_id_idx contains only stat_header_id. Here the valid time follows it,
// because a load can then find the records that it replaces without reading the whole series.
// The same index serves a question by header.
func (a *openArchive) typeTables(subset string, t *record.LineType) []string {
	name, cols, _ := sqlengine.DesignTable(a.Design, t)
	table := a.Dialect.Table(subset, name)
	index := "CREATE INDEX IF NOT EXISTS " + name + "_"
	switch {
	case a.Design == design.Normalized:
		index += "stat_header_id_idx ON " + table + " (stat_header_id, fcst_valid_beg)"
	case a.Design == design.Wide && a.db.wideIndex == brin:
		index += "time_idx ON " + table + " USING brin (fcst_valid_epoch, fcst_valid_beg)"
	default:
		index += "series_idx ON " + table + " (model, fcst_var, fcst_lev, vx_mask, fcst_valid_epoch)"
	}
	p := a.db.parts
	if a.Design == design.Normalized { // METviewer's tables stay as they are
		p = partitioning{}
	}
	key := []string{"model", "fcst_var", "fcst_lev", "vx_mask"}
	create := sqlengine.CreateText(table, cols, types.Of)
	if a.Design == design.Document {
		key = []string{"id"}
		if p.period != "" { // the key of a partitioned table must contain the partition column
			cols = lists.Map(cols, func(c sqlengine.Column) sqlengine.Column {
				c.Primary, c.NotNull = false, c.NotNull || c.Primary
				return c
			})
			create = strings.TrimSuffix(sqlengine.CreateText(table, cols, types.Of), "\n)") + ",\n  CONSTRAINT " + name + "_pkey PRIMARY KEY (id, fcst_valid_epoch)\n)"
		}
	}
	out := []string{create + p.clause(key, "fcst_valid_epoch"), index}
	if a.Design == design.Document {
		// No query selects entries by their values, and gathering statistics of them would take as
		// long as unpacking them.
		out = append(out, "ALTER TABLE "+table+" ALTER COLUMN data SET STATISTICS 0")
	}
	if p.hash > 0 || p.period != "" {
		out = append(out, "COMMENT ON TABLE "+table+" IS "+flavour.Quote(partitionNote+p.String()))
	}
	return append(out, p.partitions(a.Dialect.Table(subset, ""), name, nil)...)
}

// partitioning describes the partitions of a table and the tablespaces over which they are spread in
// turn. The zero value is one table without partitions.
type partitioning struct {
	hash   int    // number of partitions by the hash of the key; 0 = none
	period string // day, month or year: one partition for each period of the valid time; "" = none
	spaces []string
}

// maxPartitions is the limit for partitions by hash: with more, planning costs more than they save.
const maxPartitions = 256

// parsePartitioning reads the URL's parameters: "hash:8", "range:day" or "", and
// comma-separated absolute paths.
func parsePartitioning(text, spaces string) (partitioning, error) {
	var p partitioning
	bad := func(name, value, cure string) error {
		return &fault.Error{Setting: "postgres URL, parameter " + name, Problem: strconv.Quote(value) + " is not understood", Cure: cure}
	}
	kind, value, _ := strings.Cut(text, ":")
	switch n, err := strconv.Atoi(value); {
	case text == "":
	case kind == "hash" && err == nil && n >= 2 && n <= maxPartitions:
		p.hash = n
	case kind == "range" && slices.Contains([]string{"day", "month", "year"}, value):
		p.period = value
	default:
		return p, bad("partitions", text, fmt.Sprintf("write hash:2 to hash:%d, range:day, range:month or range:year", maxPartitions))
	}
	if spaces == "" {
		return p, nil
	}
	if text == "" {
		return p, bad("tablespaces", spaces, "also give partitions, because only they are spread over tablespaces")
	}
	for s := range strings.SplitSeq(spaces, ",") {
		if !path.IsAbs(s) || strings.Contains(s, "'") {
			return p, bad("tablespaces", spaces, "give absolute paths of folders on the server, empty and owned by its user")
		}
		p.spaces = append(p.spaces, path.Clean(s))
	}
	return p, nil
}

// String returns the parameter's value.
func (p partitioning) String() string {
	switch {
	case p.hash > 0:
		return "hash:" + strconv.Itoa(p.hash)
	case p.period != "":
		return "range:" + p.period
	}
	return "none"
}

// clause returns the clause after the columns of CREATE TABLE. key are the columns for
// partitions by hash, epoch is the column for partitions by time.
func (p partitioning) clause(key []string, epoch string) string {
	switch {
	case p.hash > 0:
		return " PARTITION BY HASH (" + strings.Join(key, ", ") + ")"
	case p.period != "":
		return " PARTITION BY RANGE (" + epoch + ")"
	}
	return ""
}

// partitions returns the statements that create the partitions of a table for times (Unix seconds);
// partitions by hash do not depend on the times. table is its name without the schema, and
// prefix the quoted schema with a dot.
func (p partitioning) partitions(prefix, table string, times []int64) []string {
	var out []string
	add := func(name, values string) {
		s := "CREATE TABLE IF NOT EXISTS " + prefix + table + "_p" + name + " PARTITION OF " + prefix + table + " FOR VALUES " + values
		if n := len(p.spaces); n > 0 {
			s += " TABLESPACE " + spaceName(p.spaces[p.index(name)%n])
		}
		out = append(out, s)
	}
	for i := range p.hash {
		add(strconv.Itoa(i), fmt.Sprintf("WITH (MODULUS %d, REMAINDER %d)", p.hash, i))
	}
	for _, v := range times {
		from, to := p.bounds(v)
		add(time.Unix(from, 0).UTC().Format("20060102"), fmt.Sprintf("FROM (%d) TO (%d)", from, to))
	}
	return out
}

// index returns the number of a partition. Neighbors get different tablespaces.
func (p partitioning) index(name string) int {
	if p.hash > 0 {
		n, _ := strconv.Atoi(name) // add wrote it
		return n
	}
	t, _ := time.Parse("20060102", name) // add wrote it
	switch p.period {
	case "day":
		return int(max(t.Unix(), 0) / 86400) // an index must not be negative
	case "month":
		return 12*t.Year() + int(t.Month())
	}
	return t.Year()
}

// bounds returns the first second of the period that contains v, and of the next period.
func (p partitioning) bounds(v int64) (from, to int64) {
	t := time.Unix(v, 0).UTC()
	year, month, day := t.Date()
	var years, months, days int // length of the period
	switch p.period {
	case "day":
		days = 1
	case "month":
		months, day = 1, 1
	default:
		years, month, day = 1, 1, 1
	}
	first := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	return first.Unix(), first.AddDate(years, months, days).Unix()
}

// periods returns the first seconds of all periods that may contain records of a type,
// according to their catalog.
func (p partitioning) periods(c *design.Catalog, t *record.LineType) []int64 {
	if p.period == "" || c == nil {
		return nil
	}
	var out []int64
	for _, g := range c.Groups {
		if g.LineType != t.Name {
			continue
		}
		for v := g.First; v <= g.Last; {
			from, next := p.bounds(v)
			out = append(out, from)
			v = next
			if g.Step > 0 { // the first time of the grid in the next period or later
				v = g.First + (next-g.First+g.Step-1)/g.Step*g.Step
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// spaceName returns the name of the tablespace in a folder.
func spaceName(folder string) string { return fmt.Sprintf("barograph_%016x", xxh3.HashString(folder)) }

// makeSpaces creates the missing tablespaces. PostgreSQL cannot do that within a transaction.
func (db *database) makeSpaces(ctx context.Context) error {
	for _, folder := range db.parts.spaces {
		var exists bool
		err := db.pool.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_tablespace WHERE spcname = $1)", spaceName(folder)).Scan(&exists)
		if err != nil {
			return callError(ctx, err)
		}
		if exists {
			continue
		}
		_, err = db.pool.Exec(ctx, "CREATE TABLESPACE "+spaceName(folder)+" LOCATION "+flavour.Quote(folder))
		if err != nil && !hasCode(err, "42710") { // duplicate_object: another loader has created it
			return &fault.Error{
				Setting: "postgres URL, parameter tablespaces", Problem: "cannot create a tablespace in " + folder, Err: err,
				Cure: "create the folder on the server, empty and owned by its user, and connect as a superuser",
			}
		}
	}
	return nil
}

// readPartitioning reads how the table of a type was partitioned when it was created. The present URL may
// request another partitioning.
func (l *loader) readPartitioning(ctx context.Context, c *pgx.Conn, t *record.LineType) error {
	name, _, _ := sqlengine.DesignTable(l.a.Design, t)
	var comment string
	err := c.QueryRow(ctx, "SELECT coalesce(obj_description($1::regclass, 'pg_class'), '')", l.a.Dialect.Table(l.subset, name)).Scan(&comment)
	if err != nil {
		return err
	}
	p := partitioning{}
	if text, ok := strings.CutPrefix(comment, partitionNote); ok {
		if p, err = parsePartitioning(text, ""); err != nil {
			return fmt.Errorf("comment of table %s: %w", name, err)
		}
		p.spaces = l.a.db.parts.spaces
	}
	l.parts[t] = p
	return nil
}

// partitionNote is the prefix of the comment of a partitioned table.
const partitionNote = "barograph partitions "

// addPartitions creates the partitions that new records of a type need.
func (l *loader) addPartitions(ctx context.Context, q sqlengine.Querier, t *record.LineType, fresh *design.Catalog) error {
	p := l.parts[t]
	var times []int64
	for _, v := range p.periods(fresh, t) {
		if k := (partitionKey{t, v}); !l.partitions[k] {
			l.partitions[k] = true
			times = append(times, v)
		}
	}
	if len(times) == 0 {
		return nil
	}
	name, _, _ := sqlengine.DesignTable(l.a.Design, t)
	return execute(ctx, conn(q), p.partitions(l.a.Dialect.Table(l.subset, ""), name, times)...)
}

// partitionKey identifies a partition that the loader knows to exist.
type partitionKey struct {
	t    *record.LineType
	from int64
}
