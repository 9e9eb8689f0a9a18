package lab

import (
	"context"
	"embed"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/internal/fault"
)

// StoreName is how users name the object store that the lab starts.
const StoreName = "s3"

// Names in the lab's store. Each store has one bucket.
const (
	StoreRegion = "us-east-1"
	StoreBucket = "lake"
	storeKey    = "barograph"
)

// gateway contains a module whose tool is the store's program, with the checksums of all modules
// that it needs.
//
//go:embed s3/s3.mod s3/s3.sum
var gateway embed.FS

// gatewayArtifact returns the store's program, which Go builds.
func gatewayArtifact() launch.Artifact {
	module := func() (map[string][]byte, error) {
		mod, err := gateway.ReadFile("s3/s3.mod")
		if err != nil {
			return nil, err
		}
		sum, err := gateway.ReadFile("s3/s3.sum")
		return map[string][]byte{"go.mod": mod, "go.sum": sum}, err
	}
	return launch.Artifact{Name: "versitygw-1.8.0", Package: "github.com/versity/versitygw/cmd/versitygw", Go: module}
}

// StoreDriver returns the driver of the object store that the lab starts: versitygw, which speaks S3, over a folder of
// the lab. The store is not an engine, so the registry does not list it. Its URL is s3://KEY:SECRET@HOST:PORT/BUCKET.
func StoreDriver() engine.Driver {
	program := func() (string, error) {
		dir, err := gatewayArtifact().Find()
		return filepath.Join(dir, gatewayArtifact().Program()), err
	}
	folder := func(n *launch.Node) string { return filepath.Join(n.Dir, "data") }
	server := &launch.Server{
		Artifacts: []launch.Artifact{gatewayArtifact()},
		Nodes:     []int{1},
		Ports:     []string{StoreName},
		Profiles: []launch.Profile{
			{Name: "default", Summary: "versitygw, which stores objects as files in the lab's folder; whether they survive a crash of the machine is unknown"},
		},
		Stop: syscall.SIGTERM,
		Find: func() error { _, err := program(); return err },
		Prepare: func(_ *launch.Cluster, n *launch.Node) ([]launch.Command, error) {
			for _, dir := range []string{filepath.Join(folder(n), StoreBucket), filepath.Join(n.Dir, "sidecar")} {
				if err := os.MkdirAll(dir, 0o700); err != nil {
					return nil, err
				}
			}
			return nil, nil
		},
		Start: func(c *launch.Cluster, n *launch.Node) ([]launch.Command, error) {
			path, err := program()
			return []launch.Command{{
				// The sidecar is a folder for the metadata of objects, because not all file systems have extended attributes.
				Args: []string{
					path, "--quiet", "--keep-alive", "--region", StoreRegion, "--port", n.Address(StoreName),
					"posix", "--sidecar", filepath.Join(n.Dir, "sidecar"), folder(n),
				},
				Env: []string{"ROOT_ACCESS_KEY=" + storeKey, "ROOT_SECRET_KEY=" + c.Password},
			}}, err
		},
		Ready: storeReady,
		URL: func(c *launch.Cluster) string {
			return "s3://" + storeKey + ":" + c.Password + "@" + c.Nodes[0].Address(StoreName) + "/" + StoreBucket
		},
	}
	return engine.Driver{
		Scheme: StoreName, Licence: "Apache-2.0", Summary: "versitygw, an object store that speaks S3",
		Example: "s3://key:secret@127.0.0.1:7070/" + StoreBucket, Place: engine.Remote, Server: server,
	}
}

// storeReady requests the keys of the bucket without a signature. A store that is ready refuses this with an error of
// S3.
func storeReady(ctx context.Context, _ *launch.Cluster, n *launch.Node) error {
	keys := "http://" + n.Address(StoreName) + "/" + StoreBucket + "?list-type=2"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, keys, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // read only
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	refused := resp.StatusCode == http.StatusForbidden && strings.Contains(string(text), "<Code>AccessDenied</Code>")
	if err == nil && !refused {
		err = fmt.Errorf("the store replies %s to a request without signature: %s", resp.Status, text)
	}
	return err
}

// StoreAt returns the store that a URL names.
func StoreAt(raw string) (launch.Store, error) {
	u, err := fault.ParseURL(raw)
	if err != nil {
		return launch.Store{}, err
	}
	secret, _ := u.User.Password()
	return launch.Store{
		Endpoint: u.Host, Region: StoreRegion, Bucket: strings.Trim(u.Path, "/"), Key: u.User.Username(), Secret: secret,
	}, nil
}
