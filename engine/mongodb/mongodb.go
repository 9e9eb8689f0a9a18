package mongodb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/flavour"
)

// Driver describes the engine: mongodb://host/database.
func Driver() engine.Driver {
	return engine.Driver{
		Scheme:  "mongodb",
		Licence: "SSPL-1.0 (FerretDB: Apache-2.0)",
		Summary: "MongoDB, a document database, or a server with its protocol",
		Example: "mongodb://127.0.0.1:27017/barograph",
		Params:  append(params(), driverParams()...),
		Offers: []any{archive.Offer{
			Designs: map[design.Name][]flavour.Name{design.Document: offered()},
		}, kv.Offer{Layouts: []kv.Layout{kv.Document}}},
		Place:  engine.Remote,
		Server: server(),
		Untested: "MongoDB itself: replica sets, sharded clusters, TLS, its plans; reason: no registry has it, " +
			"the tests run against FerretDB, " +
			"which has its protocol and whose times are not ranked",
		Open: open,
	}
}

func offered() []flavour.Name {
	return []flavour.Name{flavour.ISOList, flavour.ISORange, flavour.EpochList, flavour.EpochRange, flavour.Keys}
}

// params are Barograph's own parameters.
func params() []engine.Param {
	return []engine.Param{
		{Name: "srv", Default: "false", Help: "find the servers in DNS, as mongodb+srv:// does: true or false"},
		{Name: "shard", Default: "", Help: "shard every collection by _id: hashed or range; a sharded cluster only"},
		{Name: "leads_index", Default: "false", Help: "also index the leads inside the documents (a multikey index), " +
			"and use the index in queries: true or false"},
		{Name: "replace", Default: "", Help: "how an existing document is replaced: bulk (bulk write of replacements), " +
			"or reinsert (remove and insert); reinsert is the default on FerretDB, " +
			"which reads the complete collection for each replacement"},
		{Name: "writers", Default: "4", Help: "number of concurrent write requests"},
		{Name: "lease", Default: "10", Help: "seconds without a heartbeat after which a loader counts as dead; " +
			"the same for all clients of a database"},
	}
}

// driverParams are options of MongoDB's connection strings, which the official driver parses.
func driverParams() []engine.Param {
	return []engine.Param{
		{Name: "w", Default: "majority", Help: "write concern: how many servers must have a write before it counts"},
		{Name: "journal", Default: "true", Help: "write concern: a write counts when it is in the journal"},
		{Name: "wtimeoutMS", Default: "", Help: "write concern: how long to wait for it"},
		{Name: "readConcernLevel", Default: "", Help: "local, available, majority, linearizable or snapshot"},
		{Name: "readPreference", Default: "", Help: "which server queries read: primary, primaryPreferred, secondary, " +
			"secondaryPreferred or nearest; loads, counts and dumps read the primary"},
		{Name: "replicaSet", Default: "", Help: "name of the replica set"},
		{Name: "directConnection", Default: "", Help: "use only the named server"},
		{Name: "authSource", Default: "", Help: "database of the user"},
		{Name: "authMechanism", Default: "", Help: "e.g. SCRAM-SHA-256, MONGODB-X509"},
		{Name: "tls", Default: "", Help: "encrypt the connections: true or false"},
		{Name: "tlsCAFile", Default: "", Help: "certificates to trust, PEM"},
		{Name: "tlsCertificateKeyFile", Default: "", Help: "the client's certificate and key, PEM"},
		{Name: "tlsCertificateKeyFilePassword", Default: "", Help: "its password", Secret: true},
		{Name: "compressors", Default: "", Help: "zstd, snappy or zlib"},
		{Name: "maxPoolSize", Default: "", Help: "connections to a server"},
		{Name: "connectTimeoutMS", Default: "", Help: "how long to wait for a connection"},
		{Name: "serverSelectionTimeoutMS", Default: "5000", Help: "how long to look for a server"},
	}
}

const defaultDatabase = "barograph"

// settings are the parameters of a URL.
type settings struct {
	uri      string // for the driver
	shown    string // the URL without its password
	database string
	shard    string
	leads    bool
	replace  string
	writers  int
	lease    time.Duration
}

func parse(u *url.URL) (settings, error) {
	d := Driver()
	v := d.Values(u)
	s := settings{
		shown: fault.Redact(u.String()), database: cmp.Or(strings.TrimPrefix(u.Path, "/"), defaultDatabase),
		shard: v.Given["shard"], replace: v.Given["replace"], leads: v.Bool("leads_index"), writers: v.Int("writers", 1, 256),
	}
	if !slices.Contains([]string{"", "hashed", "range"}, s.shard) {
		v.RefuseParam("shard", "write shard=hashed or shard=range")
	}
	if !slices.Contains([]string{"", "bulk", "reinsert"}, s.replace) {
		v.RefuseParam("replace", "write replace=bulk or replace=reinsert")
	}
	n, err := strconv.ParseFloat(v.Given["lease"], 64)
	if err != nil || !(n >= 0.5 && n <= 3600) {
		v.RefuseParam("lease", "give seconds, from 0.5 to 3600")
	}
	s.lease = time.Duration(n * float64(time.Second))
	s.uri = connection(u, u.Query(), v.Bool("srv"))
	return s, v.Err
}

// connection returns MongoDB's connection string: the URL without Barograph's parameters, with Barograph's defaults.
func connection(u *url.URL, q url.Values, srv bool) string {
	for _, p := range params() {
		q.Del(p.Name)
	}
	for _, p := range driverParams() {
		if p.Default != "" && !q.Has(p.Name) {
			q.Set(p.Name, p.Default)
		}
	}
	c := url.URL{Scheme: "mongodb", User: u.User, Host: u.Host, Path: "/", RawQuery: q.Encode()}
	if u.Host == "" {
		c.Host = "127.0.0.1:27017"
	}
	if srv {
		c.Scheme = "mongodb+srv"
	}
	return c.String()
}

// database is a database of a server.
type database struct {
	settings
	readOnly bool
	reinsert bool // see the parameter replace
	build    build
	log      *slog.Logger
	client   *mongo.Client
	db       *mongo.Database
}

func open(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
	s, err := parse(u)
	if err != nil {
		return nil, err
	}
	d := &database{settings: s, readOnly: o.ReadOnly, log: o.Logger()}
	set := options.Client().ApplyURI(s.uri).SetAppName("barograph")
	if d.client, err = mongo.Connect(set); err != nil {
		return nil, d.unreachable(err)
	}
	d.db = d.client.Database(s.database)
	if err := d.reach(ctx); err != nil {
		return nil, errors.Join(err, d.client.Disconnect(context.WithoutCancel(ctx)))
	}
	uncanceled := context.WithoutCancel(ctx) // Close also works after ctx has ended
	return &engine.Engine{
		Abilities: []any{d, kvTables{d}}, About: d.about,
		Close: func() error { return d.client.Disconnect(uncanceled) },
	}, nil
}

// reach connects to the server and detects which server it is.
func (d *database) reach(ctx context.Context) error {
	var hello struct {
		Msg string `bson:"msg"`
	}
	if err := d.db.RunCommand(ctx, bson.D{{Key: "hello", Value: 1}}).Decode(&hello); err != nil {
		return d.unreachable(err)
	}
	if d.shard != "" && hello.Msg != "isdbgrid" {
		return &fault.Error{
			Setting: d.shown, Err: engine.ErrUnreachable,
			Problem: "shard=" + d.shard + " needs a sharded cluster; this server is not one",
			Cure:    "name a mongos, or omit shard",
		}
	}
	buildInfo := bson.D{{Key: "buildInfo", Value: 1}}
	if err := d.client.Database("admin").RunCommand(ctx, buildInfo).Decode(&d.build); err != nil {
		return callError(ctx, err)
	}
	d.reinsert = d.replace == "reinsert" || d.replace == "" && d.build.ferret()
	return nil
}

func (d *database) unreachable(err error) error {
	return engine.UnreachableError(d.shown, err,
		"start the server (`barograph lab up mongodb` starts FerretDB), or name another host, port, user or password")
}

// build is the part of the reply to the command buildInfo that identifies the server.
type build struct {
	Version  string   `bson:"version"`
	Modules  []string `bson:"modules"`
	Ferret   string   `bson:"ferretdbVersion"`      // FerretDB 1
	FerretDB bson.Raw `bson:"ferretdb,omitempty"`   // FerretDB 2
	Features bson.Raw `bson:"ferretdbFeatures"`     // FerretDB 1
	GitHash  string   `bson:"gitVersion"`           // commit of MongoDB's source: 40 hexadecimal digits
	Storage  []string `bson:"storageEngines"`       // only mongod
	OpenSSL  bson.Raw `bson:"openssl,omitempty"`    // only MongoDB
	Docs     string   `bson:"documentdb,omitempty"` // servers that identify themselves as imitations
}

func (b *build) ferret() bool { return b.Ferret != "" || b.FerretDB != nil || b.Features != nil }

// name returns which server sent a reply, and why its times are not ranked; "" = they are ranked.
func (b *build) name() (product, version, unranked string) {
	switch {
	case b.ferret():
		second, _ := b.FerretDB.Lookup("version").StringValueOK()
		version = strings.TrimPrefix(cmp.Or(b.Ferret, second, "unknown"), "v")
		return "FerretDB", version + " (has the protocol of MongoDB " + b.Version + ")",
			"FerretDB has MongoDB's protocol, but reads all documents where MongoDB searches an index: " +
				"its times are not MongoDB's"
	case len(b.GitHash) == 40 && b.OpenSSL != nil && b.Docs == "":
		if slices.Contains(b.Modules, "enterprise") {
			return "MongoDB Enterprise", b.Version, ""
		}
		return "MongoDB", b.Version, ""
	}
	return "a server with MongoDB's protocol", b.Version,
		"the server does not identify itself as MongoDB: its times are not MongoDB's"
}

// about returns the server that it really is, and the settings that determine its speed.
func (d *database) about(ctx context.Context) (engine.About, error) {
	a := engine.About{Settings: map[string]string{
		"driver": "go.mongodb.org/mongo-driver/v2", "shard": d.shard, "leads_index": strconv.FormatBool(d.leads),
		"writers": strconv.Itoa(d.writers), "reinsert": strconv.FormatBool(d.reinsert), "lease": d.lease.String(),
	}}
	a.Product, a.Version, a.Unranked = d.build.name()
	u, err := url.Parse(d.uri)
	if err != nil {
		return a, err
	}
	for _, p := range driverParams() {
		if v := u.Query().Get(p.Name); v != "" && !p.Secret {
			a.Settings[p.Name] = v
		}
	}
	var opts struct {
		Parsed bson.Raw `bson:"parsed"`
	}
	// The server's start options are reported only to administrators.
	getOptions := bson.D{{Key: "getCmdLineOpts", Value: 1}}
	err = d.client.Database("admin").RunCommand(ctx, getOptions).Decode(&opts)
	if err == nil && len(opts.Parsed) > 0 {
		a.Settings["server_options"] = opts.Parsed.String()
	}
	return a, callError(ctx, ctx.Err())
}

// Open returns the archive. document is the only design.
func (d *database) Open(_ context.Context, n design.Name) (archive.Archive, error) {
	if n != design.Document {
		return nil, fmt.Errorf("mongodb has no design %q, only %q: %w", n, design.Document, engine.ErrNoDesign)
	}
	o := docengine.Options{
		Design: design.Document, Shown: d.shown, ReadOnly: d.readOnly, Lease: d.lease, Writers: d.writers, Log: d.log,
	}
	return &openArchive{Archive: docengine.New(docengine.NewLocked(&store{d}, o), o), database: d}, nil
}

// callError is engine.CallError. It also recognizes the driver's errors of time-outs and lost connections.
func callError(ctx context.Context, err error) error {
	if end, ok := ctx.Deadline(); ok && ctx.Err() == nil && mongo.IsTimeout(err) && time.Until(end) < earlyTimeout {
		return context.DeadlineExceeded
	}
	err = engine.CallError(ctx, err)
	lost := mongo.IsNetworkError(err) || mongo.IsTimeout(err) // also if no server could be selected
	if lost && ctx.Err() == nil && !errors.Is(err, engine.ErrUnreachable) {
		err = fmt.Errorf("%w: %w", engine.ErrUnreachable, err)
	}
	return err
}

// earlyTimeout is how long before the deadline of a context the driver may cancel a command: it expects
// that the reply would be late by the round trip to the server.
const earlyTimeout = time.Second
