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
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"
)

const (
	undoBytes   = 4 << 20          // bytes of ids and bodies in one undo document
	undoTimeout = 20 * time.Second // time limit for rolling back a failed commit
)

// LockedStore implements Store with a SingleDocumentStore. The package comment describes how.
type LockedStore struct {
	SingleDocumentStore
	o             Options
	recovered     sync.Map // subsets without the remains of a crashed commit
	preparedTypes sync.Map // set of subsetType whose collection and indexes exist
}

// subsetType is a line type of a subset.
type subsetType struct {
	subset string
	t      *record.LineType
}

// NewLocked makes a Store of s. Options.Writers must be greater than 0, because a rollback needs Change.Existing.
func NewLocked(s SingleDocumentStore, o Options) *LockedStore {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &LockedStore{SingleDocumentStore: s, o: o}
}

// state is the state of a subset. Only Swap changes it.
type state struct {
	Version  int64           `json:"version"` // number of the last commit
	CommitID string          `json:"by"`      // random; of the commit that wrote this state
	Catalog  json.RawMessage `json:"catalog"`
	Marked   []int64         `json:"marked,omitempty"` // numbers of the commits that stored marks
	Listed   []int64         `json:"listed,omitempty"` // numbers of the commits that stored documents, if ids are listed
	Pending  *pending        `json:"pending,omitempty"`
	Sized    bool            `json:"sized,omitempty"` // Bytes is counted; archives of earlier versions do not count it
	Bytes    int64           `json:"bytes,omitempty"` // bytes of all documents and their ids
}

// pending is a commit in flight, or the remains of a crashed one.
type pending struct {
	Commit   int64  `json:"commit"`
	Parts    int    `json:"parts"` // number of undo documents
	CommitID string `json:"by"`
}

// subsetsName is the name of the text that lists the subsets. The names of other texts contain the name of a subset,
// escaped, because "::" and other parts follow it.
const subsetsName = "subsets"

func stateName(subset string) string { return "state::" + url.QueryEscape(subset) }
func lockName(subset string) string  { return "lock::" + url.QueryEscape(subset) }

// commitTextName is the name of a text that belongs to one commit: its marks or ids. The names of undo documents begin
// with it.
func commitTextName(what, subset string, commit int64) string {
	return what + "::" + url.QueryEscape(subset) + "::" + strconv.FormatInt(commit, 10)
}

func undoName(subset string, p pending, part int) string {
	return commitTextName("undo", subset, p.Commit) + "::" + strconv.Itoa(part)
}

// loadState reads the state of a subset; rev is 0 if it does not exist.
func (s *LockedStore) loadState(ctx context.Context, subset string) (*state, int64, error) {
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

// recoveredState returns the state of a subset. As long as a subset is not in recovered, it first
// waits for a pending commit of another client, and rolls back a crashed one. Later the state may
// contain a pending commit; its version, catalog and lists are those of the last visible commit.
func (s *LockedStore) recoveredState(ctx context.Context, subset string) (*state, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	st, _, err := s.loadState(ctx, subset)
	if _, ok := s.recovered.Load(subset); ok || err != nil {
		return st, err
	}
	switch {
	case st.Pending == nil:
	case s.o.ReadOnly:
		st, err = s.awaitOther(ctx, subset)
	default:
		var l *ownedLock
		if ctx, l, err = acquire(ctx, s, lockName(subset), s.o.Lease); err != nil {
			return nil, err
		}
		st, _, err = s.recover(ctx, subset, "")
		err = errors.Join(err, l.lostError())
		l.release(context.WithoutCancel(ctx))
	}
	if err == nil {
		s.recovered.Store(subset, true)
	}
	return st, err
}

// lostError returns the error of an owner whose lock another client took over.
func (l *ownedLock) lostError() error {
	if cause := context.Cause(l.owned); errors.Is(cause, errLost) {
		return cause
	}
	return nil
}

// awaitOther waits until another client's commit has finished. A read-only client cannot repair
// the subset after a crashed commit.
func (s *LockedStore) awaitOther(ctx context.Context, subset string) (*state, error) {
	var w watch
	var unowned string // id of the pending commit that had no owner in the last round
	for {
		// Read the lock before the state. An owner publishes before it frees the lock: if the lock is free here, the state
		// below does not have a commit as pending that its owner has published.
		current, _, err := loadLock(ctx, s, lockName(subset))
		if err != nil {
			return nil, err
		}
		st, _, err := s.loadState(ctx, subset)
		if err != nil || st.Pending == nil {
			return st, err
		}
		isDead := current.Owner == "" || w.isDead(current, s.o.Lease)
		if isDead && unowned == st.Pending.CommitID { // twice, because the next commit may begin between the two reads
			return nil, &fault.Error{
				Setting: s.o.Shown + ", subset " + strconv.Quote(subset), Problem: "contains an incomplete load", Err: engine.ErrReadOnly,
				Cure: "run the load again, which completes the load or rolls it back",
			}
		}
		if isDead {
			unowned = st.Pending.CommitID
		}
		if err := engine.Pause(ctx, pollInterval); err != nil {
			return nil, err
		}
	}
}

// recover restores the documents that a crashed commit has changed. The caller owns the lock. If commitID is not
// empty, recover rolls back only that commit.
func (s *LockedStore) recover(ctx context.Context, subset, commitID string) (*state, int64, error) {
	st, rev, err := s.loadState(ctx, subset)
	if err != nil || st.Pending == nil || commitID != "" && st.Pending.CommitID != commitID {
		return st, rev, err
	}
	p := *st.Pending
	// The unchanged state gets a new revision: if the commit's client still runs, it cannot publish restored documents.
	if rev, err = s.swapState(ctx, subset, st, rev); err != nil {
		return st, rev, err
	}
	for k := range p.Parts {
		if err := s.restore(ctx, subset, undoName(subset, p, k)); err != nil {
			return st, rev, err
		}
	}
	st.Pending, st.CommitID = nil, ""
	if rev, err = s.swapState(ctx, subset, st, rev); err != nil {
		return st, rev, err
	}
	s.o.Log.Info("rolled back an incomplete load", "subset", subset, "commit", p.Commit)
	s.deleteUndo(ctx, subset, p)
	return st, rev, nil
}

func (s *LockedStore) swapState(ctx context.Context, subset string, st *state, rev int64) (int64, error) {
	text, err := json.Marshal(st)
	if err != nil {
		return rev, err
	}
	return swapUncanceled(ctx, s, stateName(subset), text, rev)
}

// undo is an undo document: the previous documents of a line type that a commit will change.
type undo struct {
	Type string   `json:"line_type"`
	New  []string `json:"new,omitempty"` // ids without a document
	Old  []oldDoc `json:"old,omitempty"`
	size int
}

type oldDoc struct {
	ID   string `json:"id"`
	Body []byte `json:"body"`
}

func (s *LockedStore) restore(ctx context.Context, subset, name string) error {
	var u undo
	if err := s.get(ctx, name, &u); err != nil {
		return fmt.Errorf("subset %q: cannot roll back an incomplete load: %w", subset, err)
	}
	t, ok := record.TypeByName(u.Type)
	if !ok {
		return fmt.Errorf("%s names an unknown line type: %q", name, u.Type)
	}
	docs := lists.Map(u.Old, func(o oldDoc) Document { return Document{ID: o.ID, Body: o.Body} })
	ctx = context.WithoutCancel(ctx)
	return errors.Join(s.Remove(ctx, subset, t, u.New), s.Write(ctx, subset, t, docs))
}

// deleteUndo removes the undo documents of a commit that is visible or rolled back. If that fails, or if the client
// dies before, they remain. After a rollback the next commit has the same number and overwrites them. After a visible
// commit nobody removes them.
func (s *LockedStore) deleteUndo(ctx context.Context, subset string, p pending) {
	names := lists.Map(lists.Indices(p.Parts), func(k int) string { return undoName(subset, p, k) })
	if err := s.Delete(context.WithoutCancel(ctx), names); err != nil {
		s.o.Log.Debug("undo documents were not removed", "subset", subset, "error", err)
	}
}

// put writes a value as JSON. get reads a value that must exist.
func (s *LockedStore) put(ctx context.Context, name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.Put(ctx, name, text)
}

func (s *LockedStore) get(ctx context.Context, name string, v any) error {
	texts, err := s.Get(ctx, []string{name})
	if err != nil {
		return err
	}
	return parse(name, texts, v)
}

// parse parses the text of this name. A missing text is an error.
func parse(name string, texts map[string][]byte, v any) error {
	if _, ok := texts[name]; !ok {
		return fmt.Errorf("%s is missing", name)
	}
	if err := json.Unmarshal(texts[name], v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// IDs lists the ids of all documents of a subset, by line type; see Options.List.
func (s *LockedStore) IDs(ctx context.Context, subset string) (map[string][]string, error) {
	st, err := s.recoveredState(ctx, subset)
	if err != nil {
		return nil, err
	}
	all := map[string][]string{}
	for _, commit := range st.Listed {
		var some map[string][]string
		if err := s.get(ctx, commitTextName("ids", subset, commit), &some); err != nil {
			return nil, err
		}
		for t, ids := range some {
			all[t] = append(all[t], ids...)
		}
	}
	for t, ids := range all { // a crashed removal may have left an id that was added again
		slices.Sort(ids)
		all[t] = slices.Compact(ids)
	}
	return all, nil
}

// Bytes returns the size of a subset's documents and ids, as its commits have counted them;
// known is false if they have not counted.
func (s *LockedStore) Bytes(ctx context.Context, subset string) (n int64, known bool, err error) {
	st, err := s.recoveredState(ctx, subset)
	if err != nil {
		return 0, false, err
	}
	return st.Bytes, st.Sized, nil
}

// Subsets lists the subsets.
func (s *LockedStore) Subsets(ctx context.Context) ([]string, error) {
	names, _, err := s.subsets(ctx)
	return names, err
}

func (s *LockedStore) subsets(ctx context.Context) ([]string, int64, error) {
	names := []string{}
	text, rev, err := s.Load(ctx, subsetsName)
	if err != nil || rev == 0 {
		return names, rev, err
	}
	err = json.Unmarshal(text, &names)
	return names, rev, err
}

// Describe returns the catalog of a subset.
func (s *LockedStore) Describe(ctx context.Context, subset string, _ int64) (int64, []byte, error) {
	st, err := s.recoveredState(ctx, subset)
	if err != nil {
		return 0, nil, err
	}
	return st.Version, st.Catalog, nil
}

// Marks lists the loaded files.
func (s *LockedStore) Marks(ctx context.Context, subset string) ([]archive.Mark, error) {
	st, err := s.recoveredState(ctx, subset)
	if err != nil || len(st.Marked) == 0 {
		return nil, err
	}
	names := lists.Map(st.Marked, func(commit int64) string { return commitTextName("marks", subset, commit) })
	texts, err := s.Get(ctx, names)
	if err != nil {
		return nil, err
	}
	var all []archive.Mark
	for _, n := range names {
		var some []archive.Mark
		if err := parse(n, texts, &some); err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return Latest(all), nil
}

// Create creates a subset.
func (s *LockedStore) Create(ctx context.Context, subset string) error {
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
	for { // another client may create another subset at the same time
		names, rev, err := s.subsets(ctx)
		if err != nil {
			return err
		}
		i, found := slices.BinarySearch(names, subset)
		if found {
			return nil
		}
		text, err := json.Marshal(slices.Insert(names, i, subset))
		if err != nil {
			return err
		}
		if _, err := swapUncanceled(ctx, s, subsetsName, text, rev); !errors.Is(err, ErrChanged) {
			return err
		}
	}
}

// lockedCommit is a commit in flight. Its client owns the lock.
type lockedCommit struct {
	s            *LockedStore
	subset       string
	lock         *ownedLock
	state        *state
	rev          int64
	p            pending
	newIDs       map[string][]string // by line type: the new ids, if ids are listed
	removedIDs   map[string]bool     // the removed ids, if ids are listed
	bytes        atomic.Int64        // growth of the documents
	mayBePending bool                // the state may contain this commit as pending
}

// Begin locks the subset. The returned context ends when the lock is lost.
func (s *LockedStore) Begin(ctx context.Context, subset string) (context.Context, Commit, error) {
	lockCtx, l, err := acquire(ctx, s, lockName(subset), s.o.Lease)
	if err != nil {
		return nil, nil, err
	}
	k := &lockedCommit{
		s: s, subset: subset, lock: l, newIDs: map[string][]string{}, removedIDs: map[string]bool{},
	}
	if k.state, k.rev, err = s.recover(lockCtx, subset, ""); err != nil {
		return nil, nil, k.End(ctx, false, err)
	}
	k.p = pending{Commit: k.state.Version + 1, CommitID: rand.Text()}
	return lockCtx, k, nil
}

func (k *lockedCommit) Fetch(ctx context.Context, t *record.LineType, ids []string, each func(id string, doc []byte) error) error {
	return k.s.Fetch(ctx, k.subset, t, ids, each)
}

// Announce writes the undo documents and marks the commit as pending in the state.
func (k *lockedCommit) Announce(ctx context.Context, all []Change) (err error) {
	for i := range all {
		if err := k.announce(ctx, &all[i]); err != nil {
			return err
		}
	}
	if k.p.Parts == 0 {
		return nil
	}
	k.state.Pending = &k.p
	k.mayBePending = true // even if the swap fails, because its outcome is then unknown
	k.rev, err = k.s.swapState(ctx, k.subset, k.state, k.rev)
	return err
}

// announce writes the undo documents of a line type.
func (k *lockedCommit) announce(ctx context.Context, ch *Change) error {
	if _, ok := k.s.preparedTypes.Load(subsetType{k.subset, ch.Type}); !ok {
		if err := k.s.Prepare(ctx, k.subset, ch.Type); err != nil {
			return err
		}
		k.s.preparedTypes.Store(subsetType{k.subset, ch.Type}, true)
	}
	u := undo{Type: ch.Type.Name}
	flush := func() error {
		err := k.s.put(ctx, undoName(k.subset, k.p, k.p.Parts), &u)
		k.p.Parts++
		u = undo{Type: ch.Type.Name}
		return err
	}
	for _, id := range ch.IDs {
		body, exists := ch.Existing[id]
		if ch.Removed && k.s.o.List {
			k.removedIDs[id] = true
		}
		switch {
		case exists:
			k.bytes.Add(-int64(len(id) + len(body)))
			u.Old = append(u.Old, oldDoc{id, body})
		case k.s.o.List:
			k.newIDs[ch.Type.Name] = append(k.newIDs[ch.Type.Name], id)
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

// Write waits for a sent request even if ctx ends: a rollback could not undo a write that the
// server executes later.
func (k *lockedCommit) Write(ctx context.Context, t *record.LineType, docs []Document) error {
	for i := range docs {
		k.bytes.Add(int64(len(docs[i].ID) + len(docs[i].Body)))
	}
	return k.s.Write(context.WithoutCancel(ctx), k.subset, t, docs)
}

// Remove waits as Write does.
func (k *lockedCommit) Remove(ctx context.Context, t *record.LineType, ids []string) error {
	return k.s.Remove(context.WithoutCancel(ctx), k.subset, t, ids)
}

func (k *lockedCommit) Publish(ctx context.Context, catalog []byte, done []archive.Mark) (int64, error) {
	if len(done) > 0 {
		if err := k.s.put(ctx, commitTextName("marks", k.subset, k.p.Commit), done); err != nil {
			return 0, err
		}
		k.state.Marked = append(k.state.Marked, k.p.Commit)
	}
	if len(k.newIDs) > 0 {
		if err := k.s.put(ctx, commitTextName("ids", k.subset, k.p.Commit), k.newIDs); err != nil {
			return 0, err
		}
		k.state.Listed = append(k.state.Listed, k.p.Commit)
	}
	k.state.Bytes += k.bytes.Load()
	k.state.Version, k.state.CommitID, k.state.Catalog, k.state.Pending = k.p.Commit, k.p.CommitID, catalog, nil
	if _, err := k.s.swapState(ctx, k.subset, k.state, k.rev); err != nil && !k.isVisible(ctx) {
		return 0, err
	}
	return k.p.Commit, nil
}

// isVisible reports, after a swap that returned an error, whether it succeeded nevertheless.
func (k *lockedCommit) isVisible(ctx context.Context) bool {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer stop()
	st, _, err := k.s.loadState(ctx, k.subset)
	return err == nil && st.CommitID == k.p.CommitID
}

// End frees the lock.
func (k *lockedCommit) End(ctx context.Context, visible bool, err error) error {
	err = errors.Join(err, k.lock.lostError())
	ctx = context.WithoutCancel(ctx)
	switch {
	case visible:
		k.s.deleteUndo(ctx, k.subset, k.p)
		if len(k.removedIDs) > 0 {
			if failed := k.removeListedIDs(ctx); failed != nil {
				k.s.o.Log.Debug("ids of removed documents remain in the lists", "subset", k.subset, "error", failed)
			}
		}
	case k.mayBePending:
		k.rollBack() //nolint:contextcheck // it ends with the lock, not with the caller's context
	}
	k.lock.release(ctx)
	return err
}

// removeListedIDs removes the ids of removed documents from the lists. It runs after the removal is
// visible, because an id that remains in a list has no effect.
func (k *lockedCommit) removeListedIDs(ctx context.Context) error {
	for _, commit := range k.state.Listed {
		name := commitTextName("ids", k.subset, commit)
		var some map[string][]string
		if err := k.s.get(ctx, name, &some); err != nil {
			return err
		}
		changed := false
		for t, ids := range some {
			some[t] = slices.DeleteFunc(ids, func(id string) bool { return k.removedIDs[id] })
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

// rollBack rolls back a failed commit while it owns the lock, whose heartbeats continue. If it cannot, the next client
// that locks the subset does. It first renews the lock, because after the loss of the lock that client may already have
// rolled the commit back and written documents.
func (k *lockedCommit) rollBack() {
	ctx, stop := context.WithTimeout(k.lock.owned, undoTimeout)
	defer stop()
	err := errors.Join(k.lock.swap(ctx, false, k.s.o.Lease), k.lock.lostError())
	if err == nil {
		_, _, err = k.s.recover(ctx, k.subset, k.p.CommitID)
	}
	if err != nil {
		k.s.recovered.Delete(k.subset)
		k.s.o.Log.Warn("a failed commit was not rolled back; the next open of the subset does it", "subset", k.subset, "error", err)
	}
}
