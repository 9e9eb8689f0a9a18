package mariadb

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/record"
)

// rowsOfType returns a batch of a type with one row for each list of repeating values, and 1, 2, 3 … in the numeric
// columns. All rows have one header, and the valid times are an hour apart.
func rowsOfType(t *testing.T, name string, change func(h *record.Header), repeats ...[]float64) *record.Batch {
	t.Helper()
	lt, ok := record.TypeByName(name)
	if !ok {
		t.Fatal("no", name)
	}
	b := &record.Batch{}
	b.Reset(lt, "a.vsdb")
	h := record.DefaultHeader()
	h[record.Version], h[record.FcstLev], h[record.ObsLev] = "V01", "Z2", "Z2"
	if change != nil {
		change(&h)
	}
	head := b.AddHeader(h)
	for i, values := range repeats {
		b.AppendTimes(head, 3600, 1546300800+int64(i)*3600, uint32(i+1))
		for k := range b.Num {
			b.Num[k] = append(b.Num[k], float64(k+1))
		}
		for k := range b.Text {
			b.Text[k] = append(b.Text[k], "x")
		}
		if lt.Group != nil {
			b.Group = append(b.Group, values...)
			b.GroupEnd = append(b.GroupEnd, uint32(len(b.Group)))
		}
	}
	return b
}

// newRepair returns a tally that can read rows.
func newRepair() *tally {
	t := newTally()
	t.seen = map[record.Key]uint64{}
	return t
}

// foundBy lists the faults as "name count place".
func foundBy(t *tally) string {
	var all []string
	for _, f := range t.findings() {
		all = append(all, f.Name+" "+strconv.FormatInt(f.Count, 10)+" "+f.First)
	}
	return strings.Join(all, "; ")
}

// TestRepairOfLevels: a VSDB line of soil temperature or moisture without a level has its values one column too far
// left. A line of another variable, of MET, or with a level stays as it is.
func TestRepairOfLevels(t *testing.T) {
	for name, c := range map[string]struct {
		variable, level, version string
		moved                    bool
	}{
		"soil temperature": {"TSOILT", "273.5", "V01", true}, "soil moisture": {"WSOILT", "12", "V01", true},
		"another variable": {"TMP", "273.5", "V01", false}, "of MET": {"TSOILT", "273.5", "V12.0", false}, "with a level": {"TSOILT", "Z0", "V01", false},
	} {
		b := rowsOfType(t, "SL1L2", func(h *record.Header) {
			h[record.FcstVar], h[record.FcstLev], h[record.ObsLev], h[record.Version] = c.variable, c.level, c.level, c.version
		}, nil, nil)
		before := slices.Clone(b.Num)
		for k := range before {
			before[k] = slices.Clone(before[k])
		}
		tally := newRepair()
		got := tally.repair(b)
		if got.Len() != 2 {
			t.Fatalf("%s: %d rows", name, got.Len())
		}
		if !c.moved {
			if foundBy(tally) != "" || got.Header(0)[record.FcstLev] != c.level || got.Num[1][0] != before[1][0] || got.Num[0][1] != before[0][1] {
				t.Errorf("%s: %s, %v", name, foundBy(tally), got.Num)
			}
			continue
		}
		level, _ := strconv.ParseFloat(c.level, 64)
		for i := range 2 {
			if got.Num[0][i] != level || !math.IsNaN(got.Num[1][i]) {
				t.Errorf("%s: total %v, fbar %v", name, got.Num[0][i], got.Num[1][i])
			}
			for k := 2; k < len(got.Num); k++ {
				if got.Num[k][i] != before[k-1][i] {
					t.Errorf("%s: column %d has %v, want %v", name, k, got.Num[k][i], before[k-1][i])
				}
			}
		}
		if foundBy(tally) != "empty level 2 a.vsdb:1" || got.Header(0)[record.FcstLev] != "" || got.Header(0)[record.ObsLev] != "" {
			t.Errorf("%s: %s, level %q", name, foundBy(tally), got.Header(0)[record.FcstLev])
		}
	}
}

// TestRepairOfTotals: a total of 0 in VSDB's lines of probabilities is missing; another total stays.
func TestRepairOfTotals(t *testing.T) {
	values := make([]float64, 2*3)
	for version, want := range map[string]string{"V01": "RELI total 1 a.vsdb:2", "V12.0": ""} {
		b := rowsOfType(t, "PCT", func(h *record.Header) { h[record.Version] = version }, values, values)
		b.Num[0][1] = 0
		tally := newRepair()
		got := tally.repair(b)
		if foundBy(tally) != want || got.Num[0][0] != 1 || math.IsNaN(got.Num[0][1]) != (want != "") {
			t.Errorf("%s: %s, totals %v", version, foundBy(tally), got.Num[0])
		}
	}
}

// TestRepairOfProbabilities: five statistics of a line of PSTD that were stored as its first thresholds are moved to their
// columns. The lost last thresholds are those of the PCT line with the same header, if its other thresholds are equal.
func TestRepairOfProbabilities(t *testing.T) {
	cut := []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0, 0.25}
	pct := func(first float64) []float64 {
		lt, _ := record.TypeByName("PCT")
		width := len(lt.Group.Fields)
		values := make([]float64, 7*width)
		for k := range values {
			values[k] = -1
		}
		for k, threshold := range []float64{first, 0.25, 0.4, 0.5, 0.6, 0.75, 1} {
			values[k*width] = threshold
		}
		return values
	}
	missing := record.Missing()
	for name, c := range map[string]struct {
		pct, values, want []float64
		repaired          bool
	}{
		"thresholds known":   {pct(0), cut, []float64{0, 0.25, 0.4, 0.5, 0.6, 0.75, 1}, true},
		"others known":       {pct(0.1), cut, []float64{0, 0.25, missing, missing, missing, missing, missing}, true},
		"thresholds unknown": {nil, cut, []float64{0, 0.25, missing, missing, missing, missing, missing}, true},
		"not cut":            {pct(0), []float64{0, 0.25, 0.4, 0.5, 0.6, 0.75, 1}, []float64{0, 0.25, 0.4, 0.5, 0.6, 0.75, 1}, false},
		"few thresholds":     {pct(0), []float64{0.1, 0.2, 0.3, 0.4, 0}, []float64{0.1, 0.2, 0.3, 0.4, 0}, false},
	} {
		tally := newRepair()
		if c.pct != nil {
			tally.repair(rowsOfType(t, "PCT", nil, c.pct))
		}
		b := rowsOfType(t, "PSTD", func(h *record.Header) { h[record.Alpha] = "0.05" }, slices.Clone(c.values))
		got := tally.repair(b)
		equal := slices.EqualFunc(got.Repeats(0), c.want, func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) })
		if !equal || (foundBy(tally) == "PSTD cut 1 a.vsdb:1") != c.repaired {
			t.Errorf("%s: %v, want %v; %s", name, got.Repeats(0), c.want, foundBy(tally))
		}
		for k, column := range misplacedPSTD {
			at, ok := b.Type.Column(column)
			if !ok {
				t.Fatalf("PSTD has no column %s", column)
			}
			if isMoved := got.Num[at.Slot][0] == cut[k]; isMoved != c.repaired {
				t.Errorf("%s: %s is %v", name, column, got.Num[at.Slot][0])
			}
		}
	}
}

// TestRepairOfRecords: a record that occurs again is removed, as a duplicate or a conflict; so is one whose times no
// engine can store. ORANK lines are reported and stay.
func TestRepairOfRecords(t *testing.T) {
	tally := newRepair()
	first := rowsOfType(t, "SL1L2", nil, nil, nil, nil)
	if got := tally.repair(first); got != first || foundBy(tally) != "" {
		t.Errorf("the first file: %d rows, %s", got.Len(), foundBy(tally))
	}
	again := rowsOfType(t, "SL1L2", nil, nil, nil, nil, nil)
	again.File = "b.vsdb"
	again.Num[3][1] = 99
	again.ObsEnd[3] = math.MaxInt64 / 2
	again.Valid[2] += 86400
	again.ValidEnd[2], again.ObsBeg[2], again.ObsEnd[2] = again.Valid[2], again.Valid[2], again.Valid[2]
	got := tally.repair(again)
	if got.Len() != 1 || got.Line[0] != 3 {
		t.Errorf("%d rows, lines %d", got.Len(), got.Line)
	}
	found := foundBy(tally)
	for _, want := range []string{"duplicate record 1 b.vsdb:1", "conflicting record 1 b.vsdb:2", "times out of range 1 b.vsdb:4: the end of the time of the observation is "} {
		if !strings.Contains(found, want) {
			t.Errorf("%s, want %s", found, want)
		}
	}
	tally = newRepair()
	if got := tally.repair(rowsOfType(t, "ORANK", nil, nil, nil)); got.Len() != 2 || foundBy(tally) != "ORANK climo_stdev 2 a.vsdb:1" {
		t.Errorf("%d rows, %s", got.Len(), foundBy(tally))
	}
}

// metviewerSchema returns the columns of each table of METviewer 5.1.
func metviewerSchema() map[string][]string {
	tables := map[string][]string{}
	add := func(table string, cols []metCol) {
		for _, c := range cols {
			tables[table] = append(tables[table], c.name)
		}
	}
	add(sqlengine.FileTable, parseColumns("data_file_id data_file_lu_id filename path load_date mod_date", ""))
	add(design.HeaderTable, parseColumns("stat_header_id "+metviewerHeader, ""))
	for name, own := range metviewerLines {
		add("line_data_"+strings.ToLower(name), slices.Concat(stdColumns(name), parseColumns(own, name)))
	}
	for name, own := range metviewerChildren {
		keys := "line_data_id i_value "
		if name == "mctc_cnt" {
			keys += "j_value "
		}
		add("line_data_"+name, parseColumns(keys+own, ""))
	}
	for _, o := range metviewerObjects {
		add(o.name, parseColumns(o.columns, ""))
	}
	for _, name := range []string{"data_file_lu", "metadata", "instance_info", "model_fcst_lead_offset"} {
		tables[name] = []string{"id"}
	}
	return tables
}

// TestOlderSchemas: a table or column that an older schema lacks is added by the repair; any other difference from
// METviewer's schema refuses the database.
func TestOlderSchemas(t *testing.T) {
	without := func(table, column string) func(map[string][]string) {
		return func(all map[string][]string) {
			all[table] = slices.DeleteFunc(all[table], func(c string) bool { return c == column })
		}
	}
	with := func(table, column string) func(map[string][]string) {
		return func(all map[string][]string) { all[table] = append(all[table], column) }
	}
	for name, c := range map[string]struct {
		change     func(map[string][]string)
		difference string
		found      string
	}{
		"complete":          {func(map[string][]string) {}, "", ""},
		"no metadata":       {func(all map[string][]string) { delete(all, "metadata") }, "", "missing tables 1: metadata"},
		"no lookup table":   {func(all map[string][]string) { delete(all, "data_file_lu") }, "", "missing tables 1: data_file_lu"},
		"no SSVAR":          {func(all map[string][]string) { delete(all, "line_data_ssvar") }, "", "missing tables 1: line_data_ssvar"},
		"no thresholds":     {func(all map[string][]string) { delete(all, "line_data_pct_thresh") }, "line_data_pct lacks its line_data_pct_thresh", ""},
		"no units":          {without(design.HeaderTable, "fcst_units"), "", "missing columns 1: stat_header.fcst_units"},
		"no header id":      {without(design.HeaderTable, "stat_header_id"), "stat_header lacks stat_header_id", ""},
		"no number of line": {without("line_data_pct", "line_data_id"), "line_data_pct lacks line_data_id", ""},
		"no file":           {without("line_data_sl1l2", "data_file_id"), "line_data_sl1l2 lacks data_file_id", ""},
		"another column":    {with("line_data_sl1l2", "note"), "line_data_sl1l2 also has note", ""},
		"Barograph's own":   {with("line_data_sl1l2", "barograph_row"), "", ""},
	} {
		s := &adoption{tables: metviewerSchema(), tally: newTally()}
		c.change(s.tables)
		if got := strings.Join(s.compareSchema(), ", "); got != c.difference {
			t.Errorf("%s: differences %q, want %q", name, got, c.difference)
		}
		var found []string
		for _, f := range s.tally.findings() {
			_, names, _ := strings.Cut(f.Problem, "5.1's: ")
			found = append(found, f.Name+" "+strconv.FormatInt(f.Count, 10)+": "+names)
		}
		if got := strings.Join(found, "; "); c.difference == "" && got != c.found {
			t.Errorf("%s: %q, want %q", name, got, c.found)
		}
	}
}

// TestStoredAsMETviewers: a number or text is stored as METviewer's column can store it, and only a column that stores it
// unchanged needs no twin.
func TestStoredAsMETviewers(t *testing.T) {
	for _, c := range []struct {
		kind  kind
		width int
		f     float64
		want  string
		exact bool
	}{
		{unsigned, 0, 7, "7", true},
		{unsigned, 0, 7.4, "7", false},
		{unsigned, 0, -1, "0", false},
		{unsigned, 0, math.MaxUint32, "4294967295", true},
		{unsigned, 0, math.MaxUint32 + 1, "4294967295", false},
		{unsigned, 0, math.NaN(), null, true},
		{signed, 0, -7, "-7", true},
		{signed, 0, math.MinInt32, "-2147483648", true},
		{signed, 0, math.MinInt32 - 1, "-2147483648", false},
		{signed, 0, math.MaxInt32, "2147483647", true},
		{signed, 0, math.NaN(), "-9999", true},
		{boolean, 0, 1, "1", true},
		{boolean, 0, 2, "1", false},
		{boolean, 0, 0, "0", true},
		{boolean, 0, math.NaN(), "0", true},
		{double, 0, 0.1, "0.1", true},
		{double, 0, math.NaN(), "-9999", true},
		{varchar, 3, 0.5, "0.5", true},
		{varchar, 3, 0.25, "0.2", false},
		{varchar, 3, math.NaN(), "-9999", true},
		{none, 0, 7, "", false},
		{none, 0, math.NaN(), "", true},
	} {
		col := column{met: metCol{kind: c.kind, width: c.width}}
		if got, exact := col.number([]byte("a"), c.f); string(got) != "a"+c.want || exact != c.exact {
			t.Errorf("%v as kind %d: %q, exact %t; want %q, %t", c.f, c.kind, got, exact, c.want, c.exact)
		}
	}
	for _, c := range []struct {
		kind    kind
		s, want string
		exact   bool
	}{
		{unsigned, "9", "9", true},
		{unsigned, "09", "9", false},
		{unsigned, "NA", null, false},
		{unsigned, "-1", null, false},
		{double, "0.05", "0.05", true},
		{double, "0.050", "0.05", false},
		{double, "NA", "-9999", true},
		{double, "x", "-9999", false},
		{double, "NaN", "-9999", false},
		{double, "Inf", "-9999", false},
		{double, "1e-5", "1e-05", false},
		{double, "1e7", "1e+07", false},
		{none, "NA", "", true},
		{none, "x", "", false},
		{varchar, "abcd", "abcd", true},
		{varchar, "abcde", "abcd", false},
		{varchar, "é", "\xe9", false},
		{varchar, "漢", "?", false},
	} {
		col := column{met: metCol{kind: c.kind, width: 4}, alias: "h"}
		if got, exact := col.text([]byte("a"), c.s); string(got) != "a"+c.want || exact != c.exact {
			t.Errorf("%q as kind %d: %q, exact %t; want %q, %t", c.s, c.kind, got, exact, c.want, c.exact)
		}
	}
}
