package asterixdb

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tidwall/gjson"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/internal/fault"
)

// state is the state of a subset in the archive: the number of its last commit, and of the last started one.
type state struct {
	exists           bool
	version          int64
	catalog          *design.Catalog
	started          int64    // number of the last started commit
	token            string   // token of its lock
	writes           []string // datasets that it writes
	hasSupplementary bool     // the subset has texts with letters beyond U+FFFF
}

func newState(subset string) state { return state{catalog: design.NewCatalog(subset)} }

// hasUnfinishedCommit reports whether a started commit is not visible: it is in flight or has crashed.
func (s *state) hasUnfinishedCommit() bool { return s.started > s.version }

func catalogID(subset string) string { return "catalog/" + subset }
func startedID(subset string) string { return "begun/" + subset }

func (a *openArchive) stateQuery(subset string) string {
	return "SELECT VALUE s FROM " + a.dataset(stateDataset) + " AS s WHERE s.id IN [" +
		quote(catalogID(subset)) + ", " + quote(startedID(subset)) + "]"
}

// row parses a record of the state.
func (s *state) row(row []byte) (err error) {
	r := gjson.ParseBytes(row)
	switch r.Get("kind").String() {
	case "catalog":
		s.exists, s.version = true, r.Get("version").Int()
		s.hasSupplementary = r.Get("astral").Bool()
		s.catalog, err = design.ParseCatalog([]byte(r.Get("catalog").String()))
	case "begun":
		s.started, s.token = r.Get("commit").Int(), r.Get("token").String()
		for _, w := range r.Get("writes").Array() {
			s.writes = append(s.writes, w.String())
		}
	}
	return err
}

// catalogStatement returns the statement that makes a commit visible: it replaces one record, which AsterixDB
// does atomically.
func (a *openArchive) catalogStatement(subset string, version int64, s *state) (string, error) {
	text, err := s.catalog.Encode()
	if err != nil {
		return "", err
	}
	record, err := json.Marshal(map[string]any{
		"id": catalogID(subset), "kind": "catalog", "subset": subset, "version": version,
		"astral": s.hasSupplementary, "catalog": string(text),
	})
	if err != nil {
		return "", err
	}
	return "UPSERT INTO " + a.dataset(stateDataset) + " (" + string(record) + ");\n", nil
}

// state reads the state of a subset, which is empty if the subset does not exist. Once for each subset and
// archive it first rolls back a crashed load.
func (a *openArchive) state(ctx context.Context, subset string) (state, error) {
	_, had := a.recovered.Load(subset)
	seen := had
	for {
		s := newState(subset)
		_, err := a.db.client.run(ctx, request{text: a.stateQuery(subset), row: s.row})
		if isAbsent(err) {
			return newState(subset), nil
		}
		if err != nil {
			return s, err
		}
		if !seen && s.hasUnfinishedCommit() {
			if err := a.recoverCrashed(ctx, subset); err != nil {
				return s, err
			}
			seen = true
			continue
		}
		if !had { // a failed commit may have deleted it meanwhile
			a.recovered.Store(subset, true)
		}
		return s, nil
	}
}

// recoverCrashed waits until no commit of a subset is in flight, and rolls back a crashed one.
func (a *openArchive) recoverCrashed(ctx context.Context, subset string) error {
	if a.db.readOnly {
		return a.awaitCommit(ctx, subset)
	}
	s := newState(subset)
	l, err := a.acquire(ctx, subset, newToken(), &s)
	if err != nil {
		return err
	}
	if err := a.recover(ctx, subset, &s); err != nil {
		l.abandon()
		return err
	}
	return l.release(ctx, "")
}

// awaitCommit waits for the commit in flight. A reader changes nothing. A commit is incomplete if it is unfinished, and
// has no living owner, twice: a client that is about to take the lock over has no record of it for a moment.
func (a *openArchive) awaitCommit(ctx context.Context, subset string) error {
	var last holder
	since, unfinished := time.Now(), int64(0)
	for {
		h, err := a.holder(ctx, subset)
		if err != nil {
			return err
		}
		if h != last {
			last, since = h, time.Now()
		}
		if h.token == "" || h.dead(ctx) || time.Since(since) > lease {
			s := newState(subset)
			if _, err := a.db.client.run(ctx, request{text: a.stateQuery(subset), row: s.row}); err != nil {
				return err
			}
			if !s.hasUnfinishedCommit() {
				return nil
			}
			if s.started == unfinished {
				return &fault.Error{
					Setting: a.db.displayURL + ", subset " + strconv.Quote(subset), Problem: "contains an incomplete load", Err: engine.ErrReadOnly,
					Cure: "run the load again, which completes the load or rolls it back",
				}
			}
			unfinished = s.started
		}
		if err := engine.Pause(ctx, pollInterval); err != nil {
			return err
		}
	}
}

// recover rolls back a commit that was started and is not visible. The caller has locked the subset, and no
// request of that commit is in progress. Every step may run twice.
func (a *openArchive) recover(ctx context.Context, subset string, s *state) error {
	if !s.hasUnfinishedCommit() {
		return nil
	}
	if err := a.db.client.cancelAll(ctx, s.token); err != nil {
		return err
	}
	states, n := a.dataset(stateDataset), strconv.FormatInt(s.started, 10)
	cond := ".subset = " + quote(subset)
	for _, name := range s.writes {
		// First restore the previous documents; then the others can be identified by their number.
		restore := fmt.Sprintf("UPSERT INTO %s (SELECT VALUE u.doc FROM %s AS u "+
			"WHERE u.kind = \"undo\" AND u.`commit` = %s AND u%s AND u.`dataset` = %s);\n",
			a.dataset(name), states, n, cond, quote(name))
		remove := fmt.Sprintf("DELETE FROM %s AS d WHERE d.%s = %s AND d%s", a.dataset(name), commitMember, n, cond)
		if _, err := a.db.client.run(ctx, request{text: restore + remove}); err != nil {
			return err
		}
	}
	_, err := a.db.client.run(ctx, request{
		text: fmt.Sprintf("DELETE FROM %s AS u WHERE u.`commit` = %s AND u%s AND u.kind IN [\"undo\", \"mark\"];\n", states, n, cond) +
			fmt.Sprintf("DELETE FROM %s AS b WHERE b.id = %s", states, quote(startedID(subset))),
	})
	if err != nil {
		return err
	}
	a.db.log.Info("rolled back an incomplete load", "subset", subset, "commit", s.started)
	s.started = 0
	return nil
}

// markRecord is a mark as it is stored.
type markRecord struct {
	ID     string       `json:"id"`
	Kind   string       `json:"kind"`
	Subset string       `json:"subset"`
	Commit int64        `json:"commit"`
	Seq    int          `json:"seq"` // position within the commit
	Mark   archive.Mark `json:"mark"`
}

func newMarkRecord(subset string, commit int64, seq int, m archive.Mark) markRecord {
	return markRecord{fmt.Sprintf("mark/%d/%s/%s", commit, m.Digest, subset), "mark", subset, commit, seq, m}
}

// Marks lists the marks of visible commits. If a file has two marks, it lists the later one.
func (a *openArchive) Marks(ctx context.Context, subset string) ([]archive.Mark, error) {
	s, err := a.state(ctx, subset)
	if err != nil || !s.exists {
		return nil, err
	}
	return a.marks(ctx, subset, s.version)
}

// marks lists the marks of commits up to a version, also while the next commit is in flight.
func (a *openArchive) marks(ctx context.Context, subset string, version int64) ([]archive.Mark, error) {
	var all []markRecord
	_, err := a.db.client.run(ctx, request{
		text: "SELECT VALUE m FROM " + a.dataset(stateDataset) + " AS m WHERE m.kind = \"mark\" AND m.subset = " + quote(subset) +
			" AND m.`commit` <= " + strconv.FormatInt(version, 10),
		row: func(row []byte) error {
			var m markRecord
			err := json.Unmarshal(row, &m)
			all = append(all, m)
			return err
		},
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(x, y markRecord) int { return cmp.Or(cmp.Compare(x.Commit, y.Commit), cmp.Compare(x.Seq, y.Seq)) })
	out := make([]archive.Mark, len(all))
	for i := range all {
		out[i] = all[i].Mark
	}
	return docengine.Latest(out), nil
}

func (a *openArchive) Catalog(ctx context.Context, subset string) (*design.Catalog, error) {
	s, err := a.state(ctx, subset)
	return s.catalog, err
}

// Subsets lists the subsets with a visible commit.
func (a *openArchive) Subsets(ctx context.Context) ([]string, error) {
	subsets, err := a.db.client.texts(ctx, "SELECT VALUE s.subset FROM "+a.dataset(stateDataset)+" AS s WHERE s.kind = \"catalog\"")
	if isAbsent(err) {
		return []string{}, nil
	}
	slices.Sort(subsets)
	return subsets, err
}

// lock is the lock of a subset: a record whose primary key can be inserted once. The record names its
// owner and lets others detect the owner's crash: on the owner's machine by a port that the owner keeps
// open, on other machines by missing heartbeats.
type lock struct {
	a        *openArchive
	subset   string
	token    string
	listener net.Listener // open as long as the owner is alive
	stop     context.CancelFunc
	beats    chan struct{} // closed after the last heartbeat
}

const (
	heartbeatInterval = 10 * time.Second
	lease             = 60 * time.Second // an owner that gives no heartbeat for this time counts as crashed
	dialPatience      = time.Second      // for the port of an owner
)

// holder is the content of a lock's record.
type holder struct {
	token   string
	machine string
	port    string
	beat    int64
}

// machine identifies this machine and its network, within which a port shows whether a process is alive; "" = unknown.
func machine() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	network, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + network
}

func lockID(subset string) string { return "lock/" + subset }

// acquire waits for the subset's lock. state receives the state of the subset, read under the lock. The
// token identifies the owner and its requests to the server; it is used only once.
func (a *openArchive) acquire(ctx context.Context, subset, token string, state *state) (*lock, error) {
	l := &lock{a: a, subset: subset, token: token}
	var err error
	if l.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	if err := l.insert(ctx, state); err != nil {
		if ctx.Err() != nil { // the record may exist nevertheless
			l.giveUp(ctx)
		}
		return nil, errors.Join(err, l.listener.Close())
	}
	go func() { // connections that nobody accepts would fill the queue of the port
		for {
			c, err := l.listener.Accept()
			if err != nil {
				return
			}
			_ = c.Close() // whoever connected has learned that the owner is alive
		}
	}()
	beating, stop := context.WithCancel(context.WithoutCancel(ctx))
	l.stop, l.beats = stop, make(chan struct{})
	go l.beat(beating)
	return l, nil
}

// insert retries until the record is inserted. Nobody else deletes the record of an owner that is alive.
func (l *lock) insert(ctx context.Context, state *state) error {
	var last holder
	seen := time.Now()
	for {
		err := l.try(ctx, state)
		if !hasCode(err, codeDuplicate) {
			return err
		}
		now, err := l.a.holder(ctx, l.subset)
		switch {
		case err != nil:
			return err
		case now.token == "":
			continue // the owner has just freed it
		case now != last:
			last, seen = now, time.Now()
		}
		if now.dead(ctx) || time.Since(seen) > lease {
			again, err := l.a.holder(ctx, l.subset)
			if err != nil {
				return err
			}
			if again != now {
				continue // the owner freed it before it closed its port, or has given a heartbeat
			}
			l.a.db.log.Info("takes over the lock of a crashed load", "subset", l.subset)
			if err := l.a.evict(ctx, l.subset, now.token); err != nil {
				return err
			}
			continue
		}
		if err := engine.Pause(ctx, pollInterval); err != nil {
			return err
		}
	}
}

// try inserts the record and, if that succeeds, reads the subset's state.
func (l *lock) try(ctx context.Context, state *state) error {
	_, port, err := net.SplitHostPort(l.listener.Addr().String())
	if err != nil {
		return err
	}
	*state = newState(l.subset)
	_, err = l.a.db.client.run(ctx, request{
		id: l.token, params: map[string]any{"record": map[string]any{
			"id": lockID(l.subset), "kind": "lock", "subset": l.subset, "token": l.token, "machine": machine(), "port": port, "beat": 0,
		}},
		text: "INSERT INTO " + l.a.dataset(stateDataset) + " ($record);\n" + l.a.stateQuery(l.subset),
		row:  state.row,
	})
	return err
}

// holder reads the owner of a subset's lock; its token is "" if the lock is free.
func (a *openArchive) holder(ctx context.Context, subset string) (h holder, err error) {
	_, err = a.db.client.run(ctx, request{
		text: "SELECT VALUE l FROM " + a.dataset(stateDataset) + " AS l WHERE l.id = " + quote(lockID(subset)),
		row: func(row []byte) error {
			r := gjson.ParseBytes(row)
			h = holder{r.Get("token").String(), r.Get("machine").String(), r.Get("port").String(), r.Get("beat").Int()}
			return nil
		},
	})
	return h, err
}

// dead reports whether the owner has certainly crashed or abandoned the lock.
func (h holder) dead(ctx context.Context) bool {
	if h.machine == "" || h.machine != machine() {
		return false
	}
	c, err := (&net.Dialer{Timeout: dialPatience}).DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", h.port))
	if err != nil {
		return errors.Is(err, syscall.ECONNREFUSED)
	}
	_ = c.Close() // it has sent nothing
	return false
}

// evict takes the lock from a crashed owner. Requests of that owner may still be in progress; evict waits
// until they have ended.
func (a *openArchive) evict(ctx context.Context, subset, token string) error {
	if err := a.db.client.cancelAll(ctx, token); err != nil {
		return err
	}
	loader, _, _ := strings.Cut(token, "-")
	if err := a.dropFeeds(ctx, loader); err != nil {
		return err
	}
	return a.unlock(ctx, subset, token, "")
}

// unlock runs statements, if there are any, and deletes the lock's record if it has the token, in the same request.
func (a *openArchive) unlock(ctx context.Context, subset, token, statements string) error {
	_, err := a.db.client.run(ctx, request{
		id: token + "/unlock",
		text: statements + "DELETE FROM " + a.dataset(stateDataset) + " AS l " +
			"WHERE l.id = " + quote(lockID(subset)) + " AND l.token = " + quote(token),
	})
	return err
}

// beat sends heartbeats until ctx ends.
func (l *lock) beat(ctx context.Context) {
	defer close(l.beats)
	states := l.a.dataset(stateDataset)
	for n := int64(1); engine.Pause(ctx, heartbeatInterval) == nil; n++ {
		_, err := l.a.db.client.run(ctx, request{
			id: l.token + "/beat",
			text: "UPSERT INTO " + states + " " +
				"(SELECT VALUE object_put(l, \"beat\", " + strconv.FormatInt(n, 10) + ") FROM " + states + " AS l " +
				"WHERE l.id = " + quote(lockID(l.subset)) + " AND l.token = " + quote(l.token) + ")",
		})
		if err != nil && ctx.Err() == nil {
			l.a.db.log.Warn("the lock of a load was not renewed", "subset", l.subset, "error", err)
		}
	}
}

// release runs statements, if there are any, and frees the lock in the same request. If that fails, the lock stays locked.
func (l *lock) release(ctx context.Context, statements string) error {
	l.stop()
	<-l.beats
	if err := l.a.unlock(ctx, l.subset, l.token, statements); err != nil {
		return err
	}
	return l.listener.Close()
}

// abandon leaves the lock to others, who see that its owner has abandoned it.
func (l *lock) abandon() {
	l.stop()
	<-l.beats
	_ = l.listener.Close() // nobody waits for its error
}

// giveUp undoes an insertion with an unknown outcome.
func (l *lock) giveUp(ctx context.Context) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), undoPatience)
	defer stop()
	if err := l.a.evict(ctx, l.subset, l.token); err != nil && !isAbsent(err) {
		l.a.db.log.Warn("a lock was not freed; the next load takes it over", "subset", l.subset, "error", err)
	}
}
