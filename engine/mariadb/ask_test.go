package mariadb

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// someRecords are records of a few series, and a question for one of them.
func someRecords(t *testing.T) (*record.Batch, *question.Question, *answer.Answer) {
	t.Helper()
	b := batch("SL1L2", "a.stat", header("V12.0.0", "GFS"), 500, func(b *record.Batch, i int) { b.Num[1][i] = float64(i) / 7 })
	for k := range 30 {
		b.AddHeader(header("V12.0.0", "M"+strconv.Itoa(k)))
	}
	for i := range b.HeaderIndex {
		if i >= 20 {
			b.HeaderIndex[i] = uint32(1 + i%30)
		}
	}
	cols, err := question.Columns(b.Type, "fcst_valid_beg", "fcst_lead", "fbar")
	if err != nil {
		t.Fatal(err)
	}
	q := &question.Question{Name: "GFS", Subset: "s", Type: b.Type, Columns: cols, Order: cols[:2], Valid: question.Times{First: b.Valid[0], Last: b.Valid[0] + 3600, Step: 3600}}
	q.Header[record.Model] = []string{"GFS"}
	ref := answer.NewReference(q)
	ref.Add(b)
	return b, q, ref.Answers()[0]
}

// cacheHits returns the number of results that the server has taken from its query cache.
func cacheHits(t *testing.T, a *openArchive) int {
	t.Helper()
	n, err := strconv.Atoi(texts(t, a, "SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'QCACHE_HITS'")[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The query cache serves cached-sql from the second time on, until the records change. It never serves another flavour.
func TestQueryCache(t *testing.T) {
	l := Servers.Lab(t, Driver(), lab.Options{Profile: "tuned", Memory: 1 << 30})
	for i, query := range []string{"", "?engine=InnoDB", "?protocol=prepared", "?engine=InnoDB&protocol=prepared"} {
		t.Run("url="+query, func(t *testing.T) {
			for d, flavours := range enginetest.Offered(Driver()) {
				a := openIn(t, l, "c"+strconv.Itoa(i)+"_"+query, d)
				b, q, want := someRecords(t)
				if _, err := commit(t, a, "s", b); err != nil {
					t.Fatal(err)
				}
				for _, f := range flavours {
					hits := countHits(t, a, q, f, want, 3)
					if f == flavour.CachedSQL && hits != 2 || f != flavour.CachedSQL && hits != 0 {
						t.Errorf("%s, %s: %d of 3 answers came from the query cache", d, f, hits)
					}
				}
				if d != design.Normalized {
					continue
				}
				more := batch("SL1L2", "b.stat", header("V12.0.0", "GFS"), 20, nil) // replaces values
				if _, err := commit(t, a, "s", more); err != nil {
					t.Fatal(err)
				}
				ref := answer.NewReference(q)
				ref.Add(more)
				if hits := countHits(t, a, q, flavour.CachedSQL, ref.Answers()[0], 2); hits != 1 {
					t.Errorf("after a load %d of 2 answers came from the query cache, the first of which must not", hits)
				}
			}
		})
	}
	about := func(l *lab.Lab) string {
		a := openIn(t, l, "c0_", design.Normalized)
		s, err := a.db.about(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s.Settings["cached-sql"]
	}
	if got := about(l); got != "offered" {
		t.Errorf("About reports cached-sql as %q", got)
	}
	if got := about(Servers.Lab(t, Driver(), lab.Options{Memory: 1 << 30})); got != "not offered: query_cache_type is OFF" {
		t.Errorf("About reports cached-sql as %q", got)
	}
}

// countHits asks n times and returns the number of results from the query cache.
func countHits(t *testing.T, a *openArchive, q *question.Question, f flavour.Name, want *answer.Answer, n int) int {
	t.Helper()
	p, err := a.Phrase(t.Context(), q, f)
	if err != nil {
		t.Fatal(err)
	}
	before := cacheHits(t, a)
	for range n {
		var into answer.Builder
		if err := a.Ask(t.Context(), p, &into); err != nil {
			t.Fatal(err)
		}
		if _, err := answer.Compare(want, &into.Answer); err != nil {
			t.Errorf("%s, %s: %v", a.Design, f, err)
		}
	}
	return cacheHits(t, a) - before
}

// In either protocol Ask also returns the server's own time, which is less than the client's.
func TestServerTime(t *testing.T) {
	l := Servers.Lab(t, Driver(), lab.Options{Memory: 1 << 30})
	for _, protocol := range []string{textProtocol, preparedProtocol} {
		for _, d := range []design.Name{design.Normalized, design.Document, design.Wide} {
			a := openIn(t, l, "p_?server_time=true&protocol="+protocol, d)
			b, q, want := someRecords(t)
			if _, err := commit(t, a, "s", b); err != nil {
				t.Fatal(err)
			}
			p, err := a.Phrase(t.Context(), q, enginetest.Offered(Driver())[d][1])
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				var into answer.Builder
				began := time.Now()
				if err := a.Ask(t.Context(), p, &into); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); p.ServerTime <= 0 || p.ServerTime >= took {
					t.Errorf("%s, %s: the server's time is %v of %v", protocol, d, p.ServerTime, took)
				}
				if _, err := answer.Compare(want, &into.Answer); err != nil {
					t.Errorf("%s, %s: %v", protocol, d, err)
				}
				p.ServerTime = 0
			}
		}
	}
}

// METviewer's BINARY prevents the use of any index (METviewer F5). The plan of each flavour shows the indexes that it
// uses, and the rows that the server counted.
func TestPlans(t *testing.T) {
	l := Servers.Lab(t, Driver(), lab.Options{Memory: 1 << 30})
	for d, flavours := range enginetest.Offered(Driver()) {
		a := openIn(t, l, "x_", d)
		b, q, want := someRecords(t)
		if _, err := commit(t, a, "s", b); err != nil {
			t.Fatal(err)
		}
		for _, f := range flavours {
			p, err := a.Phrase(t.Context(), q, f)
			if errors.Is(err, flavour.ErrCannotExpress) {
				continue // cached-sql without a cache
			}
			if err != nil {
				t.Fatal(err)
			}
			plan, err := a.Explain(t.Context(), p)
			if err != nil || !strings.Contains(plan.Text, "r_rows") || len(plan.Access) == 0 {
				t.Fatalf("%s, %s: %v\n%s", d, f, err, plan.Text)
			}
			full := false
			for _, step := range plan.Access {
				if !step.Counted || step.Examined < step.Kept || step.Kept < 0 || step.Object == "" {
					t.Errorf("%s, %s: %+v\n%s", d, f, step, plan.Text)
				}
				full = full || step.Method == archive.FullScan
			}
			if full != (f == flavour.MetviewerSQL) && d == design.Normalized {
				t.Errorf("%s, %s: %+v", d, f, plan.Access)
			}
		}
		_ = want
	}
}

// A dialer may notice the end of a deadline before the context does. The error is the deadline's, not the dialer's.
func TestDeadlineOfADial(t *testing.T) {
	l := Servers.Lab(t, Driver(), lab.Options{Memory: 1 << 30})
	a := openIn(t, l, "w_", design.Document)
	b, q, _ := someRecords(t)
	if _, err := commit(t, a, "s", b); err != nil {
		t.Fatal(err)
	}
	p, err := a.Phrase(t.Context(), q, flavour.Keys)
	if err != nil {
		t.Fatal(err)
	}
	a.db.pool.SetMaxIdleConns(0) // every question dials
	for range 1000 {
		ctx, stop := context.WithTimeout(t.Context(), rand.N(300*time.Microsecond))
		var into answer.Builder
		if err := a.Ask(ctx, p, &into); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the error is %v", err)
		}
		stop()
	}
}

// TestServerDiesInQuery kills the server while it runs statements of archives, of a user's tables and of posts: each
// error wraps ErrUnreachable.
func TestServerDiesInQuery(t *testing.T) {
	l := Mortal.Lab(t, Driver(), lab.Options{Profile: "tuned", Memory: 1 << 30})
	u, err := url.Parse(l.URL() + "dies_")
	if err != nil {
		t.Fatal(err)
	}
	d, err := openDatabase(t.Context(), u, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.close() // its server was killed
	a, err := d.Open(t.Context(), design.Document)
	if err != nil {
		t.Fatal(err)
	}
	pool := a.(*openArchive).Pool
	own, err := d.openOwn(configs(u, nil))(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close() // its server was killed
	store, err := postTables{d, configs(u, nil)}.Open(t.Context(), posts.Tables{Design: posts.Designs()[0], Make: true})
	if err != nil {
		t.Fatal(err)
	}
	lock, err := d.writes.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	table, err := sqlengine.QueryTexts(t.Context(), querier{lock}, "SELECT table_name FROM information_schema.tables WHERE table_schema = 'dies_post'")
	if err != nil {
		t.Fatal(err)
	}
	if err := (querier{lock}).Exec(t.Context(), "LOCK TABLES dies_post."+strings.Join(table, " WRITE, dies_post.")+" WRITE"); err != nil {
		t.Fatal(err)
	}
	discard := func([]any) error { return nil }
	errs := make(chan error)
	calls := []func() error{
		func() error { return pool.Rows(t.Context(), "SELECT SLEEP(600)", nil, discard) },
		func() error { return pool.Exec(t.Context(), "DO SLEEP(600)") },
		func() error { return own.Ask(t.Context(), "SELECT SLEEP(600)", discard) },
		func() error { return store.Maintain(t.Context(), posts.Statistics) }, // it waits for the lock
	}
	for i, call := range calls {
		go func() { errs <- fmt.Errorf("call %d: %w", i, call()) }()
	}
	for waiting, limit := int64(0), time.Now().Add(time.Minute); waiting < int64(len(calls)); time.Sleep(10 * time.Millisecond) {
		waiting, err = sqlengine.QueryNumber(t.Context(), querier{lock}, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE = 'User sleep' OR STATE LIKE 'Waiting for%lock'")
		if err != nil || time.Now().After(limit) {
			t.Fatalf("%d of %d statements run: %v", waiting, len(calls), err)
		}
	}
	if err := l.Kill(0); err != nil {
		t.Fatal(err)
	}
	for range calls {
		if err := <-errs; !errors.Is(err, engine.ErrUnreachable) {
			t.Errorf("%v; want an error that wraps ErrUnreachable", err)
		}
	}
	if err := l.Restart(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
}
