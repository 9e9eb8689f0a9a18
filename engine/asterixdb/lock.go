package asterixdb

import (
	"context"
	"errors"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tidwall/gjson"

	"github.com/barograph/barograph/engine"
)

// A commit holds its subset's lock: a record whose primary key can be inserted
// once. The record names its holder, so that others see when it has died: on
// the holder's own machine by a port that it keeps open, elsewhere by a beat
// that no longer comes.
type lock struct {
	a      *archive
	subset string
	token  string
	alive  net.Listener // open as long as the holder lives; nobody is ever accepted
	stop   context.CancelFunc
	beats  chan struct{} // closed when the last beat was sent
}

const (
	beatEvery = 10 * time.Second
	lease     = 60 * time.Second // a holder without a beat for so long is dead
)

// holder is what a lock's record says.
type holder struct {
	token   string
	machine string
	port    string
	beat    int64
}

// machine names this machine and its network, within which a port tells
// whether a process lives; "" = it cannot be told.
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

// acquire waits until the subset's lock is this caller's. state takes what the
// archive says of the subset, read under the lock. The token names the holder
// and what it asks of the server; it is not used twice.
func (a *archive) acquire(ctx context.Context, subset, token string, state *state) (*lock, error) {
	l := &lock{a: a, subset: subset, token: token}
	var err error
	if l.alive, err = (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	if err := l.insert(ctx, state); err != nil {
		if ctx.Err() != nil { // the record may be there nevertheless
			l.giveUp(ctx)
		}
		return nil, errors.Join(err, l.alive.Close())
	}
	beating, stop := context.WithCancel(context.WithoutCancel(ctx))
	l.stop, l.beats = stop, make(chan struct{})
	go l.beat(beating)
	return l, nil
}

// insert tries again until the record is inserted. Nobody else deletes the
// record of a holder that lives.
func (l *lock) insert(ctx context.Context, state *state) error {
	var last holder
	seen := time.Now()
	for {
		err := l.try(ctx, state)
		if !is(err, codeDuplicate) {
			return err
		}
		now, err := l.a.holder(ctx, l.subset)
		switch {
		case err != nil:
			return err
		case now.token == "":
			continue // it was given back just now
		case now != last:
			last, seen = now, time.Now()
		}
		if now.dead(ctx) || time.Since(seen) > lease {
			again, err := l.a.holder(ctx, l.subset)
			if err != nil {
				return err
			}
			if again.token != now.token {
				continue // it was given back before its port was closed
			}
			l.a.db.log.Info("the lock of a load that died is taken over", "subset", l.subset)
			if err := l.a.evict(ctx, l.subset, now.token); err != nil {
				return err
			}
			continue
		}
		if err := engine.Pause(ctx, poll); err != nil {
			return err
		}
	}
}

// try inserts the record and, where that succeeds, reads the subset's state.
func (l *lock) try(ctx context.Context, state *state) error {
	_, port, err := net.SplitHostPort(l.alive.Addr().String())
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

// holder reads who holds a subset's lock; its token is "" where nobody does.
func (a *archive) holder(ctx context.Context, subset string) (h holder, err error) {
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

// dead reports whether the holder is known to have died, or to have given up.
func (h holder) dead(ctx context.Context) bool {
	if h.machine == "" || h.machine != machine() {
		return false
	}
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", h.port))
	if err != nil {
		return errors.Is(err, syscall.ECONNREFUSED)
	}
	_ = c.Close() // nothing was sent
	return false
}

// evict takes the lock from a holder that has died. What it asked the server
// for may still be under way; nobody may go on before that has ended.
func (a *archive) evict(ctx context.Context, subset, token string) error {
	if err := a.db.client.quiet(ctx, token); err != nil {
		return err
	}
	loader, _, _ := strings.Cut(token, "-")
	if err := a.dropFeeds(ctx, loader); err != nil {
		return err
	}
	return a.unlock(ctx, subset, token, "")
}

// unlock deletes the lock's record if it is that of a holder. before are
// statements to run first, in the same request.
func (a *archive) unlock(ctx context.Context, subset, token, before string) error {
	_, err := a.db.client.run(ctx, request{
		id: token + "/unlock", text: before + "DELETE FROM " + a.dataset(stateDataset) + " AS l WHERE l.id = " + quote(lockID(subset)) + " AND l.token = " + quote(token),
	})
	return err
}

// beat tells others that this holder lives, as long as ctx does.
func (l *lock) beat(ctx context.Context) {
	defer close(l.beats)
	for n := int64(1); engine.Pause(ctx, beatEvery) == nil; n++ {
		_, err := l.a.db.client.run(ctx, request{
			id: l.token + "/beat",
			text: "UPSERT INTO " + l.a.dataset(stateDataset) + " (SELECT VALUE object_put(l, \"beat\", " + strconv.FormatInt(n, 10) + ") FROM " + l.a.dataset(stateDataset) +
				" AS l WHERE l.id = " + quote(lockID(l.subset)) + " AND l.token = " + quote(l.token) + ")",
		})
		if err != nil && ctx.Err() == nil {
			l.a.db.log.Warn("the lock of a load was not renewed", "subset", l.subset, "error", err)
		}
	}
}

// release gives the lock back, after the statements in last, if there are any.
// Where that fails the lock is still held.
func (l *lock) release(ctx context.Context, last string) error {
	l.stop()
	<-l.beats
	if err := l.a.unlock(ctx, l.subset, l.token, last); err != nil {
		return err
	}
	return l.alive.Close()
}

// abandon leaves the lock to others, who see that its holder has given up.
func (l *lock) abandon() {
	l.stop()
	<-l.beats
	_ = l.alive.Close() // nobody was accepted
}

// giveUp takes back an insertion whose end was not seen.
func (l *lock) giveUp(ctx context.Context) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), undoPatience)
	defer stop()
	if err := l.a.evict(ctx, l.subset, l.token); err != nil && !absent(err) {
		l.a.db.log.Warn("a lock was not given back; the next load takes it over", "subset", l.subset, "error", err)
	}
}
