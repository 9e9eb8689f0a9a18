package cassandra

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/query/flavour"
)

// Driver describes the engine.
func Driver() engine.Driver {
	return engine.Driver{
		Scheme:  "cassandra",
		Licence: "Apache-2.0",
		Summary: "Apache Cassandra or ScyllaDB, a server or a cluster: records in partitions by document key, or by series and time",
		Example: "cassandra://localhost:9042/barograph",
		Params: append(engine.TLSParams(), []engine.Param{
			{Name: "consistency", Default: "quorum", Help: "of reads and writes: one, two, quorum, local_quorum or all"},
			{Name: "replication", Default: "1", Help: "copies of each record, set when the keyspace is created"},
			{Name: "hosts", Help: "further initial nodes, separated by commas; the driver finds the others"},
			{Name: "inflight", Default: "64", Help: "queries of one question, or writes of one commit, in flight at once"},
			{Name: "archive", Help: "name of the archive, if a keyspace contains several independent archives"},
			{Name: "conditional", Default: "true", Help: "records under keys: insert, update and delete with lightweight " +
				"transactions; false: read the record first and then write, which is not atomic if several clients write " +
				"one key at once"},
			{Name: "prefix", Default: "7", Help: "records under keys, layout clustered: number of bytes of a key that name " +
				"its partition, set when the table is created"},
		}...),
		Offers: []any{archive.Offer{
			Designs: map[design.Name][]flavour.Name{
				design.Document: {flavour.Keys, flavour.KeysNative},
				design.Wide:     {flavour.EpochList, flavour.EpochRange},
			},
			NoTrim: true,
		}, kv.Offer{
			Layouts: []kv.Layout{kv.Columns, kv.Clustered, kv.Hash},
			NoScan: map[kv.Layout]string{
				kv.Columns: "Cassandra stores partitions in the order of their keys' hashes; layouts clustered and hash have scans",
			},
		}},
		Place:  engine.Remote,
		Server: server(),
		Open:   open,
	}
}

// settings are the parameters of the URL.
type settings struct {
	hosts          []string
	port           int
	user, password string
	keyspace       string
	name           string // name of the archive; "" = the keyspace contains only one
	consistency    gocql.Consistency
	replication    int
	inflight       int
	conditional    bool
	prefix         int
	secure         *tls.Config // nil = connections are not encrypted
}

// plainName matches names that need no quotes.
var plainName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,47}$`)

// parse reads the URL.
func parse(u *url.URL) (settings, error) {
	d := Driver()
	v := d.Values(u)
	s := settings{
		hosts: append([]string{cmp.Or(u.Hostname(), "127.0.0.1")}, v.List("hosts")...),
		user:  u.User.Username(), keyspace: cmp.Or(strings.Trim(u.Path, "/"), "barograph"), name: v.Given["archive"],
		consistency: engine.Choice(v, "consistency", map[string]gocql.Consistency{
			"one": gocql.One, "two": gocql.Two, "quorum": gocql.Quorum, "local_quorum": gocql.LocalQuorum, "all": gocql.All,
		}),
		replication: v.Int("replication", 1, 99), inflight: v.Int("inflight", 1, 4096),
		conditional: v.Bool("conditional"), prefix: v.Int("prefix", 1, 1024),
	}
	s.password, _ = u.User.Password()
	if u.Opaque != "" {
		v.Refuse("host", "is missing", "write it like "+d.Example)
	}
	if !plainName.MatchString(s.keyspace) {
		v.Refuse("keyspace", strconv.Quote(s.keyspace)+" is not a valid name",
			"use at most 48 small letters, digits and '_', beginning with a letter")
	}
	if s.name != "" && !plainName.MatchString(s.name) {
		v.RefuseParam("archive", "use small letters, digits and '_', beginning with a letter")
	}
	var err error
	if s.port, err = strconv.Atoi(cmp.Or(u.Port(), "9042")); err != nil || s.port < 1 || s.port > 65535 {
		v.Refuse("port", u.Port()+" is out of range", "give a number from 1 to 65535")
	}
	if v.Err != nil {
		return s, v.Err
	}
	if s.secure, err = engine.TLS(u); s.secure != nil && len(s.hosts) > 1 && u.Query().Get("tls_name") == "" {
		s.secure.ServerName = "" // each node has a certificate for its own address
	}
	return s, err
}

const (
	connectPatience = 5 * time.Second  // time limit for connecting
	replyPatience   = 30 * time.Second // time limit for a reply
	retries         = 3                // number of retries of idempotent statements
)

// config returns the driver's configuration: queries go to a node with the partition.
func (s *settings) config() *gocql.ClusterConfig {
	c := gocql.NewCluster(s.hosts...)
	c.Port, c.Consistency, c.SerialConsistency = s.port, s.consistency, gocql.Serial
	if s.consistency == gocql.LocalQuorum {
		c.SerialConsistency = gocql.LocalSerial
	}
	c.ConnectTimeout, c.Timeout = connectPatience, replyPatience
	c.ReconnectInterval = time.Second
	c.MaxWaitSchemaAgreement = time.Nanosecond // create waits itself, and not for nodes that are down
	c.DefaultIdempotence = true
	c.RetryPolicy = &gocql.SimpleRetryPolicy{NumRetries: retries}
	nodes := newSilentLast(gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy()))
	c.PoolConfig.HostSelectionPolicy, c.QueryObserver = nodes, nodes
	c.Metadata.CacheMode = gocql.KeyspaceOnly
	if s.user != "" {
		c.Authenticator = gocql.PasswordAuthenticator{Username: s.user, Password: s.password}
	}
	encrypt(c, s.secure)
	return c
}

// encrypt encrypts connections; nil changes nothing.
func encrypt(c *gocql.ClusterConfig, secure *tls.Config) {
	if secure != nil {
		c.SslOpts = &gocql.SslOptions{Config: secure, EnableHostVerification: !secure.InsecureSkipVerify}
	}
}

// store is an open keyspace. Every archive of the engine shares it.
type store struct {
	settings
	session  *gocql.Session
	readOnly bool
	log      *slog.Logger

	bare bool // opened read-only before any load

	mu           sync.Mutex
	servedTables map[string]bool // tables that every node serves
}

func open(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
	set, err := parse(u)
	if err != nil {
		return nil, err
	}
	s := &store{settings: set, readOnly: o.ReadOnly, log: o.Logger(), servedTables: map[string]bool{}}
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	return &engine.Engine{
		Abilities: []any{s, kvTables{s}}, Metrics: s.metrics, About: s.about,
		Close: func() error { s.session.Close(); return nil },
	}, nil
}

// connect opens the keyspace. It creates missing tables in a session without a keyspace. The later session
// in the keyspace then finds every node prepared.
func (s *store) connect(ctx context.Context) (err error) {
	if s.session, err = s.config().CreateSession(); err != nil {
		return unreachable(err)
	}
	err = s.prepare(ctx)
	s.session.Close()
	if err != nil {
		return err
	}
	c := s.config() // sessions cannot share a configuration
	c.Keyspace = s.keyspace
	if s.session, err = c.CreateSession(); err != nil {
		return unreachable(err)
	}
	return nil
}

// unreachable returns the reason why a server is unreachable, with a cure.
func unreachable(err error) error {
	cure := "start the server or check host and port; `barograph lab up cassandra` starts one"
	if strings.Contains(err.Error(), "uthentication") {
		cure = "name user and password in the URL: cassandra://user:password@host:9042/keyspace"
	}
	return engine.UnreachableError("", err, cure)
}

// Open returns the archive of a design.
func (s *store) Open(_ context.Context, d design.Name) (archive.Archive, error) {
	for _, l := range layouts {
		if l.design == d {
			t := &tables{s, l}
			o := docengine.Options{Shown: "cassandra", ReadOnly: s.readOnly, Writers: 1, SeparateRecords: true, Design: d}
			return &openArchive{docengine.New(docs{tables: t}, o), t}, nil
		}
	}
	return nil, fmt.Errorf("cassandra has no design %q: %w", d, engine.ErrNoDesign)
}

// reportedSettings lists the settings that determine speed and durability.
var reportedSettings = []string{ //nolint:gochecknoglobals // a constant list
	"commitlog_sync", "commitlog_sync_period", "memtable_allocation_type", "memtable_heap_space",
	"concurrent_reads", "concurrent_writes", "compaction_throughput", "num_tokens", "trickle_fsync",
}

// about returns the server's version and the durability of a commit.
func (s *store) about(ctx context.Context) (engine.About, error) {
	a := engine.About{Product: "Apache Cassandra", Settings: map[string]string{
		"driver":      "github.com/apache/cassandra-gocql-driver/v2",
		"keyspace":    s.keyspace,
		"consistency": strings.ToLower(s.consistency.String()),
		"inflight":    strconv.Itoa(s.inflight),
	}}
	if err := s.session.Query("SELECT release_version FROM system.local").ScanContext(ctx, &a.Version); err != nil {
		return a, callError(ctx, err)
	}
	var scylla string
	if err := s.session.Query("SELECT version FROM system.versions LIMIT 1").ScanContext(ctx, &scylla); err == nil {
		a.Product, a.Version = "ScyllaDB", scylla
	}
	var peers int
	if err := s.session.Query("SELECT count(*) FROM system.peers").ScanContext(ctx, &peers); err != nil {
		return a, callError(ctx, err)
	}
	a.Settings["nodes"] = strconv.Itoa(peers + 1)
	replication, isLogged := map[string]string{}, true
	const keyspace = "SELECT replication, durable_writes FROM system_schema.keyspaces WHERE keyspace_name = ?"
	if err := s.session.Query(keyspace, s.keyspace).ScanContext(ctx, &replication, &isLogged); err != nil {
		return a, callError(ctx, err)
	}
	a.Settings["durable_writes"] = strconv.FormatBool(isLogged)
	for name, v := range replication {
		a.Settings["replication: "+name] = v
	}
	for _, name := range reportedSettings {
		if v := s.setting(ctx, name); v != "" {
			a.Settings[name] = v
		}
	}
	a.Acknowledged = durability(a.Settings["commitlog_sync"])
	a.Flushed = a.Settings["commitlog_sync"] == "batch" || a.Settings["commitlog_sync"] == "group"
	durable := []engine.Promise{engine.NoLostWrites, engine.NoRevivedRecords}
	if s.consistency == gocql.All || s.consistency == gocql.Quorum || peers == 0 { // a read includes a node that has the write
		a.Promises = engine.Promises()[1:] // not the first: concurrent writes have the order of their clients' clocks
	} else {
		a.Promises, a.StaleReads = durable, true
	}
	if !isLogged { // only the promises about reads remain
		a.Acknowledged = "in the memory of as many nodes as the consistency says: " +
			"the keyspace has durable_writes = false, so no log has it"
		a.Flushed = false
		isDurable := func(p engine.Promise) bool { return slices.Contains(durable, p) }
		a.Promises = slices.DeleteFunc(slices.Clone(a.Promises), isDurable)
	}
	return a, nil
}

// setting returns a setting of the node that answers; "" = not reported.
func (s *store) setting(ctx context.Context, name string) (v string) {
	if err := s.session.Query("SELECT value FROM system_views.settings WHERE name = ?", name).ScanContext(ctx, &v); err != nil {
		return ""
	}
	return v
}

// durability describes when a commit is durable with a value of commitlog_sync. Stored runs contain these texts, and
// reports compare them, so they do not change.
func durability(sync string) string {
	switch sync {
	case "batch", "group":
		return "every commit is on disk, on as many nodes as the consistency says"
	case "periodic":
		return "every commit outlives the process; " +
			"what was written since the log's last sync is lost where the machines of all copies fail"
	}
	return "the server does not tell when its log is synced"
}

// callError is engine.CallError with the driver's errors of lost connections.
func callError(ctx context.Context, err error) error {
	return engine.CallError(ctx, err, gocql.ErrNoConnections, gocql.ErrConnectionClosed, gocql.ErrTimeoutNoResponse)
}
