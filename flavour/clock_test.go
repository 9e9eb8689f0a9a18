package flavour

import (
	"strings"
	"testing"

	"barograph/design"
	"barograph/question"
)

// TestClockIsPhrased holds the conditions on hours and init times, in every
// dialect, design and flavour, against their text.
func TestClockIsPhrased(t *testing.T) {
	q, err := question.Find("test_1")
	if err != nil {
		t.Fatal(err)
	}
	q.Clock = question.Clock{ValidHour: []int{0, 6}, InitHour: []int{12}, Init: question.Times{First: 1514764800, Last: 1514851200}}
	c := catalog(t)
	for _, tc := range []struct {
		d       *Dialect
		design  design.Name
		flavour Name
		want    []string
	}{
		{DuckDB(), design.Normalized, MetviewerSQL, []string{"hour(ld.fcst_valid_beg) IN (0, 6)", "hour(ld.fcst_init_beg) IN (12)", "CAST(ld.fcst_init_beg AS VARCHAR) BETWEEN '2018-01-01 00:00:00' AND"}},
		{DuckDB(), design.Normalized, SQL, []string{"(epoch(ld.fcst_valid_beg)::BIGINT) % 86400 - (epoch(ld.fcst_valid_beg)::BIGINT) % 3600 IN (0, 21600)", "IN (43200)", "ld.fcst_init_beg BETWEEN TIMESTAMP '2018-01-01 00:00:00'"}},
		{DuckDB(), design.Wide, EpochRange, []string{"(fcst_valid_epoch) % 86400", "(fcst_valid_epoch - fcst_lead) % 86400", "fcst_init_beg BETWEEN"}},
		{DuckDB(), design.Document, Keys, []string{"fcst_valid_epoch - d.fcst_lead BETWEEN 1514764800 AND 1514851200"}},
		{SQLite(), design.Normalized, MetviewerSQL, []string{"% 86400", "IN (0, 21600)"}},
		{Oracle(), design.Normalized, MetviewerSQL, []string{"EXTRACT(HOUR FROM ld.fcst_valid_beg) IN (0, 6)", "ld.fcst_init_beg || '' BETWEEN '2018-01-01 00:00:00' AND"}},
		{Oracle(), design.Document, Keys, []string{"MOD((r.fcst_valid_epoch), 86400) - MOD((r.fcst_valid_epoch), 3600) IN (0, 21600)", "r.fcst_valid_epoch - d.fcst_lead BETWEEN 1514764800 AND 1514851200"}},
		{SQLite(), design.Document, EpochRange, []string{"(r.fcst_valid_epoch - d.value ->> 'fcst_lead') % 86400"}},
	} {
		p, err := Put(tc.d, tc.design, tc.flavour, q.In("a"), c)
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
