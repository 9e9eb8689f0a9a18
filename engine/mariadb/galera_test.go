package mariadb_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/mariadb"
	"github.com/barograph/barograph/lab"
)

// TestGalera puts three nodes through the suite, kills nodes and loads at all of
// them; the last test ends the cluster.
func TestGalera(t *testing.T) {
	l := cluster(t)
	t.Run("conformance", func(t *testing.T) { conformance(t, l) })
	t.Run("schema", func(t *testing.T) { galeraSchema(t, l) })
	t.Run("loaders at every node", func(t *testing.T) { loadersAtEveryNode(t, l) })
	t.Run("a node fails", func(t *testing.T) { nodeDies(t, l) })
	t.Run("all nodes fail", func(t *testing.T) { comesBack(t, l) })
}

// cluster starts three nodes; see enginetest.Installed.
func cluster(t *testing.T) *lab.Lab {
	t.Helper()
	d := mariadb.Driver()
	s := *d.Server
	s.Find = mariadb.FindGalera
	d.Server = &s
	return enginetest.Lab(t, d, three(""))
}

func three(dir string) lab.Options {
	return lab.Options{Dir: dir, Nodes: 3, Memory: 512 << 20, Profile: "tuned", Owned: true}
}

// After all nodes crashed, the cluster starts with the node that has the latest commit, not with the first.
func comesBack(t *testing.T, l *lab.Lab) {
	all := files(1, 6)
	if err := store(t.Context(), opened(t, l.URL()+"b_", design.Normalized), "s", all[:3]); err != nil {
		t.Fatal(err)
	}
	if err := l.Kill(0); err != nil {
		t.Fatal(err)
	}
	if err := store(t.Context(), opened(t, l.URL()+"b_", design.Normalized), "s", all[3:]); err != nil {
		t.Fatal(err)
	}
	for i := 1; i < 3; i++ {
		if err := l.Kill(i); err != nil {
			t.Fatal(err)
		}
	}
	d := mariadb.Driver()
	l, err := lab.Up(t.Context(), &d, three(l.State().Cluster.Dir))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if _, rest := checkComplete(t, opened(t, node(t, l, i)+"b_", design.Normalized), all); len(rest) > 0 {
			t.Errorf("node %d lacks %d files", i+1, len(rest))
		}
	}
}

// node names one node of a cluster.
func node(t *testing.T, l *lab.Lab, i int) string {
	t.Helper()
	u := parsed(t, l.URL())
	return fmt.Sprintf("mariadb://%s@%s/", u.User, strings.Split(u.Host, ",")[i])
}

// nodeConn opens a connection to one node, without waiting for the others.
func nodeConn(t *testing.T, l *lab.Lab, i int) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", dsn(t, node(t, l, i), "/"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // its server may have been killed
	return db
}

// The suite on three nodes: queries go to each node in turn, loads to the first, and every result includes all earlier
// loads.
func conformance(t *testing.T, l *lab.Lab) {
	enginetest.Run(t, enginetest.Config{
		Driver:          offering(design.Normalized), // InnoDB, and METviewer's tables: the hardest case
		URL:             fresh(l, ""),
		Reopenable:      true,
		TestedElsewhere: true,
		Unreachable:     func(*testing.T) string { return "mariadb://root:secret@127.0.0.1:1,127.0.0.2:1,127.0.0.3:1/" },
	})
}

// A cluster has only tables of InnoDB, each with a primary key, and About reports that.
func galeraSchema(t *testing.T, l *lab.Lab) {
	for _, url := range []string{l.URL() + "s_", node(t, l, 1) + "s_"} {
		e, err := engine.Registry{mariadb.Driver()}.Open(t.Context(), url, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		about, err := e.About(t.Context())
		if err != nil || !strings.HasPrefix(about.Settings["metviewer_engine"], "InnoDB (") || about.Settings["wsrep_cluster_size"] != "3" {
			t.Errorf("about: %q, %v", about.Settings, err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := (engine.Registry{mariadb.Driver()}).Open(t.Context(), l.URL()+"?engine=MyISAM", engine.Options{}); err == nil || !strings.Contains(err.Error(), "one node") {
		t.Errorf("MyISAM on a cluster: %v", err)
	}
	all := files(1, 2)
	for _, d := range []design.Name{design.Normalized, design.Document, design.Wide} {
		if err := store(t.Context(), opened(t, l.URL()+"s_", d), "s", all); err != nil {
			t.Fatal(err)
		}
		checkComplete(t, opened(t, node(t, l, 2)+"s_", d), all)
	}
	var n int
	err := nodeConn(t, l, 0).QueryRowContext(t.Context(), `SELECT count(*) FROM information_schema.tables t WHERE table_schema = 's_s' AND (engine <> 'InnoDB' OR NOT EXISTS
		(SELECT 1 FROM information_schema.statistics s WHERE s.table_schema = t.table_schema AND s.table_name = t.table_name AND index_name = 'PRIMARY'))`).Scan(&n)
	if err != nil || n > 0 {
		t.Errorf("%d tables have no key or are not InnoDB, %v", n, err)
	}
}

// Several nodes have loaders at once, which replace the same records. No lock excludes the others, so a loader
// repeats a commit until no other commit overtakes it.
func loadersAtEveryNode(t *testing.T, l *lab.Lab) {
	for _, d := range []design.Name{design.Normalized, design.Document, design.Wide} {
		t.Run(string(d), func(t *testing.T) {
			all := files(1, 9)
			group, ctx := errgroup.WithContext(t.Context())
			for i := range 3 {
				mine := all[i*3 : i*3+3]
				for _, at := range []int{i, (i + 1) % 3} { // twice is once
					a := opened(t, node(t, l, at)+"n_", d)
					group.Go(func() error { return store(ctx, a, "s", mine) })
				}
			}
			if err := group.Wait(); err != nil {
				t.Fatal(err)
			}
			for i := range 3 {
				if _, rest := checkComplete(t, opened(t, node(t, l, i)+"n_", d), all); len(rest) > 0 {
					t.Errorf("node %d has no mark of %d files", i+1, len(rest))
				}
			}
		})
	}
}

// Node failures during a load: the load does not notice the failure of a node that it does not use. The failure of its
// own node is an error. No node loses an acknowledged commit.
func nodeDies(t *testing.T, l *lab.Lab) {
	const d = design.Normalized // METviewer's tables: no design has more
	url := l.URL() + "d_"
	all := append(files(1, 12), files(2, 12)...)
	loading := func(files []enginetest.File, kill int) (acknowledged []enginetest.File, err error) {
		acks := make(chan enginetest.File, len(files))
		ended := make(chan error, 1)
		a := opened(t, url, d)
		go func() {
			defer close(acks)
			for _, f := range files {
				if err := store(t.Context(), a, "s", []enginetest.File{f}); err != nil {
					ended <- err
					return
				}
				acks <- f
			}
			ended <- nil
		}()
		for f := range acks {
			if acknowledged = append(acknowledged, f); len(acknowledged) == 3 {
				if err := l.Kill(kill); err != nil {
					t.Fatal(err)
				}
			}
		}
		return acknowledged, <-ended
	}
	if _, err := loading(all[:10], 2); err != nil {
		t.Fatalf("after the failure of the third node the load returned: %v", err)
	}
	checkComplete(t, opened(t, url, d), all)
	if err := l.Restart(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	acknowledged, err := loading(all[10:], 0)
	t.Logf("the loader's node failed after %d of %d files, and the load returned: %v", len(acknowledged), len(all)-10, err)
	there, rest := checkComplete(t, opened(t, url, d), all) // at the others
	if len(there) < 10+len(acknowledged) {
		t.Errorf("%d files were acknowledged, the archive has %d", 10+len(acknowledged), len(there))
	}
	if err := store(t.Context(), opened(t, url, d), "s", rest); err != nil {
		t.Fatal(err)
	}
	if err := l.Restart(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if _, rest := checkComplete(t, opened(t, node(t, l, i)+"d_", d), all); len(rest) > 0 {
			t.Errorf("node %d lacks %d files", i+1, len(rest))
		}
	}
}
