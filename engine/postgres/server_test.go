package postgres_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"barograph/engine/postgres"
	"barograph/enginetest"
	"barograph/lab"
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
			if err := l.Restart(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			if got := query("SELECT v FROM kept"); got != "there" {
				t.Errorf("after the restart: %q", got)
			}
		})
	}
}

// execute runs statements over a connection of its own.
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
