package main

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/internal/fault"
)

const statHeader = "VERSION MODEL DESC FCST_LEAD FCST_VALID_BEG FCST_VALID_END OBS_LEAD OBS_VALID_BEG OBS_VALID_END FCST_VAR FCST_UNITS FCST_LEV OBS_VAR OBS_UNITS OBS_LEV OBTYPE VX_MASK INTERP_MTHD INTERP_PNTS FCST_THRESH OBS_THRESH COV_THRESH ALPHA LINE_TYPE\n"

// TestArchiveWithoutRecords: files that have only a header line leave an archive without records. It is not damaged.
func TestArchiveWithoutRecords(t *testing.T) {
	dir := t.TempDir()
	file, url := filepath.Join(dir, "h.stat"), "sqlite:"+filepath.Join(dir, "a.db")
	writeText(t, file, statHeader)
	must(t, "load", file, "--engine", url)
	must(t, "verify", url)
	status, stdout, stderr := barograph(t, "ask", url, "one_sl1l2_tmp")
	if status != fault.Incomplete || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "it has no records") {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
}

// TestCasesNamesUnreadInput: cases and show name the files and the lines that they cannot read, as load does. verify
// with FILES names a file that it cannot read, and compares the others.
func TestCasesNamesUnreadInput(t *testing.T) {
	data, dir := dayOfData(t), t.TempDir()
	url := "sqlite:" + filepath.Join(dir, "a.db")
	must(t, "load", data, "--engine", url)
	broken, bad := filepath.Join(data, "gone.vsdb"), filepath.Join(data, "bad.vsdb")
	if err := os.Symlink(filepath.Join(dir, "nothing"), broken); err != nil {
		t.Fatal(err)
	}
	status, stdout, stderr := barograph(t, "verify", url, data)
	if status != fault.Incomplete || !strings.Contains(stdout, "is intact") || strings.Count(stdout+stderr, broken) != 1 || !strings.Contains(stderr, "1 file could not be read") {
		t.Errorf("verify: status %d\n%s%s", status, stdout, stderr)
	}
	writeText(t, bad, "V01 GFS 24 2019010100 GFS G2 SL1L2 T P500 = 1 2\n")
	status, stdout, stderr = barograph(t, "cases", data)
	if status != fault.Incomplete || !strings.Contains(stdout, "sal1l2") || !strings.Contains(stderr, broken) || !strings.Contains(stderr, bad+":1: ") || !strings.Contains(stderr, "(1 line)") {
		t.Errorf("cases: status %d\n%s", status, stderr)
	}
	_, shown, _ := barograph(t, "show", data)
	if shown = strings.Join(strings.Fields(shown), " "); !strings.Contains(shown, "quarantined "+bad+":1: the line is truncated") {
		t.Error(shown)
	}
}

// TestAdviceNamesTheSubset: the commands that verify prints as a cure repeat the subset. --prune would otherwise prune all.
func TestAdviceNamesTheSubset(t *testing.T) {
	dir := t.TempDir()
	line := "V01 GFS 24 2019010100 GFS G2/NHX SL1L2 TMP P500 = 1 2 3 4 5 6\n"
	a, b := filepath.Join(dir, "a.vsdb"), filepath.Join(dir, "b.vsdb")
	writeText(t, a, line)
	writeText(t, b, strings.Replace(line, "= 1 2", "= 1 7", 1))
	url := "sqlite:" + filepath.Join(dir, "a.db")
	must(t, "load", a, "--engine", url, "--subset", "one", "--design", "normalized")
	must(t, "load", b, "--engine", url, "--subset", "two", "--design", "normalized")
	status, _, stderr := barograph(t, "verify", url, b, "--subset", "one")
	if status != fault.Differs || !strings.Contains(stderr, "--on-conflict last --engine "+url+" --design normalized --subset one;") {
		t.Errorf("status %d: %s", status, stderr)
	}
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, "a.db")+"?vfs=barograph-sums")
	if err == nil {
		err = errors.Join(pruneLead(t, db, `"one/line_data_sl1l2"`), db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"verify", url, "--subset", "one"}, {"verify", url}} {
		if status, _, stderr := barograph(t, args...); status != fault.Differs || !strings.Contains(stderr, "barograph verify "+url+" --subset one --prune;") {
			t.Errorf("%q: status %d: %s", args, status, stderr)
		}
	}
	status, stdout, stderr := barograph(t, "verify", url, "--subset", "one", "--prune", "--dry-run")
	if status != fault.Incomplete || !strings.Contains(stdout, "1 of 1 record is missing, and is not forgotten") || !strings.Contains(stderr, "the real run would be refused") {
		t.Errorf("dry run: status %d\n%s%s", status, stdout, stderr)
	}
	must(t, "verify", url, "--subset", "one", "--prune", "--dry-run", "--force")
	if status, _, stderr := barograph(t, "verify", url, "--subset", "tow", "--prune"); status != fault.Usage || !strings.Contains(stderr, "--subset tow") {
		t.Errorf("an absent subset: status %d: %s", status, stderr)
	}
}

// TestLoadIntoDamagedCatalog: load and --retain refuse a catalog that another program changed; verify reports it as before.
func TestLoadIntoDamagedCatalog(t *testing.T) {
	dir := t.TempDir()
	a, b, url := filepath.Join(dir, "a.vsdb"), filepath.Join(dir, "b.vsdb"), "sqlite:"+filepath.Join(dir, "a.db")
	line := "V01 GFS 24 2019010100 GFS G2/NHX SL1L2 TMP P500 = 1 2 3 4 5 6\n"
	writeText(t, a, line)
	writeText(t, b, strings.Replace(line, "0100 ", "0200 ", 1))
	must(t, "load", a, "--engine", url, "--subset", "one", "--design", "normalized")
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, "a.db")+"?vfs=barograph-sums")
	if err == nil {
		_, err = db.ExecContext(t.Context(), `UPDATE "one/barograph_normalized_catalog" SET catalog = replace(catalog, '"TMP"', '"TMX"')`)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"load", b}, {"load", a, "--retain", "1d"}} {
		args = append(args, "--engine", url, "--subset", "one", "--design", "normalized")
		if status, _, stderr := barograph(t, args...); status != fault.Differs || !strings.Contains(stderr, "the catalog differs from what the last load wrote; nothing was changed") {
			t.Errorf("%q: status %d: %s", args, status, stderr)
		}
		if status, stdout, stderr := barograph(t, "verify", url, "--subset", "one"); status != fault.Differs || !strings.Contains(stdout+stderr, "the catalog differs from what the last load wrote") {
			t.Errorf("verify: status %d: %s%s", status, stdout, stderr)
		}
	}
}

// TestPruneContinues: --prune refuses a subset with a changed value, names it, and accepts the deletions in the next.
func TestPruneContinues(t *testing.T) {
	dir := t.TempDir()
	a, url := filepath.Join(dir, "a.vsdb"), "sqlite:"+filepath.Join(dir, "a.db")
	writeText(t, a, "V01 GFS 24 2019010100 GFS G2/NHX SL1L2 TMP P500 = 1 2 3 4 5 6\nV01 GFS 48 2019010100 GFS G2/NHX SL1L2 TMP P500 = 1 2 3 4 5 6\n")
	for _, subset := range []string{"one", "two"} {
		must(t, "load", a, "--engine", url, "--subset", subset, "--design", "normalized")
	}
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, "a.db")+"?vfs=barograph-sums")
	if err == nil {
		_, err = db.ExecContext(t.Context(), `UPDATE "one/line_data_sl1l2" SET total = total + 1`)
		err = errors.Join(err, pruneLead(t, db, `"two/line_data_sl1l2"`), db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	const refusal = "--prune, subset one: the archive has other changes than deleted records"
	status, stdout, stderr := barograph(t, "verify", url, "--prune", "--force", "--dry-run")
	if status != fault.Incomplete || !strings.Contains(stdout, "subset two: 1 of 2 records is missing, and would be forgotten") || !strings.Contains(stderr, refusal) {
		t.Errorf("dry run: status %d\n%s%s", status, stdout, stderr)
	}
	status, stdout, stderr = barograph(t, "verify", url, "--prune", "--force")
	if status != fault.Differs || !strings.Contains(stdout, "subset two: 1 of 2 records is missing, and is forgotten") || !strings.Contains(stderr, refusal) {
		t.Errorf("status %d\n%s%s", status, stdout, stderr)
	}
	must(t, "verify", url, "--subset", "two")
}

// TestNamesOfRemovedRecords: the name of a case stays known when a load has removed its records.
func TestNamesOfRemovedRecords(t *testing.T) {
	dir := t.TempDir()
	lines := func(variable, day string) (text string) {
		for _, lead := range []string{"0", "12", "24"} {
			text += "V01 GFS " + lead + " " + day + " GFS G2/NHX SL1L2 " + variable + " P500 = 1 2 3 4 5 6\n"
		}
		return text
	}
	old, recent := filepath.Join(dir, "old.vsdb"), filepath.Join(dir, "new.vsdb")
	writeText(t, old, lines("HGT", "2019010100")+lines("TMP", "2019010100")+lines("TMP", "2019010200"))
	writeText(t, recent, lines("TMP", "2019030100"))
	url := "sqlite:" + filepath.Join(dir, "a.db")
	must(t, "load", old, "--engine", url)
	must(t, "ask", url, "dieoff_sl1l2_hgt")
	must(t, "ask", url, "series_sl1l2_tmp")
	must(t, "load", recent, "--engine", url, "--retain", "10d", "--force")
	for name, want := range map[string]int{"dieoff_sl1l2_hgt": fault.Incomplete, "series_sl1l2_tmp": 0, "dieoff_sl1l2": fault.Usage, "nothing_sl1l2_hgt": fault.Usage} {
		status, _, stderr := barograph(t, "ask", url, name)
		if status != want || want == fault.Incomplete && !strings.Contains(stderr, "no SL1L2 has fcst_var HGT") {
			t.Errorf("%s: status %d, want %d: %s", name, status, want, stderr)
		}
	}
	if status, _, stderr := barograph(t, "ask", url, "dieoff_sl1l2_hgt", "--plot", filepath.Join(dir, "p.svg")); status != fault.Incomplete {
		t.Errorf("--plot: status %d: %s", status, stderr)
	}
	if status, _, stderr := barograph(t, "met", "--from", url, "--case", "dieoff_sl1l2_hgt", "--reps", "1", "--out", filepath.Join(dir, "run")); status != fault.Incomplete {
		t.Errorf("met: status %d: %s", status, stderr)
	}
}

// TestAbsentBaseline: a model of --scorecard, or minus of a question, that has no record is a fault of the question, and the
// error names that model.
func TestAbsentBaseline(t *testing.T) {
	data, dir := dayOfData(t), t.TempDir()
	url := "sqlite:" + filepath.Join(dir, "a.db")
	must(t, "load", data, "--engine", url)
	for _, models := range []string{"GFS,Z", "Z,GFS"} {
		status, _, stderr := barograph(t, "ask", url, "dieoff_sal1l2_hgt", "--scorecard", models, "--plot", filepath.Join(dir, "p.svg"))
		want := "baseline (minus or --scorecard) Z is not known"
		if models == "Z,GFS" {
			want = "baseline (minus or --scorecard) GFS has no curve to compare with: model Z: no record"
		}
		if status != fault.Usage || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d: %s", models, status, stderr)
		}
	}
}

func writeText(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
