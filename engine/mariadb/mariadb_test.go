package mariadb_test

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	_ "github.com/go-sql-driver/mysql"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/mariadb"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/query/flavour"
)

// made counts the names of databases.
var made atomic.Int64

// fresh returns a function that names an empty database of a lab by a URL; its
// databases are dropped with the test.
func fresh(l *lab.Lab, query string) func(t *testing.T) string {
	return func(t *testing.T) string {
		prefix := fmt.Sprintf("t%d_", made.Add(1))
		t.Cleanup(func() { drop(t, l, prefix) })
		return l.URL() + prefix + query
	}
}

// dsn returns the driver's name of a database of a server, or of a cluster's first node.
func dsn(t testing.TB, url, path string) string {
	t.Helper()
	u := parsed(t, url)
	host, _, _ := strings.Cut(u.Host, ",")
	return fmt.Sprintf("%s@tcp(%s)%s", u.User, host, path)
}

// drop drops the databases that begin with a prefix.
func drop(t *testing.T, l *lab.Lab, prefix string) {
	t.Helper()
	db, err := sql.Open("mysql", dsn(t, l.URL(), "/"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()                        // the test writes nothing more
	rows, err := db.Query("SHOW DATABASES") //nolint:noctx // the test's context has ended
	if err != nil {
		t.Errorf("databases of a test: %v", err)
		return
	}
	defer rows.Close() // Err below reports the error
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	if err := rows.Err(); err != nil {
		t.Error(err)
	}
	for _, name := range names {
		exec := func(statement string) error {
			_, err := db.Exec(statement) //nolint:noctx // as above
			return err
		}
		if err := mariadb.Drop(exec, name); err != nil {
			t.Errorf("drop %q: %v", name, err)
		}
	}
}

// The server is killed during a load, and two loads go into one subset.
func TestServerDiesAndTwoLoad(t *testing.T) {
	l := mariadb.Mortal.Lab(t, mariadb.Driver(), lab.Options{Profile: "tuned", Memory: 1 << 30})
	for _, query := range []string{"", "?engine=InnoDB"} {
		t.Run("url="+query, func(t *testing.T) {
			c := enginetest.Config{Driver: mariadb.Driver(), URL: fresh(l, query)}
			if query != "" { // the other designs always use InnoDB
				enginetest.Only(&c.Driver, design.Normalized)
			}
			enginetest.RunServer(t, c, l)
		})
	}
}

// TestFullDisk gives the server a small file system.
func TestFullDisk(t *testing.T) {
	enginetest.RunFullServer(t, mariadb.Driver(), lab.Options{Profile: "tuned", Memory: 1 << 30}, func(l *lab.Lab) enginetest.Config {
		return enginetest.Config{Driver: mariadb.Driver(), URL: fresh(l, "")}
	})
}

// The defects of other loaders, in METviewer's tables of either storage engine,
// documents and wide rows.
func TestDefectsOfLoaders(t *testing.T) {
	l := mariadb.Servers.Lab(t, mariadb.Driver(), lab.Options{Memory: 1 << 30})
	full := func(t *testing.T, url, catalog string, full bool) {
		t.Helper()
		u := parsed(t, url)
		db, err := sql.Open("mysql", dsn(t, url, u.Path+"a"))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close() // the test writes nothing more
		text := "DROP TRIGGER full_disk"
		if full {
			text = "CREATE TRIGGER full_disk BEFORE UPDATE ON " + catalog +
				" FOR EACH ROW IF new.version > 3 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = '" + enginetest.DiskFull + "'; END IF"
		}
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("as shipped", func(t *testing.T) {
		enginetest.RunDefects(t, enginetest.Config{Driver: mariadb.Driver(), URL: fresh(l, "")}, full)
	})
	t.Run("InnoDB", func(t *testing.T) {
		enginetest.RunDefects(t, enginetest.Config{Driver: offering(design.Normalized), URL: fresh(l, "?engine=InnoDB")}, full)
	})
}

// A server of every profile starts, and has its data after a kill.
func TestServer(t *testing.T) {
	for _, p := range mariadb.Driver().Server.Profiles {
		t.Run(p.Name, func(t *testing.T) {
			l := mariadb.Mortal.Lab(t, mariadb.Driver(), lab.Options{Profile: p.Name, Memory: 1 << 30})
			url := fresh(l, "")(t)
			e, err := mariadb.Driver().Open(t.Context(), parsed(t, url), engine.Options{})
			if err != nil {
				t.Fatal(err)
			}
			about, err := e.About(t.Context())
			if want := map[string]string{
				"default": "134217728", "tuned": "536870912",
				"observed": "536870912",
			}[p.Name]; err != nil || about.Settings["innodb_buffer_pool_size"] != want {
				t.Errorf("innodb_buffer_pool_size %s, want %s, %v", about.Settings["innodb_buffer_pool_size"], want, err)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			all := files(1, 1)
			if err := store(t.Context(), opened(t, url, design.Normalized), "s", all); err != nil {
				t.Fatal(err)
			}
			if err := l.Kill(0); err != nil {
				t.Fatal(err)
			}
			if err := l.Restart(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			checkComplete(t, opened(t, url, design.Normalized), all)
		})
	}
}

func parsed(t testing.TB, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// offering is a driver of some designs only.
func offering(designs ...design.Name) engine.Driver {
	d := mariadb.Driver()
	maps.DeleteFunc(archive.OfferOf(&d).Designs, func(n design.Name, _ []flavour.Name) bool { return !slices.Contains(designs, n) })
	openAll := d.Open
	d.Open = func(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
		e, err := openAll(ctx, u, o)
		if err == nil {
			e.Abilities = slices.Insert(e.Abilities, 0, any(offered{archive.DatabaseOf(e), designs}))
		}
		return e, err
	}
	return d
}

type offered struct {
	archive.Database
	designs []design.Name
}

func (o offered) Open(ctx context.Context, d design.Name) (archive.Archive, error) {
	if !slices.Contains(o.designs, d) {
		return nil, engine.ErrNoDesign
	}
	return o.Database.Open(ctx, d)
}

// METviewer's tables with the further indexes and a storage engine that has transactions.
func TestConformanceInnoDB(t *testing.T) {
	l := mariadb.Servers.Lab(t, mariadb.Driver(), lab.Options{Profile: "tuned", Memory: 1 << 30})
	c := enginetest.Config{
		Driver:          offering(design.Normalized), // the others are the same
		URL:             fresh(l, "?engine=InnoDB&apply_indexes=true"),
		Reopenable:      true,
		TestedElsewhere: true,
		Unreachable:     func(*testing.T) string { return "mariadb://127.0.0.1:1/?engine=InnoDB" },
	}
	enginetest.Run(t, c)
}

func TestConformance(t *testing.T) {
	l := mariadb.Servers.Lab(t, mariadb.Driver(), lab.Options{Profile: "tuned", Memory: 1 << 30})
	enginetest.Run(t, enginetest.Config{
		Driver:      mariadb.Driver(),
		URL:         fresh(l, ""),
		Reopenable:  true,
		Unreachable: func(*testing.T) string { return "mariadb://root:secret@127.0.0.1:1/" },
	})
}
