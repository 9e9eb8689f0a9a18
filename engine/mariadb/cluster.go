package mariadb

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
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
	"github.com/barograph/barograph/internal/lists"
)

// connectTimeout is how long the client waits for a connection to a node of a cluster before it
// tries the next node.
const connectTimeout = 5 * time.Second

// addresses returns the servers that a URL names: one, or the nodes of a cluster, separated by
// commas.
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

// nodes connects to the servers of a URL: to the first one that serves, or, to spread queries,
// to each in turn.
type nodes struct {
	connectors []driver.Connector
	spread     bool
	connects   atomic.Uint64 // number of calls of Connect
}

// newNodes returns nodes with a connector for a copy of every configuration, without the settings that the server
// lacks. change, if not nil, changes the copy.
func (d *database) newNodes(all []*mysql.Config, spread bool, change func(*mysql.Config)) (*nodes, error) {
	n := &nodes{spread: spread}
	for _, cfg := range all {
		if cfg = cfg.Clone(); change != nil {
			change(cfg)
		}
		maps.DeleteFunc(cfg.Params, d.lacks)
		c, err := mysql.NewConnector(cfg)
		if err != nil {
			return nil, d.unreachable(err)
		}
		n.connectors = append(n.connectors, c)
	}
	return n, nil
}

// Driver returns the driver of all nodes.
func (n *nodes) Driver() driver.Driver { return n.connectors[0].Driver() }

// Connect connects to a node that serves.
func (n *nodes) Connect(ctx context.Context) (driver.Conn, error) {
	if len(n.connectors) == 1 {
		return n.connectors[0].Connect(ctx)
	}
	first := 0
	if n.spread {
		first = int(n.connects.Add(1) % uint64(len(n.connectors)))
	}
	var all []error
	for i := range n.connectors {
		c, err := n.connectors[(first+i)%len(n.connectors)].Connect(ctx)
		if err == nil {
			if err = checkReady(ctx, c); err == nil {
				return c, nil
			}
			_ = c.Close() // it has sent nothing
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		all = append(all, err)
	}
	return nil, errors.Join(all...)
}

// checkReady checks that a node of a cluster accepts statements. A node that has lost the others, or
// is still joining them, accepts only connections.
func checkReady(ctx context.Context, c driver.Conn) error {
	q, ok := c.(driver.QueryerContext)
	if !ok {
		return driver.ErrSkip
	}
	rows, err := q.QueryContext(ctx, "SHOW STATUS LIKE 'wsrep_ready'", nil)
	if err != nil {
		return err
	}
	cells := make([]driver.Value, 2)
	state := "not known to this server"
	if err := sqlengine.ForEachDriverRow(rows, cells, func() error { state = fmt.Sprintf("%s", cells[1]); return nil }); err != nil {
		return err
	}
	if state != "ON" {
		return fmt.Errorf("%w: wsrep_ready is %s", engine.ErrUnreachable, state)
	}
	return nil
}

// errCommitConflict means that another loader has committed on another node after this loader read the
// catalog.
var errCommitConflict = errors.New("another loader has written meanwhile")

// These errors mean that another node has committed first.
const (
	errDeadlock    = 1213 // Galera rejected this commit at its end
	errDuplicate   = 1062 // the other commit used the same number, or a key exists already
	errInterrupted = 1317 // a change of a table, sent by another node, interrupted this statement
)

// isCommitConflict reports whether a commit failed only because of another commit. The loader may then
// repeat it.
func isCommitConflict(err error) bool {
	return errors.Is(err, errCommitConflict) || is(err, errDeadlock, errDuplicate, errInterrupted)
}

// A loader tries a commit up to maxCommitRetries times. The longest possible pause between two attempts
// grows by commitRetryPause each time.
const (
	maxCommitRetries = 50
	commitRetryPause = 20 * time.Millisecond
)

// These are the ports of a node of a cluster besides the SQL port.
const (
	groupPort    = "group"    // for messages between the nodes
	catchUpPort  = "catch-up" // for incremental state transfer (IST)
	snapshotPort = "snapshot" // for a complete state transfer (SST)
)

// galeraLibrary finds Galera where the packages of Debian, Ubuntu and others install it.
func galeraLibrary() (string, error) {
	for _, dir := range []string{"/usr/lib/galera", "/usr/lib64/galera-4", "/usr/lib64/galera"} {
		name := filepath.Join(dir, "libgalera_smm.so")
		if _, err := os.Stat(name); err == nil {
			return name, nil
		}
	}
	return "", errors.New("libgalera_smm.so is not installed")
}

// findGalera looks for everything that a cluster needs.
func findGalera() error {
	if _, err := programs(); err != nil {
		return err
	}
	if _, err := galeraLibrary(); err != nil {
		return err
	}
	for _, name := range []string{"rsync", "wsrep_sst_rsync"} {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("%s is not installed", name)
		}
	}
	return nil
}

// settingsFile returns the settings file of a node of a cluster; the scripts that copy the data read it.
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
	group := lists.Map(c.Nodes, func(n launch.Node) string { return n.Address(groupPort) })
	lines := []string{
		"[mariadbd]", "datadir=" + data(n),
		"binlog_format=ROW", "default_storage_engine=InnoDB", "innodb_autoinc_lock_mode=2",
		"wsrep_on=ON", "wsrep_provider=" + library, "wsrep_cluster_name=barograph",
		"wsrep_cluster_address=gcomm://" + strings.Join(group, ","),
		"wsrep_node_name=node" + strconv.Itoa(n.Index+1),
		"wsrep_node_address=" + n.Address(groupPort), "wsrep_node_incoming_address=" + n.Address(sqlPort),
		"wsrep_sst_method=rsync", "wsrep_sst_receive_address=" + n.Address(snapshotPort),
		fmt.Sprintf(`wsrep_provider_options="gmcast.listen_addr=tcp://%s;ist.recv_addr=%s;ist.recv_bind=%s;gcache.size=256M"`,
			n.Address(groupPort), n.Address(catchUpPort), n.Address(catchUpPort)),
	}
	return os.WriteFile(settingsFile(n), []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}

// checkJoined checks that a node of a cluster has joined the others.
func (d *database) checkJoined(ctx context.Context, n *launch.Node) error {
	state := map[string]string{}
	err := d.readSettings(ctx, state, "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_local_state_comment', "+
		"'wsrep_cluster_status', 'wsrep_cluster_size', 'wsrep_ready')")
	if err != nil {
		return err
	}
	single := state["wsrep_cluster_size"] == "1" // only the node that starts first is alone
	if state["wsrep_local_state_comment"] != "Synced" || state["wsrep_cluster_status"] != "Primary" ||
		state["wsrep_ready"] != "ON" || single != n.First {
		return fmt.Errorf("node %d is %s in a cluster of %s, %s, ready: %s", n.Index+1, state["wsrep_local_state_comment"],
			state["wsrep_cluster_size"], state["wsrep_cluster_status"], state["wsrep_ready"])
	}
	return nil
}

// order returns the order of starting the nodes. The first is the node that stopped last; its grastate
// file says so. If all nodes crashed, the first is the node with the latest commit.
func order(ctx context.Context, c *launch.Cluster) ([]int, error) {
	all := make([]int, len(c.Nodes))
	best, latest := -1, int64(-1)
	for i := range c.Nodes {
		all[i] = i
		text, err := os.ReadFile(filepath.Join(data(&c.Nodes[i]), grastate))
		if err != nil {
			return nil, err
		}
		if strings.Contains(string(text), "safe_to_bootstrap: 1") {
			best, latest = i, math.MaxInt64
		}
	}
	for i := range c.Nodes {
		if latest == math.MaxInt64 {
			break
		}
		commit, err := lastCommit(ctx, c, &c.Nodes[i])
		if err != nil {
			return nil, err
		}
		if commit > latest {
			best, latest = i, commit
		}
	}
	if best < 0 {
		return nil, errors.New("no node of the cluster has recorded its last commit")
	}
	if err := bootstrap(&c.Nodes[best]); err != nil {
		return nil, err
	}
	all[0], all[best] = all[best], all[0]
	return all, nil
}

// grastate is the file in a node's data folder that contains the node's own state.
const grastate = "grastate.dat"

// bootstrap allows a node to start the cluster again. A link that the server's account made
// cannot lead out of the node's folder.
func bootstrap(n *launch.Node) error {
	dir, err := os.OpenRoot(data(n))
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // it is only a handle
	text, err := dir.ReadFile(grastate)
	if err != nil {
		return err
	}
	return dir.WriteFile(grastate, bytes.Replace(text, []byte("safe_to_bootstrap: 0"), []byte("safe_to_bootstrap: 1"), 1), 0o600)
}

// lastCommit reads the number of the last commit of a stopped node; -1 = none.
func lastCommit(ctx context.Context, c *launch.Cluster, n *launch.Node) (int64, error) {
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
	colon := strings.LastIndexByte(position, ':')
	if !ok || colon < 0 {
		return -1, nil
	}
	return strconv.ParseInt(strings.TrimSpace(position[colon+1:]), 10, 64)
}
