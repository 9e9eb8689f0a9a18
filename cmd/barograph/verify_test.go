package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/internal/fault"
)

// TestWhatAKillLeavesIsNoDamage: a flush that was killed, or that filled the disk, leaves parts of
// tables that belong to no archive. Only changes of the archive's own tables are damage.
func TestWhatAKillLeavesIsNoDamage(t *testing.T) {
	dir := t.TempDir()
	data, archive := filepath.Join(dir, "data"), filepath.Join(dir, "a.pebble")
	must(t, "synth", "vsdb", "--since", "2024-01-01", "--models", "gfs", "--stattypes", "anom", "--out", data)
	must(t, "load", data, "--engine", "pebble:"+archive)
	var left []string
	for _, pattern := range []string{"*.sst", "*.blob"} {
		names, err := filepath.Glob(filepath.Join(archive, pattern))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v, %v", pattern, names, err)
		}
		text, err := os.ReadFile(names[0])
		if err != nil {
			t.Fatal(err)
		}
		left = append(left, names[0])
		if err := os.WriteFile(filepath.Join(archive, "009999"+filepath.Ext(names[0])), text[:len(text)/2], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	must(t, "verify", "pebble:"+archive)
	for _, own := range left {
		text, err := os.ReadFile(own)
		if err != nil {
			t.Fatal(err)
		}
		text[len(text)/2] ^= 1
		if err := os.WriteFile(own, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if status, stdout, stderr := barograph(t, "verify", "pebble:"+archive); status == 0 || !strings.Contains(strings.ToLower(stdout+stderr), "damaged") && !strings.Contains(stdout+stderr, "NOT WHOLE") {
			t.Errorf("%s: status %d\n%s%s", filepath.Base(own), status, stdout, stderr)
		}
		text[len(text)/2] ^= 1
		if err := os.WriteFile(own, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNetworkFileSystem: commands that open an archive on a network file system name it. The test
// provides its own mount table.
func TestNetworkFileSystem(t *testing.T) {
	dir := t.TempDir()
	table := filepath.Join(dir, "mountinfo")
	line := "36 25 0:30 / " + dir + " rw,relatime shared:1 - nfs4 filer:/export rw\n"
	if err := os.WriteFile(table, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	data, archive := filepath.Join(dir, "data"), "sqlite:"+filepath.Join(dir, "a.db")
	must(t, "synth", "vsdb", "--since", "2024-01-01", "--models", "gfs", "--stattypes", "anom", "--out", data)
	for _, args := range [][]string{{"load", data, "--engine", archive}, {"verify", archive}} {
		t.Setenv("HOST_PROC_MOUNTINFO", "")
		if status, _, stderr := barograph(t, args...); status != 0 || strings.Contains(stderr, "network file system") {
			t.Errorf("%v on a local disk: status %d\n%s", args, status, stderr)
		}
		t.Setenv("HOST_PROC_MOUNTINFO", table)
		if status, _, stderr := barograph(t, args...); status != 0 || strings.Count(stderr, "is on a network file system (nfs4 at "+dir+")") != 1 {
			t.Errorf("%v: status %d\n%s", args, status, stderr)
		}
	}
}

// TestAllDamagedTables: verify lists every table of SQLite that has a damaged page.
func TestAllDamagedTables(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, "synth", "vsdb", "--since", "2024-01-01", "--models", "gfs", "--stattypes", "anom", "--out", "data")
	must(t, "load", "data", "--engine", "sqlite:a.db", "--design", "document")
	text, err := os.ReadFile("a.db")
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{len(text) * 5 / 12, len(text) * 11 / 12} {
		text[at] ^= 1
	}
	if err := os.WriteFile("a.db", text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"verify", "sqlite:a.db"}, {"verify", "sqlite:a.db", "data"}} { // with files, too
		status, stdout, stderr := barograph(t, command...)
		if status != fault.Differs || !strings.Contains(stdout, "doc_sal1l2 or its index") || !strings.Contains(stdout, "doc_val1l2 or its index") {
			t.Errorf("%v: status %d\n%s%s", command, status, stdout, stderr)
		}
	}
}

// TestAdviceForDifferingFiles: if the archive is as it was loaded, but files have different values, the advice names the command
// that loads them again; damage has the advice of damage.
func TestAdviceForDifferingFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, "synth", "vsdb", "--since", "2024-01-01", "--models", "gfs", "--stattypes", "anom", "--out", "data")
	must(t, "load", "data", "--engine", "sqlite:a.db")
	var file string
	err := filepath.WalkDir("data", func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			file = path
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	first, rest, _ := strings.Cut(strings.TrimSuffix(string(text), "\n"), "\n")
	at := strings.LastIndexByte(strings.TrimRight(first, " "), ' ')
	if err := os.WriteFile(file, []byte(first[:at+1]+"0.125\n"+rest+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	status, stdout, stderr := barograph(t, "verify", "sqlite:a.db", file)
	if status != fault.Differs || !strings.Contains(stdout, "the archive has different values of") || !strings.Contains(stderr, "barograph load FILE --on-conflict last --engine sqlite:a.db") || strings.Contains(stderr, "backup") {
		t.Errorf("status %d\n%s%s", status, stdout, stderr)
	}
}
