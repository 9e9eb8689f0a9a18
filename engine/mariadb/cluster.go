package mariadb

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/fault"
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
	if err := sqlengine.EachRow(rows, cells, func() error { state = fmt.Sprintf("%s", cells[1]); return nil }); err != nil {
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

// The error of a commit that another node's has overtaken: at its end, when it
// takes a number that the other has taken, or changes a table.
const (
	errDeadlock    = 1213
	errDuplicate   = 1062
	errInterrupted = 1317 // a change of a table, by one that another node has sent
)

// overtaken reports that a commit has failed for no fault of its own and can
// be done again.
func overtaken(err error) bool {
	return errors.Is(err, errOvertaken) || is(err, errDeadlock, errDuplicate, errInterrupted)
}

// overtakings is how often a commit is done again, overtakenPause about how
// much longer it waits each time.
const (
	overtakings    = 50
	overtakenPause = 20 * time.Millisecond
)

// The ports of a node of a cluster besides that of SQL.
const (
	groupPort    = "group"    // of the group's messages
	catchUpPort  = "catch-up" // where it takes what it has missed (IST)
	snapshotPort = "snapshot" // where it takes everything (SST)
)

// galeraLibrary is where the packages of Debian, Ubuntu and others put Galera.
func galeraLibrary() (string, error) {
	for _, dir := range []string{"/usr/lib/galera", "/usr/lib64/galera-4", "/usr/lib64/galera"} {
		name := filepath.Join(dir, "libgalera_smm.so")
		if _, err := os.Stat(name); err == nil {
			return name, nil
		}
	}
	return "", errors.New("libgalera_smm.so is not found")
}

// findGalera looks for all that a cluster needs.
func findGalera() error {
	if _, err := programs(); err != nil {
		return err
	}
	if _, err := galeraLibrary(); err != nil {
		return err
	}
	for _, name := range []string{"rsync", "wsrep_sst_rsync"} {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("%s is not found", name)
		}
	}
	return nil
}

// settingsFile of a node of a cluster; the scripts that copy the data read it.
func settingsFile(n *launch.Node) string { return filepath.Join(n.Dir, "galera.cnf") }

// writeGalera writes the settings that make a server a node of a cluster.
func writeGalera(c *launch.Cluster, n *launch.Node) error {
	if err := findGalera(); err != nil {
		return &fault.Error{Setting: "nodes " + strconv.Itoa(len(c.Nodes)), Err: err, Cure: "install galera-4 and rsync"}
	}
	library, err := galeraLibrary()
	if err != nil {
		return err
	}
	var group []string
	for i := range c.Nodes {
		group = append(group, c.Nodes[i].Address(groupPort))
	}
	lines := []string{
		"[mariadbd]",
		"datadir=" + data(n),
		"binlog_format=ROW",
		"default_storage_engine=InnoDB",
		"innodb_autoinc_lock_mode=2",
		"wsrep_on=ON",
		"wsrep_provider=" + library,
		"wsrep_cluster_name=barograph",
		"wsrep_cluster_address=gcomm://" + strings.Join(group, ","),
		"wsrep_node_name=node" + strconv.Itoa(n.Index+1),
		"wsrep_node_address=" + n.Address(groupPort),
		"wsrep_node_incoming_address=" + n.Address(sqlPort),
		"wsrep_sst_method=rsync",
		"wsrep_sst_receive_address=" + n.Address(snapshotPort),
		fmt.Sprintf(`wsrep_provider_options="gmcast.listen_addr=tcp://%s;ist.recv_addr=%s;ist.recv_bind=%s;gcache.size=256M"`,
			n.Address(groupPort), n.Address(catchUpPort), n.Address(catchUpPort)),
	}
	return os.WriteFile(settingsFile(n), []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}

// joined asks a node of a cluster whether it has joined the others.
func (d *database) joined(ctx context.Context, n *launch.Node) error {
	state := map[string]string{}
	err := d.shows(ctx, state, "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_local_state_comment', 'wsrep_cluster_status', 'wsrep_cluster_size', 'wsrep_ready')")
	if err != nil {
		return err
	}
	alone := state["wsrep_cluster_size"] == "1"
	if state["wsrep_local_state_comment"] != "Synced" || state["wsrep_cluster_status"] != "Primary" || state["wsrep_ready"] != "ON" || alone != n.First {
		return fmt.Errorf("node %d is %s in a cluster of %s, %s, ready: %s", n.Index+1, state["wsrep_local_state_comment"],
			state["wsrep_cluster_size"], state["wsrep_cluster_status"], state["wsrep_ready"])
	}
	return nil
}

// order begins with the node that stopped last, which says so, or, where all
// have died, with the one that has got furthest, which is started first.
func order(ctx context.Context, c *launch.Cluster) ([]int, error) {
	all := make([]int, len(c.Nodes))
	best, furthest := -1, int64(-1)
	for i := range c.Nodes {
		all[i] = i
		text, err := os.ReadFile(filepath.Join(data(&c.Nodes[i]), grastate))
		if err != nil {
			return nil, err
		}
		if strings.Contains(string(text), "safe_to_bootstrap: 1") {
			best, furthest = i, math.MaxInt64
		}
	}
	for i := range c.Nodes {
		if furthest == math.MaxInt64 {
			break
		}
		at, err := recovered(ctx, c, &c.Nodes[i])
		if err != nil {
			return nil, err
		}
		if at > furthest {
			best, furthest = i, at
		}
	}
	if best < 0 {
		return nil, errors.New("no node of the cluster knows how far it has got")
	}
	if err := bootstrap(&c.Nodes[best]); err != nil {
		return nil, err
	}
	all[0], all[best] = all[best], all[0]
	return all, nil
}

// grastate, in its data, is where a node of a cluster keeps what it knows of itself.
const grastate = "grastate.dat"

// bootstrap tells a node that it may begin the cluster anew. No link of the
// server's account leads out of its folder.
func bootstrap(n *launch.Node) error {
	dir, err := os.OpenRoot(data(n))
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // only a handle
	text, err := dir.ReadFile(grastate)
	if err != nil {
		return err
	}
	return dir.WriteFile(grastate, bytes.Replace(text, []byte("safe_to_bootstrap: 0"), []byte("safe_to_bootstrap: 1"), 1), 0o600)
}

// recovered asks a node that does not run for the number of the last commit
// that it has; -1 = none.
func recovered(ctx context.Context, c *launch.Cluster, n *launch.Node) (int64, error) {
	found, err := programs()
	if err != nil {
		return 0, err
	}
	args := append(arguments(found[0], c, n), "--wsrep-recover")
	if os.Geteuid() == 0 {
		args = append(args, "--user=mysql")
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = n.Dir, environment(n)
	text, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%s --wsrep-recover: %w\n%s", args[0], err, text)
	}
	_, position, ok := strings.Cut(string(text), "WSREP: Recovered position:")
	position, _, _ = strings.Cut(strings.TrimSpace(position), "\n")
	at := strings.LastIndexByte(position, ':')
	if !ok || at < 0 {
		return -1, nil
	}
	return strconv.ParseInt(strings.TrimSpace(position[at+1:]), 10, 64)
}
