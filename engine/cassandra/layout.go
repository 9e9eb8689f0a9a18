package cassandra

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// layout is the layout of records in a design.
type layout struct {
	design    design.Name
	prefix    string   // prefix of the tables of line types
	partition []string // columns of the partition key, in order, with their types
	types     []string
	bySeries  bool // the partition contains many valid times, the first clustering column
}

var layouts = []*layout{ //nolint:gochecknoglobals // a constant table
	{design: design.Document, prefix: "doc_", partition: []string{"id"}, types: []string{"text"}},
	{design: design.Wide, prefix: "wide_", partition: []string{"series", "year"}, types: []string{"text", "int"}, bySeries: true},
}

// table returns the table of a line type.
func (l *layout) table(t *record.LineType) string { return l.prefix + strings.ToLower(t.Name) }

// where returns the condition on one partition.
func (l *layout) where() string { return strings.Join(l.partition, " = ? AND ") + " = ?" }

// The columns of every table of records after its partition key.
const (
	colValid  = "fcst_valid_beg" // wide: the first of the clustering columns, Unix seconds
	colLead   = "fcst_lead"      // seconds
	colEntry  = "entry"          // distinguishes records of one lead; see appendEntry
	colCommit = "commit_number"  // number of the commit that stored the record
	windows   = "fcst_valid_end, obs_lead, obs_valid_beg, obs_valid_end"
	repeats   = "repeats"
)

// order is the list of clustering columns: of several values of one record the latest comes first.
func (l *layout) order() []string {
	if l.bySeries {
		return []string{colValid, colLead, colEntry, colCommit}
	}
	return []string{colLead, colEntry, colCommit}
}

// quoted returns the name of a column of a line type. It may be a keyword of CQL, or the name of a column above.
func quoted(c *record.Column) string { return `"v_` + c.Name + `"` }

// createTable returns the statement that creates the table of a line type.
func (l *layout) createTable(t *record.LineType) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE IF NOT EXISTS %s (", l.table(t))
	for i, name := range l.partition {
		fmt.Fprintf(&b, "%s %s, ", name, l.types[i])
	}
	if l.bySeries {
		fmt.Fprintf(&b, "%s bigint, ", colValid)
	}
	fmt.Fprintf(&b, "%s int, %s blob, %s bigint, ", colLead, colEntry, colCommit)
	b.WriteString("fcst_valid_end bigint, obs_lead int, obs_valid_beg bigint, obs_valid_end bigint, ")
	for i := range t.Columns {
		kind := "double"
		if t.Columns[i].Kind == record.Text {
			kind = "text"
		}
		fmt.Fprintf(&b, "%s %s, ", quoted(&t.Columns[i]), kind)
	}
	if t.Group != nil {
		fmt.Fprintf(&b, "%s frozen<list<double>>, ", repeats)
	}
	order := l.order()
	fmt.Fprintf(&b, "PRIMARY KEY ((%s), %s)) ", strings.Join(l.partition, ", "), strings.Join(order, ", "))
	fmt.Fprintf(&b, "WITH CLUSTERING ORDER BY (%s DESC)", strings.Join(order, " ASC, "))
	return b.String()
}

// insert stores one record.
func (l *layout) insert(t *record.LineType) string {
	names := append(append([]string{}, l.partition...), l.order()...)
	names = append(names, strings.Split(windows, ", ")...)
	for i := range t.Columns {
		names = append(names, quoted(&t.Columns[i]))
	}
	if t.Group != nil {
		names = append(names, repeats)
	}
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (?%s)", l.table(t), strings.Join(names, ", "), strings.Repeat(", ?", len(names)-1))
}

// unit is one partition.
type unit struct {
	name string // document: the id; wide: the series, which is the id without its epoch
	year int    // wide: year of the valid times, UTC; 0 otherwise
}

func (l *layout) args(u unit) []any {
	if l.bySeries {
		return []any{u.name, u.year}
	}
	return []any{u.name}
}

// unitOf returns the partition of a document.
func (l *layout) unitOf(t *record.LineType, subset string, h *record.Header, valid int64) unit {
	if l.bySeries {
		return unit{string(design.AppendSeries(nil, t, subset, h)), yearOf(valid)}
	}
	return unit{string(design.AppendKey(nil, t, subset, h, valid)), 0}
}

// header returns the header of the records of a partition, and their valid time if the partition has only one.
func (l *layout) header(u unit) (h record.Header, valid int64, err error) {
	id := u.name
	if l.bySeries {
		id += "0"
	}
	_, _, h, valid, err = design.ParseKey(id)
	return h, valid, err
}

// yearOf limits partitions: to 1,460 valid times of a series with four times a day.
func yearOf(valid int64) int { return time.Unix(valid, 0).UTC().Year() }

// appendEntry appends the values that distinguish records of one header, valid time and lead: mostly none,
// else unusual times and key columns. Equal records have equal entries.
func appendEntry(dst []byte, b *record.Batch, i int) []byte {
	if !b.HasPlainTimes(i) {
		dst = append(dst, 1)
		for _, v := range []int64{b.ValidEnd[i], int64(b.ObsLead[i]), b.ObsBeg[i], b.ObsEnd[i]} {
			dst = binary.BigEndian.AppendUint64(dst, uint64(v))
		}
	}
	for k := range b.Type.Columns {
		c := &b.Type.Columns[k]
		if !c.InIdentity {
			continue
		}
		dst = append(dst, 2)
		if c.Kind == record.Text {
			s := b.Text[c.Slot][i]
			dst = binary.AppendUvarint(dst, uint64(len(s)))
			dst = append(dst, s...)
			continue
		}
		f := b.Num[c.Slot][i] + 0 // converts −0 to 0
		if math.IsNaN(f) {
			f = record.Missing()
		}
		dst = binary.BigEndian.AppendUint64(dst, math.Float64bits(f))
	}
	return dst
}

// stateTables lists the tables of a subset's data besides its records.
var stateTables = []struct{ name, columns string }{ //nolint:gochecknoglobals // a constant list
	{"heads", `design text, subset text, next bigint, version bigint, bad set<bigint>, catalog bigint, bytes bigint, ` +
		`PRIMARY KEY ((design, subset))`},
	{"catalogs", `design text, subset text, commit_number bigint, catalog text, ` +
		`PRIMARY KEY ((design, subset), commit_number)`},
	{"marks", `design text, subset text, commit_number bigint, number int, mark text, ` +
		`PRIMARY KEY ((design, subset), commit_number, number)`},
	{"partitions", `design text, subset text, line_type text, bucket int, name text, year int, ` +
		`PRIMARY KEY ((design, subset, line_type, bucket), name, year)`},
}

// buckets is the number of buckets for the list of partitions of a line type.
const buckets = 16

// prepare creates the keyspace and the missing tables of stateTables. A keyspace that is opened read-only may lack
// them: then no client has ever loaded anything.
func (s *store) prepare(ctx context.Context) error {
	var name string
	const keyspaces = "SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = ?"
	err := s.session.Query(keyspaces, s.keyspace).ScanContext(ctx, &name)
	missing := errors.Is(err, gocql.ErrNotFound)
	if err != nil && !missing {
		return err
	}
	if s.readOnly {
		if missing {
			return &fault.Error{
				Setting: "keyspace " + s.keyspace,
				Problem: "does not exist",
				Err:     engine.ErrUnreachable,
				Cure:    "load an archive into it first",
			}
		}
		err = s.session.Query("SELECT next FROM " + s.keyspace + ".heads LIMIT 1").ExecContext(ctx)
		if s.bare = absent(err); s.bare {
			return nil
		}
		return err
	}
	if missing {
		statement := "CREATE KEYSPACE IF NOT EXISTS %s WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': %d}"
		if err := s.change(ctx, fmt.Sprintf(statement, s.keyspace, s.replication)); err != nil {
			return err
		}
	}
	for _, t := range stateTables {
		table := s.keyspace + "." + t.name
		if err := s.create(ctx, table, "CREATE TABLE IF NOT EXISTS "+table+" ("+t.columns+")"); err != nil {
			return err
		}
	}
	return nil
}

// absent reports whether the server does not know a table or keyspace, or does not serve the table yet. A table that is
// being created is in the schema before it can be read; until then the server answers "IllegalArgumentException:
// Unknown CF ID".
func absent(err error) bool {
	var refused gocql.RequestError
	if !errors.As(err, &refused) {
		return false
	}
	return refused.Code() == gocql.ErrCodeInvalid || refused.Code() == gocql.ErrCodeServer && strings.Contains(refused.Message(), "Unknown CF")
}

// schemaPatience is how long a new table may be unknown. schemaPause is the pause before the next query.
const (
	schemaPatience = 30 * time.Second
	schemaPause    = 20 * time.Millisecond
)

// create creates a table unless it exists, and returns when every running node serves it.
func (s *store) create(ctx context.Context, table, statement string) error {
	s.mu.Lock()
	created := s.servedTables[table]
	s.mu.Unlock()
	if created {
		return nil
	}
	served, err := s.served(ctx, table)
	if err == nil && !served {
		if err = s.change(ctx, statement); err == nil {
			err = s.await(ctx, table)
		}
	}
	if err != nil {
		return fmt.Errorf("table %s: %w", table, callError(ctx, err))
	}
	s.mu.Lock()
	s.servedTables[table] = true
	s.mu.Unlock()
	return nil
}

// await waits until all running nodes serve a table.
func (s *store) await(ctx context.Context, table string) error {
	for until := time.Now().Add(schemaPatience); time.Now().Before(until); {
		served, err := s.served(ctx, table)
		if err != nil || served {
			return err
		}
		if err := engine.Pause(ctx, schemaPause); err != nil {
			return err
		}
	}
	return fmt.Errorf("some nodes do not know the table %v after its creation", schemaPatience)
}

// served reports whether every running node answers a query of a table. A table that system_schema lists
// may not be served yet.
func (s *store) served(ctx context.Context, table string) (bool, error) {
	for _, h := range s.up() {
		err := s.session.Query("SELECT * FROM " + table + " LIMIT 1").Consistency(gocql.One).SetHostID(h.HostID()).ExecContext(ctx)
		if absent(err) || ctx.Err() != nil {
			return false, ctx.Err()
		}
	}
	return true, nil
}

// up returns the running nodes, in the order of their ids.
func (s *store) up() []*gocql.HostInfo {
	hosts := slices.DeleteFunc(s.session.GetHosts(), func(h *gocql.HostInfo) bool { return !h.IsUp() })
	slices.SortFunc(hosts, func(a, b *gocql.HostInfo) int { return cmp.Compare(a.HostID(), b.HostID()) })
	return hosts
}

// change creates a table through the first node that answers. A node makes one schema change at a time. If
// two nodes created one table at the same time, it would have two ids, which Cassandra before version 6
// does not repair. All clients choose the same node.
func (s *store) change(ctx context.Context, statement string) error {
	err := error(gocql.ErrNoConnections)
	for _, h := range s.up() {
		err = s.session.Query(statement).SetHostID(h.HostID()).ExecContext(ctx)
		var answered gocql.RequestError
		if err == nil || errors.As(err, &answered) || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// raw is a value in wire format; nil = null. It is valid until the next page.
type raw []byte

// UnmarshalCQL keeps the bytes.
func (r *raw) UnmarshalCQL(_ gocql.TypeInfo, data []byte) error {
	*r = data
	return nil
}

func (r raw) integer() int64 {
	switch len(r) {
	case 8:
		return int64(binary.BigEndian.Uint64(r))
	case 4:
		return int64(int32(binary.BigEndian.Uint32(r)))
	}
	return 0
}

func (r raw) number() float64 {
	if len(r) != 8 {
		return record.Missing()
	}
	return math.Float64frombits(binary.BigEndian.Uint64(r))
}

// selection is the list of a line type's columns in a query.
type selection struct {
	*layout
	t       *record.LineType
	columns []*record.Column
	windows bool // the query includes the columns of unusual times
	repeats bool
	named   bool // the partition's name is the first column
}

// all selects every column.
func (l *layout) all(t *record.LineType) *selection {
	p := &selection{layout: l, t: t, windows: true, repeats: t.Group != nil}
	for i := range t.Columns {
		p.columns = append(p.columns, &t.Columns[i])
	}
	return p
}

// pick selects the columns of a question, and those that order its rows.
func (l *layout) pick(q *question.Question, plain bool) *selection {
	lists := func(c question.Column) bool { return c.Role == question.Repeating }
	p := &selection{layout: l, t: q.Type, windows: !plain, repeats: slices.ContainsFunc(q.Columns, lists)}
	for i := range q.Type.Columns {
		c := &q.Type.Columns[i]
		isData := func(o question.Column) bool { return o.Role == question.Data && o.Name == c.Name }
		if c.InIdentity || slices.ContainsFunc(q.Columns, isData) {
			p.columns = append(p.columns, c)
		}
	}
	return p
}

// text returns the query, up to its condition.
func (p *selection) text() string {
	var names []string
	if p.named {
		names = append(names, p.partition[0])
	}
	names = append(names, p.order()...)
	if p.windows {
		names = append(names, windows)
	}
	for _, c := range p.columns {
		names = append(names, quoted(c))
	}
	if p.repeats {
		names = append(names, repeats)
	}
	return "SELECT " + strings.Join(names, ", ") + " FROM " + p.table(p.t) + " WHERE "
}

// scanner decodes rows into a batch.
type scanner struct {
	*selection
	counts func(number int64) bool
	admits func(valid int64, lead int32) bool // nil = all rows

	cells []raw
	dest  []any

	// The previous record.
	name  string
	valid int64
	lead  int64
	entry []byte
	taken bool // a value that counts has been taken
}

func (p *selection) scanner(counts func(int64) bool, admits func(int64, int32) bool) *scanner {
	n := len(p.order()) + len(p.columns)
	if p.named {
		n++
	}
	if p.windows {
		n += 4
	}
	if p.repeats {
		n++
	}
	s := &scanner{selection: p, counts: counts, admits: admits, cells: make([]raw, n), dest: make([]any, n)}
	for i := range s.cells {
		s.dest[i] = &s.cells[i]
	}
	return s
}

// place finds the header and, for documents, the valid time of a partition.
type place func(name string) (head uint32, valid int64, err error)

// rows appends the records of a reply that count: for each identity the latest.
func (s *scanner) rows(iter *gocql.Iter, placeOf place, into *record.Batch) (read int64, err error) {
	s.name, s.taken, s.lead = "", false, math.MinInt64
	head, valid, err := placeOf("")
	for err == nil && iter.Scan(s.dest...) {
		read++
		cells := s.cells
		if s.named {
			if string(cells[0]) != s.name || read == 1 {
				s.name, s.taken, s.lead = string(cells[0]), false, math.MinInt64
				if head, valid, err = placeOf(s.name); err != nil {
					break
				}
			}
			cells = cells[1:]
		}
		if s.bySeries {
			valid = cells[0].integer()
			cells = cells[1:]
		}
		if !s.fresh(valid, cells[0].integer(), cells[1]) || !s.counts(cells[2].integer()) {
			continue
		}
		s.taken = true
		if s.admits == nil || s.admits(valid, int32(s.lead)) {
			err = s.take(cells[3:], head, valid, into)
		}
	}
	return read, errors.Join(err, iter.Close())
}

// fresh reports whether no value of the row's record has been taken.
func (s *scanner) fresh(valid, lead int64, entry []byte) bool {
	if valid == s.valid && lead == s.lead && bytes.Equal(entry, s.entry) {
		return !s.taken
	}
	s.valid, s.lead, s.taken = valid, lead, false
	s.entry = append(s.entry[:0], entry...)
	return true
}

// take appends one record.
func (s *scanner) take(cells []raw, head uint32, valid int64, b *record.Batch) error {
	b.AppendTimes(head, int32(s.lead), valid, 0)
	if s.windows {
		if cells[0] != nil {
			i := b.Len() - 1
			b.ValidEnd[i], b.ObsLead[i], b.ObsBeg[i], b.ObsEnd[i] = cells[0].integer(), int32(cells[1].integer()), cells[2].integer(), cells[3].integer()
		}
		cells = cells[4:]
	}
	for k := range b.Num {
		b.Num[k] = append(b.Num[k], record.Missing())
	}
	for k := range b.Text {
		b.Text[k] = append(b.Text[k], record.NA)
	}
	for k, c := range s.columns {
		if c.Kind != record.Text {
			col := b.Num[c.Slot]
			col[len(col)-1] = cells[k].number()
		} else if cells[k] != nil {
			col := b.Text[c.Slot]
			col[len(col)-1] = string(cells[k])
		}
	}
	if s.t.Group == nil {
		return nil
	}
	if s.repeats {
		if err := appendList(b, cells[len(s.columns)]); err != nil {
			return err
		}
	}
	b.GroupEnd = append(b.GroupEnd, uint32(len(b.Group)))
	return nil
}

// appendList decodes a list of doubles: a count, then length and bytes of each.
func appendList(b *record.Batch, data raw) error {
	if data == nil {
		return nil // an empty list is stored as null
	}
	if len(data) < 4 {
		return errors.New("a list of numbers is damaged")
	}
	n := int(binary.BigEndian.Uint32(data))
	data = data[4:]
	if len(data) != 12*n {
		return errors.New("a list of numbers is damaged")
	}
	for ; n > 0; n-- {
		b.Group = append(b.Group, data[4:12].number())
		data = data[12:]
	}
	return nil
}
