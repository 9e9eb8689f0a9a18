package main

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/enginetest"
	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/workload/met"
)

// envMain makes a process of the tests the program itself.
const envMain = "BAROGRAPH_TEST_MAIN"

// TestMain is the program in processes that tests start: those of child, and
// those that the program starts of itself for cold starts.
func TestMain(m *testing.M) {
	if os.Getenv(envMain) != "" || len(os.Args) > 1 && os.Args[1] == met.ColdCommand {
		main()
	}
	m.Run()
}

// child starts a command line in a process of its own, which can be killed.
func child(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], args...)
	c.Env = append(os.Environ(), envMain+"=1")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// client runs one of MariaDB's own programs.
func client(t *testing.T, server, command string) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	c := exec.CommandContext(t.Context(), "bash", "-c", "set -o pipefail; to=(-h "+u.Hostname()+" -P "+u.Port()+" -u "+u.User.Username()+"); "+command)
	c.Env = append(os.Environ(), "MYSQL_PWD="+password)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}

// Two databases that METdbLoad made: they are compared, tables of tropical
// cyclones too; and a load into one of them, which is to have tables of its own
// beside METviewer's, ended with error 1054 after it had added headers and
// tables. It is refused before anything is written, wherever it is killed.
func TestDatabasesOfMETdbLoad(t *testing.T) {
	d, _ := all.Registry().Find("mariadb")
	server := enginetest.Lab(t, *d, lab.Options{Memory: 1 << 30}).State().URL
	for _, name := range []string{"mv_site_1", "mv_site_2"} {
		dump := sharedData(t, "met/metdbload_site/"+name+".sql.xz")
		client(t, server, "mariadb ${to[@]} -e 'CREATE DATABASE "+name+"' && xz -dc '"+dump+"' | mariadb ${to[@]} "+name)
	}
	status, stdout, stderr := barograph(t, "diff", server+"mv_site_1", server+"mv_site_2", "--samples", "1")
	if status != fault.Differs || !strings.Contains(stdout, "34544 rows are equal, 5466 differ") {
		t.Errorf("diff: status %d\n%s%s", status, stdout, stderr)
	}
	files := filepath.Join(unpack(t, "met/metdbload_site/site_files.tar.xz"), "site")
	state := func() string {
		return client(t, server, "mariadb-dump ${to[@]} --skip-comments mv_site_1 | md5sum; mariadb ${to[@]} -N -e 'SHOW DATABASES'")
	}
	before := state()
	for _, design := range []string{"normalized", "document", "wide"} {
		status, _, stderr := barograph(t, "load", files, "--engine", server, "--design", design, "--subset", "mv_site_1")
		if status != fault.Failed || !strings.Contains(stderr, "database mv_site_1") || !strings.Contains(stderr, "nothing was written") {
			t.Errorf("%s: status %d: %s", design, status, stderr)
		}
	}
	kills := 3
	if os.Getenv(enginetest.EnvSoak) != "" {
		kills = 50
	}
	for i := range kills {
		c := child(t, "load", files, "--engine", server, "--design", "normalized", "--subset", "mv_site_1")
		time.Sleep(time.Duration(i*500/kills) * time.Millisecond)
		_ = c.Process.Kill() // it may have ended
		_ = c.Wait()
	}
	if after := state(); after != before {
		t.Errorf("before\n%s after\n%s", before, after)
	}
}
