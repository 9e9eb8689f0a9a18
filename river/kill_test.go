package river_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/mariadb"
	"github.com/barograph/barograph/engine/postgres"
	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/river"
)

// If these variables are set, this process is a service that a test kills.
const (
	childSpool  = "BAROGRAPH_RIVER_SPOOL"
	childURL    = "BAROGRAPH_RIVER_URL"
	childSchema = "BAROGRAPH_RIVER_SCHEMA"
	childBudget = "BAROGRAPH_RIVER_BUDGET" // number of products after which the process kills itself
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childSpool); dir != "" {
		ended := make(chan struct{})
		close(ended)
		if budget, err := strconv.Atoi(os.Getenv(childBudget)); err == nil {
			serveKilled(dir, budget)
		}
		if day, is := days()[os.Getenv(childDay)]; is {
			dayTables, when = true, day.ends()
			if os.Getenv(childEnds) == "false" {
				ended = nil
			}
		}
		if err := serveOnce(context.Background(), dir, os.Getenv(childURL), os.Getenv(childSchema), ended); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1) //nolint:forbidigo // this process acts as a program
		}
		return
	}
	servers.Main(m)
}

// when determines the years in the sample products.
var when = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

// dayTables: this process is the service of TestDay.
var dayTables bool

// serveOnce posts the content of a folder.
func serveOnce(ctx context.Context, dir, url, schema string, ended <-chan struct{}) error {
	spool, err := river.OpenSpool(dir, 0)
	if err != nil {
		return err
	}
	to, err := opened(ctx, url, schema)
	if err != nil {
		return err
	}
	s := &river.Service{
		Spool: spool, Poster: to, Input: river.Input{Options: shef.Options{Now: when}, KeepText: dayTables}, Log: slog.New(slog.DiscardHandler),
		Metrics: river.NewMetrics(prometheus.NewRegistry()), Ended: ended,
	}
	return errors.Join(s.Run(ctx), to.Close(), spool.Close())
}

// mortal is a slow database. It kills its process after left products, and nothing of the open transaction remains.
type mortal struct{ left int }

func (m *mortal) Post(_ context.Context, products []*river.Product) ([]river.Tally, error) {
	for range products {
		if m.left--; m.left < 0 {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	return make([]river.Tally, len(products)), nil
}
func (m *mortal) Reload(context.Context) error { return nil }
func (m *mortal) IsTemporary(error) bool       { return true }
func (m *mortal) Close() error                 { return nil }

func serveKilled(dir string, budget int) {
	spool, err := river.OpenSpool(dir, 0)
	if err != nil {
		panic(err)
	}
	s := &river.Service{
		Spool: spool, Poster: &mortal{budget},
		Log: slog.New(slog.DiscardHandler), Metrics: river.NewMetrics(prometheus.NewRegistry()),
	}
	panic(s.Run(context.Background()))
}

// TestProgress: a service that is always killed before it posts a twentieth of its backlog still
// makes progress. done/ grows between any two of 20 kills.
func TestProgress(t *testing.T) {
	dir := t.TempDir()
	for i := range 200 {
		put(t, dir, fmt.Sprintf("%03d", i), sample(fmt.Sprint("RR", i), 1))
	}
	done := func() int {
		files, _ := filepath.Glob(filepath.Join(dir, "done", "*", "*"))
		return len(files)
	}
	before := 0
	for kill := range 20 {
		child := exec.CommandContext(t.Context(), os.Args[0])
		child.Env = append(os.Environ(), childSpool+"="+dir, childBudget+"=10")
		child.Stderr = os.Stderr
		if err := child.Run(); err == nil || child.ProcessState.ExitCode() != -1 {
			t.Fatalf("the service was not killed: %v", err)
		}
		after := done()
		if kill > 0 && after <= before {
			t.Errorf("kill %d: %d files are done, %d were before", kill, after, before)
		}
		before = after
	}
	var b board
	_, stop := serving(t, dir, &b, &bytes.Buffer{}, nil)
	until(t, "an empty folder", func() bool { return done() == 200 })
	stop()
	if _, err := os.Stat(filepath.Join(dir, ".running")); err == nil {
		t.Error("a service that ended by itself counts as killed")
	}
}

// crashing is a database whose first transactions fail as scripted.
type crashing struct {
	script []error
	sizes  []int // products of each transaction
	posted int
	more   func() // called when ten products are posted
}

func (c *crashing) Post(_ context.Context, products []*river.Product) ([]river.Tally, error) {
	c.sizes = append(c.sizes, len(products))
	if len(c.script) > 0 {
		err := c.script[0]
		c.script = c.script[1:]
		return nil, err
	}
	if c.posted += len(products); c.posted == 10 {
		c.more()
	}
	return make([]river.Tally, len(products)), nil
}
func (c *crashing) Reload(context.Context) error { return nil }
func (c *crashing) IsTemporary(error) bool       { return true }
func (c *crashing) Close() error                 { return nil }

// TestSmallAfterCrash: if a database aborts a transaction and is then unreachable, the next transaction has one
// product. If it was only unreachable, the next transaction has as many products as before.
func TestSmallAfterCrash(t *testing.T) {
	broken, away := errors.New("unexpected EOF"), engine.ErrUnreachable
	for _, c := range []struct {
		script []error
		want   []int
	}{
		{[]error{broken, away}, []int{10, 5, 5, 5, 1, 1, 2, 4, 2}},
		{[]error{away, away}, []int{10, 10, 10, 10}},
	} {
		dir := t.TempDir()
		fill := func() {
			for range 10 {
				name := rand.Uint32()
				put(t, dir, fmt.Sprint(name), sample(fmt.Sprint("RR", name), 1))
			}
		}
		fill()
		spool, err := river.OpenSpool(dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		close(ended)
		db := &crashing{script: c.script, more: fill}
		s := &river.Service{
			Spool: spool, Poster: db, Log: slog.New(slog.DiscardHandler), Ended: ended,
			Metrics: river.NewMetrics(prometheus.NewRegistry()),
		}
		if err := errors.Join(s.Run(t.Context()), spool.Close()); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(db.sizes, c.want) {
			t.Errorf("%v: transactions of %v products, want %v", c.script, db.sizes, c.want)
		}
	}
}

func opened(ctx context.Context, url, schema string) (river.Poster, error) {
	if dayTables {
		for {
			p, err := river.OpenIHFS(ctx, url, dayTokens())
			if err == nil {
				p.Archive = true
			}
			if !errors.Is(err, engine.ErrUnreachable) {
				return p, err
			}
			time.Sleep(20 * time.Millisecond) // the database is away
		}
	}
	if schema == "ihfs" {
		p, err := river.OpenIHFS(ctx, url, river.DefaultTokens())
		if err == nil {
			p.Archive = true
		}
		return p, err
	}
	db, err := registry.Open(ctx, url, engine.Options{})
	if err != nil {
		return nil, err
	}
	a := &river.Archive{Method: posts.Bulk, Posters: 2, Shut: db.Close, Open: func(ctx context.Context) (*posts.Store, error) {
		return posts.DatabaseOf(db).Open(ctx, posts.Tables{Design: posts.Design(schema), Policy: posts.GoodStays, Make: true})
	}}
	return a, a.Reload(ctx)
}

var registry = engine.Registry{postgres.Driver(), mariadb.Driver()}

// spooled fills a folder with every sample product in a random order that depends only on the seed.
// It duplicates every third product.
func spooled(t *testing.T, dir string, texts map[string][]byte, seed uint64) {
	t.Helper()
	var names []string
	for name := range texts {
		names = append(names, name)
	}
	slices.Sort(names)
	r := rand.New(rand.NewPCG(seed, 0))
	for i := 0; i < len(names); i += 3 {
		names = append(names, names[i])
	}
	r.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
	for i, name := range names {
		path := filepath.Join(dir, fmt.Sprintf("%04d-%s", i, filepath.Base(name)))
		at := when.Add(time.Duration(i) * time.Second)
		if err := errors.Join(os.WriteFile(path, texts[name], 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
}

// samples returns the sample products: real ones and HEC's decks. Outside nightly runs it returns
// only files up to 64 KiB.
func samples(t *testing.T) map[string][]byte {
	t.Helper()
	data := os.Getenv("BAROGRAPH_DATA")
	if data == "" {
		data = "../../shared/data"
	}
	most := int64(64 << 10)
	if enginetest.Nightly() {
		most = 1 << 30
	}
	out := map[string][]byte{}
	for _, dir := range []string{"pyiem", "hec/example-shef-files", "hec/testing", "edge"} {
		filepath.WalkDir(filepath.Join(data, "shef", dir), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || strings.HasSuffix(path, ".jsonl") {
				return nil //nolint:nilerr // an unreadable file is not a sample
			}
			if info, err := e.Info(); err == nil && info.Size() <= most {
				if text, err := os.ReadFile(path); err == nil {
					out[path] = text
				}
			}
			return nil
		})
	}
	if len(out) < 40 {
		t.Skipf("NOT TESTED: %d sample products below %s; set BAROGRAPH_DATA", len(out), data)
	}
	return out
}

// TestKills: a service that is killed repeatedly leaves the same tables as an undisturbed one.
func TestKills(t *testing.T) {
	texts := samples(t)
	kills := 3
	if enginetest.Nightly() {
		kills = 20
	}
	for _, c := range []struct {
		name, schema string
		fresh        func(t *testing.T, name string) (url string, dump func() string)
	}{
		{"ihfs", "ihfs", func(t *testing.T, name string) (string, func() string) {
			url, db := ihfs(t, name)
			admit(t, db, texts)
			return url, func() string { return everything(t, db, "postingtime", "n") }
		}},
		{"postgres", "single", func(t *testing.T, name string) (string, func() string) {
			server := servers.Lab(t, postgres.Driver(), lab.Options{}).URL()
			for _, text := range []string{"DROP DATABASE IF EXISTS ", "CREATE DATABASE "} {
				if _, err := connection(t, server).Exec(t.Context(), text+name); err != nil {
					t.Fatal(err)
				}
			}
			u, err := url.Parse(server)
			if err != nil {
				t.Fatal(err)
			}
			u.Path = "/" + name
			url := u.String()
			return url, func() string { return digest(t, url, "single") }
		}},
		{"mariadb", "single", func(t *testing.T, _ string) (string, func() string) {
			url := servers.Lab(t, mariadb.Driver(), lab.Options{}).URL()
			return url, func() string { return digest(t, url, "single") }
		}},
	} {
		if c.name != "ihfs" && !enginetest.Nightly() {
			continue // the service is the same, and the engine suite kills the posters of every engine
		}
		t.Run(c.name, func(t *testing.T) {
			url, dump := c.fresh(t, c.name+"_clean")
			dir := t.TempDir()
			spooled(t, dir, texts, 7)
			ended := make(chan struct{})
			close(ended)
			began := time.Now()
			if err := serveOnce(t.Context(), dir, url, c.schema, ended); err != nil {
				t.Fatal(err)
			}
			took := time.Since(began)
			want := dump()
			if c.name == "mariadb" { // both runs use the same tables
				wipe(t, url)
			}
			url, dump = c.fresh(t, c.name+"_killed")
			dir = t.TempDir()
			spooled(t, dir, texts, 7)
			killed, whole, r := 0, 0, rand.New(rand.NewPCG(uint64(os.Getpid()), 1))
			for {
				child := exec.CommandContext(t.Context(), os.Args[0])
				child.Env = append(os.Environ(), childSpool+"="+dir, childURL+"="+url, childSchema+"="+c.schema)
				child.Stderr = os.Stderr
				if err := child.Start(); err != nil {
					t.Fatal(err)
				}
				if killed == kills {
					if err := child.Wait(); err != nil {
						t.Fatal(err)
					}
					break
				}
				ended := make(chan error, 1)
				go func() { ended <- child.Wait() }()
				select { // a kill at any time of the run, including its end
				case <-time.After(time.Duration(r.Int64N(int64(took) + int64(took)/4 + 1))):
					if err := child.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
						t.Fatal(err)
					}
					if <-ended != nil {
						killed++
					}
				case err := <-ended:
					if err != nil {
						t.Fatal(err)
					}
				}
				if left, _ := filepath.Glob(filepath.Join(dir, "[0-9]*")); len(left) == 0 { // everything is posted: post it again
					if err := os.RemoveAll(filepath.Join(dir, ".posted")); err != nil {
						t.Fatal(err)
					}
					spooled(t, dir, texts, 7)
					whole++
				}
			}
			if got := dump(); got != want {
				t.Errorf("after %d kills the tables differ from those of one clean run:\n%.2000s\nwant\n%.2000s", killed, got, want)
			}
			t.Logf("%d files with their doubles, %d kills, posted %d times over; undisturbed %v; the tables begin %.60q",
				(len(texts)*4+2)/3, killed, whole+1, took, want)
		})
	}
}

func connection(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

// admit adds every station and parameter of texts to location and ingestfilter.
func admit(t *testing.T, db *pgx.Conn, texts map[string][]byte) {
	t.Helper()
	var lids, pes, tss, exts []string
	var durs []int16
	for _, text := range texts {
		if err := shef.ReadAll(strings.NewReader(string(text)), "sample", shef.Options{Now: when}, func(r *shef.Result) error {
			for i := range r.Values {
				g := &r.Values[i]
				lids, pes, durs = append(lids, g.Station.String()), append(pes, g.Code.PE()), append(durs, g.Duration)
				tss, exts = append(tss, string(g.Code[3:5])), append(exts, string(g.Code[5:6]))
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := db.Exec(t.Context(), "INSERT INTO location SELECT DISTINCT lid, 1 FROM unnest($1::text[]) lid", lids)
	if err == nil {
		const admitAll = "INSERT INTO ingestfilter SELECT DISTINCT v.*, 1, 'T', 'F', 'F' " +
			"FROM unnest($1::text[], $2::text[], $3::smallint[], $4::text[], $5::text[]) v"
		_, err = db.Exec(t.Context(), admitAll, lids, pes, durs, tss, exts)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// digest summarizes the tables of values, without the times of posting.
func digest(t *testing.T, url, design string) string {
	t.Helper()
	a, err := opened(t.Context(), url, design)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	store, err := a.(*river.Archive).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d, err := posts.DigestOf(store.Values(t.Context()))
	if err := errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	if d.Values.Records == 0 {
		t.Fatal("the tables are empty, and all empty tables are equal")
	}
	return fmt.Sprintf("%+v", d)
}

// wipe empties the tables of values.
func wipe(t *testing.T, url string) {
	t.Helper()
	a, err := opened(t.Context(), url, "single")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	store, err := a.(*river.Archive).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = store.Delete(t.Context(), when.AddDate(1000, 0, 0).Unix())
	if err := errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
}
