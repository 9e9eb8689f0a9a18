package docengine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/record"
)

// memory is a SingleDocumentStore in memory. Several clients share its content.
type memory struct {
	Payloads
	*content

	swapError func(name string) error // of a Swap; nil = none
	swapReply func(name string) error // of a Swap that succeeds; nil = none
	loaded    func(name string)       // called after a Load, before it returns
}

type content struct {
	mu    sync.Mutex
	texts map[string][]byte
	revs  map[string]int64
	docs  map[string][]byte // by id
}

func newContent() *content {
	return &content{texts: map[string][]byte{}, revs: map[string]int64{}, docs: map[string][]byte{}}
}

func (m *memory) Load(_ context.Context, name string) ([]byte, int64, error) {
	m.mu.Lock()
	text, rev := slices.Clone(m.texts[name]), m.revs[name]
	m.mu.Unlock()
	if m.loaded != nil {
		m.loaded(name)
	}
	return text, rev, nil
}

func (m *memory) Swap(_ context.Context, name string, text []byte, rev int64) (int64, error) {
	if m.swapError != nil {
		if err := m.swapError(name); err != nil {
			return rev, err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.revs[name] != rev {
		return rev, ErrChanged
	}
	m.texts[name], m.revs[name] = slices.Clone(text), rev+1
	if m.swapReply != nil {
		if err := m.swapReply(name); err != nil {
			return rev, err
		}
	}
	return rev + 1, nil
}

func (m *memory) Put(_ context.Context, name string, text []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.texts[name] = slices.Clone(text)
	return nil
}

func (m *memory) Get(ctx context.Context, names []string) (map[string][]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := maps.Clone(m.texts)
	maps.DeleteFunc(out, func(name string, _ []byte) bool { return !slices.Contains(names, name) })
	return out, ctx.Err()
}

func (m *memory) Delete(_ context.Context, names []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.texts, func(name string, _ []byte) bool { return slices.Contains(names, name) })
	return nil
}

func (m *memory) Prepare(context.Context, string, *record.LineType) error { return nil }

func (m *memory) Fetch(_ context.Context, _ string, _ *record.LineType, ids []string, each func(string, []byte) error) error {
	m.mu.Lock()
	docs := maps.Clone(m.docs)
	m.mu.Unlock()
	for _, id := range ids {
		if doc, exists := docs[id]; exists {
			if err := each(id, doc); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *memory) Write(_ context.Context, _ string, _ *record.LineType, docs []Document) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, d := range docs {
		m.docs[d.ID] = slices.Clone(d.Body)
	}
	return nil
}

func (m *memory) Remove(_ context.Context, _ string, _ *record.LineType, ids []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.docs, func(id string, _ []byte) bool { return slices.Contains(ids, id) })
	return nil
}

// begin starts a commit that writes one document.
func begin(ctx context.Context, t *testing.T, s *LockedStore, body string) Commit {
	t.Helper()
	lt, _ := record.TypeByName("SL1L2")
	_, c, err := s.Begin(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	change := Change{Type: lt, IDs: []string{"id"}, Existing: map[string][]byte{}}
	doc := Document{ID: "id", Body: []byte(body), Fresh: true}
	if err := errors.Join(c.Announce(ctx, []Change{change}), c.Write(ctx, lt, []Document{doc})); err != nil {
		t.Fatal(err)
	}
	return c
}

// A client whose lock another client has taken over does not roll back its failed commit: the other client has done so,
// and has written documents since.
func TestRollBackWithoutTheLock(t *testing.T) {
	o, shared := Options{Lease: 100 * time.Millisecond, Writers: 1, Design: design.KeyValue}, newContent()
	first, second := &memory{content: shared}, &memory{content: shared}
	a, b := NewLocked(first, o), NewLocked(second, o)
	if err := a.Create(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	failing := begin(t.Context(), t, a, "first")
	var other Commit
	takeOver := sync.OnceFunc(func() { other = begin(t.Context(), t, b, "second") })
	first.swapError = func(name string) error { // for the time of a lease its heartbeats fail
		if name == lockName("a") {
			return errors.New("the connection is lost")
		}
		return nil
	}
	first.loaded = func(name string) {
		if name == stateName("a") {
			takeOver()
		}
	}
	if err := failing.End(t.Context(), false, errors.New("failed")); err == nil {
		t.Error("the failed commit has no error")
	}
	takeOver()
	publish(t, other)
	if got := string(shared.docs["id"]); got != "second" {
		t.Errorf("the document is %q, not that of the second commit", got)
	}
}

// A failed commit is rolled back and frees its lock also if the reply to a heartbeat was lost.
func TestRollBackAfterALostReply(t *testing.T) {
	for _, isLost := range []bool{false, true} {
		store := &memory{content: newContent()}
		s := NewLocked(store, Options{Lease: time.Minute, Writers: 1, Design: design.KeyValue})
		if err := s.Create(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		failing := begin(t.Context(), t, s, "failed")
		store.swapReply = func(name string) error {
			if !isLost || name != lockName("a") {
				return nil
			}
			return errors.New("the connection is lost")
		}
		k, _ := failing.(*lockedCommit)
		if err := k.lock.swap(t.Context(), false, time.Minute); (err != nil) != isLost { // a heartbeat
			t.Fatal(err)
		}
		store.swapReply = nil
		if err := failing.End(t.Context(), false, errors.New("failed")); err == nil {
			t.Error("the failed commit has no error")
		}
		if st, _, err := s.loadState(t.Context(), "a"); err != nil || st.Pending != nil || len(store.docs) > 0 {
			t.Errorf("a reply was lost: %t; %v is pending, %d documents, %v", isLost, st.Pending, len(store.docs), err)
		}
		if l, _, err := loadLock(t.Context(), s, lockName("a")); err != nil || l.Owner != "" {
			t.Errorf("a reply was lost: %t; the lock is %+v, %v", isLost, l, err)
		}
	}
}

// load stores one record of a model.
func load(t *testing.T, a *Archive, model string) {
	t.Helper()
	lt, _ := record.TypeByName("SL1L2")
	b := &record.Batch{}
	b.Reset(lt, model+".stat")
	h := record.DefaultHeader()
	h[record.Model] = model
	b.AppendTimes(b.AddHeader(h), 3600, 1546300800, 1)
	for k := range b.Num {
		b.Num[k] = append(b.Num[k], 1)
	}
	l, err := a.Loader(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	c := archive.Commit{Catalog: design.NewCatalog("a"), Complete: []archive.Mark{{Path: b.File, Digest: model, Bytes: 60, Read: 1, Stored: 1, Loaded: time.Unix(1546300800, 0)}}}
	c.Catalog.Add(b)
	if err := l.Add(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

// A client that stays open reads the catalog of a subset that another client dropped and loaded again, although the
// subset has the same version.
func TestCatalogOfAReloadedSubset(t *testing.T) {
	o, shared := Options{Lease: time.Minute, Writers: 1, Design: design.KeyValue}, newContent()
	open := func() *Archive { return New(NewLocked(&memory{content: shared}, o), o) }
	reader, loader := open(), open()
	load(t, loader, "GFS")
	stored := loader.cached("a").catalog
	if c, err := loader.CachedCatalog(t.Context(), "a"); err != nil || c != stored || stored == nil {
		t.Errorf("the loader parses its own catalog: %v", err)
	}
	for _, a := range []*Archive{reader, loader, loader} {
		if c, err := a.Catalog(t.Context(), "a"); err != nil || len(c.Groups) != 1 {
			t.Fatalf("%+v, %v", c, err)
		}
	}
	fresh := newContent()
	shared.texts, shared.revs, shared.docs = fresh.texts, fresh.revs, fresh.docs
	load(t, open(), "ECM")
	want, err := open().Catalog(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range map[string]*Archive{"reader": reader, "loader": loader} {
		if c, err := a.Catalog(t.Context(), "a"); err != nil || c.Digest() != want.Digest() {
			t.Errorf("the %s has the catalog %+v, %v; want %+v", name, c, err, want)
		}
	}
}

// Marks that a visible commit has lost are an error that names them.
func TestMissingMarks(t *testing.T) {
	o, shared := Options{Lease: time.Minute, Writers: 1, Design: design.KeyValue}, newContent()
	a := New(NewLocked(&memory{content: shared}, o), o)
	load(t, a, "GFS")
	if marks, err := a.Marks(t.Context(), "a"); err != nil || len(marks) != 1 {
		t.Fatalf("%v, %v", marks, err)
	}
	delete(shared.texts, commitTextName("marks", "a", 1))
	if _, err := a.Marks(t.Context(), "a"); err == nil || !strings.HasSuffix(err.Error(), "marks::a::1 is missing") {
		t.Errorf("missing marks: %v", err)
	}
}

// publish makes a commit visible and ends it.
func publish(t *testing.T, c Commit) {
	t.Helper()
	empty, err := design.NewCatalog("a").Encode()
	if err != nil {
		t.Fatal(err)
	}
	version, err := c.Publish(t.Context(), empty, nil)
	if err := c.End(t.Context(), version > 0, err); err != nil || version == 0 {
		t.Errorf("the commit has version %d, %v", version, err)
	}
}

// slowRemovals is a store whose removals take some time. It counts the heartbeats meanwhile.
type slowRemovals struct {
	*memory
	takes time.Duration
	beats int64
}

func (s *slowRemovals) Remove(ctx context.Context, subset string, t *record.LineType, ids []string) error {
	before, _, failed := loadLock(ctx, s, lockName(subset))
	time.Sleep(s.takes)
	after, _, err := loadLock(ctx, s, lockName(subset))
	s.beats += after.Beat - before.Beat
	return errors.Join(failed, err, s.memory.Remove(ctx, subset, t, ids))
}

// A rollback longer than a lease keeps its lock, also after the end of the caller's context. Otherwise another
// client would take the lock over and commit, and the rollback would overwrite its documents.
func TestHeartbeatsDuringARollback(t *testing.T) {
	const leaseTime = 100 * time.Millisecond
	store := &slowRemovals{memory: &memory{content: newContent()}, takes: 3 * leaseTime}
	s := NewLocked(store, Options{Lease: leaseTime, Writers: 1, Design: design.KeyValue})
	if err := s.Create(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	failing := begin(ctx, t, s, "failed")
	stop()
	err := failing.End(ctx, false, ctx.Err())
	if !errors.Is(err, context.Canceled) || len(store.docs) > 0 || store.beats < 2 {
		t.Errorf("%v; %d documents remain, %d heartbeats during the rollback", err, len(store.docs), store.beats)
	}
}

// A client that has lost its lock, but does not know it, cannot publish documents that the next owner has restored.
func TestPublishWithoutTheLock(t *testing.T) {
	o, shared := Options{Lease: 100 * time.Millisecond, Writers: 1, Design: design.KeyValue}, newContent()
	var isCut atomic.Bool
	first, second := &memory{content: shared}, &memory{content: shared}
	first.swapError = func(name string) error {
		if isCut.Load() && name == lockName("a") {
			return errors.New("the connection is lost")
		}
		return nil
	}
	a, b := NewLocked(first, o), NewLocked(second, o)
	if err := a.Create(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	late := begin(t.Context(), t, a, "first")
	isCut.Store(true)
	publishLate := sync.OnceValues(func() (int64, error) { return late.Publish(t.Context(), []byte("{}"), nil) })
	second.swapError = func(name string) error {
		shared.mu.Lock()
		isRestored := len(shared.docs) == 0
		shared.mu.Unlock()
		if isRestored && name == stateName("a") {
			_, _ = publishLate()
		}
		return nil
	}
	other := begin(t.Context(), t, b, "second")
	version, err := publishLate()
	if version > 0 || !errors.Is(err, ErrChanged) {
		t.Errorf("the first commit has version %d, %v", version, err)
	}
	if err := late.End(t.Context(), version > 0, err); err == nil {
		t.Error("the first commit has no error")
	}
	publish(t, other)
	if got := string(shared.docs["id"]); got != "second" {
		t.Errorf("the document is %q, not that of the second commit", got)
	}
}

// hangingLock is a store in which changes of the lock hang until their context ends.
type hangingLock struct {
	*memory
	hangs atomic.Bool
}

func (s *hangingLock) Swap(ctx context.Context, name string, text []byte, rev int64) (int64, error) {
	if s.hangs.Load() && name == lockName("a") {
		<-ctx.Done()
		return rev, ctx.Err()
	}
	return s.memory.Swap(ctx, name, text, rev)
}

// A heartbeat after one whose reply was lost differs from it: other clients would otherwise count the lease from the
// first, the owner from the second.
func TestHeartbeatAfterALostReply(t *testing.T) {
	store := &memory{content: newContent()}
	s := NewLocked(store, Options{Lease: time.Minute, Writers: 1, Design: design.KeyValue})
	if err := s.Create(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	c := begin(t.Context(), t, s, "body")
	k, _ := c.(*lockedCommit)
	store.swapReply = func(string) error { return errors.New("the connection is lost") }
	if err := k.lock.swap(t.Context(), false, time.Minute); err == nil {
		t.Fatal("the lost reply is no error")
	}
	store.swapReply = nil
	lost, _, err := loadLock(t.Context(), s, lockName("a"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := k.lock.swap(t.Context(), false, time.Minute); err != nil {
			t.Fatal(err)
		}
		next, _, err := loadLock(t.Context(), s, lockName("a"))
		if err != nil || next.Owner != lost.Owner || next.Beat != lost.Beat+1 {
			t.Errorf("the lock is %+v after %+v, %v", next, lost, err)
		}
		lost = next
	}
	publish(t, c)
}

// No two clients own a lock at the same time, whichever requests and replies of the owner's swaps are lost.
func TestOneOwner(t *testing.T) {
	const (
		leaseTime = time.Second
		swaps     = 5 // after these all requests of the owner are lost
		name      = "lock"
	)
	outcomes := []string{"received", "request lost", "reply lost"}
	errSwap := errors.New("the connection is lost")
	check := func(t *testing.T, script [swaps]string) {
		next, outcome, shared := 0, "", newContent()
		first, second := &memory{content: shared}, &memory{content: shared}
		first.swapError = func(string) error {
			switch outcome = "request lost"; {
			case next == 0: // of acquire
				outcome = "received"
			case next <= swaps:
				outcome = script[next-1]
			}
			if next++; outcome == "request lost" {
				return errSwap
			}
			return nil
		}
		first.swapReply = func(string) error {
			if outcome == "reply lost" {
				return errSwap
			}
			return nil
		}
		_, owner, err := acquire(t.Context(), first, name, leaseTime)
		if err != nil {
			t.Fatal(err)
		}
		_, waiter, err := acquire(t.Context(), second, name, leaseTime)
		if err != nil {
			t.Fatal(err)
		}
		if owner.lostError() == nil {
			t.Errorf("after %q a second client owns the lock, and the first has not lost it", script)
		}
		owner.release(t.Context())
		waiter.release(t.Context())
	}
	for n := range 243 { // 3⁵ scripts
		var script [swaps]string
		for i := range script {
			script[i], n = outcomes[n%len(outcomes)], n/len(outcomes)
		}
		synctest.Test(t, func(t *testing.T) { check(t, script) })
	}
}

// An owner stops a lease after its last heartbeat, although the request of the next one hangs.
func TestHangingHeartbeat(t *testing.T) {
	store := &hangingLock{memory: &memory{content: newContent()}}
	s := NewLocked(store, Options{Lease: 100 * time.Millisecond, Writers: 1, Design: design.KeyValue})
	if err := s.Create(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	ctx, c, err := s.Begin(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	store.hangs.Store(true)
	select {
	case <-ctx.Done():
	case <-time.After(swapTimeout / 3):
		t.Error("the owner continues without heartbeats")
	}
	store.hangs.Store(false)
	if err := c.End(t.Context(), false, nil); !errors.Is(err, errLost) {
		t.Errorf("the error of a lost lock: %v", err)
	}
}

// A read-only client that reads the state of a commit which ends at that moment reports no incomplete load.
func TestReadWhileACommitEnds(t *testing.T) {
	o, shared := Options{Lease: time.Minute, Writers: 1, Design: design.KeyValue}, newContent()
	s := NewLocked(&memory{content: shared}, o)
	if err := s.Create(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	c := begin(t.Context(), t, s, "first")
	reads := 0
	read := func(name string) {
		if name != stateName("a") {
			return
		}
		if reads++; reads == 2 { // the first read finds the commit pending, the second is that of awaitOther
			publish(t, c)
		}
	}
	o.ReadOnly = true
	reader := NewLocked(&memory{content: shared, loaded: read}, o)
	if version, _, err := reader.Describe(t.Context(), "a", 0); err != nil || version != 1 {
		t.Errorf("version %d, %v", version, err)
	}
}
