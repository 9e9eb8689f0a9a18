package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/barograph/barograph/engine/all"
)

// TestShefExport: export writes the values of a database in every format, and they equal those of
// the products. encode reads files, pipes and standard input.
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
		got, out, errs := barograph(t, append([]string{"shef", "export"}, args...)...)
		if got != status {
			t.Fatalf("%v: status %d: %s", args, got, errs)
		}
		return out + errs
	}
	for _, file := range []string{csv, parquet} {
		if status, _, errs := barograph(t, append(now, "shef", "decode", "--out", file, name)...); status != 4 {
			t.Fatal(errs)
		}
	}
	if status, _, errs := barograph(t, append(now, "shef", "post", "--engine", db, "--schema", "barograph", "--make", name)...); status != 4 {
		t.Fatal(errs)
	}
	url := filepath.Join(dir, "url")
	if err := os.WriteFile(url, []byte(db+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	of := []string{"--engine", "@" + url, "--schema", "barograph"}
	if got := export(0, append(of, "--to", "csv", "--since", "2026-11-10T02", "--until", "2026-11-10T03")...); strings.Count(got, "AAA,2026-11-10T0") != 2 || !strings.Contains(got, "2 values\n") || strings.Contains(got, "excluded") {
		t.Error(got)
	}
	if got, want := export(0, append(of, "--to", "json", "--station", "AAA")...), `{"station":"AAA","time":"2026-11-10T02:00:00Z","code":"HGIRGZN","value":2,"quality":"Z"`; !strings.Contains(got, want) || !strings.Contains(got, "4 values were excluded by --station") {
		t.Error(got)
	}
	encoded := ".E AAA 20261110 Z DH0100/HGIRGZN/DIH01/1/2/3/M\n"
	if status, out, errs := barograph(t, append([]string{"shef", "encode", "--station", "AAA"}, of...)...); status != 0 || out != encoded {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
	// from a named pipe, and from standard input
	for _, file := range []string{csv, parquet} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pipe := file + ".pipe"
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		go os.WriteFile(pipe, text, 0o600)
		if status, out, errs := barograph(t, "shef", "encode", "--station", "AAA", pipe); status != 0 || out != encoded {
			t.Errorf("%s: status %d: %s%s", pipe, status, out, errs)
		}
		var out, errs bytes.Buffer
		if status := execute(t.Context(), &env{args: []string{"shef", "encode", "--station", "AAA", "-"}, stdin: bytes.NewReader(text), stdout: &out, stderr: &errs, engines: all.Registry()}); status != 0 || out.String() != encoded {
			t.Errorf("%s by standard input: status %d: %s%s", file, status, out.String(), errs.String())
		}
	}
	for _, bad := range [][]string{
		{name}, append(of, "--to", "xml"), {"--to", "csv"}, append(of, "--to", "parquet"), append(of, "--to", "csv", name), append(of, "--to", "csv", "--from", "soon"),
	} {
		export(2, bad...)
	}
	// A pipe or link that --out names remains one.
	target, link, fixed, pipe := filepath.Join(dir, "target"), filepath.Join(dir, "link"), filepath.Join(dir, "fixed"), filepath.Join(dir, "pipe")
	if err := errors.Join(os.WriteFile(target, nil, 0o600), os.Symlink("target", link), os.WriteFile(fixed, []byte("mine"), 0o444), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		text, _ := os.ReadFile(pipe)
		read <- string(text)
	}()
	export(0, append(of, "--to", "csv", "--out", pipe)...)
	export(0, append(of, "--to", "csv", "--out", link)...)
	intact, err := os.ReadFile(target)
	if through := <-read; err != nil || through != string(intact) || strings.Count(through, "\n") != 9 {
		t.Errorf("%q by the pipe, %q by the link: %v", through, intact, err)
	}
	if out := export(1, append(of, "--to", "csv", "--out", fixed)...); !strings.Contains(out, "write-protected") {
		t.Error(out)
	}
	if out := export(2, append(of, "--to", "csv", "--out", dir)...); !strings.Contains(out, "is a folder") {
		t.Error(out)
	}
	if text, err := os.ReadFile(fixed); err != nil || string(text) != "mine" {
		t.Errorf("%q: %v", text, err)
	}
	export(1, append(of, "--to", "csv", "--out", filepath.Join(dir, "nowhere", "x.csv"))...)
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("a failed export leaves %q", left)
	}
}

// TestShefNothing: files without values are reported, with status 4.
func TestShefNothing(t *testing.T) {
	dir := t.TempDir()
	empty, prose, head := filepath.Join(dir, "empty"), filepath.Join(dir, "prose"), filepath.Join(dir, "head.csv")
	for name, text := range map[string]string{empty: "", prose: "no gauge was read\n", head: "station,time,code,value\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		message string
		args    []string
	}{
		{"is empty", []string{"decode", empty}},
		{"there is no value to write: the input contains no value; check that it is SHEF", []string{"decode", prose}},
		{"is empty", []string{"post", "--engine", "sqlite:" + filepath.Join(dir, "x.db"), "--schema", "barograph", "--make", empty}},
		{"is empty", []string{"encode", empty}},
		{"no value to write", []string{"encode", head}},
	} {
		if status, _, errs := barograph(t, append([]string{"shef"}, c.args...)...); status != 4 || !strings.Contains(errs, c.message) {
			t.Errorf("%v: status %d: %s", c.args, status, errs)
		}
	}
}

// TestWrittenInPlace: a link that --out names remains a link, and a pipe a pipe.
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
	if err := errors.Join((&env{}).writeTo("--out", at("link"), write), (&env{}).writeTo("--out", at("pipe"), write)); err != nil {
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
		t.Errorf("the file behind the link has %q, %v", text, err)
	}
}

// TestIncompleteOutput: a file that cannot be completed does not replace the file that --out names.
func TestIncompleteOutput(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "file")
	if err := os.WriteFile(out, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	write := func(w io.Writer) error { return w.(io.Closer).Close() } // writeTo cannot close it again
	if err := (&env{}).writeTo("--out", out, write); err == nil {
		t.Error("there is no error")
	}
	if text, err := os.ReadFile(out); err != nil || string(text) != "before" {
		t.Errorf("the file has %q, %v", text, err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("the folder has %v, %v", files, err)
	}
}
