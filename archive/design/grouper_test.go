package design

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/record"
)

// entry is a record of a document: its model, lead in hours, valid time in hours, and all its values.
type entry struct {
	model       string
	lead, valid int
	value       float64
}

// batchOf returns SL1L2 records in the given order.
func batchOf(file string, entries ...entry) *record.Batch {
	b := &record.Batch{}
	b.Reset(mustType("SL1L2"), file)
	for i, e := range entries {
		h := record.DefaultHeader()
		h[record.Model] = e.model
		at := slices.Index(b.Headers, h)
		if at < 0 {
			at = int(b.AddHeader(h))
		}
		b.AppendTimes(uint32(at), int32(e.lead)*3600, int64(e.valid)*3600, uint32(i+1)) //nolint:gosec // small
		for k := range b.Num {
			b.Num[k] = append(b.Num[k], e.value)
		}
	}
	return b
}

// text lists the records of a batch: model, valid time in hours, then leads in hours with their values.
func text(b *record.Batch) string {
	var out strings.Builder
	for i := range b.Len() {
		if i == 0 || b.Valid[i] != b.Valid[i-1] {
			fmt.Fprintf(&out, "%s %d:", b.Header(i)[record.Model], b.Valid[i]/3600)
		}
		fmt.Fprintf(&out, " %d=%g", b.Lead[i]/3600, b.Num[len(b.Num)-1][i])
	}
	return out.String()
}

// twoFiles returns a grouper of records of two files in disorder.
func twoFiles() *Grouper {
	g := NewGrouper(mustType("SL1L2"))
	g.Add(batchOf("a", entry{"N", 12, 0, 1}, entry{"M", 6, 24, 2}, entry{"M", 0, 24, 3}, entry{"N", 0, 0, 4}))
	g.Add(batchOf("b", entry{"M", 3, 24, 5}, entry{"O", 0, 0, 6}, entry{"M", 0, 0, 7}, entry{"N", 6, 0, 8}))
	return g
}

// TestDocuments: documents are ordered by header, in the order of occurrence or of SortHeaders, and then by valid time.
// Their records are ordered by lead, and each has the name of its file.
func TestDocuments(t *testing.T) {
	byOccurrence := []string{"N 0: 0=4 6=8 12=1 aba", "M 0: 0=7 b", "M 24: 0=3 3=5 6=2 aba", "O 0: 0=6 b"}
	byName := []string{byOccurrence[1], byOccurrence[2], byOccurrence[0], byOccurrence[3]}
	for name, c := range map[string]struct {
		compare func(a, b *record.Header) int
		want    []string
	}{
		"in the order of occurrence": {nil, byOccurrence},
		"by name":                    {(*record.Header).Compare, byName},
		"by name, descending": {
			func(a, b *record.Header) int { return b.Compare(a) },
			[]string{byName[3], byName[2], byName[0], byName[1]},
		},
	} {
		g := twoFiles()
		if c.compare != nil {
			g.SortHeaders(c.compare)
			if !slices.IsSortedFunc(g.Headers, func(a, b record.Header) int { return c.compare(&a, &b) }) {
				t.Errorf("%s: headers %q", name, g.Headers)
			}
			// The grouper still finds the headers: a further record joins its document.
			g.Add(batchOf("c", entry{"O", 9, 0, 9}))
			for i, d := range c.want {
				if strings.HasPrefix(d, "O") {
					c.want[i] = "O 0: 0=6 9=9 bc"
				}
			}
		}
		var docs []string
		for d := range g.Docs() {
			docs = append(docs, text(d.Rows)+" "+strings.Join(d.Files, ""))
			if d.Valid() != d.Rows.Valid[0] || *d.Header() != *d.Rows.Header(0) || len(d.Rows.Headers) != 1 {
				t.Errorf("%s: %d, %q", name, d.Valid(), *d.Header())
			}
		}
		if !slices.Equal(docs, c.want) {
			t.Errorf("%s:\n%q\nwant\n%q", name, docs, c.want)
		}
		var places []string
		for h, valid := range g.HeadersAndTimes() {
			places = append(places, fmt.Sprintf("%s %d:", h[record.Model], valid/3600))
		}
		for i, place := range places {
			if !strings.HasPrefix(c.want[i], place) {
				t.Errorf("%s: document %d is of %s, want %s", name, i, place, c.want[i])
			}
		}
		if len(places) != len(c.want) {
			t.Errorf("%s: %q", name, places)
		}
	}
}

// TestDocumentsStop: a caller may stop after each document.
func TestDocumentsStop(t *testing.T) {
	g := twoFiles()
	for stop := 1; stop <= 4; stop++ {
		docs, places, series := 0, 0, 0
		for range g.Docs() {
			if docs++; docs == stop {
				break
			}
		}
		for range g.HeadersAndTimes() {
			if places++; places == stop {
				break
			}
		}
		for range g.Series() {
			if series++; series == stop {
				break
			}
		}
		if docs != stop || places != stop || series != stop {
			t.Errorf("%d documents, %d places and %d series before the stop after %d", docs, places, series, stop)
		}
	}
	if g.Reset(); len(g.Rows) != 0 || len(g.Batches) != 0 || len(g.Headers) != 0 {
		t.Errorf("after Reset: %+v", g)
	}
	g.Add(batchOf("d", entry{"O", 0, 0, 1}))
	for d := range g.Docs() {
		if got := text(d.Rows); got != "O 0: 0=1" {
			t.Errorf("after Reset: %s", got)
		}
	}
}

// TestSeriesOfRows: a group of sorted rows has one header and one valid time.
func TestSeriesOfRows(t *testing.T) {
	for name, c := range map[string]struct {
		rows []Row
		want string
	}{
		"no row":               {nil, "[]"},
		"one row":              {[]Row{{}}, "[1]"},
		"two headers":          {[]Row{{Header: 0}, {Header: 1}}, "[1 1]"},
		"two times":            {[]Row{{Valid: 0}, {Valid: 1}, {Valid: 1}}, "[1 2]"},
		"two leads":            {[]Row{{Lead: 0}, {Lead: 1}}, "[2]"},
		"three, two, one rows": {[]Row{{}, {}, {}, {Valid: 5}, {Valid: 5}, {Header: 1}}, "[3 2 1]"},
	} {
		var sizes []int
		g := Grouper{Rows: c.rows}
		for rows := range g.Series() {
			sizes = append(sizes, len(rows))
		}
		if got := fmt.Sprint(sizes); got != c.want {
			t.Errorf("%s: groups of %s, want %s", name, got, c.want)
		}
	}
}

// TestMergeOfDocuments: the result is ordered, and a record of the new document replaces the existing one of the same
// identity. The caller gets the positions of both.
func TestMergeOfDocuments(t *testing.T) {
	rows := func(value float64, leads ...int) *record.Batch {
		var entries []entry
		for i, lead := range leads {
			entries = append(entries, entry{"M", lead, 0, value + float64(i)})
		}
		b := batchOf("", entries...)
		if len(leads) == 0 {
			b.AddHeader(batchOf("", entry{"M", 0, 0, 0}).Headers[0])
		}
		return b
	}
	for name, c := range map[string]struct {
		existing, added []int
		keep            bool
		want            string
		both            string
	}{
		"a new document":          {nil, []int{0, 6}, false, "M 0: 0=10 6=11", "[]"},
		"an empty document":       {[]int{0, 6}, nil, false, "M 0: 0=0 6=1", "[]"},
		"the new records first":   {[]int{12, 18}, []int{0, 6}, false, "M 0: 0=10 6=11 12=0 18=1", "[]"},
		"the new records last":    {[]int{0, 6}, []int{12, 18}, false, "M 0: 0=0 6=1 12=10 18=11", "[]"},
		"the new records between": {[]int{0, 18}, []int{6, 12}, false, "M 0: 0=0 6=10 12=11 18=1", "[]"},
		"two of them exist":       {[]int{0, 6, 12}, []int{0, 12, 18}, false, "M 0: 0=10 6=1 12=11 18=12", "[[0 0] [2 1]]"},
		"two, which are kept":     {[]int{0, 6, 12}, []int{0, 12, 18}, true, "M 0: 0=0 0=10 6=1 12=2 12=11 18=12", "[[0 0] [2 1]]"},
		"twice, and kept":         {[]int{6}, []int{6, 6, 12}, true, "M 0: 6=0 6=10 6=11 12=12", "[[0 0] [0 1]]"},
	} {
		var into record.Batch
		doc := &Doc{Rows: rows(10, c.added...)}
		doc.Rows.KeepConflicts = c.keep
		var both [][2]int
		Merge(&into, rows(0, c.existing...), doc, func(i, j int) { both = append(both, [2]int{i, j}) })
		if got := text(&into); got != c.want || fmt.Sprint(both) != c.both {
			t.Errorf("%s: %s, both %v; want %s, both %s", name, got, both, c.want, c.both)
		}
		if len(into.Headers) != 1 || slices.ContainsFunc(into.HeaderIndex, func(h uint32) bool { return h != 0 }) {
			t.Errorf("%s: %d headers, rows with %d", name, len(into.Headers), into.HeaderIndex)
		}
	}
}

// TestGroupsAgain: after Reset, the groups have only the types that are added then.
func TestGroupsAgain(t *testing.T) {
	var g Groups
	g.Add(batchOf("a", entry{"M", 0, 0, 1}))
	g.Reset()
	other := &record.Batch{}
	other.Reset(mustType("RHIST"), "b")
	other.AppendTimes(other.AddHeader(record.DefaultHeader()), 0, 0, 1)
	g.Add(other)
	if types := g.Types(); len(types) != 1 || types[0].Name != "RHIST" {
		t.Errorf("%v", types)
	}
	if of := g.Grouper(mustType("SL1L2")); len(of.Rows) != 0 {
		t.Errorf("rows %v of the records before Reset", of.Rows)
	}
	g.Add(batchOf("c", entry{"M", 0, 0, 2}))
	if types := g.Types(); len(types) != 2 || types[1].Name != "SL1L2" || len(g.Grouper(types[1]).Rows) != 1 {
		t.Errorf("%v", types)
	}
}
