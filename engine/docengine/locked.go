package docengine

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

const (
	undoBytes    = 4 << 20          // of ids and bodies in one undo document
	undoPatience = 20 * time.Second // for taking back a commit that failed
)

// Locked makes a Store of one that changes one document at a time; the package
// comment says how.
type Locked struct {
	Single
	o    Options
	seen sync.Map // subsets in which nothing is left of a commit that died
	made sync.Map // of prepared: what documents need is there
}

type prepared struct {
	subset string
	t      *record.LineType
}

// NewLocked returns the Store.
func NewLocked(s Single, o Options) *Locked {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Locked{Single: s, o: o}
}

// state of a subset. It changes by Swap alone.
type state struct {
	Version int64           `json:"version"` // number of the last commit
	By      string          `json:"by"`      // who wrote this state
	Catalog json.RawMessage `json:"catalog"`
	Marked  []int64         `json:"marked,omitempty"` // commits that brought marks
	Listed  []int64         `json:"listed,omitempty"` // commits that brought documents, where ids are listed
	Pending *pending        `json:"pending,omitempty"`
	Sized   bool            `json:"sized,omitempty"` // Bytes is kept; archives of earlier versions do not
	Bytes   int64           `json:"bytes,omitempty"` // of all documents and their ids
}

// pending is a commit under way, or what is left of one that died.
type pending struct {
	Commit int64  `json:"commit"`
	Parts  int    `json:"parts"` // number of undo documents
	By     string `json:"by"`
}

// Names of texts. A subset's name is escaped, as others follow it.
const subsetsName = "subsets"

func stateName(subset string) string { return "state::" + url.QueryEscape(subset) }
func lockName(subset string) string  { return "lock::" + url.QueryEscape(subset) }

// partName names what a commit keeps of its own: marks, ids.
func partName(what, subset string, commit int64) string {
	return what + "::" + url.QueryEscape(subset) + "::" + strconv.FormatInt(commit, 10)
}

func undoName(subset string, p pending, part int) string {
	return partName("undo", subset, p.Commit) + "::" + strconv.Itoa(part)
}

// loadState reads the state of a subset; rev is 0 where it does not exist.
func (s *Locked) loadState(ctx context.Context, subset string) (*state, int64, error) {
	text, rev, err := s.Load(ctx, stateName(subset))
	if err != nil || rev == 0 {
		return &state{}, rev, err
	}
	st := &state{}
	if err := json.Unmarshal(text, st); err != nil {
		return nil, rev, fmt.Errorf("state of subset %q: %w", subset, err)
	}
	return st, rev, nil
}

// settled is the state of a subset. It waits, once for each subset, until no
// commit that this store has not seen begin is under way, and takes back what a
// commit that died has left.
func (s *Locked) settled(ctx context.Context, subset string) (*state, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	st, _, err := s.loadState(ctx, subset)
	if _, ok := s.seen.Load(subset); ok || err != nil {
		return st, err
	}
	switch {
	case st.Pending == nil:
	case s.o.ReadOnly:
		st, err = s.outwait(ctx, subset)
	default:
		var l *lease
		if ctx, l, err = acquire(ctx, s, lockName(subset), s.o.Lease); err != nil {
			return nil, err
		}
		st, _, err = s.recover(ctx, subset)
		err = errors.Join(err, lost(ctx))
		l.release(context.WithoutCancel(ctx))
	}
	if err == nil {
		s.seen.Store(subset, true)
	}
	return st, err
}

// lost is the error of a holder whose lock was taken over.
func lost(held context.Context) error {
	if cause := context.Cause(held); errors.Is(cause, errLost) {
		return cause
	}
	return nil
}

// outwait waits until a commit that another one has started is done. Where that
// one is dead, nobody may repair the subset here.
func (s *Locked) outwait(ctx context.Context, subset string) (*state, error) {
	var w watch
	for {
		st, _, err := s.loadState(ctx, subset)
		if err != nil || st.Pending == nil {
			return st, err
		}
		now, _, err := loadLock(ctx, s, lockName(subset))
		if err != nil {
			return nil, err
		}
		if now.Owner == "" || w.dead(now, s.o.Lease) {
			return nil, &fault.Error{
				Setting: s.o.Shown + ", subset " + strconv.Quote(subset), Problem: "a load was broken off and left something behind", Err: engine.ErrReadOnly,
				Cure: "run the load again: it is completed, or taken back",
			}
		}
		if err := engine.Pause(ctx, poll); err != nil {
			return nil, err
		}
	}
}

// recover puts back what a commit that died has changed. The lock is held.
func (s *Locked) recover(ctx context.Context, subset string) (*state, int64, error) {
	st, rev, err := s.loadState(ctx, subset)
	if err != nil || st.Pending == nil {
		return st, rev, err
	}
	p := *st.Pending
	for k := range p.Parts {
		if err := s.restore(ctx, subset, undoName(subset, p, k)); err != nil {
			return st, rev, err
		}
	}
	st.Pending, st.By = nil, ""
	if rev, err = s.swapState(ctx, subset, st, rev); err != nil {
		return st, rev, err
	}
	s.o.Log.Info("a load that was broken off was taken back", "subset", subset, "commit", p.Commit)
	s.forget(ctx, subset, p)
	return st, rev, nil
}

func (s *Locked) swapState(ctx context.Context, subset string, st *state, rev int64) (int64, error) {
	text, err := json.Marshal(st)
	if err != nil {
		return rev, err
	}
	return swapWhole(ctx, s, stateName(subset), text, rev)
}

// undo is an undo document: what a commit is about to change of a line type.
type undo struct {
	Type string   `json:"line_type"`
	New  []string `json:"new,omitempty"` // ids that have no document
	Old  []oldDoc `json:"old,omitempty"`
	size int
}

type oldDoc struct {
	ID   string `json:"id"`
	Body []byte `json:"body"`
}

func (s *Locked) restore(ctx context.Context, subset, name string) error {
	var u undo
	if err := s.get(ctx, name, &u); err != nil {
		return fmt.Errorf("subset %q: a load was broken off and cannot be taken back: %w", subset, err)
	}
	t, ok := record.TypeByName(u.Type)
	if !ok {
		return fmt.Errorf("%s names no line type: %q", name, u.Type)
	}
	docs := make([]Document, len(u.Old))
	for i, o := range u.Old {
		docs[i] = Document{ID: o.ID, Body: o.Body}
	}
	ctx = context.WithoutCancel(ctx)
	return errors.Join(s.Remove(ctx, subset, t, u.New), s.Write(ctx, subset, t, docs))
}

// forget removes undo documents that are of no use any more. Those that stay
// are overwritten by a later commit of their number.
func (s *Locked) forget(ctx context.Context, subset string, p pending) {
	names := make([]string, p.Parts)
	for k := range names {
		names[k] = undoName(subset, p, k)
	}
	if err := s.Delete(context.WithoutCancel(ctx), names); err != nil {
		s.o.Log.Debug("undo documents stay", "subset", subset, "error", err)
	}
}

// put writes a value as JSON, get reads one that must be there.
func (s *Locked) put(ctx context.Context, name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.Put(ctx, name, text)
}

func (s *Locked) get(ctx context.Context, name string, v any) error {
	texts, err := s.Get(ctx, []string{name})
	if err != nil {
		return err
	}
	if _, ok := texts[name]; !ok {
		return fmt.Errorf("%s is missing", name)
	}
	if err := json.Unmarshal(texts[name], v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// IDs lists the ids of all documents of a subset, by line type; see Options.List.
func (s *Locked) IDs(ctx context.Context, subset string) (map[string][]string, error) {
	st, err := s.settled(ctx, subset)
	if err != nil {
		return nil, err
	}
	all := map[string][]string{}
	for _, commit := range st.Listed {
		var some map[string][]string
		if err := s.get(ctx, partName("ids", subset, commit), &some); err != nil {
			return nil, err
		}
		for t, ids := range some {
			all[t] = append(all[t], ids...)
		}
	}
	for t, ids := range all { // a removal that died may have left one that came again
		slices.Sort(ids)
		all[t] = slices.Compact(ids)
	}
	return all, nil
}

// Bytes is the size of a subset's documents and ids as its commits have counted
// them; known is false where they have not.
func (s *Locked) Bytes(ctx context.Context, subset string) (n int64, known bool, err error) {
	st, err := s.settled(ctx, subset)
	if err != nil {
		return 0, false, err
	}
	return st.Bytes, st.Sized, nil
}

// Subsets lists the subsets.
func (s *Locked) Subsets(ctx context.Context) ([]string, error) {
	names, _, err := s.subsets(ctx)
	return names, err
}

func (s *Locked) subsets(ctx context.Context) ([]string, int64, error) {
	names := []string{}
	text, rev, err := s.Load(ctx, subsetsName)
	if err != nil || rev == 0 {
		return names, rev, err
	}
	err = json.Unmarshal(text, &names)
	return names, rev, err
}

// Describe returns the catalog of a subset.
func (s *Locked) Describe(ctx context.Context, subset string, _ int64) (int64, []byte, error) {
	st, err := s.settled(ctx, subset)
	if err != nil {
		return 0, nil, err
	}
	return st.Version, st.Catalog, nil
}

// Marks lists the loaded files.
func (s *Locked) Marks(ctx context.Context, subset string) ([]archive.Mark, error) {
	st, err := s.settled(ctx, subset)
	if err != nil || len(st.Marked) == 0 {
		return nil, err
	}
	names := make([]string, len(st.Marked))
	for i, commit := range st.Marked {
		names[i] = partName("marks", subset, commit)
	}
	texts, err := s.Get(ctx, names)
	if err != nil {
		return nil, err
	}
	var all []archive.Mark
	for _, n := range names {
		var some []archive.Mark
		if err := json.Unmarshal(texts[n], &some); err != nil {
			return nil, fmt.Errorf("%s: %w", n, err)
		}
		all = append(all, some...)
	}
	return Latest(all), nil
}

// Create makes a subset.
func (s *Locked) Create(ctx context.Context, subset string) error {
	_, rev, err := s.loadState(ctx, subset)
	if err != nil {
		return err
	}
	if rev == 0 {
		empty, err := design.NewCatalog(subset).Encode()
		if err != nil {
			return err
		}
		if _, err := s.swapState(ctx, subset, &state{Catalog: empty, Sized: true}, 0); err != nil && !errors.Is(err, ErrChanged) {
			return err
		}
	}
	for { // another subset may be made at the same time
		names, rev, err := s.subsets(ctx)
		if err != nil {
			return err
		}
		at, found := slices.BinarySearch(names, subset)
		if found {
			return nil
		}
		text, err := json.Marshal(slices.Insert(names, at, subset))
		if err != nil {
			return err
		}
		if _, err := swapWhole(ctx, s, subsetsName, text, rev); !errors.Is(err, ErrChanged) {
			return err
		}
	}
}

// lockedCommit is a commit under way. The lock is held.
type lockedCommit struct {
	s      *Locked
	subset string
	by     string       // marks the state that this commit writes
	lost   func() error // that of a lock that was taken over
	lease  *lease
	state  *state
	rev    int64
	p      pending
	fresh  map[string][]string // by line type: the ids that are new, where they are listed
	gone   map[string]bool     // the ids that are removed, where they are listed
	bytes  atomic.Int64        // by which the documents grow
	began  bool                // the state says that it is pending
}

// Begin takes the subset's lock. The context that it returns ends when the lock is lost.
func (s *Locked) Begin(ctx context.Context, subset string) (context.Context, Commit, error) {
	held, l, err := acquire(ctx, s, lockName(subset), s.o.Lease)
	if err != nil {
		return nil, nil, err
	}
	k := &lockedCommit{s: s, subset: subset, by: rand.Text(), lost: func() error { return lost(held) }, lease: l, fresh: map[string][]string{}, gone: map[string]bool{}}
	if k.state, k.rev, err = s.recover(held, subset); err != nil {
		return nil, nil, k.End(ctx, false, err)
	}
	k.p = pending{Commit: k.state.Version + 1, By: k.by}
	return held, k, nil
}

func (k *lockedCommit) Fetch(ctx context.Context, t *record.LineType, ids []string, each func(id string, doc []byte) error) error {
	return k.s.Fetch(ctx, k.subset, t, ids, each)
}

// Note writes the undo documents, and into the state that the commit is pending.
func (k *lockedCommit) Note(ctx context.Context, all []Change) (err error) {
	for i := range all {
		if err := k.note(ctx, &all[i]); err != nil {
			return err
		}
	}
	if k.p.Parts == 0 {
		return nil
	}
	k.state.Pending = &k.p
	k.began = true // even if the swap fails: whether it was done is not known then
	k.rev, err = k.s.swapState(ctx, k.subset, k.state, k.rev)
	return err
}

// note writes the undo documents of a line type.
func (k *lockedCommit) note(ctx context.Context, ch *Change) error {
	if _, ok := k.s.made.Load(prepared{k.subset, ch.Type}); !ok {
		if err := k.s.Prepare(ctx, k.subset, ch.Type); err != nil {
			return err
		}
		k.s.made.Store(prepared{k.subset, ch.Type}, true)
	}
	u := undo{Type: ch.Type.Name}
	flush := func() error {
		err := k.s.put(ctx, undoName(k.subset, k.p, k.p.Parts), &u)
		k.p.Parts++
		u = undo{Type: ch.Type.Name}
		return err
	}
	for _, id := range ch.IDs {
		body, there := ch.There[id]
		if ch.Gone && k.s.o.List {
			k.gone[id] = true
		}
		switch {
		case there:
			k.bytes.Add(-int64(len(id) + len(body)))
			u.Old = append(u.Old, oldDoc{id, body})
		case k.s.o.List:
			k.fresh[ch.Type.Name] = append(k.fresh[ch.Type.Name], id)
			fallthrough
		default:
			u.New = append(u.New, id)
		}
		if u.size += len(id) + len(body)*4/3; u.size >= undoBytes {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if u.size == 0 {
		return nil
	}
	return flush()
}

// Write waits for a request that was sent, whatever happens to ctx: what a
// broken one still does on the server could not be taken back.
func (k *lockedCommit) Write(ctx context.Context, t *record.LineType, docs []Document) error {
	for i := range docs {
		k.bytes.Add(int64(len(docs[i].ID) + len(docs[i].Body)))
	}
	return k.s.Write(context.WithoutCancel(ctx), k.subset, t, docs)
}

// Remove is like Write.
func (k *lockedCommit) Remove(ctx context.Context, t *record.LineType, ids []string) error {
	return k.s.Remove(context.WithoutCancel(ctx), k.subset, t, ids)
}

func (k *lockedCommit) Count(ctx context.Context, catalog []byte, done []archive.Mark) (int64, error) {
	if len(done) > 0 {
		if err := k.s.put(ctx, partName("marks", k.subset, k.p.Commit), done); err != nil {
			return 0, err
		}
		k.state.Marked = append(k.state.Marked, k.p.Commit)
	}
	if len(k.fresh) > 0 {
		if err := k.s.put(ctx, partName("ids", k.subset, k.p.Commit), k.fresh); err != nil {
			return 0, err
		}
		k.state.Listed = append(k.state.Listed, k.p.Commit)
	}
	k.state.Bytes += k.bytes.Load()
	k.state.Version, k.state.By, k.state.Catalog, k.state.Pending = k.p.Commit, k.by, catalog, nil
	if _, err := k.s.swapState(ctx, k.subset, k.state, k.rev); err != nil && !k.counts(ctx) {
		return 0, err
	}
	return k.p.Commit, nil
}

// counts reports, after a swap that failed, whether it was done all the same.
func (k *lockedCommit) counts(ctx context.Context) bool {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), undoPatience)
	defer stop()
	st, _, err := k.s.loadState(ctx, k.subset)
	return err == nil && st.By == k.by
}

// End gives the lock back.
func (k *lockedCommit) End(ctx context.Context, counts bool, err error) error {
	err = errors.Join(err, k.lost())
	ctx = context.WithoutCancel(ctx)
	switch {
	case counts:
		k.s.forget(ctx, k.subset, k.p)
		if len(k.gone) > 0 {
			if failed := k.shorten(ctx); failed != nil {
				k.s.o.Log.Debug("ids of removed documents stay listed", "subset", k.subset, "error", failed)
			}
		}
	case k.began:
		k.takeBack(ctx)
	}
	k.lease.release(ctx)
	return err
}

// shorten takes the ids of removed documents out of the lists. One that stays there
// harms nobody, so that this is done when the removal counts.
func (k *lockedCommit) shorten(ctx context.Context) error {
	for _, commit := range k.state.Listed {
		name := partName("ids", k.subset, commit)
		var some map[string][]string
		if err := k.s.get(ctx, name, &some); err != nil {
			return err
		}
		changed := false
		for t, ids := range some {
			some[t] = slices.DeleteFunc(ids, func(id string) bool { return k.gone[id] })
			changed = changed || len(some[t]) < len(ids)
		}
		if !changed {
			continue
		}
		if err := k.s.put(ctx, name, some); err != nil {
			return err
		}
	}
	return nil
}

// takeBack undoes a commit that failed, or leaves that to whoever opens the
// subset next. Where the lock was lost another commit may be under way, which
// has nothing to do with it.
func (k *lockedCommit) takeBack(ctx context.Context) {
	ctx, stop := context.WithTimeout(ctx, undoPatience)
	defer stop()
	st, _, err := k.s.loadState(ctx, k.subset)
	if err == nil && (st.Pending == nil || st.Pending.By != k.by) {
		return
	}
	if err == nil {
		_, _, err = k.s.recover(ctx, k.subset)
	}
	if err != nil {
		k.s.seen.Delete(k.subset)
		k.s.o.Log.Warn("a commit was not taken back; the next open does it", "subset", k.subset, "error", err)
	}
}
