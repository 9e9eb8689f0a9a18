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

// layout is how a design lays out records.
type layout struct {
	design    design.Name
	prefix    string   // of the tables of line types
	partition []string // columns of the partition key, in order, with their types
	types     []string
	bySeries  bool // the partition holds many valid times, which come first in its order
}

var layouts = []*layout{ //nolint:gochecknoglobals // a constant table
	{design: design.Document, prefix: "doc_", partition: []string{"id"}, types: []string{"text"}},
	{design: design.Wide, prefix: "wide_", partition: []string{"series", "year"}, types: []string{"text", "int"}, bySeries: true},
}

// table of a line type.
func (l *layout) table(t *record.LineType) string { return l.prefix + strings.ToLower(t.Name) }

// where is the condition on one partition.
func (l *layout) where() string { return strings.Join(l.partition, " = ? AND ") + " = ?" }

// The columns that every table of records has behind its partition key.
const (
	colValid  = "fcst_valid_beg" // wide: the first of the clustering columns, Unix seconds
	colLead   = "fcst_lead"      // seconds
	colEntry  = "entry"          // what else tells records of one lead apart, see appendEntry
	colCommit = "commit_number"  // of the commit that brought the record
	windows   = "fcst_valid_end, obs_lead, obs_valid_beg, obs_valid_end"
	repeats   = "repeats"
)

// order is the clustering columns: of several values of one record the latest
// comes first.
func (l *layout) order() []string {
	if l.bySeries {
		return []string{colValid, colLead, colEntry, colCommit}
	}
	return []string{colLead, colEntry, colCommit}
}

// quoted is the name of a column of a line type. It may be a word of CQL, or
// that of a column above.
func quoted(c *record.Column) string { return `"v_` + c.Name + `"` }

// createTable is the table of a line type.
func (l *layout) createTable(t *record.LineType) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE IF NOT EXISTS %s (", l.table(t))
	for i, name := range l.partition {
		fmt.Fprintf(&b, "%s %s, ", name, l.types[i])
	}
	if l.bySeries {
		fmt.Fprintf(&b, "%s bigint, ", colValid)
	}
	fmt.Fprintf(&b, "%s int, %s blob, %s bigint, fcst_valid_end bigint, obs_lead int, obs_valid_beg bigint, obs_valid_end bigint, ", colLead, colEntry, colCommit)
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
	fmt.Fprintf(&b, "PRIMARY KEY ((%s), %s)) WITH CLUSTERING ORDER BY (%s DESC)", strings.Join(l.partition, ", "), strings.Join(order, ", "), strings.Join(order, " ASC, "))
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
	name string // document: the id; wide: the series, that is the id without its epoch
	year int    // wide: of the valid times, UTC; 0 otherwise
}

func (l *layout) args(u unit) []any {
	if l.bySeries {
		return []any{u.name, u.year}
	}
	return []any{u.name}
}

// unitOf is the partition of a document.
func (l *layout) unitOf(t *record.LineType, subset string, h *record.Header, valid int64) unit {
	if l.bySeries {
		return unit{string(design.AppendSeries(nil, t, subset, h)), yearOf(valid)}
	}
	return unit{string(design.AppendKey(nil, t, subset, h, valid)), 0}
}

// header of the records of a partition, and their valid time if it has one.
func (l *layout) header(u unit) (h record.Header, valid int64, err error) {
	id := u.name
	if l.bySeries {
		id += "0"
	}
	_, _, h, valid, err = design.ParseKey(id)
	return h, valid, err
}

// yearOf bounds partitions: 1,460 valid times of a series that is there every
// six hours.
func yearOf(valid int64) int { return time.Unix(valid, 0).UTC().Year() }

// appendEntry appends what tells records of one header, valid time and lead
// apart: nothing for most; times that are not plain; key columns. Equal
// records have equal entries.
func appendEntry(dst []byte, b *record.Batch, i int) []byte {
	if !b.Plain(i) {
		dst = append(dst, 1)
		for _, v := range []int64{b.ValidEnd[i], int64(b.ObsLead[i]), b.ObsBeg[i], b.ObsEnd[i]} {
			dst = binary.BigEndian.AppendUint64(dst, uint64(v))
		}
	}
	for k := range b.Type.Columns {
		c := &b.Type.Columns[k]
		if !c.Key {
			continue
		}
		dst = append(dst, 2)
		if c.Kind == record.Text {
			s := b.Text[c.Slot][i]
			dst = binary.AppendUvarint(dst, uint64(len(s)))
			dst = append(dst, s...)
			continue
		}
		f := b.Num[c.Slot][i] + 0 // −0 is 0
		if math.IsNaN(f) {
			f = record.Missing()
		}
		dst = binary.BigEndian.AppendUint64(dst, math.Float64bits(f))
	}
	return dst
}

// own are the tables of what belongs to a subset besides its records.
var own = []struct{ name, columns string }{ //nolint:gochecknoglobals // a constant list
	{"heads", `design text, subset text, next bigint, version bigint, bad set<bigint>, catalog bigint, bytes bigint, PRIMARY KEY ((design, subset))`},
	{"catalogs", `design text, subset text, commit_number bigint, catalog text, PRIMARY KEY ((design, subset), commit_number)`},
	{"marks", `design text, subset text, commit_number bigint, number int, mark text, PRIMARY KEY ((design, subset), commit_number, number)`},
	{"partitions", `design text, subset text, line_type text, bucket int, name text, year int, PRIMARY KEY ((design, subset, line_type, bucket), name, year)`},
}

// buckets over which the partitions of a line type are listed.
const buckets = 16

// prepare makes the keyspace, and what is missing of own. A keyspace that is
// opened read-only may lack them: then nothing was ever loaded.
func (s *store) prepare(ctx context.Context) error {
	var name string
	err := s.session.Query("SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = ?", s.keyspace).ScanContext(ctx, &name)
	missing := errors.Is(err, gocql.ErrNotFound)
	if err != nil && !missing {
		return err
	}
	if s.readOnly {
		if missing {
			return &fault.Error{Setting: "keyspace " + s.keyspace, Problem: "does not exist", Err: engine.ErrUnreachable, Cure: "load an archive into it first"}
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
	for _, t := range own {
		table := s.keyspace + "." + t.name
		if err := s.create(ctx, table, "CREATE TABLE IF NOT EXISTS "+table+" ("+t.columns+")"); err != nil {
			return err
		}
	}
	return nil
}

// absent reports whether the server knows no such table or keyspace.
func absent(err error) bool {
	var refused gocql.RequestError
	return errors.As(err, &refused) && refused.Code() == gocql.ErrCodeInvalid
}

// schemaPatience is how long a table that was made may be unknown, and
// schemaPause how long it is waited before it is asked for again.
const (
	schemaPatience = 30 * time.Second
	schemaPause    = 20 * time.Millisecond
)

// create makes a table unless it is there, and returns when every node that is
// up serves it.
func (s *store) create(ctx context.Context, table, statement string) error {
	s.mu.Lock()
	made := s.made[table]
	s.mu.Unlock()
	if made {
		return nil
	}
	served, err := s.served(ctx, table)
	if err == nil && !served {
		if err = s.change(ctx, statement); err == nil {
			err = s.await(ctx, table)
		}
	}
	if err != nil {
		return fmt.Errorf("table %s: %w", table, failed(ctx, err))
	}
	s.mu.Lock()
	s.made[table] = true
	s.mu.Unlock()
	return nil
}

// await waits until a table is served.
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
	return fmt.Errorf("some nodes do not know it %v after it was made", schemaPatience)
}

// served reports whether every node that is up can be asked for a table. That
// system_schema lists it does not mean that: the list is ahead of the server.
func (s *store) served(ctx context.Context, table string) (bool, error) {
	for _, h := range s.up() {
		err := s.session.Query("SELECT * FROM " + table + " LIMIT 1").Consistency(gocql.One).SetHostID(h.HostID()).ExecContext(ctx)
		if absent(err) || ctx.Err() != nil {
			return false, ctx.Err()
		}
	}
	return true, nil
}

// up are the nodes that are up, in the order of their ids.
func (s *store) up() []*gocql.HostInfo {
	hosts := slices.DeleteFunc(s.session.GetHosts(), func(h *gocql.HostInfo) bool { return !h.IsUp() })
	slices.SortFunc(hosts, func(a, b *gocql.HostInfo) int { return cmp.Compare(a.HostID(), b.HostID()) })
	return hosts
}

// change makes a table through the first node that answers. A node changes the
// schema once at a time; two nodes that made one table at the same moment would
// give it two ids, which Cassandra before 6 does not repair. All clients choose
// the same node.
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

// raw is a value as it came; nil = null. It is valid until the next page.
type raw []byte

// UnmarshalCQL keeps the bytes.
func (r *raw) UnmarshalCQL(_ gocql.TypeInfo, data []byte) error {
	*r = data
	return nil
}

func (r raw) whole() int64 {
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

// picked is the columns of a line type that a query brings.
type picked struct {
	*layout
	t       *record.LineType
	columns []*record.Column
	windows bool // times that are not plain
	repeats bool
	named   bool // the partition's name comes first
}

// all picks everything.
func (l *layout) all(t *record.LineType) *picked {
	p := &picked{layout: l, t: t, windows: true, repeats: t.Group != nil}
	for i := range t.Columns {
		p.columns = append(p.columns, &t.Columns[i])
	}
	return p
}

// pick picks what a question needs: its columns, and those that order its rows.
func (l *layout) pick(q *question.Question, plain bool) *picked {
	lists := func(c question.Column) bool { return c.Role == question.Repeating }
	p := &picked{layout: l, t: q.Type, windows: !plain, repeats: slices.ContainsFunc(q.Columns, lists)}
	for i := range q.Type.Columns {
		c := &q.Type.Columns[i]
		wanted := c.Key || slices.ContainsFunc(q.Columns, func(o question.Column) bool { return o.Role == question.Data && o.Name == c.Name })
		if wanted {
			p.columns = append(p.columns, c)
		}
	}
	return p
}

// text of the query, up to its condition.
func (p *picked) text() string {
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
	*picked
	counts func(number int64) bool
	admits func(valid int64, lead int32) bool // nil = all

	cells []raw
	dest  []any

	// the record before
	name  string
	valid int64
	lead  int64
	entry []byte
	taken bool // a value of it that counts was there
}

func (p *picked) scanner(counts func(int64) bool, admits func(int64, int32) bool) *scanner {
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
	s := &scanner{picked: p, counts: counts, admits: admits, cells: make([]raw, n), dest: make([]any, n)}
	for i := range s.cells {
		s.dest[i] = &s.cells[i]
	}
	return s
}

// place tells the header and, for documents, the valid time of a partition.
type place func(name string) (head uint32, valid int64, err error)

// rows appends the records of a reply that count, one per identity, the latest.
func (s *scanner) rows(iter *gocql.Iter, where place, into *record.Batch) (read int64, err error) {
	s.name, s.taken, s.lead = "", false, math.MinInt64
	head, valid, err := where("")
	for err == nil && iter.Scan(s.dest...) {
		read++
		cells := s.cells
		if s.named {
			if string(cells[0]) != s.name || read == 1 {
				s.name, s.taken, s.lead = string(cells[0]), false, math.MinInt64
				if head, valid, err = where(s.name); err != nil {
					break
				}
			}
			cells = cells[1:]
		}
		if s.bySeries {
			valid = cells[0].whole()
			cells = cells[1:]
		}
		if !s.fresh(valid, cells[0].whole(), cells[1]) || !s.counts(cells[2].whole()) {
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
			b.ValidEnd[i], b.ObsLead[i], b.ObsBeg[i], b.ObsEnd[i] = cells[0].whole(), int32(cells[1].whole()), cells[2].whole(), cells[3].whole()
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
		return nil // an empty list is stored as none
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
