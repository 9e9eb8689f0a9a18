package couchbase

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/barograph/barograph/engine/launch"
)

func artifact() launch.Artifact {
	return launch.Artifact{
		Name: "couchbasemock-1.5.27", Maven: "com.couchbase.mock:CouchbaseMock:1.5.27",
		SHA256: "69aad2c1b3e538120bc89425682f27facfb219094645906a63c411b2c46a8b9c",
	}
}

// server describes to the lab how to start CouchbaseMock, a double of the key-value service for tests. No
// registry has Couchbase Server.
func server() *launch.Server {
	return &launch.Server{
		Artifacts:  []launch.Artifact{artifact()},
		Nodes:      []int{1},
		Ports:      []string{"rest"},
		NoPassword: true,
		Profiles: []launch.Profile{
			{Name: "default", Summary: "CouchbaseMock, for tests only: it has no N1QL, and its times are not ranked; it keeps data in memory only"},
		},
		Stop:    syscall.SIGTERM,
		Find:    func() error { _, err := program(); return err },
		Prepare: func(*launch.Cluster, *launch.Node) ([]launch.Command, error) { return nil, nil },
		Start:   start,
		Ready: func(ctx context.Context, c *launch.Cluster, _ *launch.Node) error {
			_, err := dataServer(ctx, c, mockBucket)
			return err
		},
		URL: serverURL,
	}
}

func program() (string, error) {
	dir, err := artifact().Find("java")
	return filepath.Join(dir, "CouchbaseMock-1.5.27.jar"), err
}

func start(_ *launch.Cluster, n *launch.Node) ([]launch.Command, error) {
	jar, err := program()
	if err != nil {
		return nil, err
	}
	return []launch.Command{{Args: []string{
		"java", "-Xmx512m", "-jar", jar, "-h", n.Host, "-p", strconv.Itoa(n.Ports["rest"]),
		"-b", mockBucket + ":", "-n", "1", "-R", "0", "-v", "16", "--cccp",
	}}}, nil
}

// mockBucket is the bucket of the mock. Its user has the same name and no password.
const mockBucket = "mdata"

// dataServer reads the address of a bucket's data service from the mock's REST port: each bucket has its own.
func dataServer(ctx context.Context, c *launch.Cluster, bucket string) (string, error) {
	n := &c.Nodes[0]
	url := fmt.Sprintf("http://%s:%d/pools/default/b/%s", n.Host, n.Ports["rest"], bucket)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", err
	}
	r.SetBasicAuth("Administrator", "password")
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer reply.Body.Close() //nolint:errcheck // it is only read
	var known struct {
		Map struct {
			Servers []string `json:"serverList"`
		} `json:"vBucketServerMap"`
	}
	if err := json.NewDecoder(reply.Body).Decode(&known); err != nil {
		return "", err
	}
	if len(known.Map.Servers) == 0 {
		return "", fmt.Errorf("bucket %s has no server yet", bucket)
	}
	return strings.Replace(known.Map.Servers[0], "$HOST", n.Host, 1), nil
}

// serverURL asks the mock for its data port, which the mock chooses at its start. Before that, no client can reach
// the returned URL. Clients of the URL create no indexes, because there is no query service.
func serverURL(c *launch.Cluster) string {
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
	defer stop()
	host, err := dataServer(ctx, c, mockBucket)
	if err != nil {
		host = fmt.Sprintf("%s:%d", c.Nodes[0].Host, c.Nodes[0].Ports["rest"])
	}
	return "couchbase://" + mockBucket + "@" + host + "/" + mockBucket + "?indexes=false"
}
