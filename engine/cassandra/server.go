package cassandra

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/launch"
)

// program is the server from the Maven repository, because Debian's own archive does not have its package.
//
//nolint:gochecknoglobals // a constant
var program = launch.Artifact{
	Name:   "cassandra-5.0.9",
	Maven:  "org.apache.cassandra:cassandra-all:5.0.9",
	SHA256: "1a9f2968d1b7c3e85249cb365983ec626aff3d07186da41cd211174ffe3a6328",
	Jars:   true,
}

// server describes to the lab how to start Cassandra.
func server() *launch.Server {
	return &launch.Server{
		Artifacts:   []launch.Artifact{program},
		Nodes:       []int{1, 2, 3},
		SharedPorts: []string{"storage", "cql"},
		TLS:         launch.OffersTLS,
		Profiles: []launch.Profile{
			{Name: "default", Summary: "as packaged: the log is synced every 10 s: a commit survives a crash of the process, NOT of the machine"},
			{Name: "tuned", Summary: "the log is synced before every reply: a commit survives a crash of the machine; memtables outside the heap", Settings: tuned},
		},
		Stop:             syscall.SIGTERM,
		RedirectsClients: true,
		Find:             func() error { _, err := program.Find("java"); return err },
		Prepare:          prepare,
		Start:            start,
		Ready:            ready,
		Form:             form,
		URL:              address,
	}
}

// tuned are settings of cassandra.yaml.
func tuned(int64) map[string]string {
	return map[string]string{
		"commitlog_sync":                   "batch",
		"memtable_allocation_type":         "offheap_objects",
		"trickle_fsync":                    "true",
		"compaction_throughput":            "0MiB/s",
		"stream_entire_sstables":           "true",
		"sstable_preemptive_open_interval": "50MiB",
	}
}

// logback limits Cassandra's log to warnings and errors.
const logback = `<configuration>
  <appender name="STDOUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%-5level %date{ISO8601} %F:%L - %msg%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="STDOUT"/></root>
</configuration>
`

// prepare writes cassandra.yaml. Every node is a seed: none waits for the others or copies data that do not exist yet.
func prepare(c *launch.Cluster, n *launch.Node) ([]launch.Command, error) {
	var seeds []string
	for i := range c.Nodes {
		seeds = append(seeds, fmt.Sprintf("%s:%d", c.Nodes[i].Host, n.Ports["storage"]))
	}
	var b strings.Builder
	b.WriteString(`cluster_name: barograph
num_tokens: 16
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
endpoint_snitch: SimpleSnitch
auto_bootstrap: false
auto_snapshot: false
authenticator: PasswordAuthenticator
authorizer: CassandraAuthorizer
role_manager: CassandraRoleManager
`)
	fmt.Fprintf(&b, "listen_address: %s\nrpc_address: %s\n", n.Host, n.Host)
	fmt.Fprintf(&b, "storage_port: %d\nnative_transport_port: %d\n", n.Ports["storage"], n.Ports["cql"])
	fmt.Fprintf(&b, "seed_provider: [{class_name: org.apache.cassandra.locator.SimpleSeedProvider, "+
		"parameters: [{seeds: %q}]}]\n", strings.Join(seeds, ","))
	if c.TLS {
		fmt.Fprintf(&b, "client_encryption_options: {enabled: true, optional: false, keystore: %q, "+
			"ssl_context_factory: {class_name: org.apache.cassandra.security.PEMBasedSslContextFactory}}\n", n.Certificate())
	}
	settings := map[string]string{"commitlog_sync": "periodic", "commitlog_sync_period": "10s"}
	if c.Settings["commitlog_sync"] == "batch" {
		delete(settings, "commitlog_sync_period")
	}
	maps.Copy(settings, c.Settings)
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&b, "%s: %s\n", name, settings[name])
	}
	return nil, errors.Join(
		os.WriteFile(filepath.Join(n.Dir, "cassandra.yaml"), []byte(b.String()), 0o644),
		os.WriteFile(filepath.Join(n.Dir, "logback.xml"), []byte(logback), 0o644))
}

// openPackages lists, by module, the packages of the JDK that Cassandra accesses by reflection.
var openPackages = map[string]string{ //nolint:gochecknoglobals // a constant table
	"java.base": "java.io java.lang java.lang.module java.lang.ref java.lang.reflect java.nio java.util " +
		"java.util.concurrent java.util.concurrent.atomic jdk.internal.loader jdk.internal.math jdk.internal.misc " +
		"jdk.internal.module jdk.internal.ref jdk.internal.reflect jdk.internal.util.jar sun.nio.ch",
	"jdk.management":      "com.sun.management.internal",
	"java.management.rmi": "com.sun.jmx.remote.internal.rmi",
	"java.rmi":            "sun.rmi.registry sun.rmi.server sun.rmi.transport.tcp",
}

const mebi = 1 << 20

// heap returns the heap in MiB by the rule of the packaged cassandra-env.sh.
func heap(memory int64) int64 {
	return max(min(memory/2, 1024*mebi), min(memory/4, 8192*mebi)) / mebi
}

// smallHeap is the heap, in MiB, of a node with less than a gigabyte and a half.
const smallHeap = 768

func start(c *launch.Cluster, n *launch.Node) ([]launch.Command, error) {
	lib, err := program.Dir()
	if err != nil {
		return nil, err
	}
	agents, err := filepath.Glob(filepath.Join(lib, "jamm-*.jar"))
	if err != nil || len(agents) == 0 {
		return nil, fmt.Errorf("no jamm-*.jar in %s: %w", lib, errors.Join(err, os.ErrNotExist))
	}
	args := []string{
		"java", fmt.Sprintf("-Xms%dm", heap(c.Memory)), fmt.Sprintf("-Xmx%dm", heap(c.Memory)),
		"-XX:+ExitOnOutOfMemoryError", "-Djdk.attach.allowAttachSelf=true", "-javaagent:" + agents[0],
	}
	if heap(c.Memory) <= smallHeap {
		args = append(args, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1") // a small node is for trials: it starts in half the time
	} else {
		args = append(args, "-XX:+UseG1GC")
	}
	for _, module := range slices.Sorted(maps.Keys(openPackages)) {
		for pkg := range strings.FieldsSeq(openPackages[module]) {
			args = append(args, "--add-opens="+module+"/"+pkg+"=ALL-UNNAMED")
		}
	}
	args = append(args, "-cp", filepath.Join(lib, "*"),
		"-Dlogback.configurationFile="+filepath.Join(n.Dir, "logback.xml"),
		"-Dcassandra.config=file://"+filepath.Join(n.Dir, "cassandra.yaml"),
		"-Dcassandra.storagedir="+n.Dir, "-Dcassandra.logdir="+filepath.Join(n.Dir, "logs"), "-Dcassandra-foreground=yes",
		"-Dcassandra.superuser_setup_delay_ms=1000",     // instead of 10 s
		"-Dcassandra.auth_bcrypt_gensalt_log2_rounds=4", // a password of 26 random digits needs no slow hash
		"-Dcassandra.skip_wait_for_gossip_to_settle=0", "-Dcassandra.ring_delay_ms=1000", "-Dcassandra.consistent.rangemovement=false",
		"org.apache.cassandra.service.CassandraDaemon")
	return []launch.Command{{Args: args}}, nil
}

// administrator is the lab's account. The account cassandra/cassandra, with which a server starts, is
// removed when the cluster is formed.
const administrator = "barograph"

// withSession calls f with a session of only one node.
func withSession(c *launch.Cluster, n *launch.Node, user, password string, f func(s *gocql.Session) error) error {
	cfg := gocql.NewCluster(n.Host)
	secure, err := engine.ClusterTLS(c)
	if err != nil {
		return err
	}
	encrypt(cfg, secure)
	cfg.Port, cfg.NumConns = n.Ports["cql"], 1
	cfg.ConnectTimeout, cfg.Timeout = 2*time.Second, 5*time.Second
	cfg.DisableInitialHostLookup = true
	cfg.HostFilter = gocql.WhiteListHostFilter(n.Host)
	cfg.Consistency = gocql.One
	cfg.Metadata.CacheMode = gocql.Disabled
	cfg.ReconnectionPolicy = &gocql.ConstantReconnectionPolicy{MaxRetries: 1}
	cfg.Authenticator = gocql.PasswordAuthenticator{Username: user, Password: password}
	s, err := cfg.CreateSession()
	if err != nil {
		return err
	}
	defer s.Close()
	return f(s)
}

func ready(ctx context.Context, c *launch.Cluster, n *launch.Node) error {
	version := func(s *gocql.Session) error {
		var version string
		return s.Query("SELECT release_version FROM system.local").ScanContext(ctx, &version)
	}
	if err := withSession(c, n, administrator, c.Password, version); err == nil {
		return nil
	}
	return withSession(c, n, "cassandra", "cassandra", version)
}

// form waits until every node knows all others. It then creates the cluster's account with a copy on every
// node, so every node can authenticate clients while the others are down.
func form(ctx context.Context, c *launch.Cluster) error {
	ctx, stop := context.WithTimeout(ctx, 3*time.Minute)
	defer stop()
	for i := range c.Nodes {
		err := engine.Await(ctx, 200*time.Millisecond, func() error {
			peers := 0
			err := withSession(c, &c.Nodes[i], "cassandra", "cassandra", func(s *gocql.Session) error {
				return s.Query("SELECT count(*) FROM system.peers").ScanContext(ctx, &peers)
			})
			if err == nil && peers < len(c.Nodes)-1 {
				err = fmt.Errorf("node %d knows %d others", i+1, peers)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	n := &c.Nodes[0]
	// Cassandra reads the account's rights at QUORUM. While the nodes agree about the new copies, or are slow, it finds
	// none, and refuses the statement. So each statement is repeated, and may have had its effect before.
	run := func(user, password, statement string) error {
		execute := func(s *gocql.Session) error { return s.Query(statement).ExecContext(ctx) }
		return engine.Await(ctx, 200*time.Millisecond, func() error { return withSession(c, n, user, password, execute) })
	}
	copies := fmt.Sprintf("ALTER KEYSPACE system_auth WITH replication = "+
		"{'class': 'SimpleStrategy', 'replication_factor': %d}", len(c.Nodes))
	if err := run("cassandra", "cassandra", copies); err != nil {
		return err
	}
	create := "CREATE ROLE IF NOT EXISTS " + administrator +
		" WITH SUPERUSER = true AND LOGIN = true AND PASSWORD = '" + c.Password + "'"
	if err := run("cassandra", "cassandra", create); err != nil {
		return err
	}
	return run(administrator, c.Password, "DROP ROLE IF EXISTS cassandra")
}

// address returns the URL of a cluster. Its keyspace has a copy on every node.
func address(c *launch.Cluster) string {
	n := &c.Nodes[0]
	parameters := []string{"replication=" + strconv.Itoa(len(c.Nodes))}
	var hosts []string
	for i := range c.Nodes[1:] {
		hosts = append(hosts, c.Nodes[i+1].Host)
	}
	if len(hosts) > 0 {
		parameters = append(parameters, "hosts="+strings.Join(hosts, ","))
	}
	return "cassandra://" + administrator + ":" + c.Password + "@" + n.Address("cql") + "/barograph" +
		c.Parameters(parameters...)
}

// counters are the virtual tables of a node with counters, and the rows to report, in the order of the totals. A local
// read or write is one of a node's own copy, so a statement counts once for each copy. Conditional statements write to
// system.paxos: those writes are their price.
var counters = []struct { //nolint:gochecknoglobals // a constant table
	name, text string   // name of the total, and the query of a name and a count
	rows       []string // rows that show the cost of a run; nil = all, added up
}{
	{"cql", "SELECT name, value FROM system_views.cql_metrics", []string{"prepared_statements_executed", "regular_statements_executed"}},
	{"completed_tasks", "SELECT name, completed_tasks FROM system_views.thread_pools", []string{
		"Native-Transport-Requests", "ReadStage", "MutationStage", "RequestResponseStage", "MemtableFlushWriter", "CompactionExecutor",
	}},
	{"blocked_tasks", "SELECT name, blocked_tasks_all_time FROM system_views.thread_pools", []string{"Native-Transport-Requests"}},
	{"cache requests", "SELECT name, request_count FROM system_views.caches", []string{"keys"}},
	{"cache hits", "SELECT name, hit_count FROM system_views.caches", []string{"keys"}},
	{"local_reads", "SELECT keyspace_name, count FROM system_views.local_read_latency", nil},
	{"local_writes", "SELECT keyspace_name, count FROM system_views.local_write_latency", nil},
	{"local_writes of system.paxos", "SELECT keyspace_name, count FROM system_views.local_write_latency " +
		"WHERE keyspace_name = 'system' AND table_name = 'paxos'", nil},
}

// perNodeTasks are the completed tasks that metrics also reports for each node of a cluster. They show whether all
// nodes answer a scan.
var perNodeTasks = []string{"Native-Transport-Requests", "ReadStage"} //nolint:gochecknoglobals // a constant

// metrics adds up the counters of the running nodes. ScyllaDB has none of them. metrics does not report waiting
// requests, because Cassandra has no sessions that could wait.
func (s *store) metrics(ctx context.Context) (m engine.Metrics, err error) {
	nodes := s.up()
	for _, c := range counters {
		sums := map[string]float64{}
		reported := false
		for _, node := range nodes {
			ofNode := map[string]float64{}
			err := s.addCounts(ctx, node, c.text, ofNode)
			if absent(err) {
				break
			}
			if err != nil {
				return m, callError(ctx, err)
			}
			reported = true
			for name, v := range ofNode {
				sums[name] += v
			}
			for _, row := range perNodeTasks {
				if v, ok := ofNode[row]; ok && c.name == "completed_tasks" && len(nodes) > 1 {
					name := c.name + ": " + row + " at " + node.HostnameAndPort()
					m.Totals = append(m.Totals, engine.Total{Name: name, Value: v})
				}
			}
		}
		if !reported {
			continue
		}
		if c.rows == nil {
			sum := 0.0
			for _, v := range sums {
				sum += v
			}
			m.Totals = append(m.Totals, engine.Total{Name: c.name, Value: sum})
		}
		for _, row := range c.rows {
			m.Totals = append(m.Totals, engine.Total{Name: c.name + ": " + row, Value: sums[row]})
		}
	}
	return m, nil
}

// addCounts queries names and counts of one node, and adds the counts to those in to.
func (s *store) addCounts(ctx context.Context, node *gocql.HostInfo, text string, to map[string]float64) error {
	rows := s.session.Query(text).SetHostID(node.HostID()).Consistency(gocql.One).IterContext(ctx)
	for row := map[string]any{}; rows.MapScan(row); row = map[string]any{} {
		name, value := "", 0.0
		for _, v := range row {
			switch v := v.(type) {
			case string:
				name = v
			case int64:
				value = float64(v)
			case int:
				value = float64(v)
			case float64:
				value = v
			}
		}
		to[name] += value
	}
	return rows.Close()
}
