package mariadb_test

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/mariadb"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/record"
)

// opened opens an archive; it is closed with t.
func opened(t testing.TB, url string, n design.Name) archive.Archive {
	t.Helper()
	e, err := engine.Registry{mariadb.Driver()}.Open(t.Context(), url, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() }) // its server may have been killed
	a, err := archive.DatabaseOf(e).Open(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// files returns generated files, of types with and without repeating columns. Files of another seed have the same
// records with different values.
func files(seed uint64, n int) []enginetest.File {
	var all []enginetest.Series
	for _, name := range []string{"SL1L2", "PCT", "CTC"} {
		lt, _ := record.TypeByName(name)
		for m := range 20 {
			h := record.DefaultHeader()
			h[record.Version], h[record.Model], h[record.FcstVar], h[record.VxMask] = "V12.0.0", "GFS", "TMP", "M"+strconv.Itoa(m)
			s := enginetest.Series{Type: lt, Header: h}
			for k := range 20 {
				s.Valid = append(s.Valid, 1546300800+int64(k)*21600)
			}
			for k := range 6 {
				s.Lead = append(s.Lead, int32(k)*21600)
			}
			all = append(all, s)
		}
	}
	return enginetest.Generate(seed, n, all...)
}

// store commits each file separately.
func store(ctx context.Context, a archive.Archive, subset string, files []enginetest.File) error {
	l, err := a.Loader(ctx, subset)
	if err != nil {
		return err
	}
	defer l.Close() // nothing is left uncommitted
	for i := range files {
		c := archive.Commit{Catalog: design.NewCatalog(subset), Complete: []archive.Mark{files[i].Mark()}}
		for _, b := range files[i].Batches {
			if err := l.Add(ctx, b); err != nil {
				return err
			}
			c.Catalog.Add(b)
		}
		if _, err := l.Commit(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// expected is the digest of files of which later ones replace earlier ones.
func expected(files []enginetest.File) record.Digest {
	at := map[record.Key]record.Digest{}
	var h record.Hasher
	for _, f := range files {
		for _, b := range f.Batches {
			h.SetBatch(b)
			for i := range b.Len() {
				at[h.Key(i)] = h.Digest(i)
			}
		}
	}
	var sum record.Digest
	for _, d := range at {
		sum.Add(d)
	}
	return sum
}

func digest(t *testing.T, a archive.Archive, subset string) (sum record.Digest) {
	t.Helper()
	var h record.Hasher
	for b, err := range a.Dump(t.Context(), subset) {
		if err != nil {
			t.Fatal(err)
		}
		sum.Add(h.DigestOf(b))
	}
	return sum
}

// checkComplete checks that the archive contains exactly what is marked, and splits the
// files into those and the rest.
func checkComplete(t *testing.T, a archive.Archive, files []enginetest.File) (there, rest []enginetest.File) {
	t.Helper()
	marks, err := a.Marks(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, m := range marks {
		known[m.Digest] = true
	}
	for _, f := range files {
		if known[f.Mark().Digest] {
			there = append(there, f)
		} else {
			rest = append(rest, f)
		}
	}
	want := expected(there)
	if got := digest(t, a, "s"); got != want {
		t.Fatalf("%d files are marked, the digest is %v, want %v", len(there), got, want)
	}
	c, err := a.Contents(t.Context(), "s")
	if err != nil || c.Total() != want.Records {
		t.Fatalf("contents: %d records, want %d, %v", c.Total(), want.Records, err)
	}
	return there, rest
}

// After a server was killed while a load replaced records, it has only complete commits, and the load continues. The
// second half of the files replaces the records of the first half.
func TestServerDiesWhileRecordsAreReplaced(t *testing.T) {
	l := mariadb.Mortal.Lab(t, mariadb.Driver(), lab.Options{Profile: "default", Memory: 1 << 30})
	kills := 3
	if testing.Short() {
		kills = 2
	}
	if n, err := strconv.Atoi(os.Getenv(enginetest.EnvSoak)); err == nil {
		kills *= n
	}
	for _, c := range []struct {
		design design.Name
		query  string
	}{{design.Normalized, ""}, {design.Normalized, "?engine=InnoDB"}, {design.Document, ""}, {design.Wide, ""}} {
		t.Run(string(c.design)+c.query, func(t *testing.T) {
			url := fresh(l, c.query)(t)
			all := append(files(1, 12), files(2, 12)...)
			if err := store(t.Context(), opened(t, url, c.design), "s", all[:10]); err != nil { // then most kills interrupt commits that replace records
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
			for k := range kills {
				killed(t, l, opened(t, url, c.design), all, rng)
				there, rest := checkComplete(t, opened(t, url, c.design), all)
				t.Logf("kill %d: %d files are there, %d are not", k+1, len(there), len(rest))
			}
			a := opened(t, url, c.design)
			_, rest := checkComplete(t, a, all)
			if err := store(t.Context(), a, "s", rest); err != nil {
				t.Fatal(err)
			}
			if _, rest := checkComplete(t, a, all); len(rest) > 0 {
				t.Errorf("%d files have no mark", len(rest))
			}
		})
	}
}

// killed loads the missing files, kills the server meanwhile and starts it again.
func killed(t *testing.T, l *lab.Lab, a archive.Archive, all []enginetest.File, rng *rand.Rand) {
	t.Helper()
	_, rest := checkComplete(t, a, all)
	ended := make(chan error, 1)
	go func() { ended <- store(t.Context(), a, "s", rest) }()
	time.Sleep(time.Duration(10+rng.IntN(250)) * time.Millisecond)
	if err := l.Kill(0); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Logf("the load ended with: %v", err)
	}
	if err := l.Restart(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
}

// A killed server can leave an incomplete index of a MyISAM table without marking the table. The recovery of a commit
// checks the tables.
func TestKeysThatAKilledServerLeft(t *testing.T) {
	l := mariadb.Mortal.Lab(t, mariadb.Driver(), lab.Options{Profile: "default", Memory: 1 << 30})
	url, all, tables := fresh(l, "")(t), files(1, 12), []string{"line_data_sl1l2", "line_data_pct"}
	db := strings.TrimPrefix(url, l.URL()) + "s"
	if err := store(t.Context(), opened(t, url, design.Normalized), "s", all[:6]); err != nil {
		t.Fatal(err)
	}
	lastText(t, l, "INSERT INTO "+db+".barograph_pending VALUES ('line_data_sl1l2', 'barograph_row', 1000000), ('line_data_pct', 'line_data_id', 1000000)")
	if err := l.Stop(0); err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		emptyKeys(t, filepath.Join(l.State().Cluster.Nodes[0].Dir, "data", db, table+".MYI"))
	}
	if err := l.Restart(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	a := opened(t, url, design.Normalized)
	there, rest := checkComplete(t, a, all)
	if len(there) != 6 {
		t.Errorf("the archive has %d files, want 6", len(there))
	}
	for _, table := range tables {
		if message := lastText(t, l, "CHECK TABLE "+db+"."+table); message != "OK" {
			t.Errorf("%s: %s", table, message)
		}
	}
	if err := store(t.Context(), a, "s", rest); err != nil {
		t.Fatal(err)
	}
	checkComplete(t, a, all)
}

// lastText runs a statement in the lab's server, and returns the last column of the last row of the result; "" = no
// row.
func lastText(t *testing.T, l *lab.Lab, statement string) (last string) {
	t.Helper()
	db, err := sql.Open("mysql", dsn(t, l.URL(), "/"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), statement)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	into := make([]any, len(columns))
	for i := range into {
		into[i] = &last
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return last
}

// emptyKeys overwrites the second half of a file of keys with zeros. The first half contains the head, which shows
// whether the table was closed.
func emptyKeys(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(make([]byte, size/2), size-size/2); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
}

// TestServerDiesInStatement kills the server while a statement of a commit waits: the error wraps ErrUnreachable
// in the designs whose statements engine/sqlengine sends.
func TestServerDiesInStatement(t *testing.T) {
	l := mariadb.Mortal.Lab(t, mariadb.Driver(), lab.Options{Profile: "tuned", Memory: 1 << 30})
	for _, n := range []design.Name{design.Document, design.Wide} {
		url := fresh(l, "")(t)
		a := opened(t, url, n)
		if err := store(t.Context(), a, "a", files(1, 1)); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("mysql", dsn(t, url, "/"))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close() // its server is killed
		lock, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := lock.ExecContext(t.Context(), "FLUSH TABLES WITH READ LOCK"); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- store(t.Context(), a, "a", files(2, 1)) }()
		for waiting, limit := 0, time.Now().Add(time.Minute); waiting == 0; time.Sleep(10 * time.Millisecond) {
			const query = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE COMMAND = 'Query' AND STATE LIKE 'Waiting for%'"
			if err := lock.QueryRowContext(t.Context(), query).Scan(&waiting); err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-ended:
				t.Fatal("the commit does not wait: ", err)
			default:
			}
			if time.Now().After(limit) {
				t.Fatal("no statement of the commit waits for the lock")
			}
		}
		if err := l.Kill(0); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; !errors.Is(err, engine.ErrUnreachable) {
			t.Errorf("%s: %v; want an error that wraps ErrUnreachable", n, err)
		}
		if err := l.Restart(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
	}
}
