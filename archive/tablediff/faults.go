package tablediff

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Fault is a known fault of the loader of the second database.
type Fault struct {
	Name        string // short name, used in reports
	Description string // what the loader does wrong, and which of its source files or issues shows it
	Explains    func(d *Difference) bool
}

// METdbLoad lists the known faults of METdbLoad 2.1.1. init time, empty level and RELI total concern VSDB files; the
// others concern MET's MPR, PSTD and ORANK lines.
func METdbLoad() []Fault {
	return []Fault{
		{
			Name:        "init time beyond 24 h",
			Description: "a VSDB lead of 25 or more hours is taken for HHMMSS (read_data_files.py): fcst_init_beg = fcst_valid_beg - 30 s where the lead is 30 h",
			Explains:    initTime,
		},
		{
			Name:        "empty level",
			Description: "TSOILT and WSOILT lines have no level (dtcenter/MET#755): METdbLoad reads every field from one column further right: fcst_lev contains the total, and total contains a rounded fbar",
			Explains:    emptyLevel,
		},
		{
			Name:        "MPR moved by one",
			Description: "METviewer has a column mpr_climo that MET does not write (constants.py): METdbLoad stores OBS_QC in it, and in each of the four columns after it the value of the next one",
			Explains:    mprColumnsShifted,
		},
		{
			Name:        "PSTD cut",
			Description: "METdbLoad expects 10 columns before the thresholds (write_stat_sql.py), but MET writes 15: METdbLoad takes the last five of these for thresholds, and loses thresholds",
			Explains:    pstdCut,
		},
		{
			Name:        "ORANK climo_stdev",
			Description: "METdbLoad moves the 7 columns that follow the members to the front (write_stat_sql.py), but MET writes 8 or more: climo_stdev contains the value of another column",
			Explains:    orankDisplaced,
		},
		{
			Name:        "RELI total",
			Description: "VSDB's RELI lines have no total; METdbLoad writes 0. Their init time may also be wrong",
			Explains:    reliTotal,
		},
	}
}

// onlyColumns explains differences that are limited to these columns of a table.
func onlyColumns(table string, columns ...string) func(*Difference) bool {
	return func(d *Difference) bool {
		changed := d.ChangedColumns()
		return d.Table == table && len(changed) > 0 &&
			!slices.ContainsFunc(changed, func(c string) bool { return !slices.Contains(columns, c) })
	}
}

// mprColumnsShifted reports whether each column but the last contains the left value of the next one.
func mprColumnsShifted(d *Difference) bool {
	columns := []string{"mpr_climo", "obs_qc", "climo_mean", "climo_stdev", "climo_cdf"}
	if !onlyColumns("line_data_mpr", columns...)(d) {
		return false
	}
	for i, c := range columns[:len(columns)-1] {
		if unifyMissing(d.Value(d.Right, c)) != unifyMissing(d.Value(d.Left, columns[i+1])) {
			return false
		}
	}
	return true
}

// unifyMissing maps the representations of a missing value to one.
func unifyMissing(s string) string {
	if s == "NA" || s == "NULL" || s == null {
		return missing
	}
	return s
}

const missing = "-9999"

// isSame reports whether two texts are the same value.
func isSame(a, b string) bool {
	a, b = unifyMissing(a), unifyMissing(b)
	x, err := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return a == b || err == nil && err2 == nil && x == y
}

// columnsBeforeThresholds are the columns that MET writes immediately before the thresholds of PSTD.
func columnsBeforeThresholds() []string {
	return []string{"briercl", "briercl_ncl", "briercl_ncu", "bss", "bss_smpl"}
}

// pstdCut reports whether a threshold was replaced by the value five columns before it, or whether some of the columns
// before the thresholds are missing on the right, and nothing else differs.
func pstdCut(d *Difference) bool {
	if onlyColumns("line_data_pstd_thresh", "thresh_i")(d) {
		return isSame(d.Value(d.Right, "thresh_i"), d.displaced)
	}
	isPresent := func(c string) bool { return unifyMissing(d.Value(d.Right, c)) != missing }
	return onlyColumns("line_data_pstd", columnsBeforeThresholds()...)(d) && !slices.ContainsFunc(d.ChangedColumns(), isPresent)
}

// orankDisplaced reports whether climo_stdev contains the value that MET writes seven columns after the first member: the
// eighth member or, if there are fewer, one of the columns after them.
func orankDisplaced(d *Difference) bool {
	if !onlyColumns("line_data_orank", "climo_stdev")(d) {
		return false
	}
	after := []string{"obs_qc", "ens_mean", "climo_mean", "spread", "ens_mean_oerr", "spread_oerr", "spread_plus_oerr"}
	value := d.displaced
	if n, err := strconv.Atoi(d.Value(d.Left, "n_ens")); err == nil && n > 0 && n <= len(after) {
		value = d.Value(d.Left, after[len(after)-n])
	}
	return isSame(d.Value(d.Right, "climo_stdev"), value)
}

// vsdbVersion is the version of VSDB lines; MET's begins with V and has dots.
const vsdbVersion = "V01"

// initTime reports whether the rows differ only in fcst_init_beg, because the lead was read as HHMMSS.
func initTime(d *Difference) bool {
	return slices.Equal(d.ChangedColumns(), []string{"fcst_init_beg"}) && d.Value(d.Left, "version") == vsdbVersion && isInitExplained(d)
}

// isInitExplained reports whether fcst_init_beg is equal, or wrong on the right because the lead was read as HHMMSS.
func isInitExplained(d *Difference) bool {
	if d.Value(d.Left, "fcst_init_beg") == d.Value(d.Right, "fcst_init_beg") {
		return true
	}
	lead, err := strconv.Atoi(d.Value(d.Left, "fcst_lead"))
	valid, err2 := time.Parse(time.DateTime, d.Value(d.Left, "fcst_valid_beg"))
	if err != nil || err2 != nil || lead < 25 {
		return false
	}
	hms := lead/10000*3600 + lead/100%100*60 + lead%100
	return d.Value(d.Left, "fcst_init_beg") == earlier(valid, lead*3600) && d.Value(d.Right, "fcst_init_beg") == earlier(valid, hms)
}

// earlier returns the time some seconds before t, in the format of DATETIME.
func earlier(t time.Time, seconds int) string {
	return t.Add(-time.Duration(seconds) * time.Second).Format(time.DateTime)
}

// emptyLevel reports whether METdbLoad stored the line's total as its level. All texts of a header are its key. Hence
// the two headers are one-sided differences: on the left with an empty level, on the right with a number.
func emptyLevel(d *Difference) bool {
	row := d.Right
	if row == nil {
		row = d.Left
	}
	v := d.Value(row, "fcst_var")
	if d.Value(row, "version") != vsdbVersion || (v != "TSOILT" && v != "WSOILT") {
		return false
	}
	if d.Left != nil && !slices.Contains([]string{"", "NA"}, d.Value(d.Left, "fcst_lev")) {
		return false
	}
	if d.Right == nil {
		return d.Table == headerTable
	}
	level := d.Value(d.Right, "fcst_lev")
	if _, err := strconv.ParseFloat(level, 64); err != nil {
		return false
	}
	if d.Left == nil {
		return d.Table == headerTable
	}
	return strings.TrimSuffix(level, ".") == d.Value(d.Left, "total") && isInitExplained(d) && valuesShifted(d)
}

// valuesShifted reports whether each value on the right is the left one of the next column, and total the rounded first
// value. That value may be missing on the left, because adopt cannot restore it. Before total only the level and the
// initial time differ.
func valuesShifted(d *Difference) bool {
	total := slices.Index(d.Columns, "total")
	if total < 0 || total+1 == len(d.Columns) {
		return false
	}
	mayDiffer := []string{"fcst_lev", "obs_lev", "fcst_init_beg", "total"}
	for i, c := range d.Columns[:total+1] {
		if d.Left[i] != d.Right[i] && !slices.Contains(mayDiffer, c) {
			return false
		}
	}
	if !slices.EqualFunc(d.Right[total+1:], append(slices.Clone(d.Left[total+2:]), missing), isSame) {
		return false
	}
	first, err := strconv.ParseFloat(unifyMissing(d.Left[total+1]), 64)
	rounded := strconv.FormatFloat(max(math.Round(first), 0), 'f', 0, 64)
	return err == nil && (isSame(d.Left[total+1], missing) || isSame(d.Right[total], rounded))
}

// reliTotal reports whether a VSDB line of probabilities has no total on the left and the total 0 on the right.
// fcst_init_beg may differ, too, because of initTime.
func reliTotal(d *Difference) bool {
	return onlyColumns("line_data_pct", "total", "fcst_init_beg")(d) && isInitExplained(d) && d.Value(d.Left, "version") == vsdbVersion &&
		unifyMissing(d.Value(d.Left, "total")) == "-9999" && d.Value(d.Right, "total") == "0"
}
