package design

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// TestBadKeys: ParseKey refuses a text that is not a key, and names the reason.
func TestBadKeys(t *testing.T) {
	good := "DD::V01::SL1L2::s::M::R::V::O::L::5"
	if _, _, _, valid, err := ParseKey(good); err != nil || valid != 5 {
		t.Fatal(valid, err)
	}
	for key, why := range map[string]string{
		"": "does not have 10 or 11 parts", "DD": "does not have 10 or 11 parts",
		strings.TrimSuffix(good, "::5"):                   "does not have 10 or 11 parts",
		good + "::6::7":                                   "does not have 10 or 11 parts",
		"XX" + good[2:]:                                   "does not have 10 or 11 parts",
		strings.Replace(good, "SL1L2", "NONE", 1):         "does not name a line type",
		strings.Replace(good, "::5", "::x", 1):            "does not end in an epoch",
		strings.Replace(good, "::5", "::descr::5", 1):     "is not field=value",
		strings.Replace(good, "::5", "::nothing=1::5", 1): "is not field=value",
	} {
		if _, _, _, _, err := ParseKey(key); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want %q", key, err, why)
		}
	}
}

// TestFurtherFields: a key omits the further fields with their implied value, and contains the others.
func TestFurtherFields(t *testing.T) {
	h := record.DefaultHeader()
	h[record.FcstVar], h[record.ObsVar], h[record.FcstLev], h[record.ObsLev] = "TMP", "TMP", "P500", "P500"
	if got := Further(&h); got != "" {
		t.Errorf("a header of VSDB has %q", got)
	}
	h[record.InterpPnts], h[record.ObsLev], h[record.Descr] = "4", "P501", "a;b=c"
	if got, want := Further(&h), "descr=a%3Bb=c;obs_lev=P501;interp_pnts=4"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSeriesOfAQuestion: Series yields requested masks and levels even if they do not exist. Other fields must exist.
func TestSeriesOfAQuestion(t *testing.T) {
	c := NewCatalog("s")
	grids()["thresholds"][0].fill(c)
	for _, x := range []struct {
		field record.Field
		asked []string
		want  int
	}{
		{record.VxMask, nil, 2 * 2 * 3},
		{record.VxMask, []string{"EAST", "nowhere"}, 2 * 2 * 3},
		{record.FcstLev, []string{"A1", "A3", "A6"}, 3 * 2 * 2 * 3},
		{record.Model, []string{"RAP"}, 2 * 3},
		{record.Model, []string{"GFS"}, 0},
		{record.FcstThresh, []string{">=5", ">=9"}, 2 * 2},
	} {
		q := &question.Question{Type: mustType("CTC")}
		q.Header[x.field] = x.asked
		n := 0
		for range c.Series(q) {
			n++
		}
		if n != x.want {
			t.Errorf("%s %v: %d series, want %d", x.field, x.asked, n, x.want)
		}
		for range c.Series(q) {
			break // a walk may end early
		}
	}
	if n := len(c.Keys(&question.Question{Type: mustType("CTC"), Valid: question.Times{List: []int64{day, 7}}})); n != 2*2*3*2 {
		t.Errorf("%d keys of two times", n)
	}
	bounded := &question.Question{Type: mustType("CTC"), Valid: question.Times{First: day + 86400, Last: day + 2*86400}}
	if n := len(c.Keys(bounded)); n != 2*2*3*2 {
		t.Errorf("%d keys within bounds of two times", n)
	}
}

// TestTrim: the catalog counts removed records, and no longer lists a group without remaining records.
func TestTrim(t *testing.T) {
	c := NewCatalog("s")
	for _, g := range grids()["two types"] {
		g.fill(c)
	}
	c.Objects = 100
	short := NewCatalog("s")
	(&grid{"CTC", []string{"M"}, []string{"V"}, []string{"L"}, []string{"R"}, []string{record.NA}, []int32{0}, 1, 24}).fill(short)
	c.Merge(short)
	from := int64(day + 6*3600)
	gone := NewCatalog("s")
	for _, g := range []*grid{
		{"SL1L2", []string{"GFS"}, []string{"TMP"}, []string{"Z2"}, []string{"CONUS"}, []string{record.NA}, []int32{6, 30}, 1, 24},
		{"VL1L2", []string{"GFS"}, []string{"UGRD_VGRD"}, []string{"Z10"}, []string{"CONUS"}, []string{record.NA}, []int32{6, 30}, 1, 24},
		{"CTC", []string{"M"}, []string{"V"}, []string{"L"}, []string{"R"}, []string{record.NA}, []int32{0}, 1, 24},
	} {
		g.fill(gone)
	}
	before := c.Digest().Records
	if !c.HasRecordsBefore(mustType("CTC"), from) || c.HasRecordsBefore(mustType("CTC"), day) || c.HasRecordsBefore(mustType("PCT"), from) {
		t.Error("what is before a time")
	}
	c.Trim(from, gone, 7)
	if c.Digest().Records != before-5 || c.Trimmed != 5 || c.Objects != 93 || c.TrimmedBefore != from || c.LoadedRecords() != before {
		t.Errorf("%d held of %d, %d trimmed, %d objects, from %d", c.Digest().Records, before, c.Trimmed, c.Objects, c.TrimmedBefore)
	}
	if len(c.Groups) != 2 || c.Groups[0].First != from || c.Groups[0].Valid[0] != from || c.HasRecordsBefore(mustType("SL1L2"), from) {
		t.Errorf("%d groups; the first begins at %d", len(c.Groups), c.Groups[0].First)
	}
	if ctc := short.Groups[0]; c.GroupFor(mustType("CTC"), headerOf(ctc)) != nil || c.GroupFor(mustType("SL1L2"), headerOf(c.Groups[0])) == nil {
		t.Error("a group that is gone is held, or one that stays is not")
	}
	if c.Trim(from-1, NewCatalog("s"), 0); c.TrimmedBefore != from {
		t.Error("an earlier cut moves the archive's first time back")
	}
	var times []int64
	later := NewCatalog("s")
	grids()["two types"][0].fill(later)
	for v := range later.NewTimes(c) {
		times = append(times, v)
	}
	if !slices.Equal(times, []int64{day}) {
		t.Errorf("new times %v", times)
	}
	for range later.NewTimes(NewCatalog("s")) {
		break
	}
}

// headerOf is a header of a group's first series.
func headerOf(g *Group) *record.Header {
	h := record.DefaultHeader()
	h[record.Version], h[record.Model], h[record.ObType], h[record.FcstVar] = g.Version, g.Model, g.ObType, g.FcstVar
	h[record.VxMask], h[record.FcstLev] = g.Masks[0], g.Levels[0]
	if err := setFurther(&h, g.FurtherFields[0]); err != nil {
		panic(err)
	}
	return &h
}

// TestFacts: Facts finds the fields that vary among the series that a question can match. An observation's field
// that repeats the forecast's does not vary on its own.
func TestFacts(t *testing.T) {
	c := NewCatalog("s")
	grids()["thresholds"][0].fill(c)
	f := c.Facts(&question.Question{Type: mustType("CTC")})
	for field, want := range map[record.Field]bool{
		record.Model: true, record.VxMask: true, record.FcstThresh: true, record.ObsThresh: false,
		record.FcstVar: false, record.ObsVar: false, record.FcstLev: false, record.ObsLev: false, record.Descr: false,
	} {
		if f.Varies[field] != want {
			t.Errorf("%s varies: %v", field, f.Varies[field])
		}
	}
	if !f.Plain || !slices.Equal(f.Versions, []string{"V01"}) {
		t.Errorf("%+v", f)
	}
	c.Groups[0].PlainTimes = false
	if f = c.Facts(&question.Question{Type: mustType("CTC")}); f.Plain {
		t.Error("one group is not plain")
	}
	h := headerOf(c.Groups[1])
	h[record.ObsThresh] = ">2"
	b := &record.Batch{}
	b.Reset(mustType("CTC"), "")
	b.AppendTimes(b.AddHeader(*h), 0, day, 1)
	c.Merge(catalogOf(b))
	if f = c.Facts(&question.Question{Type: mustType("CTC")}); !f.Varies[record.ObsThresh] || f.Varies[record.ObsVar] {
		t.Error("one observation has a threshold of its own")
	}
}

// TestNotes: conflicts are an ordered set with a bound. The reasons and the files in quarantine are bounded, too.
func TestNotes(t *testing.T) {
	c := NewCatalog("s")
	for i := range uint32(MaxConflicts + 2) {
		one := Conflict{Existing: Line{"a", 1}, Dropped: Line{"b", MaxConflicts + 2 - i}, Refused: i == 1, Kept: i == 2}
		c.AddConflict(one)
		c.AddConflict(one)
	}
	if len(c.Conflicts) != MaxConflicts || !c.MoreConflicts || c.Conflicts[0].Dropped.Line != 1 || c.Conflicts[MaxConflicts-1].Dropped.Line != MaxConflicts {
		t.Errorf("%d conflicts, more: %v", len(c.Conflicts), c.MoreConflicts)
	}
	for i := range uint32(3) {
		c.AddConflict(Conflict{Existing: Line{"a", 1}, Dropped: Line{fmt.Sprint("c", i), 1}})
	}
	if n := len(c.Conflicts); n != MaxConflicts || c.Conflicts[n-4].Dropped.Line != MaxConflicts-3 || c.Conflicts[n-3].Dropped.File != "c0" || c.Conflicts[n-1].Dropped.File != "c2" {
		t.Errorf("%d conflicts, the last are %+v", n, c.Conflicts[n-4:])
	}
	c.Conflicts = []Conflict{{Existing: Line{"a", 1}, What: "x"}, {Dropped: Line{"<b>", 2}, What: "y", Refused: true}, {What: "z", Kept: true}}
	var out bytes.Buffer
	if err := c.ConflictsText(&out); err != nil {
		t.Fatal(err)
	}
	want := `conflicting line  existing line   stored               record and first difference
a removed file    a:1             existing, by choice  x
<b>:2             a removed file  existing; refused    y
a removed file    a removed file  both                 z
conflicts: 3, and more that were not kept
`
	if out.String() != want {
		t.Errorf("%s", out.String())
	}
	var q Quarantine
	for i := range uint32(2 * (MaxReasons + 1)) {
		q.Add(i+1, string(rune('a'+i/2)))
	}
	if q.Lines != 2*(MaxReasons+1) || len(q.Reasons) != MaxReasons || q.Reasons[0] != (Reason{"a", 2, 1}) || q.Reasons[1].First != 3 {
		t.Errorf("%+v", q)
	}
	for _, one := range []Quarantine{{File: "b", Digest: "1", Lines: 1}, {File: "a", Digest: "2", Lines: 1}, {File: "c", Digest: "1", Lines: 2}} {
		c.AddQuarantine(one)
	}
	if len(c.Quarantine) != 2 || c.Quarantine[0].File != "a" || c.Quarantine[1].File != "c" {
		t.Errorf("%+v", c.Quarantine)
	}
}

// TestStrings: appendString escapes as encoding/json does, and every string survives writing and reading.
func TestStrings(t *testing.T) {
	for c := range 256 {
		for _, s := range []string{string([]byte{byte(c)}), "a" + string(rune(c)) + "z"} {
			text := appendString([]byte("x"), s)
			var back string
			if err := json.Unmarshal(text[1:], &back); err != nil || text[0] != 'x' || back != strings.ToValidUTF8(s, "�") {
				t.Errorf("%q is %s, and back %q (%v)", s, text, back, err)
			}
			if byJSON, _ := json.Marshal(s); !bytes.Equal(byJSON, text[1:]) {
				t.Errorf("%q is %s, and %s of encoding/json", s, text[1:], byJSON)
			}
		}
	}
}

// TestBadDocuments: the error of an invalid document names the member.
func TestBadDocuments(t *testing.T) {
	b := &record.Batch{}
	b.Reset(mustType("SL1L2"), "")
	b.AppendTimes(b.AddHeader(record.DefaultHeader()), 0, day, 1)
	for i := range b.Num {
		b.Num[i] = []float64{1.5}
	}
	good := string(AppendJSON(nil, "s", b))
	into := func(text string) error {
		out := &record.Batch{}
		out.Reset(mustType("SL1L2"), "")
		_, err := ParseJSON([]byte(text), out)
		return err
	}
	if err := into(good); err != nil {
		t.Fatal(err)
	}
	for from, x := range map[string]struct{ to, why string }{
		good:                            {"[]", "is not a JSON object"},
		`"model":"`:                     {`"modell":"`, "member model"},
		`"fcst_valid_epoch":`:           {`"fcst_valid_epoch":"x`, "is not a JSON object"},
		`"fcst_valid_epoch":1704067200`: {`"fcst_valid_epoch":"x"`, "member fcst_valid_epoch"},
		`"subset":"s"`:                  {`"subset":1`, "member subset"},
		`"data":[`:                      {`"data":{"x":[`, "is not a JSON object"},
		`"data":[{"fcst_lead":0,`:       {`"data":[{"fcst_lead":0.5,`, "member fcst_lead"},
		`{"fcst_lead":0,`:               {`{"fcst_lead":4294967296,`, "member fcst_lead: value out of range"},
		`"fcst_lead":0,`:                {``, "an entry has no fcst_lead"},
		`"fbar":1.5`:                    {`"fbar":"1.5"`, "is not of the column's kind"},
		`"obar":1.5`:                    {`"nobar":1.5`, "is not a column of SL1L2"},
	} {
		bad := strings.Replace(good, from, x.to, 1)
		if err := into(bad); bad == good || err == nil || !strings.Contains(err.Error(), x.why) {
			t.Errorf("%s in place of %s: %v, want %s", x.to, from, err, x.why)
		}
	}
	for _, text := range []string{`{}`, `5`, `x`} {
		if err := ParseEntries([]byte(text), b, 0, 0); err == nil {
			t.Errorf("%s is taken for entries", text)
		}
	}
}

// TestColumnsOfAPayload: a column of missing, equal or different values survives bit for bit, and has as many bytes
// as the layout requires.
func TestColumnsOfAPayload(t *testing.T) {
	other := math.Float64frombits(0x7ff8_0000_0000_0001)
	for name, x := range map[string]struct {
		col   []float64
		bytes int
	}{
		"missing":                   {[]float64{record.Missing(), record.Missing()}, 1},
		"equal":                     {[]float64{2.5, 2.5, 2.5}, 9},
		"one":                       {[]float64{7}, 9},
		"one missing":               {[]float64{record.Missing()}, 1},
		"the last differs":          {[]float64{1, 1, 2}, 25},
		"the first is not a number": {[]float64{other, 1}, 17},
		"the last is missing":       {[]float64{1, record.Missing()}, 17},
		"zero and minus zero":       {[]float64{0, math.Copysign(0, -1)}, 17},
	} {
		data := appendFloats(nil, x.col)
		if len(data) != x.bytes {
			t.Errorf("%s: %d bytes, want %d", name, len(data), x.bytes)
		}
		d := PayloadDecoder{r: payloadReader{data: data}, records: len(x.col), wantsAll: true, wanted: slices.Repeat([]bool{true}, len(x.col))}
		back := d.floats(nil)
		same := slices.EqualFunc(back, x.col, func(a, b float64) bool {
			return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
		})
		if !same || d.r.failed || len(d.r.data) != 0 {
			t.Errorf("%s: %v comes back as %v", name, x.col, back)
		}
	}
}

// TestGroups: types in the order of arrival, each with its documents, and nothing after Reset.
func TestGroups(t *testing.T) {
	var g Groups
	empty := &record.Batch{}
	empty.Reset(mustType("PCT"), "")
	g.Add(empty)
	for _, name := range []string{"VL1L2", "SL1L2", "VL1L2"} {
		b := &record.Batch{}
		b.Reset(mustType(name), name+".stat")
		head := b.AddHeader(record.DefaultHeader())
		for _, valid := range []int64{day, day + 3600} {
			b.AppendTimes(head, 0, valid, 1)
		}
		for i := range b.Num {
			b.Num[i] = make([]float64, 2)
		}
		g.Add(b)
	}
	if types := g.Types(); len(types) != 2 || types[0].Name != "VL1L2" || types[1].Name != "SL1L2" {
		t.Fatalf("%v", types)
	}
	docs, places, rows := 0, 0, 0
	for d := range g.Grouper(mustType("VL1L2")).Docs() {
		docs++
		rows += d.Rows.Len()
		if len(d.Files) != d.Rows.Len() || d.Files[0] != "VL1L2.stat" {
			t.Errorf("from %v", d.Files)
		}
	}
	for range g.Grouper(mustType("VL1L2")).HeadersAndTimes() {
		places++
	}
	if docs != 2 || places != 2 || rows != 4 {
		t.Errorf("%d documents of %d records, %d places", docs, rows, places)
	}
	if g.Reset(); len(g.Types()) != 0 {
		t.Error("types are left")
	}
}

// TestMergeKeeps: a document that keeps conflicts keeps all records, and Merge reports each pair of records of one
// identity once.
func TestMergeKeeps(t *testing.T) {
	rows := func(keep bool, values ...float64) *record.Batch {
		b := &record.Batch{}
		b.Reset(mustType("SL1L2"), "")
		b.AddHeader(record.DefaultHeader())
		b.KeepConflicts = keep
		for _, v := range values {
			b.AppendTimes(0, 3600, day, 1)
			for k := range b.Num {
				b.Num[k] = append(b.Num[k], v)
			}
		}
		return b
	}
	var into record.Batch
	var met [][2]int
	Merge(&into, rows(true, 1, 2), &Doc{Rows: rows(true, 3, 4)}, func(i, j int) { met = append(met, [2]int{i, j}) })
	if into.Len() != 4 || !slices.Equal(met, [][2]int{{0, 0}, {0, 1}, {1, 0}, {1, 1}}) {
		t.Errorf("%d records, met %v", into.Len(), met)
	}
}

// TestSort: Sort has the result of a stable sort.
func TestSort(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 50 {
		g := NewGrouper(mustType("SL1L2"))
		g.Headers = make([]record.Header, 1+r.IntN(4))
		for i := range r.IntN(20) {
			g.Rows = append(g.Rows, Row{int32(r.IntN(len(g.Headers))), int32(r.IntN(3)), int64(r.IntN(3)), 0, int32(i)})
		}
		want := slices.Clone(g.Rows)
		slices.SortStableFunc(want, func(a, b Row) int {
			return cmp.Or(cmp.Compare(a.Header, b.Header), cmp.Compare(a.Valid, b.Valid), cmp.Compare(a.Lead, b.Lead))
		})
		if g.Sort(); !slices.Equal(g.Rows, want) {
			t.Fatalf("got\n%v\nwant\n%v", g.Rows, want)
		}
	}
}
