package enginetest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// Dialect compares the query text of every case, design and flavour of an engine with the files in its
// testdata/dialect; -update rewrites the files. Long lists are shortened to their ends and a digest.
func Dialect(t *testing.T, d engine.Driver, dialect *flavour.Dialect, update bool) {
	t.Helper()
	cases, err := question.Cases()
	if err != nil {
		t.Fatal(err)
	}
	byClock := cases[0].InSubset("a")
	byClock.Name = "clock"
	byClock.TimeFilter = question.TimeFilter{
		ValidHour: []int{0, 6}, InitHour: []int{12}, Init: question.Times{First: newYear2018, Last: newYear2018 + day},
	}
	asked := append(slices.Clip(cases), byClock)
	if len(archive.OfferOf(&d).MeanDesigns) > 0 {
		asked = append(asked, question.MeanAnomalyCorrelation("a"))
	}
	c := CasesCatalog(t)
	for _, q := range asked {
		t.Run(q.Name, func(t *testing.T) {
			got := phrased(t, dialect, archive.Designs(&d), q.InSubset("a"), c)
			golden(t, filepath.Join("testdata", "dialect", q.Name+".sql"), got, update)
		})
	}
}

// CasesCatalog is the catalog of an archive for the cases. Like the real one, it has four levels of HGT and
// one more variable, three masks, and other series.
func CasesCatalog(t *testing.T) *design.Catalog {
	t.Helper()
	c := design.NewCatalog("a")
	for _, g := range []struct {
		lineType, variable string
		masks, levels      []string
	}{
		{"SAL1L2", "HGT", []string{"G2", "G2/NHX", "G2/PNA", "G2/SHX", "G2/TRO"}, []string{"P1000", "P250", "P500", "P700"}},
		{"VAL1L2", "WIND", []string{"G2/NHX", "G2/SHX"}, []string{"P500"}},
	} {
		lt, ok := record.TypeByName(g.lineType)
		if !ok {
			t.Fatalf("no line type %s", g.lineType)
		}
		h := record.DefaultHeader()
		h[record.Version], h[record.Model], h[record.ObType] = "V01", "GFS", "GFS"
		h[record.FcstVar], h[record.ObsVar] = g.variable, g.variable
		var b record.Batch
		b.Reset(lt, "")
		for _, mask := range g.masks {
			for _, level := range g.levels {
				h[record.VxMask], h[record.FcstLev], h[record.ObsLev] = mask, level, level
				head := b.AddHeader(h)
				for _, valid := range []int64{1514764800, 1514786400, 1552176000} { // 2018-01-01 00 and 06, 2019-03-10 00
					b.AppendTimes(head, 21600, valid, 1)
				}
			}
		}
		for i := range b.Num {
			b.Num[i] = make([]float64, b.Len())
		}
		c.Add(&b)
	}
	return c
}

// phrased returns the texts of a question in all designs and flavours.
func phrased(t *testing.T, d *flavour.Dialect, designs []design.Name, q *question.Question, c *design.Catalog) string {
	var b strings.Builder
	for _, n := range designs {
		for _, f := range flavour.Names() {
			if f == flavour.CachedSQL { // it has the text of sql; no engine here caches answers
				continue
			}
			p, err := flavour.Build(d, n, f, q, c)
			if errors.Is(err, flavour.ErrCannotExpress) {
				continue
			}
			if err != nil {
				t.Fatalf("%s, %s: %v", n, f, err)
			}
			text := lists.ReplaceAllStringFunc(p.Text, func(l string) string { return shorten(l, ", ") })
			fmt.Fprintf(&b, "-- %s, %s\n%s\n", n, f, text)
			for i, a := range p.Args {
				text := fmt.Sprintf("%s", a)
				if list, ok := a.([]string); ok {
					text = strings.Join(list, ",")
				}
				fmt.Fprintf(&b, "-- ?%d = %s\n", i+1, shorten(text, ","))
			}
			if len(p.Keys) > 0 {
				fmt.Fprintf(&b, "-- %d keys\n", len(p.Keys))
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

var lists = regexp.MustCompile(`\([^()]{100,}\)|IN \[[^\[\]]{100,}\]`)

// shorten replaces the middle of a list of more than six elements by its number of elements and a digest.
func shorten(list, separator string) string {
	items := strings.Split(list, separator)
	if len(items) <= 6 {
		return list
	}
	cut := strings.Join(items[2:len(items)-2], separator)
	first, last := strings.Join(items[:2], separator), strings.Join(items[len(items)-2:], separator)
	middle := fmt.Sprintf("… %d more, %016x …", len(items)-4, xxh3.HashString(cut))
	return first + separator + middle + separator + last
}

// golden compares a text with a file.
func golden(t *testing.T, file, got string, update bool) {
	t.Helper()
	if update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; go test . -run TestDialect -update writes it", err)
	}
	if got != string(want) {
		t.Errorf("the text differs from %s; go test . -run TestDialect -update rewrites it\n--- want\n%s\n--- got\n%s", file, want, got)
	}
}
