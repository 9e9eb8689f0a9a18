package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/postgres"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// openAt opens an archive by its URL.
func openAt(t *testing.T, url string, n design.Name, o engine.Options) archive.Archive {
	t.Helper()
	e, err := engine.Registry{postgres.Driver()}.Open(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	a, err := archive.DatabaseOf(e).Open(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = a.Close(), e.Close() })
	return a
}

// oneLine returns a batch with one record of a model.
func oneLine(lineType, model string, valid int64) *record.Batch {
	lt, _ := record.TypeByName(lineType)
	h := record.DefaultHeader()
	h[record.Version], h[record.Model] = "V01", model
	s := enginetest.Series{Type: lt, Header: h, Lead: []int32{0}, Valid: []int64{valid}}
	return enginetest.Generate(3, 1, s)[0].Batches[0]
}

const newYear = 1546300800 // 2019-01-01

// askModel asks for the records of a model.
func askModel(t *testing.T, a archive.Archive, model string, f flavour.Name) answer.Answer {
	t.Helper()
	lt, _ := record.TypeByName("SAL1L2")
	q := &question.Question{Name: "one", Subset: "a", Type: lt}
	q.Header[record.Model] = []string{model}
	var err error
	if q.Columns, err = question.Columns(lt, "fcst_valid_beg", "model", "fabar"); err != nil {
		t.Fatal(err)
	}
	q.Order = q.Columns[:2]
	p, err := a.Phrase(t.Context(), q, f)
	if err != nil {
		t.Fatal(err)
	}
	var into answer.Builder
	if err := a.Ask(t.Context(), p, &into); err != nil {
		t.Fatal(err)
	}
	return into.Answer
}

// TestServerSettings: settings of a user's database change neither what Barograph stores nor its answers.
func TestServerSettings(t *testing.T) {
	d := &databases{server: servers.Lab(t, postgres.Driver(), lab.Options{})}
	with := func(settings ...string) string {
		at := d.url(t)
		for _, s := range settings {
			execute(t, at, "ALTER DATABASE "+at[strings.LastIndexByte(at, '/')+1:]+" SET "+s)
		}
		return at
	}
	t.Run("backslashes", func(t *testing.T) {
		at := with("standard_conforming_strings = off", "escape_string_warning = off")
		for _, model := range []string{`a\b`, `a\\`, `\x41`} {
			a := openAt(t, at, design.Normalized, engine.Options{})
			enginetest.StoreBatches(t, a, "a", oneLine("SAL1L2", model, newYear))
			for _, f := range []flavour.Name{flavour.MetviewerSQL, flavour.SQL} {
				if got := askModel(t, a, model, f); got.Rows != 1 {
					t.Errorf("%s, model %s: %d rows, want 1", f, model, got.Rows)
				}
			}
		}
	})
	t.Run("short numbers", func(t *testing.T) {
		at := with("extra_float_digits = 0")
		a := openAt(t, at, design.Normalized, engine.Options{})
		b := oneLine("SAL1L2", "M", newYear)
		b.Num[1][0] = 1.0 / 3
		enginetest.StoreBatches(t, a, "a", b)
		a = openAt(t, at+"?statements=simple", design.Normalized, engine.Options{})
		if got := askModel(t, a, "M", flavour.SQL); got.Rows != 1 || got.Vectors[2].Num[0] != 1.0/3 {
			t.Errorf("%v, want 1/3", got.Row(0))
		}
	})
	t.Run("serializable", func(t *testing.T) {
		at := with("default_transaction_isolation = serializable")
		done := make(chan error)
		for k := range 2 {
			a := openAt(t, at, design.Normalized, engine.Options{})
			go func() {
				l, err := a.Loader(t.Context(), "a")
				for i := range 10 {
					if err != nil {
						break
					}
					b := oneLine("SAL1L2", fmt.Sprint(k), newYear+int64(i)*3600)
					c := archive.Commit{Catalog: design.NewCatalog("a")}
					c.Catalog.Add(b)
					if err = l.Add(t.Context(), b); err == nil {
						_, err = l.Commit(t.Context(), c)
					}
				}
				done <- errors.Join(err, l.Close())
			}()
		}
		if err := errors.Join(<-done, <-done); err != nil {
			t.Error(err)
		}
	})
	t.Run("latin1", func(t *testing.T) {
		const name = "latin_1"
		execute(t, d.server.URL(), "CREATE DATABASE "+name+" ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
		at, err := url.Parse(d.server.URL())
		if err != nil {
			t.Fatal(err)
		}
		at.Path = "/" + name
		a := openAt(t, at.String(), design.Normalized, engine.Options{})
		enginetest.StoreBatches(t, a, "a", oneLine("SAL1L2", `Größe\`, newYear))
		for _, f := range []flavour.Name{flavour.MetviewerSQL, flavour.SQL} {
			if got := askModel(t, a, `Größe\`, f); got.Rows != 1 {
				t.Errorf("%s: %d rows, want 1", f, got.Rows)
			}
		}
	})
}

// TestCommitAfterRollback: a commit that failed has created no table, even if it has seen the table.
func TestCommitAfterRollback(t *testing.T) {
	d := &databases{server: servers.Lab(t, postgres.Driver(), lab.Options{})}
	for _, n := range []design.Name{design.Normalized, design.Document, design.Wide} {
		a := openAt(t, d.url(t), n, engine.Options{})
		enginetest.StoreBatches(t, a, "a", oneLine("GRAD", "M", newYear))
		l, err := a.Loader(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		for _, refused := range []bool{true, false} {
			c := archive.Commit{Catalog: design.NewCatalog("a")}
			for _, name := range []string{"SL1L2", "SAL1L2", "GRAD"} {
				b := oneLine(name, "M", newYear)
				b.Num[1][0]++ // differs from the existing record
				if err := l.Add(t.Context(), b); err != nil {
					t.Fatal(err)
				}
				c.Catalog.Add(b)
			}
			c.IsProtected = func(archive.ExistingRecord) bool { return refused }
			if _, err := l.Commit(t.Context(), c); (err != nil) != refused {
				t.Errorf("%s, refused %t: %v", n, refused, err)
			}
		}
	}
}

// TestSchemasOfOthers: a user lists archives in a database that also has schemas that this user may not read. A database
// with no other archives is not empty.
func TestSchemasOfOthers(t *testing.T) {
	d := &databases{server: servers.Lab(t, postgres.Driver(), lab.Options{})}
	at := d.url(t)
	for _, n := range []design.Name{design.Normalized, design.Wide} {
		loadOne(t, openAt(t, at, n, engine.Options{}))
	}
	execute(t, at, "CREATE ROLE someone LOGIN PASSWORD 'p'", "GRANT CREATE ON DATABASE "+at[strings.LastIndexByte(at, '/')+1:]+" TO someone")
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("someone", "p")
	a := openAt(t, u.String(), design.Normalized, engine.Options{})
	if got, err := a.Subsets(t.Context()); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("without an archive that this user may read: subsets %q, %v", got, err)
	}
	enginetest.StoreBatches(t, a, "mine", oneLine("SAL1L2", "M", newYear))
	for n, want := range map[design.Name]string{design.Normalized: "mine", design.Wide: ""} {
		a := openAt(t, u.String(), n, engine.Options{})
		if got, err := a.Subsets(t.Context()); err != nil || strings.Join(got, " ") != want {
			t.Errorf("design %s: subsets %q, %v", n, got, err)
		}
	}
}

// TestOwnTablesKeepSubsets: the schema of a user's own tables, which each run replaces, is no subset's schema.
func TestOwnTablesKeepSubsets(t *testing.T) {
	d := &databases{server: servers.Lab(t, postgres.Driver(), lab.Options{})}
	at := d.url(t)
	a := openAt(t, at, design.Normalized, engine.Options{})
	enginetest.StoreBatches(t, a, "barograph_own", oneLine("SAL1L2", "M", newYear))
	e, err := engine.Registry{postgres.Driver()}.Open(t.Context(), at, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	own, err := tables.DatabasesOf(e).Own(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	if c, err := openAt(t, at, design.Normalized, engine.Options{}).Contents(t.Context(), "barograph_own"); err != nil || c.Total() != 1 {
		t.Errorf("%d records are left, want 1; %v", c.Total(), err)
	}
}

// TestReplica: Barograph queries and verifies an archive on a server in recovery, which accepts no write.
func TestReplica(t *testing.T) {
	d := &databases{server: enginetest.Lab(t, postgres.Driver(), lab.Options{})}
	at := d.url(t)
	loadOne(t, openAt(t, at, design.Normalized, engine.Options{}))
	if err := d.server.StopAll(); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(d.server.State().Cluster.Nodes[0].Dir, "data")
	if err := os.WriteFile(filepath.Join(dir, "standby.signal"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	startReplica(t, dir, at)
	for _, readOnly := range []bool{false, true} {
		a := openAt(t, at, design.Normalized, engine.Options{ReadOnly: readOnly})
		if c, err := a.Contents(t.Context(), "a"); err != nil || c.Total() != 1 {
			t.Errorf("%d records, %v", c.Total(), err)
		}
		check, _ := a.(archive.Checker)
		if problems, err := check.Check(t.Context(), "a"); err != nil || len(problems) > 0 {
			t.Errorf("read-only %t: %q, %v", readOnly, problems, err)
		}
	}
}

// startReplica starts a server on a data folder, and waits until it answers. The lab would wait for a server that
// accepts writes.
func startReplica(t *testing.T, dir, url string) {
	t.Helper()
	programs, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil || len(programs) == 0 {
		t.Skip("NOT TESTED: a replica, because this system installs PostgreSQL elsewhere", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	owner, _ := info.Sys().(*syscall.Stat_t)
	config := filepath.Join(filepath.Dir(dir), "postgresql.conf")
	cmd := exec.CommandContext(t.Context(), programs[len(programs)-1], "-D", dir, "-c", "config_file="+config)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) }
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() })
	for t.Context().Err() == nil {
		c, err := pgx.Connect(t.Context(), url)
		if err == nil {
			c.Close(t.Context())
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// TestStoppedRows: after an error in a row, Barograph does not wait for the other rows, for which the server needs
// hours.
func TestStoppedRows(t *testing.T) {
	d := &databases{server: servers.Lab(t, postgres.Driver(), lab.Options{})}
	a, _ := d.open(t, design.Wide)
	loadOne(t, a)
	lt, _ := record.TypeByName("SAL1L2")
	q := &question.Question{Name: "times", Subset: "a", Type: lt}
	var err error
	if q.Columns, err = question.Columns(lt, "fcst_valid_beg"); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	var into answer.Builder
	const text = "SELECT repeat('x', 20000) || pg_sleep(0.01)::text FROM generate_series(1, 1000000) g"
	err = a.Ask(ctx, &archive.Query{Question: q, Text: text}, &into)
	if err == nil || !strings.Contains(err.Error(), "fcst_valid_beg has type") || ctx.Err() != nil {
		t.Error(err, ctx.Err())
	}
}

// TestPlansOfTwoSubsets: the partitions of another subset's table do not change what a plan shows.
func TestPlansOfTwoSubsets(t *testing.T) {
	d := &databases{server: servers.Lab(t, postgres.Driver(), lab.Options{})}
	at := d.url(t)
	for subset, query := range map[string]string{"a": "?partitions=hash:2", "b": "?partitions=hash:9"} {
		enginetest.StoreBatches(t, openAt(t, at+query, design.Document, engine.Options{}), subset, oneLine("SAL1L2", "M", newYear))
	}
	a := openAt(t, at, design.Document, engine.Options{})
	lt, _ := record.TypeByName("SAL1L2")
	q := &question.Question{Name: "all", Subset: "a", Type: lt}
	var err error
	if q.Columns, err = question.Columns(lt, "fcst_valid_beg", "fabar"); err != nil {
		t.Fatal(err)
	}
	q.Order = q.Columns[:1]
	p, err := a.Phrase(t.Context(), q, flavour.EpochRange)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := a.Explain(t.Context(), p)
	if err != nil || len(plan.Access) != 1 || plan.Access[0].Method != archive.FullScan {
		t.Errorf("%+v, %v; want one full scan", plan.Access, err)
	}
}
