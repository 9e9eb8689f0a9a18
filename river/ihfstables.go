package river

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/barograph/barograph/record"
)

// observationTables maps the first letter of an element to its table of observations. For P, the second letter
// determines the table (see observationTable). The IHFS has no table for B, C, D, J, K, O and Z.
var observationTables = map[byte]string{ //nolint:gochecknoglobals // a constant table
	'A': "agricultural", 'E': "evaporation", 'F': "fishcount", 'G': "ground", 'H': "height", 'I': "ice",
	'L': "lake", 'M': "moisture", 'N': "gatedam", 'Q': "discharge", 'R': "radiation", 'S': "snow",
	'T': "temperature", 'U': "wind", 'V': "power", 'W': "waterquality", 'X': "weather", 'Y': "yunique",
}

// observationTable returns the table of an observation. An element without a table of its own is stored in yunique, so
// no value is lost.
func observationTable(pe string) string {
	if pe[0] != 'P' {
		if t, ok := observationTables[pe[0]]; ok {
			return t
		}
		return "yunique"
	}
	switch pe[1] {
	case 'P':
		return "rawpp"
	case 'C':
		return "rawpc"
	case 'A', 'D', 'E', 'L':
		return "pressure"
	}
	return "rawpother" // PM, PN, PR and PT; AWIPS's sources disagree about the others, such as PF and PJ
}

// forecastTable returns the table of a forecast.
func forecastTable(pe string) string {
	switch pe[0] {
	case 'H':
		return "fcstheight"
	case 'Q':
		return "fcstdischarge"
	case 'P':
		return "fcstprecip"
	case 'T':
		return "fcsttemperature"
	}
	return "fcstother"
}

// tableOf returns the table of a code. The table of a paired element is pairedvalue, whatever the type. Every type
// except R, F and C is processed, including the numbered types.
func tableOf(c *record.Parameter) string {
	pe := c.PE()
	if record.HasPairedValues(pe) {
		return "pairedvalue"
	}
	switch c[3] {
	case 'F':
		return forecastTable(pe)
	case 'C':
		return "contingencyvalue"
	case 'R':
		return observationTable(pe)
	}
	return "procvalue"
}

// toIHFS converts a value from SHEF's unit to the unit of the IHFS. SHEF reports discharge in thousands
// of cubic feet per second, the IHFS stores cubic feet per second. Discharge is HZ and all elements of
// Q except QB, QE and QF.
func toIHFS(c *record.Parameter, v float64) float64 {
	thousands := c[0] == 'H' && c[1] == 'Z' || c[0] == 'Q' && c[1] != 'B' && c[1] != 'E' && c[1] != 'F'
	if !thousands || v == record.NoValue {
		return v
	}
	return v * 1000
}

// column is a column of a table: its name, its type, and a function that returns its values of rows.
type column struct {
	name, kind string
	cells      func(rows []*row) any
}

// newColumn returns a column whose value of a row is that of a function.
func newColumn[T any](name, kind string, of func(r *row) T) column {
	return column{name, kind, func(rows []*row) any {
		out := make([]T, len(rows))
		for i, r := range rows {
			out[i] = of(r)
		}
		return out
	}}
}

// timeColumn returns a column of times in UTC, from Unix seconds.
func timeColumn(name string, of func(r *row) int64) column {
	return newColumn(name, "timestamp", func(r *row) time.Time { return time.Unix(of(r), 0).UTC() })
}

// columns returns all columns that a table of values may have, by name.
func columns(posted time.Time) map[string]column {
	out := map[string]column{}
	flag := func(is bool) int16 {
		if is {
			return 1
		}
		return 0
	}
	at := func(r *row) int64 { return r.full.at }
	for _, c := range []column{
		newColumn("lid", "varchar", func(r *row) string { return r.full.lid.String() }),
		newColumn("pe", "varchar", func(r *row) string { return string(r.full.pe[:]) }),
		newColumn("dur", "smallint", func(r *row) int16 { return r.full.dur }),
		newColumn("ts", "varchar", func(r *row) string { return string(r.full.ts[:]) }),
		newColumn("extremum", "varchar", func(r *row) string { return string(rune(r.full.ext)) }),
		timeColumn("obstime", at), timeColumn("validtime", at),
		timeColumn("basistime", func(r *row) int64 { return r.full.basis }),
		newColumn("probability", "real", func(r *row) float32 { return r.full.probability }),
		newColumn("ref_value", "integer", func(r *row) int32 { return r.full.ref }),
		newColumn("value", "double precision", func(r *row) float64 { return r.value }),
		newColumn("shef_qual_code", "varchar", func(r *row) string { return string(rune(r.qual)) }),
		newColumn("quality_code", "integer", func(r *row) int32 { return r.code }),
		newColumn("revision", "smallint", func(r *row) int16 { return flag(r.revised) }),
		newColumn("product_id", "varchar", func(r *row) string { return r.product }),
		timeColumn("producttime", func(r *row) int64 { return r.issued }),
		newColumn("postingtime", "timestamp", func(*row) time.Time { return posted.UTC().Truncate(time.Second) }),
		newColumn("shef_comment", "varchar", func(r *row) string { return r.comment }),
		newColumn("reject_type", "varchar", func(*row) string { return "A" }),
		newColumn("userid", "varchar", func(*row) string { return "SHEFdec" }),
		newColumn("aa_categ", "varchar", func(r *row) string { return r.alarm.category }),
		newColumn("aa_check", "varchar", func(r *row) string { return r.alarm.check }),
	} {
		out[c.name] = c
	}
	return out
}

// layout describes the columns of a table.
type layout struct {
	names []string // those of the key first
	keys  int      // number of columns of the key
}

const (
	seriesColumns = "lid pe dur ts extremum"
	forecastKey   = seriesColumns + " probability validtime basistime"
	sentColumns   = " value shef_qual_code revision product_id producttime postingtime"
	valueColumns  = sentColumns + " quality_code"
)

func newLayout(keys, rest string) layout {
	return layout{strings.Fields(keys + rest), len(strings.Fields(keys))}
}

func (l layout) has(name string) bool { return slices.Contains(l.names, name) }

// layoutOf returns the layout of a table, which is that in a dump of a real IHFS (hd_ob83krf).
func layoutOf(table string) layout {
	switch table {
	case "rawpp": // no pe in its key
		return newLayout("lid dur ts extremum obstime", " pe"+valueColumns)
	case "rawpc": // nor dur
		return newLayout("lid ts extremum obstime", " pe dur"+valueColumns)
	case "pairedvalue":
		return newLayout(forecastKey+" ref_value", valueColumns)
	case "fcstheight", "fcstdischarge", "fcstprecip", "fcsttemperature", "fcstother", "arealfcst", "contingencyvalue":
		return newLayout(forecastKey, valueColumns)
	case "commentvalue":
		return newLayout(forecastKey, sentColumns+" shef_comment")
	case "rejecteddata":
		return newLayout(forecastKey+" postingtime",
			" value shef_qual_code revision product_id producttime quality_code reject_type userid")
	case "alertalarmval":
		return newLayout(forecastKey+" aa_categ aa_check", valueColumns)
	case "latestobsvalue": // the database declares no key; there is one row for each series
		return newLayout(seriesColumns, " obstime"+valueColumns)
	case "unkstnvalue":
		return newLayout(seriesColumns+" obstime", sentColumns)
	case "unkstn":
		return newLayout("lid", " product_id producttime postingtime")
	case "riverstatus":
		return newLayout("lid pe ts", " dur extremum probability validtime basistime value")
	case "productlink":
		return newLayout("lid product_id producttime postingtime", "")
	}
	return newLayout(seriesColumns+" obstime", valueColumns)
}

// requiredTables are tables that every IHFS has.
const requiredTables = "adjustfactor location geoarea ingestfilter datalimits height discharge rawpp rawpc rawpother " +
	"procvalue pairedvalue fcstheight fcstdischarge fcstother arealobs arealfcst contingencyvalue latestobsvalue unkstn " +
	"unkstnvalue rejecteddata commentvalue productlink locdatalimits"

// requiredColumns returns the columns of a table that the poster reads or writes. It returns none for a table that is
// not part of the IHFS.
func requiredColumns(table string) []string {
	const ranges = "monthdaystart monthdayend gross_range_min gross_range_max reason_range_min reason_range_max"
	switch table {
	case "location":
		return []string{"lid", "post"}
	case "geoarea":
		return []string{"area_id"}
	case "ingestfilter":
		return strings.Fields(seriesColumns + " ingest")
	case "adjustfactor":
		return strings.Fields(seriesColumns + " divisor base multiplier adder")
	case "datalimits":
		return strings.Fields("pe dur " + ranges)
	case "locdatalimits":
		return strings.Fields("lid pe dur " + ranges)
	case "riverstat":
		return []string{"lid", "use_latest_fcst"}
	case "latestobsvalue", "commentvalue", "unkstn", "unkstnvalue", "rejecteddata", "productlink", "riverstatus",
		"alertalarmval":
		return layoutOf(table).names
	}
	if slices.Contains(valueTables(), table) {
		return layoutOf(table).names
	}
	return nil
}

// optionalColumns returns, by table, the columns that the poster only needs with its tokens.
func (t *Tokens) optionalColumns() map[string]string {
	out := map[string]string{}
	if t.Precipitation {
		hours := "lid ts obsdate minute_offset hourly_qc " + strings.Join(numbered("hour", "%d", hourSlots, 1), " ")
		out["ingestfilter"], out["hourlypc"], out["dailypp"] = "stg2_input", hours, "lid ts obstime value qc postingtime"
		out["hourlypp"] = hours + " sixhroffset sixhrqc " + strings.Join(numbered("sixhr", "%02d", sixHourSlots, 6), " ")
	}
	if t.StoreText {
		out["purgeproduct"] = "product_id num_versions producttime postingtime"
		out["textproduct"] = "product_id producttime postingtime prodtype product"
	}
	return out
}

// key returns full with only the fields that the key of the table has; the others are zero.
func (l layout) key(full key) (k key) {
	for _, name := range l.names[:l.keys] {
		switch name {
		case "lid":
			k.lid = full.lid
		case "pe":
			k.pe = full.pe
		case "dur":
			k.dur = full.dur
		case "ts":
			k.ts = full.ts
		case "extremum":
			k.ext = full.ext
		case "obstime", "validtime":
			k.at = full.at
		case "basistime":
			k.basis = full.basis
		case "probability":
			k.probability = full.probability
		case "ref_value":
			k.ref = full.ref
		}
	}
	return k
}

// writer reads and writes rows of the IHFS in one transaction.
type writer struct {
	pgx.Tx
	schema string
	posted time.Time
	cols   map[string]column
}

// write writes the rows that judge has added. It always writes the tables in the same order, which avoids deadlocks
// between posters.
func (x *posting) write(ctx context.Context, tx pgx.Tx, products []*Product) error {
	w := &writer{Tx: tx, schema: x.schema, posted: x.now, cols: columns(x.now)}
	for _, s := range x.learned {
		if _, err := w.Exec(ctx, "INSERT INTO "+x.schema+ingestRow(s)+" ON CONFLICT DO NOTHING"); err != nil {
			return fmt.Errorf("table ingestfilter: %w", err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(x.tables)) {
		if err := x.writeValues(ctx, w, name, x.tables[name]); err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
	}
	if err := x.writeAlarms(ctx, w); err != nil {
		return fmt.Errorf("table %s: %w", alarmTable, err)
	}
	if x.Tokens.MaxForecast {
		if err := x.riverStatus(ctx, w); err != nil {
			return fmt.Errorf("table riverstatus: %w", err)
		}
	}
	if x.Tokens.Precipitation {
		if err := x.precipitation(ctx, w); err != nil {
			return err
		}
	}
	if x.Tokens.StoreText {
		if err := x.writeTexts(ctx, w, products); err != nil {
			return fmt.Errorf("table textproduct: %w", err)
		}
	}
	for _, secondary := range []struct {
		table   string
		rows    []*row
		enabled bool
		resolve func(stored, r *row) Fate // nil = the table has a row for each value and product
	}{
		{"latestobsvalue", x.latest, true, x.Tokens.resolveLatest},
		{"commentvalue", x.comments, true, x.Tokens.resolve},
		{"unkstn", x.unknown, x.Tokens.Unknown != "NONE", resolveUnknown},
		{"unkstnvalue", x.unknown, x.Tokens.Unknown == "IDS_AND_DATA", resolveUnknown},
		{"rejecteddata", x.rejected, true, nil},
		{"productlink", x.links, true, nil},
	} {
		if len(secondary.rows) == 0 || !secondary.enabled {
			continue
		}
		if err := w.writeSecondary(ctx, secondary.table, secondary.rows, secondary.resolve); err != nil {
			return fmt.Errorf("table %s: %w", secondary.table, err)
		}
	}
	return nil
}

// writeValues writes rows into a table of values. It does not write an unchanged row, so no trigger fires for it.
func (x *posting) writeValues(ctx context.Context, w *writer, table string, rows []*row) error {
	l := layoutOf(table)
	changed, err := w.merge(ctx, table, rows, " ORDER BY u.n FOR UPDATE OF t", x.Tokens.resolve)
	if err != nil || len(changed) == 0 {
		return err
	}
	if x.Tokens.Alarm {
		isContingency := func(r *row) bool { return r.full.ts[0] == 'C' }
		x.alarms[table] = slices.DeleteFunc(slices.Clone(changed), isContingency)
	}
	_, err = w.Exec(ctx, w.insert(table, l)+l.onConflict(), w.args(l.names, changed)...)
	return err
}

// merge reads the stored rows of a table, applies each row in turn, and sets the fates of the rows. It returns the rows
// that are to be written, sorted by their keys: those that are new or differ from the stored ones. tail ends the query of
// the stored rows.
func (w *writer) merge(
	ctx context.Context, table string, rows []*row, tail string, resolve func(stored, r *row) Fate,
) (changed []*row, err error) {
	l := layoutOf(table)
	states := make(map[key]*keyState, len(rows))
	var keys []*row
	for _, r := range rows {
		if states[r.key] == nil {
			states[r.key] = &keyState{}
			keys = append(keys, r)
		}
	}
	slices.SortFunc(keys, compareKeys)
	if err := w.readStored(ctx, table, l.names[:l.keys], keys, tail, func(i int, r *row) {
		// A secondary table without a declared key may have two rows of another program.
		if s := states[keys[i].key]; s.stored == nil || resolve(s.stored, r) == Updated {
			s.stored, s.final = r, r
		}
	}); err != nil {
		return nil, err
	}
	for _, r := range rows {
		*r.fate = states[r.key].apply(resolve, r)
	}
	for _, k := range keys {
		if s := states[k.key]; !s.isUnchanged() {
			changed = append(changed, s.final)
		}
	}
	// A repeated product may have two values of one key. Only the last one is stored, so the first one differs from the
	// stored row although the repetition changes nothing.
	for _, r := range rows {
		if *r.fate == Updated && states[r.key].isUnchanged() {
			*r.fate = Unchanged
		}
	}
	return changed, nil
}

// keyState is the state of one key while values are applied to it. The values of one product are applied to each other,
// in their order. The result is applied to the row before the product.
type keyState struct {
	stored    *row // the row in the table; nil = no row
	before    *row // the row before the product; nil = no row
	ofProduct *row // the row that results from the values of the product so far; nil = no value yet
	final     *row // the row that is to be stored; nil = no row yet
}

func (s *keyState) isUnchanged() bool { return s.stored != nil && s.stored.isSame(s.final) }

// apply applies a value and returns its fate.
func (s *keyState) apply(resolve func(stored, r *row) Fate, r *row) Fate {
	if s.ofProduct == nil || s.ofProduct.from != r.from {
		s.before, s.ofProduct = s.final, nil
	}
	if s.ofProduct != nil {
		if fate := resolve(s.ofProduct, r); fate != Updated {
			return fate
		}
	}
	s.ofProduct, s.final = r, r
	fate := Inserted
	if s.before != nil {
		if fate = resolve(s.before, r); fate != Updated {
			s.final = s.before
		}
	}
	return fate
}

// ifChanged ends an onConflict clause, so that it does not write a row of which only the posting time is new.
func (l layout) ifChanged(table string) string {
	rest := slices.DeleteFunc(slices.Clone(l.names[l.keys:]), func(name string) bool { return name == "postingtime" })
	return " WHERE (" + table + "." + strings.Join(rest, ", "+table+".") + ") IS DISTINCT FROM (EXCLUDED." +
		strings.Join(rest, ", EXCLUDED.") + ")"
}

// onConflict returns the ON CONFLICT clause that replaces a row of the same key.
func (l layout) onConflict() string {
	var set []string
	for _, name := range l.names[l.keys:] {
		set = append(set, name+" = EXCLUDED."+name)
	}
	return " ON CONFLICT (" + strings.Join(l.names[:l.keys], ", ") + ") DO UPDATE SET " + strings.Join(set, ", ")
}

// readStored calls each with every stored row whose columns names equal those of a row of keys; i is the index of that
// row in keys. tail is the end of the query: an order, or a lock.
func (w *writer) readStored(
	ctx context.Context, table string, names []string, keys []*row, tail string, each func(i int, r *row),
) error {
	l := layoutOf(table)
	columns := []string{"u.n"}
	for _, c := range []struct{ name, otherwise string }{
		{"value", fmt.Sprint(record.NoValue) + "::double precision"},
		{"shef_qual_code", "''"},
		{"quality_code", "0"},
		{"revision", "0::smallint"},
		{"product_id", "''"},
		{"producttime", "timestamp '1970-01-01'"},
		{"shef_comment", "''"},
	} {
		if l.has(c.name) {
			c.otherwise = "coalesce(t." + c.name + ", " + c.otherwise + ")"
		}
		columns = append(columns, c.otherwise)
	}
	if slices.Index(l.names, "obstime") >= l.keys { // latestobsvalue
		columns = append(columns, "coalesce(t.obstime, '0001-01-01')")
	} else {
		columns = append(columns, "NULL::timestamp") // the key has the time
	}
	query := "SELECT " + strings.Join(columns, ", ") + " FROM " + w.unnest(names, " WITH ORDINALITY", ", n") +
		" JOIN " + w.schema + table + " t ON " + match(names) + tail
	q, err := w.Query(ctx, query, w.args(names, keys)...)
	if err != nil {
		return err
	}
	var n int64
	var qual string
	var revision int16
	var issued time.Time
	var at *time.Time
	var r row
	into := []any{&n, &r.value, &qual, &r.code, &revision, &r.product, &issued, &r.comment, &at}
	_, err = pgx.ForEachRow(q, into, func() error {
		found := r
		found.full, found.revised, found.issued = keys[n-1].full, revision != 0, issued.Unix()
		if qual != "" {
			found.qual = qual[0]
		}
		if at != nil {
			found.full.at = at.Unix()
		}
		each(int(n-1), &found)
		return nil
	})
	return err
}

// match returns the condition that the columns of t and u are equal.
func match(names []string) string {
	var conditions []string
	for _, name := range names {
		conditions = append(conditions, "t."+name+" = u."+name)
	}
	return strings.Join(conditions, " AND ")
}

// insert returns the start of an INSERT of the rows u, see unnest.
func (w *writer) insert(table string, l layout) string {
	names := strings.Join(l.names, ", ")
	return "INSERT INTO " + w.schema + table + " (" + names + ") SELECT u." + strings.Join(l.names, ", u.") +
		" FROM " + w.unnest(l.names, "", "")
}

// unnest returns a FROM item u whose rows are the arguments of args. with is a clause such as WITH ORDINALITY, which
// adds the columns moreNames.
func (w *writer) unnest(names []string, with, moreNames string) string {
	var arrays []string
	for i, name := range names {
		arrays = append(arrays, fmt.Sprintf("$%d::%s[]", i+1, w.cols[name].kind))
	}
	return "unnest(" + strings.Join(arrays, ", ") + ")" + with + " AS u(" + strings.Join(names, ", ") + moreNames + ")"
}

// args returns the values of columns of rows, an array for each column.
func (w *writer) args(names []string, rows []*row) []any {
	var out []any
	for _, name := range names {
		out = append(out, w.cols[name].cells(rows))
	}
	return out
}
