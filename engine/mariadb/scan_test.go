package mariadb_test

import (
	"database/sql"
	"errors"
	"os"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/enginetest/scantest"
	"github.com/barograph/barograph/engine/mariadb"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/lab"
)

// TestScans puts the tables of the analytical workload through the suite.
func TestScans(t *testing.T) {
	l := mariadb.Servers.Lab(t, mariadb.Driver(), lab.Options{Profile: "tuned", Memory: 1 << 30})
	scantest.Run(t, scantest.Config{Driver: mariadb.Driver(), URL: fresh(l, ""), Paths: enginetest.Disks})
}

// TestScansLeaveNothing: a load at another placement leaves no folder of the earlier one. A folder that the server
// cannot use is an error with a cure.
func TestScansLeaveNothing(t *testing.T) {
	enginetest.NotUnderRace(t)
	l := mariadb.Servers.Lab(t, mariadb.Driver(), lab.Options{Memory: 1 << 30})
	files, _ := scantest.StarFolder(t)
	paths := enginetest.Disks(t, 2)
	e, err := engine.Registry{mariadb.Driver()}.Open(t.Context(), fresh(l, "")(t), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	load := func(p tables.Placement) error {
		star, err := tables.DatabasesOf(e).Star.Open(t.Context(), p)
		if err != nil {
			return err
		}
		_, err = star.Load(t.Context(), files)
		return errors.Join(err, star.Close())
	}
	if err := load(tables.Placement{Paths: paths, Partitions: 3}); err != nil {
		t.Fatal(err)
	}
	if err := load(tables.Placement{Paths: paths[:1], Partitions: 1, Replace: true}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{1, 0} {
		in, err := os.ReadDir(paths[i])
		if err != nil || len(in) != want {
			t.Errorf("path %d contains %v, %v; want %d", i, in, err, want)
		}
	}
	if os.Geteuid() != 0 {
		return // without root the server's account is this one
	}
	if err := os.Chmod(paths[1], 0o700); err != nil {
		t.Fatal(err)
	}
	if err := load(tables.Placement{Paths: paths, Partitions: 2, Replace: true}); err == nil {
		t.Error("a folder that the server's account cannot reach was accepted")
	} else {
		t.Log(err)
	}
}

// TestSpent: after a restart, when InnoDB's pool is empty, the scan reads from disk. The processor time is reported
// if the server counts it.
func TestSpent(t *testing.T) {
	enginetest.NotUnderRace(t)
	l := enginetest.Lab(t, mariadb.Driver(), lab.Options{Memory: 1 << 30})
	at := fresh(l, "")(t)
	restart := func() {
		if err := errors.Join(l.StopAll(), l.RestartAll(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	read := scantest.Spends(t, mariadb.Driver(), at, restart)
	if read.CPU != -1 || read.Read < 1<<20 {
		t.Errorf("%+v", read)
	}
	spent := scantest.Spends(t, mariadb.Driver(), at, func() {
		db, err := sql.Open("mysql", dsn(t, l.URL(), "/"))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.ExecContext(t.Context(), "SET GLOBAL userstat = 1"); err != nil {
			t.Fatal(err)
		}
	})
	if spent.CPU <= 0 || spent.Read < 0 {
		t.Errorf("with userstat: %+v", spent)
	}
	t.Log(read, spent)
}
