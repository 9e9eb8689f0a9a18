package asterixdb

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/flavour"
)

// Driver describes the engine.
func Driver() engine.Driver {
	return engine.Driver{
		Scheme:  "asterixdb",
		Licence: "Apache-2.0",
		Summary: "Apache AsterixDB, a document database with SQL++; the engine under Couchbase Analytics",
		Example: "asterixdb://127.0.0.1:19002/barograph",
		Params: append(engine.TLSParams(), []engine.Param{
			{Name: "types", Default: "open", Help: "open: documents of any form, all line types in one dataset; " +
				"closed: every member declared, a dataset per line type"},
			{Name: "indexes", Default: "epoch,iso", Help: "secondary indexes of documents, separated by commas: " +
				"epoch and iso (series and valid time), lead (array index of the leads), none"},
			{Name: "client", Default: "", Help: "address at which the server's nodes reach this client, for loads; " +
				"default: the client's address of the connection to the server"},
		}...),
		Offers: []any{archive.Offer{
			Designs: map[design.Name][]flavour.Name{
				design.Document:   {flavour.ISOList, flavour.ISORange, flavour.EpochList, flavour.EpochRange, flavour.Keys},
				design.Normalized: {flavour.SQL},
			},
			MeanDesigns: []design.Name{design.Normalized, design.Document}, NoTrim: true,
		}, kv.Offer{Layouts: []kv.Layout{kv.Document}}, tables.Offer{tables.StarOverDisks}},
		Place:  engine.Remote,
		Server: server(),
		Open:   open,
	}
}

// defaultPort is the port of the query service.
const defaultPort = "19002"

// database is a server, and the dataverses with a name prefix.
type database struct {
	client        *client
	name          string
	closed        bool
	indexes       []string
	clientAddress string // address of this client for the server; "" = detect it
	host          string // host and port of the query service
	readOnly      bool
	log           *slog.Logger
	displayURL    string // the URL without its password
}

// plainName matches the allowed names of a dataverse, which are also names of folders, and of a field in a path.
var plainName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

func open(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
	d := &database{
		name: cmp.Or(strings.Trim(u.Path, "/"), "barograph"), readOnly: o.ReadOnly,
		log: o.Logger(), displayURL: fault.Redact(u.String()),
	}
	if err := d.options(u); err != nil {
		return nil, err
	}
	secure, err := engine.TLS(u)
	if err != nil {
		return nil, err
	}
	d.client = newClient(d.host, secure)
	if _, err := d.client.run(ctx, request{text: "SELECT VALUE 1"}); err != nil {
		d.client.close()
		return nil, engine.UnreachableError(d.displayURL, err,
			"start the server (`barograph lab up asterixdb`), or name the host and port of its query service")
	}
	return &engine.Engine{
		Abilities: []any{d, kvTables{d}, &tables.Databases{Star: scans{d}}}, About: d.about,
		Close: func() error { d.client.close(); return nil },
	}, nil
}

// options reads the URL.
func (d *database) options(u *url.URL) error {
	driver := Driver()
	v := driver.Values(u)
	d.host = net.JoinHostPort(cmp.Or(u.Hostname(), "127.0.0.1"), cmp.Or(u.Port(), defaultPort))
	if !plainName.MatchString(d.name) {
		v.Refuse("path", strconv.Quote(d.name)+" is not understood", "use letters, digits and _")
	}
	d.closed = engine.Choice(v, "types", map[string]bool{"open": false, "closed": true})
	for _, name := range v.List("indexes") {
		if !slices.Contains([]string{"epoch", "iso", "lead", "none"}, name) {
			v.RefuseParam("indexes", "write a comma-separated list of epoch, iso and lead, or none")
		}
		if name != "none" {
			d.indexes = append(d.indexes, name)
		}
	}
	d.clientAddress = v.Given["client"]
	return v.Err
}

// about returns the server's version and the settings that determine its speed.
func (d *database) about(ctx context.Context) (engine.About, error) {
	a := engine.About{
		Product:      "Apache AsterixDB",
		Acknowledged: "on disk: in the log of the node that keeps the record, flushed, commits of one moment together",
		// The server locks a record until it has flushed the log with the record's commit. No setting disables that.
		Promises: engine.Promises(), Flushed: true,
		Settings: map[string]string{"types": "open", "indexes": strings.Join(d.indexes, ","), "driver": "net/http"},
	}
	if d.closed {
		a.Settings["types"] = "closed"
	}
	version, err := d.client.get(ctx, "/admin/version")
	if err != nil {
		return a, err
	}
	a.Version = gjson.GetBytes(version, `git\.build\.version`).String()
	cluster, err := d.client.get(ctx, "/admin/cluster")
	if err != nil {
		return a, err
	}
	gjson.GetBytes(cluster, "config").ForEach(func(name, value gjson.Result) bool {
		if n := name.String(); strings.HasPrefix(n, "compiler.") || strings.HasPrefix(n, "storage.") {
			a.Settings[n] = value.String()
		}
		return true
	})
	nodes, partitions := 0, 0
	gjson.GetBytes(cluster, "ncs").ForEach(func(_, nc gjson.Result) bool {
		nodes++
		partitions += len(nc.Get("partitions").Array())
		return true
	})
	a.Settings["nodes"], a.Settings["partitions"] = strconv.Itoa(nodes), strconv.Itoa(partitions)
	return a, nil
}

// newToken returns a unique name.
func newToken() string {
	var b [10]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
