package couchbase

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/couchbase/gocbcore/v10"
	"github.com/couchbase/gocbcore/v10/memd"
	"github.com/zeebo/xxh3"
	"golang.org/x/sync/semaphore"

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
		Scheme:  "couchbase",
		Licence: "BSL-1.1, binaries under Couchbase’s own",
		Summary: "Couchbase, a document database: key-value service and N1QL",
		Example: "couchbase://user@127.0.0.1/mdata",
		Params:  params(),
		Offers: []any{archive.Offer{
			Designs: map[design.Name][]flavour.Name{design.Document: {
				flavour.ISOList, flavour.ISORange, flavour.EpochList, flavour.EpochRange, flavour.Keys, flavour.KeysNative,
			}},
		}, kv.Offer{
			Layouts: []kv.Layout{kv.Document},
			NoScan: map[kv.Layout]string{
				kv.Document: "the key-value service has no order of keys; N1QL has one, but no test can run it",
			},
		}},
		Place:  engine.Remote,
		Server: server(),
		Untested: "all N1QL (iso-list, iso-range, epoch-list, epoch-range, keys, index statements), TLS, scopes and " +
			"durable writes; " +
			"reason: no registry has Couchbase Server (7.1 or later is needed); " +
			"the key-value part runs against CouchbaseMock, the statements are compared with golden files",
		Open: open,
	}
}

func params() []engine.Param {
	return []engine.Param{
		{Name: "scope", Default: "_default", Help: "scope of the collection"},
		{Name: "collection", Default: "_default", Help: "collection of the documents; it must exist"},
		{Name: "tls", Default: "false", Help: "encrypt the connections (couchbases://): true or false"},
		{Name: "ca", Default: "", Help: "file of certificates to trust, PEM"},
		{Name: "cert", Default: "", Help: "file of the client's certificate, PEM; with key, instead of user and password"},
		{Name: "key", Default: "", Help: "file of the client's key, PEM"},
		{Name: "durability", Default: "none", Help: "when a write counts: none, majority, majorityAndPersistActive or persistToMajority"},
		{Name: "indexes", Default: "true", Help: "create the secondary indexes that N1QL needs, when a subset is loaded: true or false"},
		{Name: "consistency", Default: "once", Help: "of N1QL: once waits for the indexes at the first use of a statement and after a load, " +
			"and repetitions do not include the indexer's time; request_plus always waits; not_bounded never waits"},
		{Name: "retry", Default: "best-effort", Help: "how the SDK repeats a failed operation: " +
			"best-effort (until the time-out) or fail-fast (not at all)"},
		{Name: "kv_timeout", Default: "10s", Help: "time limit of a key-value operation; " +
			"of n operations that are sent together: n times as long"},
		{Name: "query_timeout", Default: "75s", Help: "time limit of a N1QL statement, including its rows"},
		{Name: "connect_timeout", Default: "10s", Help: "time limit for reaching the cluster"},
		{Name: "in_flight", Default: "1024", Help: "key-value operations in flight, at most 2000, the limit of the SDK's queue"},
		{Name: "writers", Default: "4", Help: "number of concurrent write requests"},
		{Name: "lease", Default: "10s", Help: "time without a heartbeat after which a loader counts as dead; " +
			"the same for all clients of a bucket"},
	}
}

// settings are the parameters of a URL.
type settings struct {
	shown, connection, bucket, scope, collection string
	auth                                         gocbcore.AuthProvider
	roots                                        func() *x509.CertPool // nil = the system's and those of Couchbase's service
	retry                                        gocbcore.RetryStrategy
	durability                                   memd.DurabilityLevel
	consistency                                  consistency
	kvTimeout, queryTimeout                      time.Duration
	indexes                                      bool
	inFlight, writers                            int
	lease, connect                               time.Duration
	values                                       map[string]string // given or default values
}

// leastTimeout is the least value of every time limit.
const leastTimeout = 100 * time.Millisecond

func parse(u *url.URL) (*settings, error) {
	driver := Driver()
	v := driver.Values(u)
	s := &settings{shown: fault.Redact(u.String()), bucket: strings.Trim(u.Path, "/"), values: v.Given}
	if s.bucket == "" || u.Host == "" {
		return nil, &fault.Error{
			Setting: s.shown, Problem: "names no bucket or no server", Err: engine.ErrUnreachable,
			Cure: "write couchbase://user@host/bucket",
		}
	}
	s.scope, s.collection = s.values["scope"], s.values["collection"]
	s.durability = engine.Choice(v, "durability", map[string]memd.DurabilityLevel{
		"none": 0, "majority": memd.DurabilityLevelMajority,
		"majorityAndPersistActive": memd.DurabilityLevelMajorityAndPersistOnMaster,
		"persistToMajority":        memd.DurabilityLevelPersistToMajority,
	})
	s.consistency = engine.Choice(v, "consistency", map[string]consistency{
		"once": once, "request_plus": requestPlus, "not_bounded": notBounded,
	})
	s.retry = engine.Choice(v, "retry", map[string]gocbcore.RetryStrategy{
		"best-effort": gocbcore.NewBestEffortRetryStrategy(nil), "fail-fast": failFast{},
	})
	s.indexes = v.Bool("indexes")
	s.inFlight, s.writers = v.Int("in_flight", 1, 2000), v.Int("writers", 1, 256)
	s.lease, s.connect = v.Duration("lease", leastTimeout), v.Duration("connect_timeout", leastTimeout)
	s.kvTimeout, s.queryTimeout = v.Duration("kv_timeout", leastTimeout), v.Duration("query_timeout", leastTimeout)
	s.connection = "couchbase://" + u.Host
	if v.Bool("tls") {
		s.connection = "couchbases://" + u.Host
	}
	if v.Err != nil {
		return nil, v.Err
	}
	return s, s.authenticate(u)
}

// authenticate sets how the client identifies itself, by a certificate or by user and password, and which
// certificates it trusts.
func (s *settings) authenticate(u *url.URL) error {
	password, _ := u.User.Password()
	s.auth = gocbcore.PasswordAuthProvider{Username: u.User.Username(), Password: password}
	if file := s.values["ca"]; file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return &fault.Error{Setting: "couchbase URL, parameter ca", Err: err, Cure: "name a readable file"}
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(text) {
			return &fault.Error{File: file, Problem: "contains no certificate", Cure: "name a PEM file"}
		}
		s.roots = func() *x509.CertPool { return pool }
	}
	if cert := s.values["cert"]; cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, s.values["key"])
		if err != nil {
			return &fault.Error{
				Setting: "couchbase URL, parameters cert and key", Err: err,
				Cure: "name two PEM files that belong together",
			}
		}
		s.auth = certificateAuth{&pair}
	}
	return nil
}

// database is a collection of a bucket.
type database struct {
	*settings
	readOnly   bool
	log        *slog.Logger
	docs       *client
	operations *semaphore.Weighted // limits the operations in flight

	versionMu sync.Mutex
	known     queryVersion

	mu       sync.Mutex
	answered map[xxh3.Uint128]bool // statements that have waited for the indexes since the last write
}

func open(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
	s, err := parse(u)
	if err != nil {
		return nil, err
	}
	d := &database{settings: s, readOnly: o.ReadOnly, log: o.Logger()}
	d.operations = semaphore.NewWeighted(int64(s.inFlight))
	if d.docs, err = s.dial(ctx); err != nil {
		return nil, d.unreachable(err)
	}
	return &engine.Engine{Abilities: []any{d, kvTables{d}}, About: d.about, Close: d.docs.Close}, nil
}

func (d *database) unreachable(err error) error {
	return engine.UnreachableError(d.shown, err,
		"name a cluster that runs, a bucket that exists, and its user and password; see docs/reference/engines/couchbase.md")
}

// about returns the server's version, as far as its query service reports it.
func (d *database) about(ctx context.Context) (engine.About, error) {
	a := engine.About{
		Product: "a server with Couchbase's key-value protocol and without N1QL", Version: "unknown",
		Settings: map[string]string{"driver": "github.com/couchbase/gocbcore/v10"},
		Unranked: "the server has no N1QL and may be CouchbaseMock, a double for tests: its times are not Couchbase's",
	}
	for name, v := range d.values {
		if v != "" {
			a.Settings[name] = v
		}
	}
	if version, err := d.version(ctx); err == nil {
		a.Product, a.Version, a.Unranked = "Couchbase Server", version, ""
	}
	return a, ctx.Err()
}

// oldestVersion is the first version of Couchbase with CREATE INDEX … IF NOT EXISTS.
const oldestVersion = "7.1"

// tooOld returns the error of an older server, whose version begins with two numbers; nil for a version
// that cannot be parsed.
func tooOld(shown, version string) error {
	var major, minor int
	numbers, _ := fmt.Sscanf(version, "%d.%d", &major, &minor)
	if numbers < 2 || major > 7 || major == 7 && minor >= 1 {
		return nil
	}
	return &fault.Error{
		Setting: shown, Problem: "is Couchbase " + version + ", whose N1QL cannot create an index safely",
		Cure: "use " + oldestVersion + " or later, or indexes=false with your own indexes",
	}
}

// queryVersion is the version of the query service; final means that nobody needs to ask again.
type queryVersion struct {
	text     string
	err      error
	final    bool
	received time.Time
}

// version returns the version of the query service. The error wraps gocbcore.ErrServiceNotAvailable if the cluster
// has no such service. All users of the database who wait for a reply share it, so no caller's context cancels the
// request.
func (d *database) version(ctx context.Context) (string, error) {
	called := time.Now()
	d.versionMu.Lock()
	defer d.versionMu.Unlock()
	if !d.known.final && !d.known.received.After(called) {
		d.known = d.askVersion(context.WithoutCancel(ctx))
	}
	return d.known.text, d.known.err
}

func (d *database) askVersion(ctx context.Context) (v queryVersion) {
	ask := statement{timeout: 5 * time.Second, readOnly: true, retry: failFast{}}
	read := func(row []byte) error { return json.Unmarshal(row, &v.text) }
	_, v.err = d.docs.query(ctx, "SELECT RAW ds_version()", ask, read)
	v.final = v.err == nil || errors.Is(v.err, gocbcore.ErrServiceNotAvailable)
	v.received = time.Now()
	return v
}

// Open returns the archive. document is the only design.
func (d *database) Open(_ context.Context, n design.Name) (archive.Archive, error) {
	if n != design.Document {
		return nil, fmt.Errorf("couchbase has no design %q, only %q: %w", n, design.Document, engine.ErrNoDesign)
	}
	o := docengine.Options{
		Design: design.Document, Shown: d.shown, ReadOnly: d.readOnly, Log: d.log,
		Lease: d.lease, Writers: d.writers, List: true,
	}
	s := &store{database: d}
	l := docengine.NewLocked(s, o)
	return &openArchive{docengine.New(l, o), s, l}, nil
}
