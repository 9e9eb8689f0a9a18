package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestShefExport: values of products, tables and a database come out in every
// format, and are those of the products.
func TestShefExport(t *testing.T) {
	dir := t.TempDir()
	name, db := filepath.Join(dir, "RR1LCH"), "sqlite:"+filepath.Join(dir, "river.db")
	if err := os.WriteFile(name, []byte(shefSample+".E AAA 20261110 Z DH01/HGIRGZN/DIH1/1/2/3/M\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	csv, parquet := filepath.Join(dir, "v.csv"), filepath.Join(dir, "v.parquet")
	now := []string{"--now", "2026-11-20"}
	export := func(status int, args ...string) string {
		t.Helper()
		got, out, errs := barograph(t, append(append([]string{"shef", "export"}, now...), args...)...)
		if got != status {
			t.Fatalf("%v: status %d: %s", args, got, errs)
		}
		return out + errs
	}
	if out := export(4, "--to", "csv", "--out", csv, name); !strings.Contains(out, "8 values, 1 lost in decoding") {
		t.Error(out)
	}
	export(0, "--to", "parquet", "--out", parquet, csv)
	if got, want := export(0, "--to", "json", "--station", "AAA", parquet), `{"station":"AAA","time":"2026-11-10T02:00:00Z","code":"HGIRGZN","value":2,"quality":"Z"`; !strings.Contains(got, want) || !strings.Contains(got, "4 left out by filters") {
		t.Error(got)
	}
	if status, _, errs := barograph(t, append(now, "shef", "post", "--db", db, "--schema", "barograph", "--make", name)...); status != 4 {
		t.Fatal(errs)
	}
	url := filepath.Join(dir, "url")
	if err := os.WriteFile(url, []byte(db+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	of := []string{"--engine", "@" + url, "--schema", "barograph"}
	if got := export(0, append(of, "--to", "csv", "--from", "2026-11-10T02", "--until", "2026-11-10T03")...); strings.Count(got, "AAA,2026-11-10T0") != 2 || !strings.Contains(got, "2 values, 0 lost") {
		t.Error(got)
	}
	if status, out, errs := barograph(t, append([]string{"shef", "encode", "--station", "AAA"}, of...)...); status != 0 || out != ".E AAA 20261110 Z DH0100/HGIRGZN/DIH01/1/2/3/M\n" {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
	for _, bad := range [][]string{
		{name}, {"--to", "xml", name}, {"--to", "csv"}, {"--to", "parquet", name}, append(of, "--to", "csv", name), {"--to", "csv", "--from", "soon", name},
	} {
		export(2, bad...)
	}
	none := filepath.Join(dir, "none.csv")
	export(1, "--to", "csv", "--out", none, filepath.Join(dir, "nowhere"))
	export(1, "--to", "csv", "--out", filepath.Join(dir, "nowhere", "x.csv"), name)
	for _, pattern := range []string{"none*", ".*"} {
		if left, _ := filepath.Glob(filepath.Join(dir, pattern)); len(left) > 0 {
			t.Errorf("a failed export leaves %q", left)
		}
	}
}
