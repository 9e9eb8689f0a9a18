package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/enginetest/damages"
	"github.com/barograph/barograph/lab"

	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
)

// damagedServer describes how the test accesses a server without Barograph.
type damagedServer struct {
	engine  string
	designs []string
	open    func(url string) (*sql.DB, error)
	store   func(subset string) damages.Store
	files   func(t *testing.T, db *sql.DB, subset string) func(name string) bool // of its tables
}

func damagedServers() []damagedServer {
	return []damagedServer{
		{
			"postgres",
			[]string{"normalized", "document", "wide"},
			func(url string) (*sql.DB, error) { return sql.Open("pgx", url) },
			func(subset string) damages.Store {
				return damages.Store{Columns: "SELECT table_name::text, column_name::text, data_type::text FROM information_schema.columns WHERE table_schema = '" + subset + "'", Schema: subset + ".", Quote: `"`, RowID: "ctid::text", Bind: "$1"}
			},
			func(t *testing.T, db *sql.DB, subset string) func(string) bool {
				t.Helper()
				var all string
				err := db.QueryRowContext(t.Context(), "SELECT string_agg('/' || pg_relation_filepath(c.oid) || '/', ' ') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE nspname = $1 AND relkind IN ('r', 'i')", subset).Scan(&all)
				if err != nil {
					t.Fatal(err)
				}
				return func(name string) bool {
					at := strings.Index(name, "/base/")
					return at >= 0 && strings.Contains(all, name[at:]+"/")
				}
			},
		},
		{
			"mariadb",
			[]string{"normalized", "document", "wide"},
			func(raw string) (*sql.DB, error) {
				u, err := url.Parse(raw)
				if err != nil {
					return nil, err
				}
				c := mysql.NewConfig()
				c.User, c.Net, c.Addr, c.InterpolateParams = u.User.Username(), "tcp", u.Host, true
				c.Passwd, _ = u.User.Password()
				return sql.Open("mysql", c.FormatDSN())
			},
			func(subset string) damages.Store {
				return damages.Store{Columns: "SELECT table_name, column_name, column_type FROM information_schema.columns WHERE table_schema = '" + subset + "'", Schema: subset + ".", Quote: "`", Bind: "?"}
			},
			func(_ *testing.T, _ *sql.DB, subset string) func(string) bool {
				return func(name string) bool {
					return strings.Contains(name, "/"+subset+"/") && slices.Contains([]string{".ibd", ".MYD"}, filepath.Ext(name))
				}
			},
		},
	}
}

// TestDamagesOfServers damages servers in two ways. Damages by SQL use one subset, which the test
// restores after each. Damages of a bit of a page, while the server is stopped, use a subset each.
func TestDamagesOfServers(t *testing.T) {
	plainRunOnly(t)
	n := len(damages.Kinds())
	if enginetest.Nightly() {
		n = 200
	}
	files := fewRecords(t)
	for _, x := range damagedServers() {
		d, _ := all.Registry().Find(x.engine)
		t.Run(x.engine, func(t *testing.T) {
			l := enginetest.Lab(t, *d, lab.Options{})
			for _, design := range x.designs {
				t.Run(design, func(t *testing.T) { damageServer(t, &x, d, l, design, files, n) })
			}
		})
	}
}

func damageServer(t *testing.T, x *damagedServer, d *engine.Driver, l *lab.Lab, design, files string, n int) {
	t.Helper()
	db, err := x.open(l.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { db.Close() }()
	load := func(subset string) {
		must(t, "load", files, "--engine", l.URL(), "--design", design, "--subset", subset)
	}
	one, kept := design[:1]+"_one", design[:1]+"_kept"
	load(one)
	s := x.store(one)
	s.DB = db
	if err := s.Keep(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	done := make([]damages.Damage, n)
	message := make([]string, n) // of each damage; "" = nothing
	byBytes := map[int]func(string) bool{}
	name := func(i int) string { return fmt.Sprintf("%s%d", design[:1], i) }
	for i := range n {
		k := damages.Kinds()[i%len(damages.Kinds())]
		if k == damages.Byte {
			load(name(i))
			byBytes[i] = x.files(t, db, name(i))
			continue
		}
		r := rand.New(rand.NewPCG(damageSeed, uint64(i))) //nolint:gosec // a test's
		if done[i], err = s.Damage(t.Context(), r, k); errors.Is(err, damages.ErrNone) {
			done[i], err = s.Damage(t.Context(), r, damages.Value)
		}
		if err != nil {
			t.Fatalf("damage %d: %+v, %v", i, done[i], err)
		}
		message[i] = verdictsOf(t, l, design, "--subset", one)[one]
		if err := s.Restore(t.Context(), done[i], kept); err != nil {
			t.Fatal(err)
		}
	}
	if v := verdictsOf(t, l, design, "--subset", one); v[one] != "" {
		t.Fatalf("restored, and reported: %s", v[one])
	}
	if err := l.StopAll(); err != nil {
		t.Fatal(err)
	}
	dir := l.State().Cluster.Nodes[0].Dir
	if x.engine == "postgres" {
		sums, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pg_checksums")
		if len(sums) == 0 {
			t.Fatal("pg_checksums is not there, which comes with the server")
		}
		_ = exec.CommandContext(t.Context(), sums[len(sums)-1], "--enable", "-D", filepath.Join(dir, "data")).Run() // the checksums may be enabled already
	}
	for i, damaged := range byBytes {
		r := rand.New(rand.NewPCG(damageSeed, uint64(i))) //nolint:gosec // a test's
		if done[i], err = damages.File(r, dir, map[string]int64{"mariadb": 16 << 10}[x.engine], damaged); err != nil {
			t.Fatal(err)
		}
		done[i].Place = strings.TrimPrefix(done[i].Place, filepath.Base(dir)+"/")
	}
	if err := l.RestartAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	reported := verdictsOf(t, l, design)
	var list damageList
	for i := range n {
		if byBytes[i] != nil {
			message[i] = reported[name(i)]
		}
		list.add(t, d.Scheme, design, done[i], message[i] != "")
	}
	list.keep(t)
}

// verdictsOf returns the first problem of each damaged subset under a design.
func verdictsOf(t *testing.T, l *lab.Lab, design string, args ...string) map[string]string {
	t.Helper()
	_, stdout, stderr := barograph(t, append([]string{"verify", l.URL(), "--json"}, args...)...)
	var all []verdict
	if err := json.Unmarshal([]byte(stdout), &all); err != nil {
		t.Fatal(err, stderr)
	}
	out := map[string]string{}
	for _, v := range all {
		if v.Design == design && !v.Intact {
			out[v.Subset] = v.Problems[0]
		}
	}
	return out
}
