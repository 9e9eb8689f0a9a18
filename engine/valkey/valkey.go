package valkey

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/flavour"
)

// Driver describes the engine.
func Driver() engine.Driver {
	return engine.Driver{
		Scheme:  "valkey",
		Licence: "BSD-3-Clause",
		Summary: "Valkey or Redis, a server or a cluster: payloads in memory under derived keys",
		Example: "valkey://localhost:6379",
		Params: append(engine.TLSParams(), []engine.Param{
			{Name: "batch", Default: "256", Help: "ids per MGET, or per pipeline in a cluster"},
			{Name: "inflight", Default: "4", Help: "batches of one query in flight at once"},
			{Name: "db", Default: "0", Help: "number of the database; a cluster has one"},
			{Name: "seeds", Help: "further nodes of a cluster from which to learn its slots: host:port, separated by commas"},
			{Name: "pipeline", Default: "0", Help: "records under keys: number of connections that the reads and writes of all workers share, " +
				"with many in flight on each; 0 = one connection for each worker"},
			{Name: "prefix", Default: "7", Help: "records under keys, layout clustered: number of bytes of a key that name its partition, " +
				"set when the table is created"},
		}...),
		Offers: []any{archive.Offer{
			Designs: map[design.Name][]flavour.Name{design.KeyValue: {flavour.KeysNative}},
		}, kv.Offer{Layouts: []kv.Layout{kv.Columns, kv.Clustered}}},
		Place:  engine.Remote,
		Server: server(),
		Open:   open,
	}
}

// settings are the parameters of the URL.
type settings struct {
	nodes           []string // host:port; the first is the URL's host
	user, password  string
	namespace       string
	db              int
	batch, inflight int
	pipeline        int         // number of connections that workers on records share; 0 = each has its own
	prefixBytes     int         // for a clustered table of records
	secure          *tls.Config // nil = connections are not encrypted
}

func parse(u *url.URL) (settings, error) {
	d := Driver()
	v := d.Values(u)
	s := settings{
		namespace: strings.Trim(u.Path, "/"), user: u.User.Username(),
		batch: v.Int("batch", 1, 100_000), inflight: v.Int("inflight", 1, 1000), db: v.Int("db", 0, 1<<20),
		pipeline: v.Int("pipeline", 0, 1024), prefixBytes: v.Int("prefix", 1, 1024),
	}
	s.password, _ = u.User.Password()
	if u.Opaque != "" {
		v.Refuse("host", "is missing", "write it like "+d.Example)
	}
	for _, c := range s.namespace {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.", c) {
			problem := strconv.Quote(s.namespace) + " contains a character that is not allowed"
			v.Refuse("namespace", problem, "use letters, digits, '_', '-' and '.'")
		}
	}
	host := net.JoinHostPort(cmp.Or(u.Hostname(), "localhost"), cmp.Or(u.Port(), "6379"))
	s.nodes = append([]string{host}, v.List("seeds")...)
	if len(s.nodes) > 1 && s.db != 0 { // the driver would use database 0
		v.Refuse("db", "is given for a cluster, which has only one database", "leave it out, or leave out seeds")
	}
	if v.Err != nil {
		return s, v.Err
	}
	var err error
	if s.secure, err = engine.TLS(u); s.secure != nil && len(s.nodes) > 1 && u.Query().Get("tls_name") == "" {
		s.secure.ServerName = "" // each node has a certificate for its own address
	}
	return s, err
}

const (
	connectTimeout = 5 * time.Second
	replyTimeout   = 60 * time.Second // a server that writes its log may be slow
)

// options returns the driver's options. A command ends at the deadline of its context. Cancellation does not end a
// command that waits for a reply; replyTimeout limits this wait.
func (s *settings) options() *redis.UniversalOptions {
	o := &redis.UniversalOptions{
		Addrs: s.nodes, Username: s.user, Password: s.password, DB: s.db,
		DialTimeout: connectTimeout, ReadTimeout: replyTimeout, WriteTimeout: replyTimeout, ContextTimeoutEnabled: true,
		ClientName: "barograph", DisableIdentity: true,
	}
	o.TLSConfig = s.secure
	return o
}

// store is an open server or cluster. Every archive of the engine shares it.
type store struct {
	settings
	client   redis.UniversalClient
	cluster  *redis.ClusterClient // nil = one server
	readOnly bool
	log      *slog.Logger

	completing *kv.Stripes // by subset: locked by the goroutine of this process that moves payloads into place
}

func open(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
	set, err := parse(u)
	if err != nil {
		return nil, err
	}
	s := &store{settings: set, readOnly: o.ReadOnly, log: o.Logger(), completing: kv.NewStripes()}
	redis.SetLogger(libraryLog{s.log})
	if err := s.connect(ctx); fault.Code(err) == fault.Usage {
		return nil, err
	} else if err != nil {
		return nil, unreachable(err)
	}
	return &engine.Engine{Abilities: []any{s, kvTables{s}}, Metrics: s.metrics, About: s.about, Close: s.client.Close}, nil
}

// libraryLog passes the library's messages about its connections to the log. The library has only one logger:
// that of the store that was opened last. The calls return the errors themselves.
type libraryLog struct{ log *slog.Logger }

// Printf is called by the library.
func (l libraryLog) Printf(ctx context.Context, format string, args ...any) {
	l.log.DebugContext(ctx, fmt.Sprintf(format, args...))
}

// connect checks whether the server is a node of a cluster.
func (s *store) connect(ctx context.Context) error {
	one := redis.NewClient(s.options().Simple())
	info, err := one.Info(ctx, "cluster").Result()
	if err == nil && fields(info)["cluster_enabled"] != "1" {
		if len(s.nodes) > 1 {
			return errors.Join(fault.Misuse("seeds", "names nodes of a cluster, but "+s.nodes[0]+" is a single server", "omit it"), one.Close())
		}
		s.client = one
		return nil
	}
	if closeErr := one.Close(); err == nil {
		err = closeErr
	}
	if err != nil && len(s.nodes) == 1 {
		return err
	}
	s.cluster = redis.NewClusterClient(s.options().Cluster())
	s.client = s.cluster
	if err := s.cluster.Ping(ctx).Err(); err != nil {
		return errors.Join(err, s.cluster.Close())
	}
	return nil
}

// unreachable returns the reason why a server is unreachable, with a cure.
func unreachable(err error) error {
	cure := "start the server or check host and port; `barograph lab up valkey` starts one"
	if text := err.Error(); strings.Contains(text, "NOAUTH") || strings.Contains(text, "WRONGPASS") {
		cure = "name user and password in the URL: valkey://user:password@host:6379"
	}
	return engine.UnreachableError("", err, cure)
}

// Open returns the archive. keyvalue is the only design.
func (s *store) Open(_ context.Context, d design.Name) (archive.Archive, error) {
	if d != design.KeyValue {
		return nil, fmt.Errorf("valkey has no design %q, only %q: %w", d, design.KeyValue, engine.ErrNoDesign)
	}
	o := docengine.Options{Design: design.KeyValue, Shown: "valkey", ReadOnly: s.readOnly, Writers: s.inflight}
	return &openArchive{docengine.New(docs{store: s}, o), s}, nil
}

// about returns the server's version and the durability of a commit.
func (s *store) about(ctx context.Context) (engine.About, error) {
	a := engine.About{Settings: map[string]string{
		"driver": "github.com/redis/go-redis/v9", "batch": strconv.Itoa(s.batch), "inflight": strconv.Itoa(s.inflight),
		"pipeline": strconv.Itoa(s.pipeline), "nodes": "1",
	}}
	text, err := s.client.Info(ctx).Result()
	if err != nil {
		return a, callError(ctx, err)
	}
	info := fields(text)
	a.Product, a.Version = "Redis", info["redis_version"]
	if v := info["valkey_version"]; v != "" {
		a.Product, a.Version = "Valkey", v
	}
	masters, err := s.masters(ctx)
	if err != nil {
		return a, callError(ctx, err)
	}
	if s.cluster != nil {
		a.Settings["nodes"] = fmt.Sprintf("cluster of %d", len(masters))
	}
	for _, name := range []string{"maxmemory", "maxmemory_policy", "io_threads_active"} {
		if v := info[name]; v != "" {
			a.Settings[name] = v
		}
	}
	level, err := s.durability(ctx, masters, a.Settings)
	if err != nil {
		return a, callError(ctx, err)
	}
	a.Acknowledged, a.Flushed = level.String(), level == synced
	if level > snapshots {
		a.Promises = engine.Promises() // each key has one node, which writes its log before it answers
	}
	return a, nil
}

// durability is what a server guarantees about a commit, from the weakest to the strongest guarantee.
type durability int

const (
	volatile   durability = iota // no persistence
	unreported                   // no log; the server does not report whether it takes snapshots
	snapshots                    // occasional snapshots
	logged                       // a log; the server does not report its settings
	buffered                     // a log that the system writes to the disk
	eachSecond                   // a log that is synced each second
	synced                       // a log that is synced before each reply
)

// String describes the guarantee.
func (d durability) String() string {
	return [...]string{
		"none: all is lost with the process",
		"no log is kept; the server does not report whether it takes snapshots",
		"snapshots: what came after the last one is lost with the process",
		"a log is kept; the server does not report when it is synced",
		"every commit outlives the process; what the system has not written is lost with the machine",
		"every commit outlives the process; the last second is lost with the machine",
		"every commit is on disk",
	}[d]
}

// durability returns the guarantee of the weakest node, and stores the settings that determine it in into.
func (s *store) durability(ctx context.Context, nodes []*redis.Client, into map[string]string) (durability, error) {
	weakest := durability(-1)
	for _, node := range nodes {
		text, err := node.Info(ctx, "persistence").Result()
		if err != nil {
			return volatile, err
		}
		settings := map[string]string{}
		for _, name := range []string{"appendonly", "appendfsync", "save"} {
			if v, err := node.ConfigGet(ctx, name).Result(); err == nil { // a server may refuse to report its settings
				settings[name] = v[name]
			}
		}
		saves, savesReported := settings["save"]
		d := logged
		switch {
		case fields(text)["aof_enabled"] != "1" && !savesReported:
			d = unreported
		case fields(text)["aof_enabled"] != "1" && saves == "":
			d = volatile
		case fields(text)["aof_enabled"] != "1":
			d = snapshots
		case settings["appendfsync"] == always:
			d = synced
		case settings["appendfsync"] == "everysec":
			d = eachSecond
		case settings["appendfsync"] == "no":
			d = buffered
		}
		if weakest < 0 || d < weakest {
			weakest = d
			maps.Copy(into, settings)
		}
	}
	return max(weakest, volatile), nil
}

const always = "always" // appendfsync

// fields reads the lines of INFO.
func fields(info string) map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(info) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			m[name] = value
		}
	}
	return m
}

// masters returns the clients of all nodes with slots, or of the single server.
func (s *store) masters(ctx context.Context) ([]*redis.Client, error) {
	if s.cluster == nil {
		c, ok := s.client.(*redis.Client)
		if !ok {
			return nil, errors.New("valkey: the client has an unknown type")
		}
		return []*redis.Client{c}, nil
	}
	var mu sync.Mutex
	var all []*redis.Client
	err := s.cluster.ForEachMaster(ctx, func(_ context.Context, c *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, c)
		return nil
	})
	return all, err
}

// callError is engine.CallError.
func callError(ctx context.Context, err error) error { return engine.CallError(ctx, err) }
