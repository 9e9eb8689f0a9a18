package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSpreadsheet: a text of a file must not run as a formula, and numbers remain numbers.
func TestSpreadsheet(t *testing.T) {
	e := &env{escapeFormulas: true}
	for text, want := range map[string]string{
		"=1+1": "'=1+1", "+cmd|' /C calc'!A0": "'+cmd|' /C calc'!A0", "-2+3": "'-2+3", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1",
		"-12.5": "-12.5", "+1e3": "+1e3", "": "", "GFS": "GFS", "a=b": "a=b",
	} {
		if got := e.csvCell(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
		if got := (&env{}).csvCell(text); got != text {
			t.Errorf("without the flag %q becomes %q", text, got)
		}
	}
	dir := t.TempDir()
	file, bad := filepath.Join(dir, "a.vsdb"), filepath.Join(dir, "bad.csv")
	line := "V01 @GFS 24 2019010100 GFS G2/NHX SAL1L2 HGT P500 =   3600.  -0.269635266E+02   0.268790391E+02   0.132613515E+05   0.132623015E+05   0.133132874E+05\n"
	if err := os.WriteFile(file, []byte(line+"=cmd() 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	db := "sqlite:" + filepath.Join(dir, "a.db")
	barograph(t, "load", file, "--engine", db, "--quarantine", bad, "--spreadsheet")
	if text, err := os.ReadFile(bad); err != nil || !strings.Contains(string(text), ",'=cmd() 1") {
		t.Errorf("the quarantine is %s, %v", text, err)
	}
	rows := must(t, "ask", "test_3", "--engine", db, "--where", "model=", "--format", "csv", "--spreadsheet")
	if !strings.Contains(rows, ",'@GFS,") || !strings.Contains(rows, ",-26.9635266,") {
		t.Errorf("the rows are\n%s", rows)
	}
}
