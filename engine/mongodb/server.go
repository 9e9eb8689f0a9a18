package mongodb

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"net/url"
	"path/filepath"
	"syscall"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/launch"
)

// ferretdb contains a program that serves MongoDB's protocol, as the sources of a module, because no
// registry has MongoDB itself.
//
//go:embed ferretdb/main.go ferretdb/ferretdb.mod ferretdb/ferretdb.sum
var ferretdb embed.FS

// source is the module's folder, with the names that Go expects.
func source() map[string]string {
	return map[string]string{"main.go": "ferretdb/main.go", "go.mod": "ferretdb/ferretdb.mod", "go.sum": "ferretdb/ferretdb.sum"}
}

func artifact() launch.Artifact {
	return launch.Artifact{Name: "ferretdb-1.23.1-tls", Go: func() (map[string][]byte, error) {
		files := map[string][]byte{}
		for name, from := range source() {
			text, err := fs.ReadFile(ferretdb, from)
			if err != nil {
				return nil, err
			}
			files[name] = text
		}
		return files, nil
	}}
}

// server describes to the lab how to start FerretDB. It does not check users. Therefore it accepts only
// clients with a certificate of the lab.
func server() *launch.Server {
	return &launch.Server{
		Artifacts: []launch.Artifact{artifact()},
		Nodes:     []int{1},
		Ports:     []string{"mongodb"},
		TLS:       launch.AlwaysTLS,
		Profiles: []launch.Profile{
			{Name: "default", Summary: "FerretDB over SQLite: MongoDB's protocol, for correctness only; its times are not ranked, " +
				"and whether a commit survives a crash is unknown"},
		},
		Stop:    syscall.SIGTERM,
		Find:    func() error { _, err := program(); return err },
		Prepare: func(*launch.Cluster, *launch.Node) ([]launch.Command, error) { return nil, nil },
		Start:   start,
		Ready:   ready,
		URL:     serverURL,
	}
}

func program() (string, error) {
	dir, err := artifact().Find()
	return filepath.Join(dir, artifact().Program()), err
}

func start(c *launch.Cluster, n *launch.Node) ([]launch.Command, error) {
	path, err := program()
	if err != nil {
		return nil, err
	}
	return []launch.Command{{
		Args: []string{
			path, "-dir", filepath.Join(n.Dir, "data"), "-listen", n.Address("mongodb"),
			"-certificate", n.Certificate(), "-ca", c.CA(),
		},
		// FerretDB decodes every document for every query. With Go's defaults it spent most of its time in garbage
		// collection.
		Env: []string{"GOGC=400", "GOMEMLIMIT=1GiB"},
	}}, nil
}

func ready(ctx context.Context, c *launch.Cluster, _ *launch.Node) error {
	u, err := url.Parse(serverURL(c) + "&serverSelectionTimeoutMS=500")
	if err != nil {
		return err
	}
	e, err := open(ctx, u, engine.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	_, err = e.About(ctx)
	return errors.Join(err, e.Close())
}

func serverURL(c *launch.Cluster) string {
	n := &c.Nodes[0]
	v := url.Values{"tls": {"true"}, "tlsCAFile": {c.CA()}, "tlsCertificateKeyFile": {n.Certificate()}}
	return "mongodb://" + n.Address("mongodb") + "/?" + v.Encode()
}
