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

// IHFS posts into the Weather Service's own database. It processes a value in the same steps, and the same order, as
// AWIPS 2's PostShef, PostTables and HydroDataAccessor, whose source was read and not copied.
// docs/reference/river.md lists the differences and omissions. The tables of elements are those of DbUtils
// (com.raytheon.viz.hydrocommon) and get_precip_settings.c. The bits of quality_code are those of QualityCodeUtil.
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

// OpenIHFS connects to the database of a URL and reads its tables of stations, filters, limits and factors. It creates
// no table. If the URL is @FILE, it reads the file for each connection, because the password may change while the
// service runs.
func OpenIHFS(ctx context.Context, url string, t Tokens) (*IHFS, error) {
	p := &IHFS{Tokens: t, url: url}
	if err := p.Reload(ctx); err != nil {
		return nil, errors.Join(err, p.Close()) //nolint:contextcheck // Close must succeed although the context has ended
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

// unreachable returns the error of a failed connection, with a cure. If the server replied, it has the server's reason.
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

// Ping returns an error if the database does not reply.
func (p *IHFS) Ping(ctx context.Context) error {
	if err := p.connect(ctx); err != nil {
		return err
	}
	return p.conn.Ping(ctx)
}

// Reload reads the reference tables: stations, filters, limits and factors. If the connection is lost meanwhile, the
// error is engine.ErrUnreachable, because the database stops or restarts.
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
	existing, err := p.columns(ctx)
	if err != nil {
		return err
	}
	if err := p.checkTables(schema, existing); err != nil {
		return err
	}
	p.limitsTS = slices.Contains(existing["locdatalimits"], "ts") // since 2018
	ref, err := readReference(ctx, p.conn, p.schema, p.limitsTS, p.Tokens.Alarm)
	if err == nil {
		p.ref = ref
	}
	return err
}

// checkTables checks that the schema has the tables and columns that the poster needs. existing are the columns of its
// tables.
func (p *IHFS) checkTables(schema string, existing map[string][]string) error {
	tables := requiredTables
	if p.Tokens.MaxForecast {
		tables = "riverstatus riverstat " + tables
	}
	if p.Tokens.Alarm {
		tables = "alertalarmval " + tables
	}
	optional := p.Tokens.optionalColumns()
	for _, table := range slices.Sorted(maps.Keys(optional)) {
		tables = table + " " + tables
	}
	for table := range strings.FieldsSeq(tables) {
		if existing[table] == nil {
			return notIHFS(schema, "has no table "+table+" as IHFS has it")
		}
	}
	for table, columns := range existing {
		names := append(requiredColumns(table), strings.Fields(optional[table])...)
		if p.Tokens.Alarm && strings.HasSuffix(table, "datalimits") {
			names = append(names, strings.Fields(alarmColumns)...)
		}
		for _, c := range names {
			if !slices.Contains(columns, c) {
				return notIHFS(schema, "has a table "+table+" without the column "+c+", which IHFS has")
			}
		}
	}
	return nil
}

// columns returns the columns of the existing tables.
func (p *IHFS) columns(ctx context.Context) (map[string][]string, error) {
	rows, err := p.conn.Query(ctx, "SELECT table_name::text, array_agg(column_name::text) "+
		"FROM information_schema.columns WHERE table_schema = current_schema() GROUP BY 1")
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

// IsTemporary returns false for the server's errors about values, and about tables that only some values need. All
// other errors concern the connection, the server, its disk, or another session that locked the rows.
func (p *IHFS) IsTemporary(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return !ok || isTemporary(e)
}

// isTemporary reports whether the cause of PostgreSQL's error ends by itself, or when somebody repairs the server. Such
// causes are the connection, the state of the transaction, the password, the database, the schema, a conflict, disk and
// memory, another session's lock, a shutdown, the system, damaged data, and privileges.
func isTemporary(e *pgconn.PgError) bool {
	return e.Code == "42501" || slices.Contains(strings.Fields("08 25 28 3D 3F 40 53 55 57 58 XX"), e.Code[:2])
}

// category is the kind of a value by its type and source. It determines the table and the checks.
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

// table returns the table of a value.
func (t *Tokens) table(c *record.Parameter, k category) string {
	switch {
	case record.HasPairedValues(c.PE()): // whatever its category
		return "pairedvalue"
	case k == arealForecast:
		return "arealfcst"
	case k == arealProcessed:
		return "arealobs"
	case k == reading: // with shef_procobs, a value of type P is stored like a value of type R
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
	full    key // all fields, including those that the key of its table does not have
	value   float64
	qual    byte
	code    int32
	revised bool
	product string
	issued  int64
	comment string // for commentvalue; a row of a table of values has none
	alarm   alarm

	fate *Fate    // where the outcome of its value is reported
	from *Product // nil = the row was read from the database
}

// isSame compares all columns of two rows of a key except the posting time.
func (r *row) isSame(o *row) bool {
	return r.full.at == o.full.at && r.value == o.value && r.qual == o.qual && r.code == o.code &&
		r.revised == o.revised && r.product == o.product && r.issued == o.issued && r.comment == o.comment
}

// hasValueOf compares only what a message contains.
func (r *row) hasValueOf(o *row) bool {
	return r.full.at == o.full.at && r.value == o.value && r.qual == o.qual && r.revised == o.revised && r.comment == o.comment
}

// posting is a transaction's rows, by table, in the order of their values.
type posting struct {
	*IHFS
	now      time.Time
	tables   map[string][]*row
	alarms   map[string][]*row // by table, rows that changed it; each may raise or remove an alarm
	latest   []*row            // for latestobsvalue
	rejected []*row            // for rejecteddata
	unknown  []*row            // for unkstn and unkstnvalue
	comments []*row            // for commentvalue
	links    []*row            // for productlink
	learned  []series          // series to be added to the ingest filter
}

// Post posts products in one transaction.
func (p *IHFS) Post(ctx context.Context, products []*Product) ([]Tally, error) {
	if err := p.connect(ctx); err != nil {
		return nil, err
	}
	x := &posting{IHFS: p, now: time.Now(), tables: map[string][]*row{}, alarms: map[string][]*row{}}
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
			if tallies[i][f]++; f == Refused && len(products[i].Refusals) < maxRefusals {
				products[i].Refusals = append(products[i].Refusals, "no column can store "+describe(&products[i].Values[k]))
			}
		}
	}
	return tallies, nil
}

// judge applies AWIPS's steps to a value, adds the rows to be written, and returns the fate of the value. write changes
// the fate through the pointer when it compares the row with the stored one.
func (x *posting) judge(p *Product, g *record.Gauge, fate *Fate) Fate {
	t, k := &x.Tokens, x.Tokens.category(&g.Code)
	r := x.newRow(p, g, fate)
	switch post, known := x.ref.post[g.Station]; {
	case !known && (!x.ref.areas[g.Station] || k == reading):
		x.unknown = append(x.unknown, r)
		return Unknown
	case known && !post:
		return Inactive
	case !x.admits(r.series):
		return Filtered
	}
	if k == reading || k == processed || k == arealProcessed {
		now := x.now
		if x.Archive {
			now = p.Issued
		}
		at := time.Unix(g.Time, 0)
		// Monthly values (duration 3001) have no limit in the past.
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
		depth, v := record.SplitPair(r.value)
		if depth > record.MaxPairDepth {
			return Refused
		}
		r.full.ref, r.value = int32(depth), v
	}
	if math.IsNaN(r.value) || math.IsInf(r.value, 0) { // because of its adjustment factor
		return Refused
	}
	l := x.ref.limitOf(r.series, time.Unix(g.Time, 0).UTC())
	r.code, r.alarm = quality(l, g.Quality, r.value), x.ref.alarm(l, r.value)
	bad := r.code < badBelow
	if t.Link {
		x.links = append(x.links, r)
	}
	if k == reading && !paired && t.wantsLatest(bad, g.IsMissing()) {
		x.latest = append(x.latest, r)
	}
	if r.comment != "" {
		commented := *r
		x.comments = append(x.comments, &commented)
		r.comment = "" // only commentvalue has the comment
	}
	if bad && !t.KeepBad && k != contingency {
		x.rejected = append(x.rejected, r)
		return Rejected
	}
	name := t.table(&g.Code, k)
	r.key = layoutOf(name).key(r.full)
	x.tables[name] = append(x.tables[name], r)
	return Inserted
}

// wantsLatest reports whether a reading belongs into latestobsvalue (shef_post_latest).
func (t *Tokens) wantsLatest(isBad, isMissing bool) bool {
	switch t.Latest {
	case "ON":
		return true
	case "VALID_ONLY":
		return !isBad && !isMissing
	case "VALID_OR_MISSING":
		return !isBad
	}
	return false
}

// admits reports whether the ingest filter admits a series. With shef_load_ingest, it admits a series that the filter
// does not contain, and adds the series to the filter.
func (x *posting) admits(s series) bool {
	isAdmitted, known := x.ref.ingest[s]
	if known || !x.Tokens.LearnIngest {
		return isAdmitted
	}
	if !slices.Contains(x.learned, s) {
		x.learned = append(x.learned, s)
	}
	return true
}

// newRow returns the row of a value before the checks.
func (x *posting) newRow(p *Product, g *record.Gauge, fate *Fate) *row {
	s := series{
		lid: g.Station, pe: [2]byte(g.Code[:2]), dur: g.Duration, ts: [2]byte(g.Code[3:5]), ext: g.Code[5],
	}
	r := &row{
		full:  key{series: s, at: g.Time, probability: g.Probability},
		value: g.Value, qual: g.Quality, code: goodCode, revised: g.Revised,
		product: p.ID, issued: p.Issued.Unix(), comment: strings.ToValidUTF8(g.Comment, "?"),
		fate: fate, from: p,
	}
	if g.Created != record.NoTime { // otherwise the basis time is 1970-01-01, as in AWIPS
		r.full.basis = g.Created
	}
	r.key = r.full
	return r
}

// resolve returns the fate of a value if there is a stored row with its key. A value that a later product repeats is
// Updated: if the row kept the earlier product, a product between the two could replace the value when it arrives late.
// A product without a heading has no time of issue of its own, so a repeated value is Unchanged.
func (t *Tokens) resolve(stored, r *row) Fate {
	sameProduct := stored.from != nil && stored.from == r.from // the later value of a product is the newer one
	rule := t.Policy.Rule(r.revised)
	hasNewComment := rule == posts.Differ && stored.comment != r.comment
	switch {
	case stored.isSame(r), r.product == noHeading && stored.hasValueOf(r):
		return Unchanged
	case !sameProduct && t.precedes(r, stored):
		return Kept // a late or repeated product does not overwrite one that was issued later
	case rule.Writes(stored.value, r.value) || hasNewComment:
		return Updated
	case stored.value == r.value:
		return Unchanged
	}
	return Kept
}

// precedes reports whether the policy prefers row b to row a of the same key, whichever arrives first.
func (t *Tokens) precedes(a, b *row) bool {
	switch {
	case !t.Policy.UsesOrigin():
		return false
	case t.Policy.Precedes(a.origin(), b.origin()):
		return true
	}
	return a.comment < b.comment && !t.Policy.Precedes(b.origin(), a.origin())
}

// resolveLatest is resolve for latestobsvalue, which has the last observation of each series.
func (t *Tokens) resolveLatest(stored, r *row) Fate {
	switch {
	case r.full.at > stored.full.at:
		return Updated
	case r.full.at < stored.full.at:
		return Kept
	}
	return t.resolve(stored, r)
}

// resolveUnknown is resolve for unkstn and unkstnvalue. There the last product decides, with any policy, because forecasts
// of all basis times share a row.
func resolveUnknown(stored, r *row) Fate {
	sameProduct := stored.from != nil && stored.from == r.from
	switch {
	case stored.isSame(r), r.product == noHeading && stored.hasValueOf(r):
		return Unchanged
	case !sameProduct && posts.IfDifferent.Precedes(r.origin(), stored.origin()):
		return Kept
	}
	return Updated
}

func (r *row) origin() *posts.Origin {
	return &posts.Origin{Issued: r.issued, Revised: r.revised, Product: r.product, Value: r.value, Quality: r.qual}
}

// compareKeys orders rows by their keys. Two posters lock rows in this order, which avoids deadlocks.
func compareKeys(a, b *row) int {
	return cmp.Or(
		slices.Compare(a.lid[:], b.lid[:]),
		slices.Compare(a.pe[:], b.pe[:]),
		cmp.Compare(a.dur, b.dur),
		slices.Compare(a.ts[:], b.ts[:]),
		cmp.Compare(a.ext, b.ext),
		cmp.Compare(a.at, b.at),
		cmp.Compare(a.basis, b.basis),
		cmp.Compare(a.probability, b.probability),
		cmp.Compare(a.ref, b.ref),
	)
}

// notIHFS returns the error of a schema that is not an IHFS.
func notIHFS(schema, problem string) error {
	cure := "name the schema of the IHFS with ?search_path=…, or post with --schema barograph"
	return &fault.Error{Setting: "schema " + schema, Problem: problem, Cure: cure}
}
