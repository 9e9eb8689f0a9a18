package cassandra

import (
	"context"
	"errors"
	"sync"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

// silence is how long a client waits for a node's reply before it sends the query to another node.
const silence = time.Second

// silentLast is a policy that chooses silent nodes last. Without it the driver would choose a node as coordinator for
// as long as its connections are open. A node that stopped, or that the network does not reach, keeps its connections
// open, and each client would wait for it. A node is silent if a reply of it is due for longer than silence. After
// replyPatience, silentLast tries the node again.
type silentLast struct {
	gocql.HostSelectionPolicy

	mu    sync.Mutex
	since map[string]time.Time // by host id: the time of the first request since the last reply
}

func newSilentLast(p gocql.HostSelectionPolicy) *silentLast {
	return &silentLast{HostSelectionPolicy: p, since: map[string]time.Time{}}
}

// Pick returns the nodes of the inner policy, silent nodes last.
func (p *silentLast) Pick(q gocql.ExecutableStatement) gocql.NextHost {
	next := p.HostSelectionPolicy.Pick(q)
	var silent []gocql.SelectedHost
	return func() gocql.SelectedHost {
		for next != nil {
			h := next()
			switch {
			case h == nil:
				next = nil
			case h.Info() == nil || !h.Info().IsUp() || p.recordRequest(h.Info().HostID()):
				return h
			default:
				silent = append(silent, h)
			}
		}
		if len(silent) == 0 {
			return nil
		}
		h := silent[0]
		silent = silent[1:]
		return h
	}
}

// recordRequest records a request to a node. If the node is silent, it records nothing and returns false.
func (p *silentLast) recordRequest(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	since, isWaiting := p.since[id]
	if waited := now.Sub(since); isWaiting && waited > silence && waited < replyPatience {
		return false
	} else if !isWaiting || waited >= replyPatience {
		p.since[id] = now
	}
	return true
}

// ObserveQuery records a node's reply. An error of the client is no reply: for example, the client cancels a request
// that another node has answered.
func (p *silentLast) ObserveQuery(_ context.Context, q gocql.ObservedQuery) {
	ofClient := func(err error) bool { return errors.Is(q.Err, err) }
	if q.Host == nil || ofClient(context.Canceled) || ofClient(context.DeadlineExceeded) ||
		ofClient(gocql.ErrTimeoutNoResponse) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.since, q.Host.HostID())
}

// query returns a statement of a table of records. If its node is silent and the statement is idempotent, the driver
// also sends it to another node, and uses the first reply. Each time it is sent it gets a new timestamp, so a late
// execution of the first one never replaces a later value.
func (tb *kvTable) query(text string, args ...any) *gocql.Query {
	return tb.session.Query(text, args...).SetSpeculativeExecutionPolicy(secondNode{tb.store})
}

// secondNode lets the driver send a statement to a second node after silence, if another node is up. If none is, the
// driver would report at once that it has no connection, while the first node may still reply.
type secondNode struct{ *store }

// Attempts returns the number of further nodes.
func (s secondNode) Attempts() int { return min(1, max(0, len(s.up())-1)) }

// Delay returns how long the driver waits before it sends the statement to the second node.
func (s secondNode) Delay() time.Duration { return silence }
