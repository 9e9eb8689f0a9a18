package trino

import (
	"cmp"
	"context"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
)

// Driver describes the engine.
func Driver() engine.Driver {
	return engine.Driver{
		Scheme:  "trino",
		Licence: "Apache-2.0",
		Summary: "Trino, a query engine over Parquet files, on one node or many; only for scan and scan lake",
		Example: "trino://barograph@127.0.0.1:8080/barograph",
		Params: append(engine.TLSParams(), engine.Param{
			Name: "catalog", Default: defaultCatalog,
			Help: "catalog of the Hive connector that reads files at local paths",
		}),
		Offers: []any{tables.Offer{tables.StarOverDisks, tables.ObjectStore}},
		Place:  engine.Remote,
		Server: server(),
		Open:   open,
	}
}

const (
	defaultPort    = "8080"
	defaultCatalog = "hive"
)

// database is a server and the name of a URL.
type database struct {
	client   *client
	catalog  string
	name     string // the schema of its tables is <name>_star
	nodes    int    // active ones when the URL was opened
	readOnly bool
	shown    string // the URL without its password
}

// validName matches the allowed names of a catalog, and of a URL's path.
var validName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

func open(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
	d := &database{
		name: cmp.Or(strings.Trim(u.Path, "/"), "barograph"), catalog: cmp.Or(u.Query().Get("catalog"), defaultCatalog),
		readOnly: o.ReadOnly, shown: fault.Redact(u.String()),
	}
	for setting, name := range map[string]string{"path": d.name, "parameter catalog": d.catalog} {
		if !validName.MatchString(name) {
			return nil, &fault.Error{
				Setting: "trino URL, " + setting, Problem: strconv.Quote(name) + " is not a valid name",
				Cure: "write small letters, digits and _, with a letter first",
			}
		}
	}
	host := net.JoinHostPort(cmp.Or(u.Hostname(), "127.0.0.1"), cmp.Or(u.Port(), defaultPort))
	d.client = newClient(host, u.User)
	if secure, err := engine.TLS(u); err != nil {
		return nil, err
	} else if secure != nil {
		d.client.encrypt(secure)
	}
	n, err := d.client.number(ctx, activeNodes)
	if err != nil {
		d.client.close()
		cure := "start the server (`barograph lab up trino`), or name the host and port of its coordinator"
		return nil, engine.UnreachableError(d.shown, err, cure)
	}
	d.nodes = max(int(n), 1)
	return &engine.Engine{
		Abilities: []any{&tables.Databases{Star: scans{d}, Lake: d.lake}}, About: d.about,
		Close: func() error { d.client.close(); return nil },
	}, nil
}

// activeNodes is the statement that counts the active nodes.
const activeNodes = "SELECT count(*) FROM system.runtime.nodes WHERE state = 'active'"

// about returns the server's version and the settings that determine its speed.
func (d *database) about(ctx context.Context) (engine.About, error) {
	a := engine.About{Product: "Trino", Settings: map[string]string{
		"nodes": strconv.Itoa(d.nodes), "catalog": d.catalog, "driver": "net/http",
	}}
	version := "SELECT node_version FROM system.runtime.nodes WHERE coordinator"
	err := d.client.run(ctx, request{text: version, row: func(row gjson.Result) error {
		a.Version = row.Get("0").String()
		return nil
	}})
	if err != nil {
		return a, err
	}
	err = d.client.run(ctx, request{text: "SHOW SESSION", row: func(row gjson.Result) error {
		switch name := row.Get("0").String(); name {
		case "query_max_memory", "query_max_memory_per_node", "task_concurrency", "join_distribution_type":
			a.Settings[name] = row.Get("1").String()
		}
		return nil
	}})
	return a, err
}
