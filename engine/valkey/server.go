package valkey

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/launch"
)

// server describes to the lab how to start Valkey or, if that is not installed, Redis.
func server() *launch.Server {
	return &launch.Server{
		Packages: []string{"redis-server"},
		Nodes:    []int{1, 2, 3},
		Ports:    []string{"client", "bus"},
		TLS:      launch.OffersTLS,
		Profiles: []launch.Profile{
			{Name: "default", Summary: "as packaged: occasional snapshots; a crash of the process loses the commits since the last one"},
			{Name: "tuned", Summary: "a log that is synced before every reply: a commit survives a crash of the machine", Settings: tuned},
			{Name: "memory", Summary: "no persistence: everything is lost with the process", Settings: memory},
		},
		Stop:             syscall.SIGTERM,
		RedirectsClients: true,
		Find:             func() error { _, err := program(); return err },
		Prepare:          prepare,
		Start:            start,
		Ready:            ready,
		Form:             form,
		URL:              address,
	}
}

func tuned(bytes int64) map[string]string {
	return map[string]string{
		"appendonly": "yes", "appendfsync": always, "save": "",
		"maxmemory": strconv.FormatInt(bytes/4*3, 10), "maxmemory-policy": "noeviction",
	}
}

func memory(bytes int64) map[string]string {
	return map[string]string{
		"appendonly": "no", "save": "",
		"maxmemory": strconv.FormatInt(bytes/4*3, 10), "maxmemory-policy": "noeviction",
	}
}

// program returns the installed server, preferably Valkey.
func program() (string, error) {
	for _, name := range []string{"valkey-server", "redis-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("neither valkey-server nor redis-server is on the path")
}

func config(n *launch.Node) string { return filepath.Join(n.Dir, "valkey.conf") }

// prepare writes the password, which arguments must not contain.
func prepare(c *launch.Cluster, n *launch.Node) ([]launch.Command, error) {
	return nil, os.WriteFile(config(n), []byte("requirepass "+c.Password+"\nmasterauth "+c.Password+"\n"), 0o600)
}

func start(c *launch.Cluster, n *launch.Node) ([]launch.Command, error) {
	path, err := program()
	if err != nil {
		return nil, err
	}
	args := []string{path, config(n), "--bind", n.Host, "--dir", n.Dir, "--daemonize", "no"}
	if c.TLS {
		args = append(args, "--port", "0", "--tls-port", strconv.Itoa(n.Ports["client"]),
			"--tls-cluster", "yes", "--tls-auth-clients", "optional",
			"--tls-ca-cert-file", c.CA(), "--tls-cert-file", n.Certificate(), "--tls-key-file", n.Certificate())
	} else {
		args = append(args, "--port", strconv.Itoa(n.Ports["client"]))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Settings)) {
		args = append(args, "--"+name, c.Settings[name])
	}
	if len(c.Nodes) > 1 {
		args = append(args, "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf",
			"--cluster-port", strconv.Itoa(n.Ports["bus"]),
			"--cluster-announce-ip", n.Host, // otherwise the others would connect to the address of its connections
			"--cluster-node-timeout", "5000")
	}
	return []launch.Command{{Args: args}}, nil
}

func host(n *launch.Node) string { return n.Address("client") }

// reach calls ask with a client of one node.
func reach(c *launch.Cluster, n *launch.Node, ask func(c *redis.Client) error) error {
	secure, err := engine.ClusterTLS(c)
	if err != nil {
		return err
	}
	client := redis.NewClient(&redis.Options{
		Addr: host(n), Password: c.Password, TLSConfig: secure,
		ContextTimeoutEnabled: true, MaxRetries: -1, DisableIdentity: true,
	})
	return errors.Join(ask(client), client.Close())
}

// ready checks that a node has read its data and answers. It does not check the cluster, because a cluster also
// depends on the other nodes, which may be down.
func ready(ctx context.Context, c *launch.Cluster, n *launch.Node) error {
	return reach(c, n, func(c *redis.Client) error {
		text, err := c.Info(ctx, "persistence").Result()
		if err != nil {
			return err
		}
		if info := fields(text); info["loading"] != "0" {
			return errors.New("is reading its data")
		}
		return c.Ping(ctx).Err()
	})
}

// slots is the number of slots of every cluster.
const slots = 16384

// form gives each node its share of the slots, introduces the nodes to one another and waits until each
// reports that all slots are served. `redis-cli --cluster create` does the same, without replicas.
func form(ctx context.Context, c *launch.Cluster) error {
	if len(c.Nodes) == 1 {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, replyTimeout)
	defer stop()
	for i := range c.Nodes {
		first, last := slots*i/len(c.Nodes), slots*(i+1)/len(c.Nodes)-1
		err := reach(c, &c.Nodes[i], func(r *redis.Client) error {
			if err := r.ClusterAddSlotsRange(ctx, first, last).Err(); err != nil {
				return err
			}
			if err := r.Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err(); err != nil {
				return err
			}
			if i == 0 {
				return nil
			}
			to := &c.Nodes[0]
			return r.Do(ctx, "CLUSTER", "MEET", to.Host, to.Ports["client"], to.Ports["bus"]).Err()
		})
		if err != nil {
			return fmt.Errorf("node %d: %w", i+1, err)
		}
	}
	for i := range c.Nodes {
		if err := engine.Await(ctx, 20*time.Millisecond, func() error { return checkJoined(ctx, c, &c.Nodes[i]) }); err != nil {
			return err
		}
	}
	return nil
}

// checkJoined checks that a node knows all nodes and all slots.
func checkJoined(ctx context.Context, c *launch.Cluster, n *launch.Node) error {
	nodes := len(c.Nodes)
	return reach(c, n, func(c *redis.Client) error {
		text, err := c.ClusterInfo(ctx).Result()
		if err != nil {
			return err
		}
		info := fields(text)
		if info["cluster_state"] != "ok" || info["cluster_known_nodes"] != strconv.Itoa(nodes) {
			state, known := info["cluster_state"], info["cluster_known_nodes"]
			return fmt.Errorf("node at %s: cluster_state %s, %s nodes", host(n), state, known)
		}
		return nil
	})
}

func address(c *launch.Cluster) string {
	var seeds []string
	for i := range c.Nodes[1:] {
		seeds = append(seeds, host(&c.Nodes[i+1]))
	}
	var own []string
	if len(seeds) > 0 {
		own = append(own, "seeds="+strings.Join(seeds, ","))
	}
	return "valkey://:" + c.Password + "@" + host(&c.Nodes[0]) + c.Parameters(own...)
}

// infoTotals are the counts of INFO that show the cost of a run, their units, and factors for their values.
// One thread of the server does all work; its CPU time is a separate count.
var infoTotals = []struct { //nolint:gochecknoglobals // a constant table
	name, unit string
	factor     float64
}{
	{"total_commands_processed", "", 1},
	{"total_reads_processed", "", 1},
	{"total_writes_processed", "", 1},
	{"total_net_input_bytes", "bytes", 1},
	{"total_net_output_bytes", "bytes", 1},
	{"total_error_replies", "", 1},
	{"keyspace_hits", "", 1},
	{"keyspace_misses", "", 1},
	{"evicted_keys", "", 1},
	{"total_forks", "", 1},
	{"aof_delayed_fsync", "", 1},
	{"used_cpu_user", "ms", 1000},
	{"used_cpu_sys", "ms", 1000},
	{"used_cpu_user_main_thread", "ms", 1000},
	{"used_cpu_sys_main_thread", "ms", 1000},
}

// nodeTotals are the totals that are also reported for each node of a cluster. They show whether all nodes answer a
// scan.
var nodeTotals = []string{"total_commands_processed", "total_reads_processed"} //nolint:gochecknoglobals // a constant

// metrics adds up the counts of the nodes with slots. It reports no waiting sessions, because clients wait only for
// the server's thread.
func (s *store) metrics(ctx context.Context) (m engine.Metrics, err error) {
	nodes, err := s.masters(ctx)
	if err != nil {
		return m, callError(ctx, err)
	}
	sums, reported := map[string]float64{}, map[string]bool{}
	for _, node := range nodes {
		text, err := node.Info(ctx).Result()
		if err != nil {
			return m, callError(ctx, err)
		}
		info := fields(text)
		for _, t := range infoTotals {
			if v, err := strconv.ParseFloat(info[t.name], 64); err == nil {
				sums[t.name] += v * t.factor
				reported[t.name] = true
				if len(nodes) > 1 && slices.Contains(nodeTotals, t.name) {
					m.Totals = append(m.Totals, engine.Total{Name: t.name + " at " + node.Options().Addr, Value: v})
				}
			}
		}
	}
	slices.SortFunc(m.Totals, func(a, b engine.Total) int { return strings.Compare(a.Name, b.Name) })
	for _, t := range infoTotals {
		if reported[t.name] {
			m.Totals = append(m.Totals, engine.Total{Name: t.name, Unit: t.unit, Value: sums[t.name]})
		}
	}
	return m, nil
}
