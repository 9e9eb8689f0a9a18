package river

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// IHFS posts into the Weather Service's own database. Its steps between a value and its row, and
// their order, were read (not copied) in AWIPS 2's PostShef, PostTables and HydroDataAccessor.
// docs/reference/river.md lists what differs and what is omitted. The tables of elements are those
// of DbUtils (com.raytheon.viz.hydrocommon) and get_precip_settings.c, the bits of quality_code
// those of its QualityCodeUtil.
type IHFS struct {
	Tokens Tokens
	// Archive centers the time window on each product's own time instead of the current time, as
	// ALLOW_ARCHIVE_DATA of AWIPS does.
	Archive bool

	url      string
	conn     *pgx.Conn
	schema   string // quoted, followed by a dot
	limitsTS bool   // locdatalimits has a column ts
	ref      *reference
}

type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// OpenIHFS connects to the database of a URL and reads its tables of stations,
// filters, limits and factors. It creates no table. If the URL is @FILE, the file
// is read for each connection, because a password may change while the service runs.
func OpenIHFS(ctx context.Context, url string, t Tokens) (*IHFS, error) {
	p := &IHFS{Tokens: t, url: url}
	if err := p.Reload(ctx); err != nil {
		return nil, errors.Join(err, p.Close()) //nolint:contextcheck // it closes after a context has ended, too
	}
	return p, nil
}

// Close closes the connection.
func (p *IHFS) Close() error {
	if p.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return p.conn.Close(ctx)
}

// connect opens the connection, unless it is open.
func (p *IHFS) connect(ctx context.Context) (err error) {
	if p.conn != nil && !p.conn.IsClosed() {
		return nil
	}
	url, err := engine.ResolveURL(p.url)
	if err != nil {
		return err
	}
	if p.conn, err = pgx.Connect(ctx, url); err != nil {
		return p.unreachable(err)
	}
	return nil
}

// unreachable returns the server's own reason, if it answered, with a cure.
func (p *IHFS) unreachable(err error) error {
	cure := "start the server, or check host and port"
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch err = e; e.Code {
		case "3D000":
			cure = "check the name of the database"
		case "28P01", "28000":
			cure = "check user and password"
		}
	}
	return engine.UnreachableError(fault.Redact(p.url), err, cure)
}

// Ping finds out whether the database answers.
func (p *IHFS) Ping(ctx context.Context) error {
	if err := p.connect(ctx); err != nil {
		return err
	}
	return p.conn.Ping(ctx)
}

// Reload reads the reference tables: stations, filters, limits and factors. If the connection is lost during this,
// the error is engine.ErrUnreachable, because the database stops or restarts.
func (p *IHFS) Reload(ctx context.Context) error {
	if err := p.connect(ctx); err != nil {
		return err
	}
	err := p.reload(ctx)
	if err != nil && p.conn.IsClosed() && ctx.Err() == nil {
		return p.unreachable(err)
	}
	return err
}

func (p *IHFS) reload(ctx context.Context) error {
	var schema string
	if err := p.conn.QueryRow(ctx, "SELECT coalesce(current_schema(), '')").Scan(&schema); err != nil {
		return err
	}
	p.schema = pgx.Identifier{schema}.Sanitize() + "."
	have, err := p.columns(ctx)
	if err != nil {
		return err
	}
	tables := needed
	if p.Tokens.MaxForecast {
		tables = "riverstatus riverstat " + tables
	}
	if p.Tokens.Alarm {
		tables = "alertalarmval " + tables
	}
	further := p.Tokens.furtherColumns()
	for _, table := range slices.Sorted(maps.Keys(further)) {
		tables = table + " " + tables
	}
	for table := range strings.FieldsSeq(tables) {
		if have[table] == nil {
			return missing(schema, "has no table "+table+" as IHFS has it")
		}
	}
	for table, columns := range have {
		names := append(wanted(table), strings.Fields(further[table])...)
		if p.Tokens.Alarm && strings.HasSuffix(table, "datalimits") {
			names = append(names, strings.Fields(alarmColumns)...)
		}
		for _, c := range names {
			if !slices.Contains(columns, c) {
				return missing(schema, "has a table "+table+" without the column "+c+", which IHFS has")
			}
		}
	}
	p.limitsTS = slices.Contains(have["locdatalimits"], "ts") // since 2018
	ref, err := readReference(ctx, p.conn, p.schema, p.limitsTS, p.Tokens.Alarm)
	if err == nil {
		p.ref = ref
	}
	return err
}

// columns returns the columns of the existing tables.
func (p *IHFS) columns(ctx context.Context) (map[string][]string, error) {
	rows, err := p.conn.Query(ctx, "SELECT table_name::text, array_agg(column_name::text) FROM information_schema.columns WHERE table_schema = current_schema() GROUP BY 1")
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	var table string
	var columns []string
	_, err = pgx.ForEachRow(rows, []any{&table, &columns}, func() error {
		out[table] = columns
		columns = nil
		return nil
	})
	return out, err
}

// IsTemporary returns false for the server's errors about values, and about tables that only some values
// need. All other errors concern the connection, the server, its disk, or another session that
// locked the rows.
func (p *IHFS) IsTemporary(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return !ok || isTemporary(e)
}

// isTemporary reports whether the cause of PostgreSQL's error passes by itself, or when somebody repairs
// the server: connection, transaction's state, password, database, schema, conflict, disk and
// memory, another session's lock, shutdown, system, damage, privileges.
func isTemporary(e *pgconn.PgError) bool {
	return e.Code == "42501" || slices.Contains(strings.Fields("08 25 28 3D 3F 40 53 55 57 58 XX"), e.Code[:2])
}

// category is the kind of a value by its type and source. It decides the table and the checks.
type category byte

const (
	reading category = iota
	forecast
	arealForecast
	contingency
	arealProcessed
	processed
)

func (t *Tokens) category(c *record.Parameter) category {
	switch {
	case c[3] == 'R', c[3] == 'P' && c[4] != 'M' && t.ProcObs:
		return reading
	case c[3] == 'F' && c[4] == 'L':
		return arealForecast
	case c[3] == 'F':
		return forecast
	case c[3] == 'C':
		return contingency
	case c[3] == 'P' && c[4] == 'M':
		return arealProcessed
	}
	return processed
}

// table is where a value goes.
func (t *Tokens) table(c *record.Parameter, k category) string {
	switch {
	case record.HasPairedValues(c.PE()): // before all else
		return "pairedvalue"
	case k == arealForecast:
		return "arealfcst"
	case k == arealProcessed:
		return "arealobs"
	case k == reading: // with shef_procobs, a value of type P is stored like one of type R
		code := *c
		code[3] = 'R'
		return tableOf(&code)
	}
	return tableOf(c)
}

// key is the key of a row. Fields that the key of its table does not have are zero.
type key struct {
	series
	at, basis   int64
	probability float32
	ref         int32
}

// row is a value to be written into a table.
type row struct {
	key
	full    key // all fields, also those that the key of its table does not have
	value   float64
	qual    byte
	code    int32
	revised bool
	product string
	issued  int64
	comment string
	alarm   alarm

	fate *Fate    // where the outcome of its value is reported
	from *Product // nil = the row was read from the database
}

// same compares all stored columns of a value except the posting time.
func (r *row) same(o *row) bool {
	return r.value == o.value && r.qual == o.qual && r.code == o.code && r.revised == o.revised && r.product == o.product && r.issued == o.issued
}

// posting is a transaction's rows, by table, in the order of their values.
type posting struct {
	*IHFS
	now      time.Time
	tables   map[string][]*row
	latest   []*row // for latestobsvalue
	rejected []*row
	unknown  []*row
	alarms   []*row // rows that changed a table of values; each may raise or remove an alarm
	comments []*row
	links    []*row
	learned  []series // series to be added to the ingest filter
}

// Post posts products in one transaction.
func (p *IHFS) Post(ctx context.Context, products []*Product) ([]Tally, error) {
	if err := p.connect(ctx); err != nil {
		return nil, err
	}
	x := &posting{IHFS: p, now: time.Now(), tables: map[string][]*row{}}
	fates := make([][]Fate, len(products))
	for i, product := range products {
		fates[i] = make([]Fate, len(product.Values))
		for k := range product.Values {
			fate := &fates[i][k]
			*fate = x.judge(product, &product.Values[k], fate)
		}
	}
	err := pgx.BeginFunc(ctx, p.conn, func(tx pgx.Tx) error { return x.write(ctx, tx, products) })
	if err != nil {
		return nil, err
	}
	for _, s := range x.learned {
		p.ref.ingest[s] = true
	}
	tallies := make([]Tally, len(products))
	for i := range fates {
		products[i].Refusals = nil
		for k, f := range fates[i] {
			if tallies[i][f]++; f == Refused && len(products[i].Refusals) < mostRefusals {
				products[i].Refusals = append(products[i].Refusals, "no column holds "+describe(&products[i].Values[k]))
			}
		}
	}
	return tallies, nil
}

// judge applies AWIPS's steps to a value and adds the rows to be written. Their outcome is reported
// later, through fate.
func (x *posting) judge(p *Product, g *record.Gauge, fate *Fate) Fate {
	t, k := &x.Tokens, x.Tokens.category(&g.Code)
	r := x.newRow(p, g, fate)
	switch post, known := x.ref.post[g.Station]; {
	case !known && (!x.ref.areas[g.Station] || k == reading):
		x.unknown = append(x.unknown, r)
		return Unknown
	case known && !post:
		return Inactive
	case !x.admitted(r.series):
		return Filtered
	}
	if k == reading || k == processed || k == arealProcessed {
		now := x.now
		if x.Archive {
			now = p.Issued
		}
		at := time.Unix(g.Time, 0)
		if g.Duration != 3001 && at.Before(now.Add(-t.Past)) || at.After(now.Add(t.Future)) {
			return Outside
		}
	}
	if f, ok := x.ref.factor[r.series]; ok && !g.IsMissing() {
		r.value = f.apply(r.value)
	}
	r.value = toIHFS(&g.Code, r.value)
	paired := record.HasPairedValues(g.Code.PE())
	if paired {
		at, v := record.SplitPair(r.value)
		if at > record.MaxPairDepth {
			return Refused
		}
		r.full.ref, r.value = int32(at), v
	}
	if math.IsNaN(r.value) || math.IsInf(r.value, 0) { // the result of its adjustment factor
		return Refused
	}
	l := x.ref.find(r.series, time.Unix(g.Time, 0).UTC())
	r.code, r.alarm = quality(l, g.Quality, r.value), x.ref.alarm(l, r.value)
	bad := r.code < badBelow
	if t.Link {
		x.links = append(x.links, r)
	}
	if k == reading && !paired && (t.Latest == "ON" || t.Latest == "VALID_ONLY" && !bad && !g.IsMissing() || t.Latest == "VALID_OR_MISSING" && !bad) {
		x.latest = append(x.latest, r)
	}
	if r.comment != "" {
		x.comments = append(x.comments, r)
	}
	if bad && !t.KeepBad && k != contingency {
		x.rejected = append(x.rejected, r)
		return Rejected
	}
	name := t.table(&g.Code, k)
	r.key = shape(name).key(r.full)
	x.tables[name] = append(x.tables[name], r)
	return Inserted
}

// admitted reports whether the ingest filter admits a series. With shef_load_ingest, a series that the
// filter does not contain is admitted and added to it.
func (x *posting) admitted(s series) bool {
	on, known := x.ref.ingest[s]
	if known || !x.Tokens.LearnIngest {
		return on
	}
	if !slices.Contains(x.learned, s) {
		x.learned = append(x.learned, s)
	}
	return true
}

func (x *posting) newRow(p *Product, g *record.Gauge, fate *Fate) *row {
	r := &row{
		full:  key{series: series{lid: g.Station, pe: [2]byte(g.Code[:2]), dur: g.Duration, ts: [2]byte(g.Code[3:5]), ext: g.Code[5]}, at: g.Time, probability: g.Probability},
		value: g.Value, qual: g.Quality, code: goodCode, revised: g.Revised, product: p.ID, issued: p.Issued.Unix(), comment: strings.ToValidUTF8(g.Comment, "?"), fate: fate, from: p,
	}
	if g.Created != record.NoTime { // else 1970-01-01, as AWIPS has it
		r.full.basis = g.Created
	}
	r.key = r.full
	return r
}

// settle decides what becomes of a value whose key is taken.
func (t *Tokens) settle(stored, r *row) Fate {
	sameProduct := stored.from != nil && stored.from == r.from // then the order within the product decides
	switch rule := t.Policy.Rule(r.revised); {
	case stored.same(r):
		return Unchanged
	case !sameProduct && t.Policy.UsesOrigin() && t.Policy.Precedes(r.origin(), stored.origin()):
		return Kept // a late or repeated product does not overwrite one that was issued later
	case !rule.Writes(stored.value, r.value):
		if stored.value == r.value {
			return Unchanged
		}
		return Kept
	case stored.value == r.value && stored.qual == r.qual && stored.revised == r.revised && stored.issued != r.issued:
		return Unchanged // the same value in another product
	}
	return Updated
}

func (r *row) origin() *posts.Origin {
	return &posts.Origin{Issued: r.issued, Revised: r.revised, Product: r.product, Value: r.value, Quality: r.qual}
}

// compareKeys orders rows, so that two posters lock them in one order.
func compareKeys(a, b *row) int {
	return cmp.Or(
		slices.Compare(a.lid[:], b.lid[:]), slices.Compare(a.pe[:], b.pe[:]), cmp.Compare(a.dur, b.dur), slices.Compare(a.ts[:], b.ts[:]), cmp.Compare(a.ext, b.ext),
		cmp.Compare(a.at, b.at), cmp.Compare(a.basis, b.basis), cmp.Compare(a.probability, b.probability), cmp.Compare(a.ref, b.ref))
}

// missing is the error of a database that is no IHFS.
func missing(schema, what string) error {
	return &fault.Error{Setting: "schema " + schema, Problem: what, Cure: "name the schema of the IHFS with ?search_path=…, or post with --schema barograph"}
}
