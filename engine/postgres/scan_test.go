package postgres_test

import (
	"errors"
	"os"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/enginetest/scantest"
	"github.com/barograph/barograph/engine/postgres"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/lab"
)

// TestScans puts the tables of the analytical workload through the suite.
func TestScans(t *testing.T) {
	enginetest.NotUnderRace(t)
	d := &databases{server: enginetest.Lab(t, postgres.Driver(), lab.Options{})}
	scantest.Run(t, scantest.Config{Driver: postgres.Driver(), URL: func(t *testing.T) string { return d.url(t) }, Paths: enginetest.Disks})
}

// TestScansLeaveNothing: two databases of one server on one disk, of which one
// is loaded again at another placement. Its former folders are removed, the other's stay.
func TestScansLeaveNothing(t *testing.T) {
	enginetest.NotUnderRace(t)
	d := &databases{server: enginetest.Lab(t, postgres.Driver(), lab.Options{})}
	files, _ := scantest.StarFolder(t)
	paths := enginetest.Disks(t, 2)
	folders := func() (n int) {
		for _, p := range paths {
			in, err := os.ReadDir(p)
			if err != nil {
				t.Fatal(err)
			}
			n += len(in)
		}
		return n
	}
	first, second := d.url(t), d.url(t)
	for _, step := range []struct {
		url  string
		p    tables.Placement
		want int
	}{
		{first, tables.Placement{Paths: paths, Partitions: 2}, 2},
		{second, tables.Placement{Paths: paths[:1], Partitions: 1}, 3},
		{first, tables.Placement{Partitions: 1, Replace: true}, 1},
	} {
		e, err := engine.Registry{postgres.Driver()}.Open(t.Context(), step.url, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		star, err := tables.DatabasesOf(e).Star.Open(t.Context(), step.p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := star.Load(t.Context(), files); err != nil {
			t.Fatal(err)
		}
		if got := folders(); got != step.want {
			t.Errorf("%d folders are on the disks, not %d", got, step.want)
		}
		if err := star.Close(); err != nil {
			t.Error(err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestSpent: after a restart, when nothing is in shared_buffers, the scan reads
// all its blocks, and the processor time is reported where pg_stat_kcache counts it.
func TestSpent(t *testing.T) {
	enginetest.NotUnderRace(t)
	l := enginetest.Lab(t, postgres.Driver(), lab.Options{})
	restart := func() {
		if err := errors.Join(l.StopAll(), l.RestartAll(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	blocks := scantest.Spends(t, postgres.Driver(), l.URL(), restart)
	if blocks.CPU != -1 || blocks.Read < 1<<20 {
		t.Errorf("without pg_stat_kcache: %+v", blocks)
	}
	if _, err := os.Stat("/usr/share/postgresql/15/extension/pg_stat_kcache.control"); err != nil {
		t.Skip("NOT TESTED: pg_stat_kcache is missing; install it: apt-get install postgresql-15-pg-stat-kcache")
	}
	execute(t, l.URL(), "ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements', 'pg_stat_kcache'")
	spent := scantest.Spends(t, postgres.Driver(), l.URL(), func() {
		restart()
		execute(t, l.URL(), "CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
		execute(t, l.URL(), "CREATE EXTENSION pg_stat_kcache")
	})
	if spent.CPU <= 0 || spent.Read < 0 {
		t.Errorf("with pg_stat_kcache: %+v", spent)
	}
	t.Log(blocks, spent)
}
