package valkey

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/internal/fault"
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

// records returns n records of one document each, whose ids contain braces and a line feed.
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

// commitWithoutEnd executes a commit until it is visible, and moves no payload into place.
func commitWithoutEnd(t *testing.T, s *store, b *record.Batch) {
	t.Helper()
	l, err := docengine.New(crashing{docs{store: s}}, docengine.Options{}).Loader(t.Context(), "a")
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

// crashing is a store whose commits stop when they are visible.
type crashing struct{ docs }

func (d crashing) Begin(ctx context.Context, subset string) (context.Context, docengine.Commit, error) {
	ctx, c, err := d.docs.Begin(ctx, subset)
	c.(*attempt).token = "token"
	return ctx, withoutEnd{c}, err
}

type withoutEnd struct{ docengine.Commit }

func (withoutEnd) End(context.Context, bool, error) error { return nil }

// openIn opens the archive of a store.
func openIn(t *testing.T, s *store) *openArchive {
	t.Helper()
	a, err := s.Open(t.Context(), design.KeyValue)
	if err != nil {
		t.Fatal(err)
	}
	return a.(*openArchive)
}

// TestVisibleCommit: a loader that crashes after its commit is visible has committed. The next client completes the
// commit, unless the client is read-only.
func TestVisibleCommit(t *testing.T) {
	l := enginetest.Lab(t, Driver(), lab.Options{Profile: "tuned", Nodes: 3})
	s, b := openStore(t, l, "x", engine.Options{}), records(t, 600)
	commitWithoutEnd(t, s, b)
	q := &question.Question{Name: "all", Subset: "a", Type: b.Type}
	q.Columns, _ = question.Columns(b.Type, "fcst_valid_beg", "fbar")
	ask := func(s *store) (*answer.Builder, error) {
		p, err := openIn(t, s).Phrase(t.Context(), q, enginetest.Offered(Driver())[design.KeyValue][0])
		if err != nil {
			t.Fatal(err)
		}
		var into answer.Builder
		into.Reset(q.Columns)
		return &into, openIn(t, s).Ask(t.Context(), p, &into)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := s.readHead(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled context: the error is %v", err)
	}
	if _, err := ask(openStore(t, l, "x", engine.Options{ReadOnly: true})); !errors.Is(err, engine.ErrReadOnly) {
		t.Errorf("a read-only client: the error is %v", err)
	}
	into, err := ask(openStore(t, l, "x", engine.Options{}))
	if err != nil || into.Rows != 600 {
		t.Fatalf("%d rows, %v; want 600", into.Rows, err)
	}
	for _, x := range []struct{ key, field string }{{"tries", "token"}, {"head", "applying"}} {
		v, err := s.client.HGet(t.Context(), s.subsetKey(x.key, "a"), x.field).Result()
		if v != "" || err != nil && !errors.Is(err, redis.Nil) {
			t.Errorf("%s contains %q, %v", x.key, v, err)
		}
	}
}

// TestCrashedCommitIsSwept: a commit removes the stage keys of an earlier commit that crashed before it was visible.
func TestCrashedCommitIsSwept(t *testing.T) {
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
	loader, err := openIn(t, s).Loader(t.Context(), "a")
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

// TestNamespaceWithHyphen: a commit to a namespace that begins with a hyphen writes its payloads. It removes none of the
// namespace with the name behind the hyphen.
func TestNamespaceWithHyphen(t *testing.T) {
	l := enginetest.Lab(t, Driver(), lab.Options{Profile: "tuned"})
	for _, namespace := range []string{"x", "-x", "--x"} {
		s, b := openStore(t, l, namespace, engine.Options{}), records(t, 5)
		commitWithoutEnd(t, s, b)
		if _, err := s.readHead(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
	}
	for _, namespace := range []string{"x", "-x", "--x"} {
		c, err := openIn(t, openStore(t, l, namespace, engine.Options{})).Contents(t.Context(), "a")
		if n := c.Total(); err != nil || n != 5 {
			t.Errorf("namespace %s has %d records, %v; want 5", namespace, n, err)
		}
	}
}

// stallOnce is a hook that stops the first pipeline that removes or renames keys until resume is closed.
type stallOnce struct {
	stalled, resume chan struct{}
	once            sync.Once
}

func (*stallOnce) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (*stallOnce) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (h *stallOnce) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if slices.Contains([]string{"del", "eval", "rename"}, cmds[0].Name()) {
			h.once.Do(func() { close(h.stalled); <-h.resume })
		}
		return next(ctx, cmds)
	}
}

// TestStalledClient: a client that completes a commit stops for a while. Meanwhile another client completes the commit,
// and a later commit writes the removed payload again. The first client then removes nothing.
func TestStalledClient(t *testing.T) {
	l := enginetest.Lab(t, Driver(), lab.Options{Profile: "tuned"})
	s, slow := openStore(t, l, "x", engine.Options{}), openStore(t, l, "x", engine.Options{})
	const id = "DD::x"
	commit := func(removed bool) (token string) {
		t.Helper()
		_, c, err := docs{store: s}.Begin(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		err = c.Announce(t.Context(), []docengine.Change{{IDs: []string{id}, Removed: removed}})
		if err == nil && removed {
			err = c.Remove(t.Context(), nil, []string{id})
		} else if err == nil {
			err = c.Write(t.Context(), nil, []docengine.Document{{ID: id, Body: []byte("payload")}})
		}
		if err == nil {
			_, err = c.Publish(t.Context(), []byte("catalog"), nil)
		}
		if err == nil && !removed {
			err = c.End(t.Context(), true, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		return c.(*attempt).token
	}
	commit(false)
	token := commit(true)
	hook := &stallOnce{stalled: make(chan struct{}), resume: make(chan struct{})}
	slow.client.AddHook(hook)
	done := make(chan error, 1)
	go func() { done <- slow.apply(t.Context(), "a", token) }()
	<-hook.stalled
	if err := s.apply(t.Context(), "a", token); err != nil {
		t.Fatal(err)
	}
	if n, err := s.client.Exists(t.Context(), s.id(id)).Result(); err != nil || n != 0 {
		t.Errorf("the removed payload exists: %d, %v", n, err)
	}
	commit(false)
	close(hook.resume)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if text, err := s.client.Get(t.Context(), s.id(id)).Result(); err != nil || text != "payload" {
		t.Errorf("the payload of the later commit is %q, %v", text, err)
	}
	if rest, err := s.client.Keys(t.Context(), "*stage*").Result(); err != nil || len(rest) > 0 {
		t.Errorf("%q are left, %v", rest, err)
	}
}

// TestLateCommit: the script of a commit arrives after its client has given up and removed the payloads. It is refused,
// and the next commit finds nothing to complete.
func TestLateCommit(t *testing.T) {
	s := openStore(t, enginetest.Lab(t, Driver(), lab.Options{Profile: "tuned"}), "x", engine.Options{})
	const id = "DD::x"
	begin := func() *attempt {
		t.Helper()
		_, c, err := docs{store: s}.Begin(t.Context(), "a")
		if err == nil {
			err = c.Announce(t.Context(), []docengine.Change{{IDs: []string{id}}})
		}
		if err == nil {
			err = c.Write(t.Context(), nil, []docengine.Document{{ID: id, Body: []byte("payload")}})
		}
		if err != nil {
			t.Fatal(err)
		}
		return c.(*attempt)
	}
	late := begin()
	if err := late.End(t.Context(), false, errors.New("the reply is late")); err == nil {
		t.Error("a failed commit ends without an error")
	}
	if version, err := late.Publish(t.Context(), []byte("catalog"), nil); err != nil || version != 0 {
		t.Errorf("an abandoned commit has version %d, %v", version, err)
	}
	if h, err := s.head(t.Context(), "a"); err != nil || h != (head{}) {
		t.Errorf("the subset has the state %+v, %v", h, err)
	}
	// Its client is killed between the mark and the removal of the payloads: the next commit removes them.
	killed := begin()
	keys := []string{s.subsetKey("head", "a"), s.subsetKey("tries", "a")}
	if invisible, err := abandonTry.Run(t.Context(), s.client, keys, killed.token).Bool(); err != nil || !invisible {
		t.Fatal(invisible, err)
	}
	if version, err := killed.Publish(t.Context(), []byte("catalog"), nil); err != nil || version != 0 {
		t.Errorf("an abandoned commit has version %d, %v", version, err)
	}
	next := begin()
	version, err := next.Publish(t.Context(), []byte("catalog"), nil)
	if err != nil || version != 1 {
		t.Fatal(version, err)
	}
	if invisible, err := abandonTry.Run(t.Context(), s.client, keys, next.token).Bool(); err != nil || invisible {
		t.Errorf("a visible commit is abandoned: %v, %v", invisible, err)
	}
	if err := next.End(t.Context(), true, nil); err != nil {
		t.Fatal(err)
	}
	if text, err := s.client.Get(t.Context(), s.id(id)).Result(); err != nil || text != "payload" {
		t.Errorf("the payload is %q, %v", text, err)
	}
	if rest, err := s.client.Keys(t.Context(), "*stage*").Result(); err != nil || len(rest) > 0 {
		t.Errorf("%q are left, %v", rest, err)
	}
}

// TestKilledLoader: a loader writes on after another client's commit has swept its entry of tries, and is killed. The
// next commit removes its stage keys.
func TestKilledLoader(t *testing.T) {
	s := openStore(t, enginetest.Lab(t, Driver(), lab.Options{Profile: "tuned"}), "x", engine.Options{})
	commit := func() {
		t.Helper()
		_, c, err := docs{store: s}.Begin(t.Context(), "a")
		if err == nil {
			err = c.Announce(t.Context(), nil)
		}
		if err == nil {
			_, err = c.Publish(t.Context(), []byte("catalog"), nil)
		}
		if err == nil {
			err = c.End(t.Context(), true, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	_, killed, err := docs{store: s}.Begin(t.Context(), "a")
	if err == nil {
		err = killed.Announce(t.Context(), []docengine.Change{{IDs: []string{"DD::x", "DD::y"}}})
	}
	if err != nil {
		t.Fatal(err)
	}
	commit()
	if err := killed.Write(t.Context(), nil, []docengine.Document{{ID: "DD::x", Body: []byte("payload")}}); err != nil {
		t.Fatal(err)
	}
	if err := killed.Remove(t.Context(), nil, []string{"DD::y"}); err != nil {
		t.Fatal(err)
	}
	commit()
	if rest, err := s.client.Keys(t.Context(), "*stage*").Result(); err != nil || len(rest) > 0 {
		t.Errorf("%q are left, %v", rest, err)
	}
}

// TestWeakestNode: one node of a cluster determines whether it is durable, and whether it is refused because it evicts
// records.
func TestWeakestNode(t *testing.T) {
	l := enginetest.Lab(t, Driver(), lab.Options{Profile: "tuned", Nodes: 3, Memory: 1 << 30})
	s := openStore(t, l, "x", engine.Options{})
	nodes, err := s.masters(t.Context())
	if err != nil || len(nodes) != 3 {
		t.Fatal(nodes, err)
	}
	for i, node := range nodes {
		if err := node.ConfigSet(t.Context(), "appendfsync", "everysec").Err(); err != nil {
			t.Fatal(err)
		}
		if a, err := s.about(t.Context()); err != nil || a.Flushed || !strings.Contains(a.Acknowledged, "last second") {
			t.Errorf("node %d syncs each second: %+v, %v", i, a, err)
		}
		if err := node.ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru").Err(); err != nil {
			t.Fatal(err)
		}
		if _, err := openIn(t, s).Loader(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), node.Options().Addr) || !strings.Contains(err.Error(), "noeviction") {
			t.Errorf("node %d evicts records: the error is %v", i, err)
		}
		err := errors.Join(node.ConfigSet(t.Context(), "appendfsync", always).Err(), node.ConfigSet(t.Context(), "maxmemory-policy", "noeviction").Err())
		if err != nil {
			t.Fatal(err)
		}
	}
	if a, err := s.about(t.Context()); err != nil || !a.Flushed {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestAddress: an IPv6 address has brackets, as the driver needs them.
func TestAddress(t *testing.T) {
	for raw, want := range map[string]string{
		"valkey://[::1]:7000": "[::1]:7000", "valkey://[fe80::1]": "[fe80::1]:6379", "valkey://h": "h:6379", "valkey:///x": "localhost:6379",
	} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := parse(u); err != nil || s.nodes[0] != want {
			t.Errorf("%s: %q, %v; want %s", raw, s.nodes, err, want)
		}
	}
}

func TestEvictionIsRefused(t *testing.T) {
	l := enginetest.Lab(t, Driver(), lab.Options{Profile: "tuned"})
	s := openStore(t, l, "x", engine.Options{})
	if err := s.client.ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru").Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := openIn(t, s).Loader(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "noeviction") {
		t.Errorf("the error is %v", err)
	}
}

// TestUnreported: a server that refuses to report its settings may take snapshots.
func TestUnreported(t *testing.T) {
	s := openStore(t, enginetest.Lab(t, Driver(), lab.Options{Profile: "default"}), "", engine.Options{})
	s.client.AddHook(refuseConfig{})
	level, err := s.durability(t.Context(), []*redis.Client{s.client.(*redis.Client)}, map[string]string{})
	if err != nil || level != unreported || !strings.Contains(level.String(), "does not report") {
		t.Errorf("%v, %v", level, err)
	}
}

// refuseConfig refuses CONFIG, as services do.
type refuseConfig struct{ redis.Hook }

func (refuseConfig) DialHook(next redis.DialHook) redis.DialHook { return next }

func (refuseConfig) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (refuseConfig) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if strings.EqualFold(cmd.Name(), "config") {
			cmd.SetErr(errors.New("ERR unknown command 'CONFIG'"))
			return cmd.Err()
		}
		return next(ctx, cmd)
	}
}

// TestSeedsOfASingleServer: seeds of a server without a cluster would never be used.
func TestSeedsOfASingleServer(t *testing.T) {
	l := enginetest.Lab(t, Driver(), lab.Options{Profile: "memory"})
	u, err := url.Parse(l.URL())
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("seeds", u.Host)
	u.RawQuery = q.Encode()
	if _, err := open(t.Context(), u, engine.Options{}); fault.Code(err) != fault.Usage || !strings.Contains(err.Error(), "single server") {
		t.Errorf("the error is %v", err)
	}
}

// TestDurability: every profile reports the durability of a commit.
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
			t.Errorf("%q becomes %q", id, got)
		}
		if strings.ContainsAny(s.id(id), "{}") {
			t.Errorf("%q keeps its braces: the server would hash only the text between them", s.id(id))
		}
	}
	base, ids := parseTry(formatTry(7, []string{"a", "b\nc"}))
	if base != 7 || len(ids) != 2 || ids[1] != "b\nc" {
		t.Errorf("%d %q", base, ids)
	}
	for _, bad := range []string{"valkey://h/a::b", "valkey://h?batch=0", "valkey://h?inflight=x", "valkey:h", "valkey://h?tls=perhaps", "valkey://h?db=3&seeds=i:1"} {
		u, err := url.Parse(bad)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parse(u); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}
