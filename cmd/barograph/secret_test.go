package main

import (
	"bytes"
	"context"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/internal/fault"
)

// marker is the secret that no command may print or store.
const marker = "hunter2MARK"

// keepsSecret runs a command line and searches its output for the secret.
func keepsSecret(t *testing.T, secret string, want int, args ...string) {
	t.Helper()
	status, stdout, stderr := barograph(t, args...)
	if want >= 0 && status != want {
		t.Errorf("barograph %s: status %d\n%s", fault.Redact(strings.Join(args, " ")), status, stderr)
	}
	if strings.Contains(stdout+stderr, secret) {
		t.Errorf("barograph %q prints\n%s%s", args, stdout, stderr)
	}
}

func searchFiles(t *testing.T, secret, dir string) (files int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), secret) {
			t.Errorf("%s contains the secret", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return files
}

// someLines returns a file with the lines of a folder's first file that test_3 queries.
func someLines(t *testing.T, dir string) string {
	t.Helper()
	files, err := formats.Expand([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.DeleteFunc(bytes.SplitAfter(text, []byte("\n")), func(line []byte) bool { return !bytes.Contains(line, []byte(" HGT P500 ")) })
	path := filepath.Join(t.TempDir(), filepath.Base(files[0]))
	if err := os.WriteFile(path, bytes.Join(lines, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSecretsOfWholeRuns runs every workload on engines that accept a URL with a password: SQLite,
// which needs none, and servers that do.
func TestSecretsOfWholeRuns(t *testing.T) {
	plainRunOnly(t)
	data := someLines(t, dayOfData(t))
	t.Run("sqlite", func(t *testing.T) {
		keepsSecretInRuns(t, data, "sqlite://me:"+marker+"@localhost"+filepath.Join(t.TempDir(), "db"), marker, "document")
	})
	for name, design := range map[string]string{"postgres": "document", "mariadb": "document", "valkey": "keyvalue"} {
		t.Run(name, func(t *testing.T) {
			db := sharedPlace(t, name)
			u, err := url.Parse(db)
			if err != nil {
				t.Fatal("the URL of the lab cannot be read")
			}
			secret, given := u.User.Password()
			if !given {
				t.Fatal("the lab's server has no password")
			}
			keepsSecretInRuns(t, data, db, secret, design)
		})
	}
}

// keepsSecretInRuns runs every workload on a database, and searches the output and the files for
// its password.
func keepsSecretInRuns(t *testing.T, data, db, secret, design string) {
	dir := t.TempDir()
	out := func(name string) string { return filepath.Join(dir, name) }
	keeps := func(args ...string) { keepsSecret(t, secret, 0, args...) }
	keeps("load", data, "--engine", db, "--subset", "own", "--verbose")
	keeps("ask", "test_3", "--engine", db, "--subset", "own", "--explain")
	keeps("met", data, "--engine", "twin="+db, "--case", "test_3", "--design", design, "--reps", "1", "--clients", "1", "--duration", "50ms", "--out", out("met"))
	keeps("ycsb", "load", "--engine", db, "-P", "workloada", "-p", "recordcount=10", "-p", "db.passwd="+secret)
	keeps("ycsb", "run", "--engine", db, "-P", "workloada", "-p", "recordcount=10", "-p", "operationcount=10", "-p", "db.passwd="+secret, "--out", out("ycsb"))
	if design != "keyvalue" {
		keeps("post", "--engine", db, "--design", "single", "--messages", "2", "--mean", "20", "--out", out("post"))
	}
	if n := searchFiles(t, secret, dir); n < 20 {
		t.Errorf("%d files were searched", n)
	}
}

// TestSecretsOfEveryParameter puts the marker into the password of every engine. It also puts it
// into each parameter: as the password of a URL, or as the value if the parameter is a secret. No
// server listens at these addresses.
func TestSecretsOfEveryParameter(t *testing.T) {
	for _, d := range all.Registry() {
		t.Run(d.Scheme, func(t *testing.T) {
			t.Parallel()
			host := "127.0.0.1:1"
			if d.Place == engine.Embedded {
				host = "localhost" // another host is refused
			}
			base := d.Scheme + "://me:" + marker + "@" + host + "/" + strings.TrimPrefix(t.TempDir(), "/")
			urls := []string{base, d.Scheme + "://me:" + marker + "@127.0.0.1:bad/x", d.Scheme + "://me:1%zz" + marker + "@127.0.0.1/x", base + "?no_such=1"}
			for _, sign := range []string{" ", "\t", `"`, "'", "@", "/ ", "%20", "%22", "%09"} {
				urls = append(urls, d.Scheme+"://me:1"+sign+marker+"@127.0.0.1:1/x")
			}
			for _, p := range d.Params {
				value := "x://me:" + marker + "@host"
				if p.Secret {
					value = marker
				}
				urls = append(urls, base+"?"+p.Name+"="+url.QueryEscape(value), d.Scheme+":x?"+p.Name+"="+value)
			}
			for _, u := range urls {
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				e, err := all.Registry().Open(ctx, u, engine.Options{ReadOnly: true})
				if err == nil && archive.IsOffered(&d) { // a client may only connect when it opens an archive
					_, err = archive.DatabaseOf(e).Open(ctx, archive.Designs(&d)[0])
				}
				cancel()
				if d.Place == engine.Remote && err == nil {
					_, err = e.About(ctx)
				}
				if err != nil && strings.Contains(fault.Redact(err.Error()), marker) {
					t.Errorf("the error of %s is %v", u, err)
				}
			}
		})
	}
}

func TestSecretsOfServersThatAreNotReached(t *testing.T) {
	data := dayOfData(t)
	t.Chdir(t.TempDir())
	db := "postgres://me:" + marker + "@127.0.0.1:1/x"
	for _, args := range [][]string{
		{"load", data, "--engine", db},
		{"ask", "test_3", "--engine", db, "--verbose"},
		{"met", data, "--engine", "a=" + db},
		{"ycsb", "load", "--engine", db, "-P", "workloada"},
		{"post", "--engine", db, "--messages", "1"},
		{"faults", "--engine", db},
		{"diff", db, db},
		{"load", data, "--engine", "db2://me:" + marker + "@host"},
	} {
		keepsSecret(t, marker, -1, args...)
	}
	searchFiles(t, marker, ".")
	for _, d := range all.Registry() { // also a word of the password after a blank or a quote
		for _, sign := range []string{" ", "\t", `"`, "'", "%20", "%22"} {
			keepsSecret(t, marker, -1, "show", "--engine", d.Scheme+"://me:1"+sign+marker+"@127.0.0.1:1/x")
		}
	}
}
