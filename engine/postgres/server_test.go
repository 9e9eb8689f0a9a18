package postgres_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/postgres"
	"github.com/barograph/barograph/lab"
)

// TestServer starts, kills, restarts and stops a real server under every profile.
func TestServer(t *testing.T) {
	for _, p := range postgres.Driver().Server.Profiles {
		t.Run(p.Name, func(t *testing.T) {
			l := enginetest.Lab(t, postgres.Driver(), lab.Options{Profile: p.Name, Memory: 1 << 30})
			query := func(sql string) (v string) {
				t.Helper()
				c, err := pgx.Connect(t.Context(), l.URL())
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close(t.Context())
				if err := c.QueryRow(t.Context(), sql).Scan(&v); err != nil {
					t.Fatal(err)
				}
				return v
			}
			want := map[string]string{"default": "128MB", "tuned": "256MB"}[p.Name]
			if got := query("SHOW shared_buffers"); got != want {
				t.Errorf("shared_buffers is %s, want %s", got, want)
			}
			execute(t, l.URL(), "CREATE TABLE kept AS SELECT 'there' AS v")
			if err := l.Kill(0); err != nil {
				t.Fatal(err)
			}
			if c, err := pgx.Connect(t.Context(), l.URL()); err == nil {
				c.Close(t.Context())
				t.Error("a killed server answers")
			}
			leaveZombie(t, filepath.Join(l.State().Cluster.Nodes[0].Dir, "data", "postmaster.pid"))
			if err := l.Restart(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			if got := query("SELECT v FROM kept"); got != "there" {
				t.Errorf("after the restart: %q", got)
			}
		})
	}
}

// leaveZombie writes into the pid file of the postmaster the id of a killed process of its account whose parent does
// not reap it. A kill leaves that where the init process reaps nothing.
func leaveZombie(t *testing.T, note string) {
	t.Helper()
	info, err := os.Stat(note)
	if err != nil {
		t.Fatal(err)
	}
	of, _ := info.Sys().(*syscall.Stat_t)
	dead := exec.CommandContext(t.Context(), "sleep", "1000")
	dead.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: of.Uid, Gid: of.Gid}}
	if err := dead.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dead.Wait() })
	if err := dead.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(note)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n")
	if err := os.WriteFile(note, []byte(strconv.Itoa(dead.Process.Pid)+"\n"+rest), 0o600); err != nil {
		t.Fatal(err)
	}
}

// execute runs statements over a new connection.
func execute(t testing.TB, url string, statements ...string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	for _, s := range statements {
		if _, err := c.Exec(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}
