package flavour

import (
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/query/question"
)

// plain is a dialect with the required functions and those of metviewer-sql, Binary and BinaryLiteral.
func plain() *Dialect {
	return &Dialect{
		Name:     "plain",
		Table:    func(subset, table string) string { return subset + "." + table },
		Binary:   func(e string) string { return "bytes(" + e + ")" },
		DateTime: func(v int64) string { return "TIMESTAMP " + Quote(DateTime(v)) },
		Epoch:    func(e string) string { return "epoch(" + e + ")" },
		DocFrom:  func(subset, table, where string) string { return subset + "." + table + " WHERE " + where },
		DocField: func(f string) string { return "r." + f },
		DocEntry: func(c string) string { return "d." + c },
		DocAnd:   " AND ",
		DocKeys:  func(keys []string) (string, []any) { return "r.id = ?", []any{keys} },

		BinaryLiteral: Quote,
	}
}

// TestTimeFilter compares the conditions on hours and initialization times with their expected text. The text in each
// engine's dialect is in a golden file.
func TestTimeFilter(t *testing.T) {
	q, err := question.Find("test_1")
	if err != nil {
		t.Fatal(err)
	}
	q.TimeFilter = question.TimeFilter{ValidHour: []int{0, 6}, InitHour: []int{12}, Init: question.Times{First: 1514764800, Last: 1514851200}}
	c := design.NewCatalog("a")
	hour, mod := plain(), plain()
	hour.Hour = func(e string) string { return "hour(" + e + ")" }
	mod.Mod = func(a, b string) string { return "MOD(" + a + ", " + b + ")" }
	for _, tc := range []struct {
		d       *Dialect
		design  design.Name
		flavour Name
		want    []string
	}{
		{hour, design.Normalized, MetviewerSQL, []string{"hour(ld.fcst_valid_beg) IN (0, 6)", "hour(ld.fcst_init_beg) IN (12)", "bytes(ld.fcst_init_beg) BETWEEN '2018-01-01 00:00:00' AND"}},
		{plain(), design.Normalized, MetviewerSQL, []string{"% 86400", "IN (0, 21600)"}},
		{plain(), design.Normalized, SQL, []string{"(epoch(ld.fcst_valid_beg) + 62135596800) % 86400 - (epoch(ld.fcst_valid_beg) + 62135596800) % 3600 IN (0, 21600)", "IN (43200)", "ld.fcst_init_beg BETWEEN TIMESTAMP '2018-01-01 00:00:00'"}},
		{plain(), design.Wide, EpochRange, []string{"(fcst_valid_epoch + 62135596800) % 86400", "(fcst_valid_epoch - fcst_lead + 62135596800) % 86400", "fcst_init_beg BETWEEN"}},
		{plain(), design.Document, Keys, []string{"r.fcst_valid_epoch - d.fcst_lead BETWEEN 1514764800 AND 1514851200"}},
		{mod, design.Document, EpochRange, []string{"MOD((r.fcst_valid_epoch + 62135596800), 86400) - MOD((r.fcst_valid_epoch + 62135596800), 3600) IN (0, 21600)"}},
	} {
		p, err := Build(tc.d, tc.design, tc.flavour, q.InSubset("a"), c)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range tc.want {
			if !strings.Contains(p.Text, w) {
				t.Errorf("%s %s %s lacks %q:\n%s", tc.d.Name, tc.design, tc.flavour, w, p.Text)
			}
		}
	}
}
