package mariadb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/barograph/barograph/engine"
)

// nodePatience is how long a node of a cluster has to take a connection before
// the next one is tried.
const nodePatience = 5 * time.Second

// addresses are the servers that a URL names: one, or the nodes of a cluster
// with commas between.
func addresses(u *url.URL) (network string, all []string) {
	if s := u.Query().Get("socket"); s != "" {
		return "unix", []string{s}
	}
	for host := range strings.SplitSeq(u.Host, ",") {
		one := url.URL{Host: host}
		switch {
		case host == "":
			host = "127.0.0.1:3306"
		case one.Port() == "":
			host = net.JoinHostPort(strings.Trim(host, "[]"), "3306")
		}
		all = append(all, host)
	}
	return "tcp", all
}

// nodes connects to the servers of a URL: to the first that serves, or, to
// spread what is asked, to each in turn.
type nodes struct {
	connectors []driver.Connector
	spread     bool
	made       atomic.Uint64
}

// newNodes has a connector for every configuration.
func newNodes(all []*mysql.Config, spread bool) (*nodes, error) {
	n := &nodes{spread: spread}
	for _, cfg := range all {
		c, err := mysql.NewConnector(cfg)
		if err != nil {
			return nil, err
		}
		n.connectors = append(n.connectors, c)
	}
	return n, nil
}

// Driver is the driver of every node.
func (n *nodes) Driver() driver.Driver { return n.connectors[0].Driver() }

// Connect connects to a node that serves.
func (n *nodes) Connect(ctx context.Context) (driver.Conn, error) {
	if len(n.connectors) == 1 {
		return n.connectors[0].Connect(ctx)
	}
	first := 0
	if n.spread {
		first = int(n.made.Add(1) % uint64(len(n.connectors)))
	}
	var all []error
	for i := range n.connectors {
		c, err := n.connectors[(first+i)%len(n.connectors)].Connect(ctx)
		if err == nil {
			if err = serves(ctx, c); err == nil {
				return c, nil
			}
			_ = c.Close() // nothing was sent over it
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		all = append(all, err)
	}
	return nil, errors.Join(all...)
}

// serves asks a node of a cluster whether it takes statements: one that has
// lost the others, or is still joining them, takes connections only.
func serves(ctx context.Context, c driver.Conn) error {
	q, ok := c.(driver.QueryerContext)
	if !ok {
		return driver.ErrSkip
	}
	rows, err := q.QueryContext(ctx, "SHOW STATUS LIKE 'wsrep_ready'", nil)
	if err != nil {
		return err
	}
	cells := make([]driver.Value, 2)
	state := "no node of a cluster"
	for err = rows.Next(cells); err == nil; err = rows.Next(cells) {
		state = fmt.Sprintf("%s", cells[1])
	}
	if err := rows.Close(); err != nil {
		return err
	}
	if !errors.Is(err, io.EOF) {
		return err
	}
	if state != "ON" {
		return fmt.Errorf("%w: wsrep_ready is %s", engine.ErrUnreachable, state)
	}
	return nil
}

// errOvertaken says that another loader has committed, by another node, since
// this one read the catalog.
var errOvertaken = errors.New("another loader has written meanwhile")

// What a transaction is told that another node's has overtaken: at its end, or
// when it takes a number that the other has taken.
const (
	errDeadlock  = 1213
	errDuplicate = 1062
)

// overtaken reports that a commit has failed for no fault of its own and can
// be done again.
func overtaken(err error) bool {
	return errors.Is(err, errOvertaken) || is(err, errDeadlock, errDuplicate)
}

// overtakings is how often a commit is done again, overtakenPause about how
// much longer it waits each time.
const (
	overtakings    = 50
	overtakenPause = 20 * time.Millisecond
)
