package sqlengine

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/record"
)

// PostType is the type of a column of a table of values.
type PostType byte

// The types.
const (
	PostText  PostType = iota // varchar(Width)
	PostSmall                 // 16 bits
	PostInt                   // 32 bits
	PostFloat                 // double precision
	PostTime                  // timestamp without zone, UTC, to the second
	PostDate
)

// postSource is the part of a value that a column contains.
type postSource byte

// The sources. SHEF's parameter code has seven letters: the physical element (two), the duration, the type and the
// source (one each), the extremum and the probability.
const (
	fromStation postSource = iota
	fromPE1
	fromPE2
	fromLetter // the letter of the duration
	fromDuration
	fromT
	fromS
	fromE
	fromP
	fromTime
	fromDay
	fromSlot
	fromValue
	fromQuality
	fromRevision
	fromProduct
	fromIssued
	fromPosted
	numPostSources
)

// PostColumn is a column of a table of values.
type PostColumn struct {
	Name  string
	Type  PostType
	Width int // of a text
	from  postSource
	slot  int // for fromSlot
}

// PostTable is a table of values. Its first Keys columns are its primary key.
type PostTable struct {
	Name       string
	Columns    []PostColumn
	Keys       int
	Slots      int                 // number of value columns after the key; 0 = a single value column
	usesOrigin bool                // posts.Policy.Precedes decides between values
	goodStays  bool                // the policy is posts.GoodStays
	columnAt   [numPostSources]int // 1 + the index of the column with this source, except slots; 0 = none
}

func (t *PostTable) indexColumns() *PostTable {
	for i, c := range t.Columns {
		if c.from != fromSlot {
			t.columnAt[c.from] = i + 1
		}
	}
	return t
}

// textColumn and column are short forms for the lists below.
func textColumn(name string, width int, from postSource) PostColumn {
	return PostColumn{Name: name, Type: PostText, Width: width, from: from}
}

func column(name string, t PostType, from postSource) PostColumn {
	return PostColumn{Name: name, Type: t, from: from}
}

// archiveKey returns the key of the archive's tables, which differ in the last column. Its schema was never published;
// users of the archive described it from memory.
func archiveKey(last PostColumn) []PostColumn {
	return []PostColumn{
		textColumn("lid", 8, fromStation), textColumn("pe1", 1, fromPE1), textColumn("pe2", 1, fromPE2),
		textColumn("dur", 1, fromLetter), column("idur", PostSmall, fromDuration), textColumn("t", 1, fromT),
		textColumn("s", 1, fromS), textColumn("e", 1, fromE), textColumn("p", 1, fromP), last,
	}
}

// originColumns returns the columns that identify the product of a row.
func originColumns() []PostColumn {
	return []PostColumn{
		textColumn("product_id", 10, fromProduct), column("producttime", PostTime, fromIssued),
		column("postingtime", PostTime, fromPosted),
	}
}

// valueTable returns a table with one row per value.
func valueTable(name string) *PostTable {
	key := archiveKey(column("obstime", PostTime, fromTime))
	t := &PostTable{Name: name, Keys: len(key)}
	t.Columns = append(key, column("value", PostFloat, fromValue), textColumn("shef_qual_code", 1, fromQuality),
		column("revision", PostSmall, fromRevision))
	t.Columns = append(t.Columns, originColumns()...)
	return t.indexColumns()
}

// arrayTable returns a table with a row per day and a column for each slot of the day. A column's name contains the end
// of its slot: z0015 to z2400.
func arrayTable(name string, slots int) *PostTable {
	key := archiveKey(column("obsdate", PostDate, fromDay))
	t := &PostTable{Name: name, Keys: len(key), Slots: slots, Columns: key}
	for i := range slots {
		minutes := (i + 1) * 1440 / slots
		name := fmt.Sprintf("z%02d%02d", minutes/60, minutes%60)
		t.Columns = append(t.Columns, PostColumn{Name: name, Type: PostFloat, from: fromSlot, slot: i})
	}
	t.Columns = append(t.Columns, originColumns()...)
	return t.indexColumns()
}

// The names of the archive's tables. The designs of arrays also have a table that the archive did not have, for values
// observed between two slots.
const (
	singleTable   = "pedrsep"
	array96Table  = "pecrsep"
	array24Table  = "pocrsep"
	offGridSuffix = "_offgrid"
)

// postLayout is the set of tables of a design. It finds the table of a value.
type postLayout struct {
	design posts.Design
	tables []*PostTable
	suffix string
}

func newPostLayout(t posts.Tables) (*postLayout, error) {
	d := t.Design
	l := &postLayout{design: d}
	if t.Tests {
		l.suffix = "_test"
	}
	switch d {
	case posts.Single:
		l.add(valueTable(singleTable))
	case posts.Array96:
		l.addArray(array96Table, 96)
	case posts.Array24:
		l.addArray(array24Table, 24)
	default:
		return nil, fmt.Errorf("design %s: %w", d, engine.ErrNoDesign)
	}
	for _, table := range l.tables {
		table.usesOrigin, table.goodStays = table.Slots == 0 && t.Policy.UsesOrigin(), t.Policy == posts.GoodStays
	}
	return l, nil
}

func (l *postLayout) add(t *PostTable) {
	t.Name += l.suffix
	l.tables = append(l.tables, t)
}

func (l *postLayout) addArray(name string, slots int) {
	l.add(arrayTable(name, slots))
	l.add(valueTable(name + offGridSuffix))
}

// rankSeries numbers the series in the order of the tables' keys.
func rankSeries(series []posts.Series) map[posts.Series]int32 {
	order := slices.Clone(series)
	slices.SortFunc(order, func(a, b posts.Series) int {
		return cmp.Or(bytes.Compare(a.Station[:], b.Station[:]), bytes.Compare(a.Code[:], b.Code[:]),
			cmp.Compare(a.Duration, b.Duration))
	})
	out := make(map[posts.Series]int32, len(order))
	for i, s := range order {
		out[s] = int32(i)
	}
	return out
}

// position is the place of a value: its table and the rest of its key.
type position struct {
	rank  int32 // of its series, see rankSeries
	table uint8 // index in postLayout.tables
	slot  int16 // slot of an array; -1 = none
	day   int32 // day of an array, since 1970
	time  int64 // Unix seconds
}

const secondsPerDay = 86400

// locate returns the place of a value, whose series has this rank.
func (l *postLayout) locate(g *record.Gauge, rank int32) position {
	p := position{rank: rank, time: g.Time, slot: -1}
	slots := l.design.Slots()
	if slots == 0 {
		return p
	}
	// A value at 00:00 is in the last slot of the previous day.
	p.day = int32(dayOf(g.Time - 1))
	second, step := g.Time-int64(p.day)*secondsPerDay, int64(secondsPerDay/slots)
	if second%step == 0 {
		p.slot = int16(second/step - 1)
	} else {
		p.table = 1
	}
	return p
}

// dayOf returns the day of a time, since 1970.
func dayOf(unix int64) int64 {
	q := unix / secondsPerDay
	if unix%secondsPerDay < 0 {
		q--
	}
	return q
}

// PostCell is the content of a column of a row; the column's type decides which field.
type PostCell struct {
	Null  bool
	Text  []byte  // PostText
	Int   int64   // PostSmall, PostInt; PostTime: Unix seconds; PostDate: days since 1970
	Float float64 // PostFloat
}

// PostRow is a row of a table of values. It is valid while the engine writes it.
type PostRow struct {
	position
	gauge   *record.Gauge
	product []byte
	issued  int64
	posted  int64
	slots   []float64 // of an array; NaN = no value
	order   int32     // order of the value that gives the row its product and issue time
}

// Cell returns the content of a column of the row.
func (r *PostRow) Cell(c *PostColumn) PostCell {
	g := r.gauge
	switch c.from {
	case fromStation:
		return PostCell{Text: g.Station[:g.Station.Len()]}
	case fromPE1, fromPE2:
		i := c.from - fromPE1
		return PostCell{Text: g.Code[i : i+1]}
	case fromLetter:
		return PostCell{Text: g.Code[2:3]}
	case fromDuration:
		return PostCell{Int: int64(g.Duration)}
	case fromT, fromS:
		i := 3 + c.from - fromT
		return PostCell{Text: g.Code[i : i+1]}
	case fromE, fromP:
		i := 5 + c.from - fromE
		return PostCell{Text: g.Code[i : i+1]}
	case fromTime:
		return PostCell{Int: r.time}
	case fromDay:
		return PostCell{Int: int64(r.day)}
	case fromSlot:
		v := r.slots[c.slot]
		return PostCell{Float: v, Null: v != v}
	case fromValue:
		return PostCell{Float: g.Value}
	case fromQuality:
		return PostCell{Text: qualities[g.Quality&0x7f : g.Quality&0x7f+1]}
	}
	return r.originCell(c)
}

// qualities has every quality code, because a PostCell refers to the bytes of its text.
var qualities = func() []byte { //nolint:gochecknoglobals // a constant table
	b := make([]byte, 129)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}()

// originCell returns the content of a column that identifies the product, or of the revision.
func (r *PostRow) originCell(c *PostColumn) PostCell {
	switch c.from {
	case fromRevision:
		if r.gauge.Revised {
			return PostCell{Int: 1}
		}
		return PostCell{}
	case fromProduct:
		return PostCell{Text: r.product}
	case fromIssued:
		return PostCell{Int: r.issued, Null: r.issued == record.NoTime}
	}
	return PostCell{Int: r.posted}
}
