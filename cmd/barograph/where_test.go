package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/internal/fault"
)

// TestWhereNamesValuesWithCommas: levels of NetCDF contain commas. --where takes one value for one,
// and several for several, and names values that the archive does not have.
func TestWhereNamesValuesWithCommas(t *testing.T) {
	dir := t.TempDir()
	text := "VERSION MODEL DESC FCST_LEAD FCST_VALID_BEG FCST_VALID_END OBS_LEAD OBS_VALID_BEG OBS_VALID_END FCST_VAR FCST_UNITS FCST_LEV OBS_VAR OBS_UNITS OBS_LEV OBTYPE VX_MASK INTERP_MTHD INTERP_PNTS FCST_THRESH OBS_THRESH COV_THRESH ALPHA LINE_TYPE\n"
	for _, level := range []string{"0,*,*", "0", "*", "1,*,*", "P500"} {
		text += "V12.0.0 GFS NA 060000 20241101_180000 20241101_180000 000000 20241101_180000 20241101_180000 TMP K " + level + " TMP K " + level + " ANLYS EP,CP NEAREST 1 NA NA NA NA SL1L2 1 2 3 4 5 6 7\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "a.stat"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	url := "sqlite:" + filepath.Join(dir, "a.db")
	must(t, "load", dir, "--engine", url)
	for _, c := range []struct {
		where   []string
		levels  string // of the rows; "" = it is refused
		status  int
		message string
	}{
		{[]string{`fcst_lev=0\,*\,*`}, "0,*,*", 0, ""},
		{[]string{`fcst_lev=0\,*\,*`, `fcst_lev=1\,*\,*`, "fcst_lev=P500"}, "0,*,* 1,*,* P500", 0, ""},
		{[]string{`fcst_lev=0,1\,*\,*`, `vx_mask=EP\,CP`}, "0 1,*,*", 0, ""},
		{[]string{"fcst_lev=0,*,*"}, "", fault.Usage, `--where 'fcst_lev=0\,*\,*'`},
		{[]string{"fcst_lev=0,*,*,P500"}, "", fault.Usage, `0,*,* is one value of the archive`},
		{[]string{"fcst_lev=P500,1,*,*"}, "", fault.Usage, `--where 'fcst_lev=P500,1\,*\,*' for the one value`},
		{[]string{"fcst_lev=P500,2,*,*"}, "* P500", fault.Incomplete, "no SL1L2 has fcst_lev 2; the archive has *, 0, \"0,*,*\""},
		{[]string{"fcst_lev=P500", "vx_mask="}, "P500", 0, ""},
		{[]string{"fcst_lev=P500", "fcst_lev="}, "", fault.Usage, "both all values"},
		{[]string{"fcst_lev=P500,"}, "", fault.Usage, "empty value"},
	} {
		args := []string{"ask", "large_sl1l2", "--engine", url, "--format", "csv"}
		for _, w := range c.where {
			args = append(args, "--where", w)
		}
		status, out, stderr := barograph(t, args...)
		var levels []string
		if rows, err := csv.NewReader(strings.NewReader(out)).ReadAll(); err != nil {
			t.Error(err)
		} else if len(rows) > 0 {
			for _, row := range rows[1:] {
				levels = append(levels, row[len(row)-1])
			}
		}
		if got := strings.Join(levels, " "); status != c.status || got != c.levels || !strings.Contains(stderr, c.message) {
			t.Errorf("%q: status %d, levels %q, want %d, %q\n%s%s", c.where, status, got, c.status, c.levels, out, stderr)
		}
	}
}
