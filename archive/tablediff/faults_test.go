package tablediff

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// difference returns a row of a table that differs. Each text lists a column, its left and its right value.
func difference(table, displaced string, columns ...string) *Difference {
	d := &Difference{Table: table, displaced: displaced}
	for _, c := range columns {
		f := strings.Split(c, "|")
		d.Columns, d.Left, d.Right = append(d.Columns, f[0]), append(d.Left, f[1]), append(d.Right, f[2])
	}
	return d
}

// TestFaults: METdbLoad's own effect on a row is explained by the fault. Any other value in the same columns is not.
func TestFaults(t *testing.T) {
	soil := []string{
		"line_num|7|7", "version|V01|V01", "fcst_var|TSOILT|TSOILT", "fcst_lev||3735.", "obs_lev||3735.", "fcst_lead|30|30",
		"fcst_valid_beg|2019-01-02 06:00:00|2019-01-02 06:00:00", "fcst_init_beg|2019-01-01 00:00:00|2019-01-02 05:59:30",
		"total|3735|271", "fbar|270.6|271.25", "obar|271.25|73000", "fobar|73000|73100", "mae|73100|-9999",
	}
	with := func(columns []string, changes ...string) []string {
		out := slices.Clone(columns)
		for _, c := range changes {
			name, _, _ := strings.Cut(c, "|")
			out[slices.IndexFunc(out, func(o string) bool { return strings.HasPrefix(o, name+"|") })] = c
		}
		return out
	}
	tail := []string{"obs_qc|NA|NA", "ens_mean|3|3", "climo_mean|4|4", "spread|5|5", "ens_mean_oerr|6|6", "spread_oerr|7|7", "spread_plus_oerr|8|8"}
	stat := []string{"briercl|0.2|-9999", "briercl_ncl|NA|NA", "briercl_ncu|0.3|-9999", "bss|0.4|-9999", "bss_smpl|0.5|-9999"}
	reli := []string{
		"version|V01|V01", "fcst_lead|30|30", "fcst_valid_beg|2019-01-02 06:00:00|2019-01-02 06:00:00",
		"fcst_init_beg|2019-01-01 00:00:00|2019-01-02 05:59:30", "total|NULL|0",
	}
	for name, x := range map[string]struct {
		d    *Difference
		want string // the fault
	}{
		"a threshold":                  {difference("line_data_pstd_thresh", "0.1", "i_value|7|7", "thresh_i|0.6|0.1"), "PSTD cut"},
		"a missing statistic":          {difference("line_data_pstd_thresh", "-9999", "i_value|2|2", "thresh_i|0.1|-9999"), "PSTD cut"},
		"another threshold":            {difference("line_data_pstd_thresh", "0.1", "i_value|7|7", "thresh_i|0.6|0.2"), ""},
		"a threshold without a source": {difference("line_data_pstd_thresh", null, "i_value|7|7", "thresh_i|0.6|0.1"), ""},
		"statistics":                   {difference("line_data_pstd", "", with(stat)...), "PSTD cut"},
		"other statistics":             {difference("line_data_pstd", "", with(stat, "bss|0.4|0.7")...), ""},
		"another column of PSTD":       {difference("line_data_pstd", "", append(with(stat), "brier_ncu|0.1|-9999")...), ""},
		"the eighth member":            {difference("line_data_orank", "2.50", append(tail, "n_ens|9|9", "climo_stdev|1|2.5")...), "ORANK climo_stdev"},
		"seven members":                {difference("line_data_orank", null, append(tail, "n_ens|7|7", "climo_stdev|1|-9999")...), "ORANK climo_stdev"},
		"six members":                  {difference("line_data_orank", null, append(tail, "n_ens|6|6", "climo_stdev|1|3")...), "ORANK climo_stdev"},
		"another stdev":                {difference("line_data_orank", "2.5", append(tail, "n_ens|9|9", "climo_stdev|1|3")...), ""},
		"another stdev of six":         {difference("line_data_orank", null, append(tail, "n_ens|6|6", "climo_stdev|1|4")...), ""},
		"an empty level":               {difference("line_data_sl1l2", "", soil...), "empty level"},
		"an adopted one":               {difference("line_data_sl1l2", "", with(soil, "fbar|-9999|271.25")...), "empty level"},
		"another sum":                  {difference("line_data_sl1l2", "", with(soil, "obar|271.25|73001")...), ""},
		"another total":                {difference("line_data_sl1l2", "", with(soil, "total|3735|270")...), ""},
		"another initial time":         {difference("line_data_sl1l2", "", with(soil, "fcst_init_beg|2019-01-01 00:00:00|2019-01-02 05:59:31")...), ""},
		"another lead":                 {difference("line_data_sl1l2", "", with(soil, "fcst_lead|30|31")...), ""},
		"the last value":               {difference("line_data_sl1l2", "", with(soil, "mae|73100|1")...), ""},
		"RELI":                         {difference("line_data_pct", "", reli...), "RELI total"},
		"RELI at another time":         {difference("line_data_pct", "", with(reli, "fcst_init_beg|2019-01-01 00:00:00|2019-01-01 00:00:01")...), ""},
		"MPR":                          {difference("line_data_mpr", "", "mpr_climo|-9999|NA", "obs_qc|NA|1", "climo_mean|1|2", "climo_stdev|2|0.5", "climo_cdf|0.5|-9999"), "MPR moved by one"},
		"another MPR":                  {difference("line_data_mpr", "", "mpr_climo|-9999|NA", "obs_qc|NA|1", "climo_mean|1|3", "climo_stdev|2|0.5", "climo_cdf|0.5|-9999"), ""},
	} {
		table := Table{Known: map[string]int64{}, ColumnCounts: map[string]int64{}}
		table.add(*x.d, &Options{Faults: METdbLoad()})
		if got := strings.Join(slices.Collect(maps.Keys(table.Known)), ", "); got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}

// TestRowsOfOneKey: rows with the same key are paired by their values, in whatever order the servers return them.
func TestRowsOfOneKey(t *testing.T) {
	p := &query{columns: []string{"object_id", "time_index", "area"}, keys: 1}
	rows := func(texts ...string) (out []row) {
		for _, s := range texts {
			out = append(out, row{values: strings.ReplaceAll(s, " ", separator)})
		}
		return out
	}
	table := Table{Known: map[string]int64{}, ColumnCounts: map[string]int64{}}
	table.compareKey(p, "CF_1", rows("3 100", "1 50", "2 70"), rows("2 71", "3 101", "1 50"), &Options{})
	if table.Equal != 1 || table.ChangedRows != 2 || !maps.Equal(table.ColumnCounts, map[string]int64{"area": 2}) {
		t.Errorf("%+v", table)
	}
}
