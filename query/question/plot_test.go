package question

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/record"
)

// TestPlotsGolden compares the questions of a spec of this project with a golden file.
func TestPlotsGolden(t *testing.T) {
	spec, err := metviewer.ReadPlotSpec(filepath.Join("..", "..", "formats", "metviewer", "testdata", "plot.xml"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	describe(&b, spec)
	qs, _ := FromPlots(spec)
	for _, q := range qs {
		fmt.Fprintf(&b, "%s\n  title %q, subset %q, labels %q %q\n  valid %+v\n  leads %v\n  clock %+v\n  curves %v\n  columns", q.Name, q.Title, q.Subset, q.Drawing.XLabel, q.Drawing.YLabel, q.Valid, q.Lead, q.TimeFilter, q.Drawing.Curves)
		for _, c := range q.Columns {
			b.WriteString(" " + c.Name)
		}
		b.WriteString("\n")
	}
	golden(t, "plot.golden", b.String())
}

// plotOf parses a plot around the given elements.
func plotOf(t *testing.T, body string) (qs []*Question, notes []string) {
	t.Helper()
	spec, err := metviewer.ParsePlotSpec("p.xml", []byte("<plot_spec><plot>\n<template>series_plot.R_tmpl</template>"+body+"</plot></plot_spec>"))
	if err != nil {
		t.Fatal(err)
	}
	return FromPlots(spec)
}

const (
	rmse   = `<dep><dep1><fcst_var name="TMP"><stat>RMSE</stat></fcst_var></dep1></dep><agg_stat><agg_sl1l2>true</agg_sl1l2></agg_stat>`
	byLead = `<indep name="fcst_lead"/>`
)

// TestPlotLeads: METviewer's tables have leads as [H]HHMMSS or as hours.
func TestPlotLeads(t *testing.T) {
	const h = 3600
	for _, c := range []struct {
		codes []string
		want  []int32
	}{
		{[]string{"60000", "120000", "3600000"}, []int32{6 * h, 12 * h, 360 * h}}, // MET
		{[]string{"0", "3000", "13045"}, []int32{0, 1800, h + 30*60 + 45}},
		{[]string{"0", "6", "24", "384"}, []int32{0, 6 * h, 24 * h, 384 * h}}, // VSDB
		{[]string{"24", "100", "240000"}, []int32{24, 60, 24 * h}},            // one code determines the coding of all
		{[]string{"0"}, []int32{0}},
	} {
		var body strings.Builder
		for _, code := range c.codes {
			body.WriteString("<val>" + code + "</val>")
		}
		qs, notes := plotOf(t, rmse+`<indep name="fcst_lead">`+body.String()+`</indep>`)
		if len(qs) != 1 || !slices.Equal(qs[0].Lead, c.want) {
			t.Errorf("%v: %+v, notes %v", c.codes, qs, notes)
		}
	}
}

// TestNetCDFLevel: the asterisks of a level that MET writes are no pattern.
func TestNetCDFLevel(t *testing.T) {
	for _, level := range []string{"0,*,*", "(0,*,*)", "(*,*)"} {
		qs, notes := plotOf(t, rmse+byLead+`<plot_fix><field name="fcst_lev"><set><val>`+level+`</val></set></field></plot_fix>`)
		if len(qs) != 1 || !slices.Equal(qs[0].Header[record.FcstLev], []string{level}) {
			t.Errorf("%s: %v, %q", level, qs, notes)
		}
	}
}

// TestOmittedPlots: if a property selects records in a way that no question can express, the plot is omitted, and a note
// names the property with its line.
func TestOmittedPlots(t *testing.T) {
	fix := func(field, set string) string {
		return rmse + byLead + "<plot_fix>\n<field name=\"" + field + "\"><set>" + set + "</set></field></plot_fix>"
	}
	for name, c := range map[string]struct{ body, says string }{
		"SQL condition":    {rmse + byLead + "\n<plot_cond>h.model LIKE 'x%'</plot_cond>", "line 3: plot_cond"},
		"pattern":          {fix("vx_mask", "<val>G2*</val>"), `line 3: vx_mask: the pattern "G2*"`},
		"pattern of level": {fix("fcst_lev", "<val>P*</val>"), `line 3: fcst_lev: the pattern "P*"`},
		"variable":         {strings.Replace(rmse, "TMP", "T*", 1) + byLead, `fcst_var: the pattern "T*"`},
		"unknown field":    {fix("fcst_thr", "<val>1</val>"), "line 3: fcst_thr"},
		"axis":             {rmse + "\n<indep name=\"storm\"/>", `line 3: indep: "storm"`},
		"lead":             {fix("fcst_lead", "<val>soon</val>"), `line 3: fcst_lead: "soon"`},
		"lead not HHMMSS":  {fix("fcst_lead", "<val>9999</val>"), "HHMMSS"},
		"hour":             {fix("init_hour", "<val>24</val>"), `line 3: init_hour: "24"`},
		"time":             {fix("fcst_init_beg", "<val>yesterday</val>"), "yesterday"},
		"range of texts":   {fix("vx_mask", "<val>BETWEEN 'a' AND 'b'</val>"), "range of texts"},
		"contradiction":    {fix("vx_mask", "<val>A</val>") + `<series1><field name="vx_mask"><val>B</val></field></series1>`, "contradicts"},
		"statistic":        {`<dep><dep1><fcst_var name="TMP"><stat>WARMTH</stat></fcst_var></dep1></dep>` + byLead, "WARMTH"},
		"sums, other type": {`<dep><dep1><fcst_var name="TMP"><stat>CSI</stat></fcst_var></dep1></dep><agg_stat><agg_sl1l2>true</agg_sl1l2></agg_stat>` + byLead, "not computed from SL1L2"},
		"no variable":      {byLead, "no dependent variable"},
	} {
		qs, notes := plotOf(t, c.body)
		if len(qs) != 0 || !strings.Contains(strings.Join(notes, "\n"), c.says) {
			t.Errorf("%s: %d questions, notes %q, want one that says %q", name, len(qs), notes, c.says)
		}
	}
}

func TestStarIsAll(t *testing.T) {
	qs, notes := plotOf(t, rmse+byLead+`<plot_fix><field name="vx_mask"><set><val>*</val></set></field></plot_fix>`)
	if len(qs) != 1 || len(qs[0].Header[record.VxMask]) != 0 {
		t.Errorf("%+v %v", qs, notes)
	}
}

// TestFinishedStatistics: without agg_stat and calc_stat, METviewer reads the statistics that MET wrote.
func TestFinishedStatistics(t *testing.T) {
	for name, want := range map[string]string{
		"RMSE": "CNT rmse", "IQR": "CNT eiqr", "MAD": "CNT mad", "BCRMSE": "CNT bcmse", "GSS": "CTS gss", "ANOM_CORR": "CNT anom_corr", "VCNT_FBAR": "VCNT fbar",
		"NBR_FSS": "NBRCNT fss", "NBR_CNT_FBS": "NBRCNT fbs", "NBR_CNT_TOTAL": "NBRCNT total", "NBR_CSI": "NBRCTS csi", "NBR_CTC_TOTAL": "NBRCTC total",
		"S1": "GRAD s1", "FGBAR": "GRAD fgbar", "RPS": "RPS rps", "RPSS_SMPL": "RPS rpss_smpl", "RPS_COMP": "RPS rps_comp", "RPS_TOTAL": "RPS total",
		"PSTD_BRIER": "PSTD brier", "PCT_TOTAL": "PCT total", "MCTS_GER": "MCTS ger", "SSVAR_RMSE": "SSVAR rmse", "VL1L2_UFBAR": "VL1L2 ufbar", "ECNT_CRPS": "ECNT crps",
		"DMAP_HAUSDORFF": "DMAP hausdorff", "ORANK_PIT": "ORANK pit", "ENS_CRPSS": "ENSCNT crpss", "SEEPS": "SEEPS seeps", "SEEPS_OFPF1": "", "MPR_FCST": "MPR fcst",
		"MPR_CLIMO": "MPR obs_climo_mean", "CTC_FY_OY": "CTC fy_oy", "SAL1L2_TOTAL": "SAL1L2 total", "SS_INDEX": "SSIDX ss_index", "SSVAR_Spread": "", "VL1L2_BIAS": "", "FCST_PERC": "",
	} {
		qs, notes := plotOf(t, `<dep><dep1><fcst_var name="TMP"><stat>`+name+`</stat></fcst_var></dep1></dep>`+byLead)
		if want == "" {
			if len(qs) != 0 || !strings.Contains(strings.Join(notes, " "), "not in any supported line type") {
				t.Errorf("%s: %+v %v", name, qs, notes)
			}
			continue
		}
		if len(qs) != 1 || qs[0].Drawing.Method != "median" {
			t.Fatalf("%s: %+v %v, want %s", name, qs, notes, want)
		}
		if s, err := StatOf(qs[0], name); err != nil || s.LineType+" "+s.Needs[0] != want || qs[0].Type.Name != s.LineType {
			t.Errorf("%s is %s %v, %v; want %s", name, s.LineType, s.Needs, err, want)
		}
	}
}

func TestFindAll(t *testing.T) {
	file := filepath.Join("..", "..", "formats", "metviewer", "testdata", "plot.xml")
	qs, notes, err := FindAll(file)
	if err != nil || len(qs) < 2 || len(notes) == 0 {
		t.Fatalf("%d questions, notes %v, %v", len(qs), notes, err)
	}
	one, err := Find(file + "#" + qs[1].Name)
	if err != nil || one.Name != qs[1].Name {
		t.Errorf("%+v, %v", one, err)
	}
	if _, err := Find(file); err == nil || !strings.Contains(err.Error(), qs[0].Name) {
		t.Errorf("one of several was chosen: %v", err)
	}
	if _, err := Find(file + "#none"); err == nil || !strings.Contains(err.Error(), `"none"`) {
		t.Errorf("%v", err)
	}
	if _, err := Find("nothing.xml"); err == nil || !strings.Contains(err.Error(), "nothing.xml") {
		t.Errorf("%v", err)
	}
	if qs, notes, err := FindAll("test_3"); err != nil || len(qs) != 1 || notes != nil {
		t.Errorf("%v %v %v", qs, notes, err)
	}
}

// TestTimeFilter: a filter accepts hours of the valid and of the initialization time, and initialization times.
func TestTimeFilter(t *testing.T) {
	const day, h = 86400, 3600
	for _, c := range []struct {
		clock       TimeFilter
		valid, lead int64
		want        bool
	}{
		{TimeFilter{}, 5 * day, 6 * h, true},
		{TimeFilter{ValidHour: []int{6}}, 5*day + 6*h, 0, true},
		{TimeFilter{ValidHour: []int{6}}, 5*day + 7*h - 1, 0, true}, // HOUR() of 06:59:59
		{TimeFilter{ValidHour: []int{6}}, 5*day + 7*h, 0, false},
		{TimeFilter{InitHour: []int{0, 12}}, 5*day + 6*h, 18 * h, true},
		{TimeFilter{InitHour: []int{0, 12}}, 5*day + 6*h, 12 * h, false},
		{TimeFilter{Init: Times{List: []int64{4 * day}}}, 5 * day, 24 * h, true},
		{TimeFilter{Init: Times{First: day, Last: 2 * day}}, 5 * day, 24 * h, false},
	} {
		if got := c.clock.Accepts(c.valid, int32(c.lead)); got != c.want {
			t.Errorf("%+v accepts %d, %d: %v", c.clock, c.valid, c.lead, got)
		}
	}
	base := "name: x\nline_type: SL1L2\ncolumns: [fbar]\n"
	qs, err := Parse("q.yaml", []byte(base+"init_hour: [0, 12]\nfcst_init_beg: {first: '2019-01-01', last: '2019-01-02', step: 12h}\n"))
	if err != nil || len(qs[0].TimeFilter.InitHour) != 2 || len(qs[0].TimeFilter.Init.Expand()) != 3 {
		t.Errorf("%+v, %v", qs, err)
	}
	for _, bad := range []string{"valid_hour: [24]\n", "init_hour: [12, 0]\n", "fcst_init_beg: {first: '2019-01-02', last: '2019-01-01'}\n"} {
		if _, err := Parse("q.yaml", []byte(base+bad)); err == nil || !strings.Contains(err.Error(), bad[:strings.Index(bad, ":")]) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
