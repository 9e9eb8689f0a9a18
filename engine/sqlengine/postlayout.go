package sqlengine

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/barograph/barograph/engine"
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

// postSource tells what a column holds.
type postSource byte

const (
	fromStation postSource = iota
	fromPE
	fromPE1
	fromPE2
	fromLetter // of the duration
	fromDuration
	fromT
	fromS
	fromTS
	fromE
	fromP
	fromProbability
	fromTime
	fromDay
	fromBasis
	fromRef
	fromSlot
	fromValue
	fromQuality
	fromQC
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
	Width int
	from  postSource
	slot  int
}

// PostTable is a table of values. Its first Keys columns are its primary key.
type PostTable struct {
	Name    string
	Columns []PostColumn
	Keys    int
	Slots   int                 // the columns after the key that hold values; 0 = one column does
	find    [numPostSources]int // of each source but slots: 1 + index of its column
}

func (t *PostTable) index() *PostTable {
	for i, c := range t.Columns {
		if c.from != fromSlot {
			t.find[c.from] = i + 1
		}
	}
	return t
}

// stringColumn … are short forms for the lists below.
func textColumn(name string, width int, from postSource) PostColumn {
	return PostColumn{Name: name, Type: PostText, Width: width, from: from}
}

func column(name string, t PostType, from postSource) PostColumn {
	return PostColumn{Name: name, Type: t, from: from}
}

// archiveKey is the key of the archive's tables; the last column differs. The
// columns are remembered by users of the archive, and reconstructed: the
// schema was never published.
func archiveKey(last PostColumn) []PostColumn {
	return []PostColumn{
		textColumn("lid", 8, fromStation), textColumn("pe1", 1, fromPE1), textColumn("pe2", 1, fromPE2), textColumn("dur", 1, fromLetter),
		column("idur", PostSmall, fromDuration), textColumn("t", 1, fromT), textColumn("s", 1, fromS), textColumn("e", 1, fromE),
		textColumn("p", 1, fromP), last,
	}
}

// origin tells which product a row was written for.
func origin() []PostColumn {
	return []PostColumn{textColumn("product_id", 10, fromProduct), column("producttime", PostTime, fromIssued), column("postingtime", PostTime, fromPosted)}
}

// tail is the columns of a table with a row per value that are not its key.
func tail(quality bool) []PostColumn {
	out := []PostColumn{column("value", PostFloat, fromValue), textColumn("shef_qual_code", 1, fromQuality)}
	if quality {
		out = append(out, column("quality_code", PostInt, fromQC))
	}
	return append(append(out, column("revision", PostSmall, fromRevision)), origin()...)
}

func valueTable(name string, quality bool, key []PostColumn) *PostTable {
	t := &PostTable{Name: name, Keys: len(key), Columns: append(key, tail(quality)...)}
	return t.index()
}

// arrayTable has a column for each slot of a day, named by its end: z0015 to z2400.
func arrayTable(name string, slots int) *PostTable {
	key := archiveKey(column("obsdate", PostDate, fromDay))
	t := &PostTable{Name: name, Keys: len(key), Slots: slots, Columns: key}
	for i := range slots {
		minutes := (i + 1) * 1440 / slots
		t.Columns = append(t.Columns, PostColumn{Name: fmt.Sprintf("z%02d%02d", minutes/60, minutes%60), Type: PostFloat, from: fromSlot, slot: i})
	}
	t.Columns = append(t.Columns, origin()...)
	return t.index()
}

// The tables of the archive. Those of arrays have a further table, of
// Barograph's own, for what was observed between two slots.
const (
	singleTable   = "pedrsep"
	array96Table  = "pecrsep"
	array24Table  = "pocrsep"
	offGridSuffix = "_offgrid"
)

// postLayout is the tables of a design and the way of a value to its table.
type postLayout struct {
	design engine.PostDesign
	tables []*PostTable
	byName map[string]uint8 // without its suffix
	suffix string
}

func newPostLayout(t engine.PostTables) (*postLayout, error) {
	d := t.Design
	l := &postLayout{design: d, byName: map[string]uint8{}}
	if t.Tests {
		l.suffix = "_test"
	}
	switch d {
	case engine.SingleDesign:
		l.add(valueTable(singleTable, false, archiveKey(column("obstime", PostTime, fromTime))))
	case engine.Array96Design:
		l.addArray(array96Table, 96)
	case engine.Array24Design:
		l.addArray(array24Table, 24)
	case engine.IHFSDesign:
		l.addIHFS()
	default:
		return nil, fmt.Errorf("design %s: %w", d, engine.ErrNoDesign)
	}
	return l, nil
}

func (l *postLayout) add(t *PostTable) {
	l.byName[t.Name] = uint8(len(l.tables))
	t.Name += l.suffix
	l.tables = append(l.tables, t)
}

func (l *postLayout) addArray(name string, slots int) {
	l.add(arrayTable(name, slots))
	l.add(valueTable(name+offGridSuffix, false, archiveKey(column("obstime", PostTime, fromTime))))
}

// home is where the values of a series belong. Series of equal ranks have equal
// keys but for the time, and their order is that of their keys.
type home struct {
	rank  int32
	table uint8 // of what is on the grid
}

// identity is what a table keeps of a series.
type identity struct {
	table    uint8
	station  record.ID
	code     record.Parameter
	duration int16
}

// identify finds the table of a series and what it keeps of the code.
func (l *postLayout) identify(s *engine.Series) identity {
	id := identity{station: s.Station, code: s.Code, duration: s.Duration}
	if l.design != engine.IHFSDesign {
		return id
	}
	id.table = l.byName[IHFSTable(&s.Code)]
	id.code[2] = 0 // the table keeps the number
	if l.tables[id.table].find[fromProbability] == 0 {
		id.code[6] = 0
	}
	return id
}

// homes gives every series its home.
func (l *postLayout) homes(series []engine.Series) map[engine.Series]home {
	type known struct {
		identity
		at int
	}
	all := make([]known, len(series))
	for i := range series {
		all[i] = known{l.identify(&series[i]), i}
	}
	compare := func(a, b known) int {
		if a.station != b.station && a.table == b.table { // mostly
			return bytes.Compare(a.station[:], b.station[:])
		}
		return cmp.Or(cmp.Compare(a.table, b.table), bytes.Compare(a.code[:], b.code[:]), cmp.Compare(a.duration, b.duration))
	}
	slices.SortFunc(all, compare)
	out := make(map[engine.Series]home, len(series))
	rank := int32(0)
	for i, k := range all {
		if i > 0 && compare(all[i-1], k) != 0 {
			rank++
		}
		out[series[k.at]] = home{rank, k.table}
	}
	return out
}

// placed is where a value belongs: its table and the rest of its key.
type placed struct {
	home
	slot  int16 // of an array; -1 = none
	day   int32 // since 1970, of an array
	time  int64
	basis int64
	ref   int32
}

const day = 86400

// place finds the key of a value. value is what its column holds.
func (l *postLayout) place(g *record.Gauge, h home) (p placed, value float64) {
	p = placed{home: h, time: g.Time, slot: -1}
	value = g.Value
	switch slots := l.design.Slots(); {
	case l.design == engine.IHFSDesign:
		value = l.placeIHFS(g, &p)
	case slots > 0:
		// 00:00 is the last slot of the day before.
		p.day = int32(dayOf(g.Time - 1))
		second, step := g.Time-int64(p.day)*day, int64(day/slots)
		if second%step == 0 {
			p.slot = int16(second/step - 1)
		} else {
			p.table = 1
		}
	}
	return p, value
}

// dayOf is the day of a moment, since 1970.
func dayOf(unix int64) int64 {
	q := unix / day
	if unix%day < 0 {
		q--
	}
	return q
}

// Cell is what stands in a column of a row.
type Cell struct {
	Null  bool
	Text  []byte  // PostText
	Int   int64   // PostSmall, PostInt; PostTime: Unix seconds; PostDate: days since 1970
	Float float64 // PostFloat
}

// PostRow is a row of a table of values. It is valid while it is being written.
type PostRow struct {
	placed
	gauge   *record.Gauge
	product []byte
	issued  int64
	posted  int64
	value   float64
	slots   []float64 // NaN = nothing
	order   int32     // of the value that product and issued are of
}

// Cell returns what stands in a column of the row.
func (r *PostRow) Cell(c *PostColumn) Cell {
	g := r.gauge
	switch c.from {
	case fromStation:
		return Cell{Text: g.Station[:g.Station.Len()]}
	case fromPE:
		return Cell{Text: g.Code[:2]}
	case fromPE1, fromPE2:
		i := c.from - fromPE1
		return Cell{Text: g.Code[i : i+1]}
	case fromLetter:
		return Cell{Text: g.Code[2:3]}
	case fromDuration:
		return Cell{Int: int64(g.Duration)}
	case fromT, fromS:
		i := 3 + c.from - fromT
		return Cell{Text: g.Code[i : i+1]}
	case fromTS:
		return Cell{Text: g.Code[3:5]}
	case fromE, fromP:
		i := 5 + c.from - fromE
		return Cell{Text: g.Code[i : i+1]}
	case fromProbability:
		return Cell{Float: float64(g.Probability)}
	case fromTime:
		return Cell{Int: r.time}
	case fromDay:
		return Cell{Int: int64(r.day)}
	case fromBasis:
		return Cell{Int: r.basis}
	case fromRef:
		return Cell{Int: int64(r.ref)}
	case fromSlot:
		v := r.slots[c.slot]
		return Cell{Float: v, Null: v != v}
	case fromValue:
		return Cell{Float: r.value}
	case fromQuality:
		return Cell{Text: qualities[g.Quality&0x7f : g.Quality&0x7f+1]}
	}
	return r.origin(c)
}

// qualities are the bytes that Cell points at.
var qualities = func() []byte { //nolint:gochecknoglobals // a constant table
	b := make([]byte, 129)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}()

func (r *PostRow) origin(c *PostColumn) Cell {
	switch c.from {
	case fromQC:
		return Cell{Int: qualityCode(r.gauge.Quality, r.gauge.IsMissing())}
	case fromRevision:
		if r.gauge.Revised {
			return Cell{Int: 1}
		}
		return Cell{}
	case fromProduct:
		return Cell{Text: r.product}
	case fromIssued:
		return Cell{Int: r.issued, Null: r.issued == record.NoTime}
	}
	return Cell{Int: r.posted}
}

// IHFS is the hydrologic database of the Weather Service's forecast offices.
// What is here of it was read, not copied, in github.com/Unidata/awips2: the
// poster of SHEF values (edexOsgi/com.raytheon.edex.plugin.shef, PostShef.java
// and PostTables.java), the names of tables by element (DbUtils.java of
// cave/com.raytheon.viz.hydrocommon), the bits of quality_code (its
// QualityCodeUtil.java, and QualityCode.h in C), and in get_precip_settings.c
// which elements of precipitation are in which table. Columns and keys are
// those of a dump of the database.

// families are the tables of observations by the first letter of the element;
// those of P are told apart in family. Of B, C, D, J, K, O and Z IHFS has no
// table.
var families = map[byte]string{ //nolint:gochecknoglobals // a constant table
	'A': "agricultural", 'E': "evaporation", 'F': "fishcount", 'G': "ground", 'H': "height", 'I': "ice", 'L': "lake", 'M': "moisture",
	'N': "gatedam", 'Q': "discharge", 'R': "radiation", 'S': "snow", 'T': "temperature", 'U': "wind", 'V': "power", 'W': "waterquality",
	'X': "weather", 'Y': "yunique",
}

// family names the table of an observation. What IHFS has no table for goes
// into yunique, so that it is not lost.
func family(pe string) string {
	if pe[0] != 'P' {
		if t, ok := families[pe[0]]; ok {
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
	return "rawpother" // PM, PN, PR and PT; of PF, PJ and the like the sources disagree
}

// forecasts names the table of a forecast.
func forecasts(pe string) string {
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

// IHFSTable names the table of a code. What is paired is paired whatever its
// type; every type but R, F and C is processed, the numbered ones too.
func IHFSTable(c *record.Parameter) string {
	pe := c.PE()
	if record.Paired(pe) {
		return "pairedvalue"
	}
	switch c[3] {
	case 'F':
		return forecasts(pe)
	case 'C':
		return "contingencyvalue"
	case 'R':
		return family(pe)
	}
	return "procvalue"
}

func ihfsKey(further ...PostColumn) []PostColumn {
	return append([]PostColumn{
		textColumn("lid", 8, fromStation), textColumn("pe", 2, fromPE), column("dur", PostSmall, fromDuration),
		textColumn("ts", 2, fromTS), textColumn("extremum", 1, fromE),
	}, further...)
}

func (l *postLayout) addIHFS() {
	for c := byte('A'); c <= 'Z'; c++ {
		if t, ok := families[c]; ok {
			l.add(valueTable(t, true, ihfsKey(column("obstime", PostTime, fromTime))))
		}
	}
	for _, t := range []string{"rawpp", "rawpc", "rawpother", "pressure", "procvalue"} {
		l.add(valueTable(t, true, ihfsKey(column("obstime", PostTime, fromTime))))
	}
	ahead := func() []PostColumn {
		return ihfsKey(column("probability", PostFloat, fromProbability), column("validtime", PostTime, fromTime), column("basistime", PostTime, fromBasis))
	}
	for _, t := range []string{"fcstheight", "fcstdischarge", "fcstprecip", "fcsttemperature", "fcstother", "contingencyvalue"} {
		l.add(valueTable(t, true, ahead()))
	}
	l.add(valueTable("pairedvalue", true, append(ahead(), column("ref_value", PostInt, fromRef))))
}

// placeIHFS finds what the key of a value has besides its series and its time.
// The basis of a value that tells no time of creation is 1970-01-01.
func (l *postLayout) placeIHFS(g *record.Gauge, p *placed) (value float64) {
	t := l.tables[p.table]
	if t.find[fromRef] > 0 {
		at := 0
		at, value = record.SplitPair(g.Value)
		p.ref = int32(min(at, record.MostDepth))
	} else {
		value = engine.IHFSValue(&g.Code, g.Value)
	}
	if t.find[fromBasis] > 0 && g.Created != record.NoTime {
		p.basis = g.Created
	}
	return value
}

// quality_code tells by bits what was checked; that of a value of which nothing
// is known to be wrong has all but the sign and bit 28. A value that its sender
// calls questionable lacks the bit of that and their summary's, bit 29; one that
// he calls bad those of the check and of certainty, bit 30. Checks of ranges,
// which would clear further bits, are IHFS's own and not done here.
const (
	ihfsGood         = 1<<31 - 1 - 1<<28
	ihfsQuestionable = ihfsGood - 1<<20 - 1<<29
	ihfsBad          = ihfsGood - 1<<23 - 1<<30
)

// qualityCode is the code of a value by its qualifier.
func qualityCode(qualifier byte, missing bool) int64 {
	switch {
	case missing:
		return ihfsGood // IHFS checks no missing values
	case qualifier == 'Q' || qualifier == 'F':
		return ihfsQuestionable
	case qualifier == 'R' || qualifier == 'B':
		return ihfsBad
	}
	return ihfsGood
}
