package cassandra

import (
	"context"
	"errors"
	"sync"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

// silence is how long a client waits for a node's reply before it asks another node.
const silence = time.Second

// responsive is a policy that chooses silent nodes last. Without it the driver would choose a node as coordinator for as
// long as its connections are open. A node that stopped, or that the network cuts off, keeps them open: each client
// would wait for it. A node is silent if it owes a reply for longer than silence. After patience, responsive tries
// the node again.
type responsive struct {
	gocql.HostSelectionPolicy

	mu    sync.Mutex
	since map[string]time.Time // by host id: the time of the first request since the last reply
}

func newResponsive(p gocql.HostSelectionPolicy) *responsive {
	return &responsive{HostSelectionPolicy: p, since: map[string]time.Time{}}
}

// Pick returns the nodes of the inner policy, silent ones last.
func (p *responsive) Pick(q gocql.ExecutableStatement) gocql.NextHost {
	next := p.HostSelectionPolicy.Pick(q)
	var silent []gocql.SelectedHost
	return func() gocql.SelectedHost {
		for next != nil {
			h := next()
			switch {
			case h == nil:
				next = nil
			case h.Info() == nil || !h.Info().IsUp() || p.request(h.Info().HostID()):
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

// request records a request to a node; false = the node is silent.
func (p *responsive) request(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	since, waits := p.since[id]
	if waited := now.Sub(since); waits && waited > silence && waited < patience {
		return false
	} else if !waits || waited >= patience {
		p.since[id] = now
	}
	return true
}

// ObserveQuery records a node's reply. The client canceled a request that another node answered: it is no reply.
func (p *responsive) ObserveQuery(_ context.Context, q gocql.ObservedQuery) {
	if q.Host == nil || errors.Is(q.Err, context.Canceled) || errors.Is(q.Err, context.DeadlineExceeded) || errors.Is(q.Err, gocql.ErrTimeoutNoResponse) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.since, q.Host.HostID())
}

// query is a statement of a table of records. If its node is silent and the statement is idempotent, the driver
// sends it to another node, too, and uses the first reply. Each sending has a timestamp of its own, so a late
// execution of the first one never replaces a later value.
func (tb *kvTable) query(text string, args ...any) *gocql.Query {
	return tb.session.Query(text, args...).SetSpeculativeExecutionPolicy(secondNode{tb.store})
}

// secondNode lets the driver send a statement to a second node after silence, if another node is up. If none is, the
// driver would report at once that it has no connection, while the first node may still reply.
type secondNode struct{ *store }

// Attempts returns the number of further nodes.
func (s secondNode) Attempts() int { return min(1, max(0, len(s.up())-1)) }

// Delay returns how long the driver waits before.
func (s secondNode) Delay() time.Duration { return silence }
