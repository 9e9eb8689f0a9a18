package tablediff

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Fault is a known fault of the loader of the second database.
type Fault struct {
	Name     string // short
	Says     string // what it does, and where it is told
	Explains func(d *Difference) bool
}

// METdbLoad lists the faults of METdbLoad on VSDB files.
func METdbLoad() []Fault {
	return []Fault{
		{
			Name:     "init time beyond 24 h",
			Says:     "a VSDB lead of 25 or more hours is taken for HHMMSS (read_data_files.py): fcst_init_beg = fcst_valid_beg - 30 s where the lead is 30 h",
			Explains: initTime,
		},
		{
			Name:     "empty level",
			Says:     "TSOILT and WSOILT lines have no level (dtcenter/MET#755): every field moves by one, fcst_lev is the total, fbar is lost into total",
			Explains: emptyLevel,
		},
	}
}

// vsdbVersion is the version of VSDB lines; MET's begins with V and has dots.
const vsdbVersion = "V01"

// initTime: the row differs in fcst_init_beg alone, where the lead was read as HHMMSS.
func initTime(d *Difference) bool {
	if !slices.Equal(d.Changed(), []string{"fcst_init_beg"}) || d.Value(d.Left, "version") != vsdbVersion {
		return false
	}
	lead, err := strconv.Atoi(d.Value(d.Left, "fcst_lead"))
	valid, err2 := time.Parse(time.DateTime, d.Value(d.Left, "fcst_valid_beg"))
	if err != nil || err2 != nil || lead < 25 {
		return false
	}
	hms := lead/10000*3600 + lead/100%100*60 + lead%100
	return d.Value(d.Left, "fcst_init_beg") == back(valid, lead*3600) && d.Value(d.Right, "fcst_init_beg") == back(valid, hms)
}

// back is a time some seconds earlier, as DATETIME is printed.
func back(t time.Time, seconds int) string {
	return t.Add(-time.Duration(seconds) * time.Second).Format(time.DateTime)
}

// emptyLevel: the second database has the total of the line for its level. A
// header stands on one side only, and shows it by a level that is a number.
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
	return strings.TrimSuffix(level, ".") == d.Value(d.Left, "total")
}
