package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/barograph/barograph/lab"
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
	// What --out names stays what it is.
	target, link, fixed, pipe := filepath.Join(dir, "target"), filepath.Join(dir, "link"), filepath.Join(dir, "fixed"), filepath.Join(dir, "pipe")
	if err := errors.Join(os.WriteFile(target, nil, 0o600), os.Symlink("target", link), os.WriteFile(fixed, []byte("mine"), 0o444), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		text, _ := os.ReadFile(pipe)
		read <- string(text)
	}()
	export(4, "--to", "csv", "--out", pipe, name)
	export(4, "--to", "csv", "--out", link, name)
	whole, err := os.ReadFile(target)
	if through := <-read; err != nil || through != string(whole) || strings.Count(through, "\n") != 9 {
		t.Errorf("%q by the pipe, %q by the link: %v", through, whole, err)
	}
	if out := export(1, "--to", "csv", "--out", fixed, name); !strings.Contains(out, "write-protected") {
		t.Error(out)
	}
	if out := export(1, "--to", "csv", "--out", dir, name); !strings.Contains(out, "is a folder") {
		t.Error(out)
	}
	if text, err := os.ReadFile(fixed); err != nil || string(text) != "mine" {
		t.Errorf("%q: %v", text, err)
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

// TestShefExportDSS: HEC's own deck by HEC's own files, twice the same.
func TestShefExportDSS(t *testing.T) {
	if _, err := lab.HECDSSLibrary(); err != nil {
		if slices.Contains(strings.Split(os.Getenv("BAROGRAPH_REQUIRE"), ","), lab.HECDSSName) {
			t.Fatal(err)
		}
		t.Skip("NOT TESTED: HEC-DSS:", err)
	}
	dir := t.TempDir()
	in := func(name string) string {
		path := filepath.Join(cmp.Or(os.Getenv("BAROGRAPH_DATA"), "../../../shared/data"), "shef", "hec", "testing", name)
		if _, err := os.Stat(path); err != nil {
			t.Skip("NOT TESTED: HEC's deck:", err)
		}
		return path
	}
	for range 2 {
		status, out, errs := barograph(t, "shef", "export", "--to", "dss", "--out", filepath.Join(dir, "x.dss"), "--sensors", in("cwms_sensors.csv"), "--parameters", in("cwms_parameters.csv"), in("cwms.shef"))
		if status != 0 || out != "2520 values, 2520 of them stored in 15 series\n" {
			t.Errorf("status %d: %s%s", status, out, errs)
		}
	}
	status, _, errs := barograph(t, "shef", "export", "--to", "dss", "--out", in("cwms_sensors.csv"), in("cwms.shef"))
	if status != 1 || !strings.Contains(errs, "is no DSS file") {
		t.Errorf("status %d: %s", status, errs)
	}
}

// TestShefNothing: files that hold nothing are told, and are status 4.
func TestShefNothing(t *testing.T) {
	dir := t.TempDir()
	empty, prose, head := filepath.Join(dir, "empty"), filepath.Join(dir, "prose"), filepath.Join(dir, "head.csv")
	for name, text := range map[string]string{empty: "", prose: "no gauge was read\n", head: "station,time,code,value\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		says string
		args []string
	}{
		{"is empty", []string{"decode", empty}},
		{"no value in what was read", []string{"decode", prose}},
		{"is empty", []string{"export", "--to", "csv", empty}},
		{"is empty", []string{"post", "--engine", "sqlite:" + filepath.Join(dir, "x.db"), "--schema", "barograph", "--make", empty}},
		{"no value to write", []string{"export", "--to", "csv", prose}},
		{"no value to write", []string{"encode", head}},
	} {
		if status, _, errs := barograph(t, append([]string{"shef"}, c.args...)...); status != 4 || !strings.Contains(errs, c.says) {
			t.Errorf("%v: status %d: %s", c.args, status, errs)
		}
	}
}

// TestShefExportMistakes of dss and cda.
func TestShefExportMistakes(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "RR1LCH")
	if err := os.WriteFile(name, []byte(shefSample), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "x.dss")
	for _, c := range []struct {
		status int
		says   string
		args   []string
	}{
		{2, "--out", []string{"--to", "dss", name}},
		{2, "--aliases", []string{"--to", "cda", "--out", "http://127.0.0.1:1", name}},
		{1, "none", []string{"--to", "cda", "--out", "http://127.0.0.1:1", "--office", "X", "--aliases", filepath.Join(dir, "none"), name}},
		{1, "is not HEC's library", []string{"--to", "dss", "--out", out, "--dss-library", name, name}},
		{1, "few fields", []string{"--to", "dss", "--out", out, "--dss-library", name, "--sensors", filepath.Join(dir, "few fields.csv"), name}},
	} {
		status, _, errs := barograph(t, append([]string{"shef", "export"}, c.args...)...)
		if status != c.status || !strings.Contains(errs, c.says) {
			t.Errorf("%v: status %d: %s", c.args, status, errs)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a failed export leaves a file")
	}
}

// TestWrittenInPlace: a link that --out names stays a link, and a pipe a pipe.
func TestWrittenInPlace(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err }
	if err := errors.Join(os.WriteFile(at("file"), []byte("before"), 0o600), os.Symlink("file", at("link")), syscall.Mkfifo(at("pipe"), 0o600)); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		text, err := os.ReadFile(at("pipe"))
		read <- fmt.Sprint(string(text), err)
	}()
	if err := errors.Join((&env{}).written(at("link"), write), (&env{}).written(at("pipe"), write)); err != nil {
		t.Fatal(err)
	}
	if got := <-read; got != "x<nil>" {
		t.Errorf("the pipe gave %s", got)
	}
	for name, kind := range map[string]os.FileMode{"file": 0, "link": os.ModeSymlink, "pipe": os.ModeNamedPipe} {
		if info, err := os.Lstat(at(name)); err != nil || info.Mode().Type() != kind {
			t.Errorf("%s became %v, %v", name, info.Mode(), err)
		}
	}
	if text, err := os.ReadFile(at("file")); err != nil || string(text) != "x" {
		t.Errorf("the file behind the link holds %q, %v", text, err)
	}
}
