package valkey

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// openStore opens a namespace of a server.
func openStore(t *testing.T, l *lab.Lab, namespace string, o engine.Options) *store {
	t.Helper()
	u, err := url.Parse(l.URL())
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + namespace
	e, err := open(t.Context(), u, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	s, ok := archive.DatabaseOf(e).(*store)
	if !ok {
		t.Fatal("the archives are no store")
	}
	return s
}

// records are n records of one document each, whose names hold braces.
func records(t *testing.T, n int) *record.Batch {
	t.Helper()
	lt, _ := record.TypeByName("SL1L2")
	b := &record.Batch{}
	b.Reset(lt, "file")
	h := record.DefaultHeader()
	h[record.Version], h[record.Model], h[record.FcstVar] = "V01", "{GFS}\n{1}", "T"
	head := b.AddHeader(h)
	for i := range n {
		b.AppendTimes(head, 0, int64(i)*3600, 1)
		for k := range b.Num {
			b.Num[k] = append(b.Num[k], float64(i+k))
		}
	}
	return b
}

// halfway commits up to the moment from which the commit counts, and dies.
func halfway(t *testing.T, s *store, b *record.Batch) {
	t.Helper()
	l, err := docengine.New(dying{docs{store: s}}, docengine.Options{}).Loader(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Add(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	c := archive.Commit{Catalog: design.NewCatalog("a")}
	c.Catalog.Add(b)
	if _, err := l.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

// dying is a store whose commits end when they count.
type dying struct{ docs }

func (d dying) Begin(ctx context.Context, subset string) (context.Context, docengine.Commit, error) {
	ctx, c, err := d.docs.Begin(ctx, subset)
	c.(*attempt).token = "token"
	return ctx, unended{c}, err
}

type unended struct{ docengine.Commit }

func (unended) End(context.Context, bool, error) error { return nil }

// opened is the archive of a store.
func opened(t *testing.T, s *store) *openArchive {
	t.Helper()
	a, err := s.Open(t.Context(), design.KeyValue)
	if err != nil {
		t.Fatal(err)
	}
	return a.(*openArchive)
}

// TestCommitThatCounts: a loader that dies before its payloads are in their
// places has committed; whoever asks next completes it, unless it must not.
func TestCommitThatCounts(t *testing.T) {
	l := enginetest.Lab(t, Driver(), lab.Options{Profile: "tuned", Nodes: 3})
	s, b := openStore(t, l, "x", engine.Options{}), records(t, 600)
	halfway(t, s, b)
	q := &question.Question{Name: "all", Subset: "a", Type: b.Type}
	q.Columns, _ = question.Columns(b.Type, "fcst_valid_beg", "fbar")
	ask := func(s *store) (*answer.Builder, error) {
		p, err := opened(t, s).Phrase(t.Context(), q, enginetest.Offered(Driver())[design.KeyValue][0])
		if err != nil {
			t.Fatal(err)
		}
		var into answer.Builder
		into.Reset(q.Columns)
		return &into, opened(t, s).Ask(t.Context(), p, &into)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := s.readHead(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("settled after the end: %v", err)
	}
	if _, err := ask(openStore(t, l, "x", engine.Options{ReadOnly: true})); !errors.Is(err, engine.ErrReadOnly) {
		t.Errorf("a reader that must not write: %v", err)
	}
	into, err := ask(openStore(t, l, "x", engine.Options{}))
	if err != nil || into.Rows != 600 {
		t.Fatalf("%d rows, %v; want 600", into.Rows, err)
	}
	for _, key := range []string{"tries", "head"} {
		if v, err := s.client.HGet(t.Context(), s.subsetKey(key, "a"), map[string]string{"tries": "token", "head": "applying"}[key]).Result(); v != "" {
			t.Errorf("%s holds %q, %v", key, v, err)
		}
	}
}

// TestWhatDiedIsSwept: stage keys of a commit that never counted go with the
// next one that does.
func TestWhatDiedIsSwept(t *testing.T) {
	l := enginetest.Lab(t, Driver(), lab.Options{Profile: "tuned"})
	s, b := openStore(t, l, "x", engine.Options{}), records(t, 3)
	id := s.id("DD::x")
	for key, err := range map[string]error{
		"stage": s.client.Set(t.Context(), s.stage("dead", id), "x", 0).Err(),
		"tries": s.client.HSet(t.Context(), s.subsetKey("tries", "a"), "dead", formatTry(0, []string{id})).Err(),
	} {
		if err != nil {
			t.Fatal(key, err)
		}
	}
	loader, err := opened(t, s).Loader(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := loader.Add(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	c := archive.Commit{Catalog: design.NewCatalog("a")}
	c.Catalog.Add(b)
	if _, err := loader.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	left, err := s.client.Keys(t.Context(), "*stage*").Result()
	if err != nil || len(left) > 0 {
		t.Errorf("%q are left, %v", left, err)
	}
}

func TestEvictionIsRefused(t *testing.T) {
	l := enginetest.Lab(t, Driver(), lab.Options{Profile: "tuned"})
	s := openStore(t, l, "x", engine.Options{})
	if err := s.client.ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru").Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := opened(t, s).Loader(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "noeviction") {
		t.Errorf("the error is %v", err)
	}
}

// TestDurability: every profile says what a commit is worth.
func TestDurability(t *testing.T) {
	for profile, want := range map[string]string{"default": "snapshots", "tuned": "on disk", "memory": "none"} {
		l := enginetest.Lab(t, Driver(), lab.Options{Profile: profile, Memory: 1 << 30})
		a, err := openStore(t, l, "", engine.Options{}).about(t.Context())
		if err != nil || !strings.Contains(a.Acknowledged, want) || a.Version == "" {
			t.Errorf("%s: %+v, %v", profile, a, err)
		}
	}
}

func TestKeys(t *testing.T) {
	s := &store{settings: settings{namespace: "x"}}
	for _, id := range []string{"DD::{a}::1", "DD::%25::1", "DD::%257B::1", "plain"} {
		if got := s.derived(s.id(id)); got != id {
			t.Errorf("%q comes back as %q", id, got)
		}
		if strings.ContainsAny(s.id(id), "{}") {
			t.Errorf("%q keeps its braces: it would be hashed by what is between", s.id(id))
		}
	}
	base, ids := parseTry(formatTry(7, []string{"a", "b\nc"}))
	if base != 7 || len(ids) != 2 || ids[1] != "b\nc" {
		t.Errorf("%d %q", base, ids)
	}
	for _, bad := range []string{"valkey://h/a::b", "valkey://h?batch=0", "valkey://h?inflight=x", "valkey:h", "valkey://h?tls=perhaps"} {
		u, err := url.Parse(bad)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parse(u); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}
