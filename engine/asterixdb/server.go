package asterixdb

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tidwall/gjson"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/internal/fault"
)

// heap is the setting for the size of the Java heap. All other settings are the server's.
const heap = "-Xmx"

// server describes to the lab how to start AsterixDB. The first node runs the cluster controller and a node
// controller, the others a node controller.
func server() *launch.Server {
	return &launch.Server{
		Artifacts:  []launch.Artifact{artifact()},
		Nodes:      []int{1, 3},
		Ports:      []string{"api", "nc", "cluster", "client", "web", "query", "console", "active"},
		NoPassword: true,
		Profiles: []launch.Profile{
			{Name: "default", Summary: "as packaged: a Java heap of a quarter of the memory; " +
				"a quarter of the heap is cache, a quarter write buffers; a commit survives a crash of the machine"},
			{Name: "tuned", Summary: "a Java heap of half the memory, most of it cache; more memory for sorts and joins; " +
				"a commit survives a crash of the machine", Settings: tuned},
		},
		Note: "AsterixDB's HTTP ports listen on every network interface of this machine, independent of the configured address, " +
			"and require no password: everybody who reaches them can read and change everything in it, and run code as its user. " +
			"Use --isolate, or a firewall",
		SpreadsTables: true,
		Stop:          syscall.SIGTERM,
		Find:          func() error { _, err := home(); return err },
		Prepare:       prepare,
		Start:         start,
		Ready:         ready,
		Form:          form,
		URL:           func(c *launch.Cluster) string { return "asterixdb://" + api(c) + "/barograph" },
	}
}

func artifact() launch.Artifact {
	return launch.Artifact{
		Name:   "asterixdb-0.9.8",
		Maven:  "org.apache.asterix:asterix-server:0.9.8:zip:binary-assembly",
		SHA256: "efd2fbde87d1214c0190ed51b1daf74f2ddd4ca015c6720e279210999297e210",
		Tree:   "1e9701810c11cbbb6fc6e37abf9b07cd0caefd875032fe1e14255deeb9a14dcc",
	}
}

// tuned returns the settings of the profile tuned, for a node that may use memory bytes.
func tuned(memory int64) map[string]string {
	mib := func(n int64) string { return strconv.FormatInt(max(n>>20, 64), 10) + "MB" }
	return map[string]string{
		heap:                                   strconv.FormatInt(max(memory>>21, 512), 10) + "m",
		"storage.buffercache.size":             mib(memory / 5),
		"storage.memorycomponent.globalbudget": mib(memory / 10),
		"compiler.sortmemory":                  "128MB",
		"compiler.joinmemory":                  "128MB",
		"compiler.groupmemory":                 "128MB",
	}
}

// home finds the unpacked server and Java.
func home() (string, error) {
	dir, err := artifact().Find("java")
	return filepath.Join(dir, "apache-asterixdb-0.9.8"), err
}

func configFile(n *launch.Node) string { return filepath.Join(n.Dir, "asterixdb.conf") }

func nodeID(i int) string { return "nc" + strconv.Itoa(i+1) }

// prepare writes the configuration of all nodes into every node's folder.
func prepare(c *launch.Cluster, n *launch.Node) ([]launch.Command, error) {
	dirs := iodevices(c, n)
	if len(dirs) == 0 {
		return nil, &fault.Error{
			Setting: fmt.Sprintf("%d partitions on %d nodes", len(c.Disks), len(c.Nodes)),
			Problem: "leave a node without a partition",
			Cure:    "name more disks, or more partitions",
		}
	}
	for name := range c.Settings {
		if name != heap && !strings.HasPrefix(name, "storage.") && !strings.HasPrefix(name, "compiler.") {
			return nil, &fault.Error{
				Setting: name,
				Problem: "is not a setting that the lab writes",
				Cure:    "name a setting that begins with storage. or compiler., or " + heap,
			}
		}
	}
	for _, dir := range []string{"txnlog", "coredump", "logs"} {
		dirs = append(dirs, filepath.Join(n.Dir, dir))
	}
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	var b strings.Builder
	for i := range c.Nodes {
		m := &c.Nodes[i]
		fmt.Fprintf(&b, "[nc/%s]\naddress=%s\nncservice.port=-1\ntxn.log.dir=%s\ncore.dump.dir=%s\niodevices=%s\nnc.api.port=%d\n",
			nodeID(i), m.Host, filepath.Join(m.Dir, "txnlog"), filepath.Join(m.Dir, "coredump"), strings.Join(iodevices(c, m), ","), m.Ports["nc"])
		for _, name := range settings(c, false) {
			fmt.Fprintf(&b, "%s=%s\n", name, c.Settings[name])
		}
	}
	cc := &c.Nodes[0]
	fmt.Fprintf(&b, "[nc]\ncommand=asterixnc\ncluster.address=%s\ncluster.port=%d\n", cc.Host, cc.Ports["cluster"])
	fmt.Fprintf(&b, "[cc]\naddress=%s\n", cc.Host)
	for _, port := range []struct{ setting, name string }{
		{"cluster.listen.port", "cluster"},
		{"client.listen.port", "client"},
		{"console.listen.port", "console"},
		{"api.port", "api"},
		{"web.port", "web"},
		{"web.queryinterface.port", "query"},
		{"active.port", "active"},
	} {
		fmt.Fprintf(&b, "%s=%d\n", port.setting, cc.Ports[port.name])
	}
	fmt.Fprintf(&b, "[common]\ndefault.dir=%s\nlog.dir=%s\nlog.level=WARN\n",
		filepath.Join(n.Dir, "default"), filepath.Join(n.Dir, "logs"))
	for _, name := range settings(c, true) {
		fmt.Fprintf(&b, "%s=%s\n", name, c.Settings[name])
	}
	return nil, os.WriteFile(configFile(n), []byte(b.String()), 0o600)
}

// iodevices returns the folders of a node. Each contains one partition of every dataset: one for each of
// its disks, or one in its own folder.
func iodevices(c *launch.Cluster, n *launch.Node) []string {
	if len(c.Disks) == 0 {
		return []string{filepath.Join(n.Dir, "disk")}
	}
	var out []string
	for i := n.Index; i < len(c.Disks); i += len(c.Nodes) {
		out = append(out, filepath.Join(c.Disks[i], "part"+strconv.Itoa(i)))
	}
	return out
}

// settings returns the names of the settings for the cluster, or of those for each node. The server exits if a setting
// is in the other section (asterix-common's StorageProperties and CompilerProperties).
func settings(c *launch.Cluster, ofCluster bool) (out []string) {
	clusterPrefixes := []string{"compiler.", "storage.compression.", "storage.global.", "storage.lsm.bloomfilter."}
	for _, name := range slices.Sorted(maps.Keys(c.Settings)) {
		isOfCluster := slices.ContainsFunc(clusterPrefixes, func(prefix string) bool {
			return strings.HasPrefix(name, prefix)
		})
		if name != heap && isOfCluster == ofCluster {
			out = append(out, name)
		}
	}
	return out
}

// controllerHeap is the heap of the cluster controller, which compiles queries and collects results, and
// stores no data.
const controllerHeap = "512m"

func start(c *launch.Cluster, n *launch.Node) ([]launch.Command, error) {
	dir, err := home()
	if err != nil {
		return nil, err
	}
	size := c.Settings[heap]
	if size == "" {
		size = strconv.FormatInt(max(c.Memory>>22, 512), 10) + "m"
	}
	nc := java(dir, size, "org.apache.hyracks.control.nc.NCDriver", "org.apache.asterix.hyracks.bootstrap.NCApplication", n)
	nc.Args = append(nc.Args, "-node-id", nodeID(n.Index))
	if n.Index > 0 {
		return []launch.Command{nc}, nil
	}
	cc := java(dir, controllerHeap, "org.apache.hyracks.control.cc.CCDriver", "org.apache.asterix.hyracks.bootstrap.CCApplication", n)
	return []launch.Command{cc, nc}, nil
}

// openedPackages are the Java packages that the server accesses by reflection. Without them it does not start on Java
// 17.
var openedPackages = [...]string{ //nolint:gochecknoglobals // a constant table
	"java.base/java.lang", "java.base/java.nio", "java.base/java.util", "java.base/sun.nio.ch", "jdk.management/com.sun.management.internal",
}

// java returns a command that starts the server without its shell script, which needs programs that small systems lack.
func java(dir, heap, driver, app string, n *launch.Node) launch.Command {
	args := []string{"java", "-Xmx" + heap}
	for _, o := range openedPackages {
		args = append(args, "--add-opens="+o+"=ALL-UNNAMED")
	}
	repo := filepath.Join(dir, "repo")
	args = append(args, "-classpath", filepath.Join(dir, "etc")+":"+filepath.Join(repo, "*"),
		"-Dapp.repo="+repo, "-Dapp.home="+dir, "-Dbasedir="+dir, driver, "-app-class", app, "-config-file", configFile(n))
	return launch.Command{Args: args}
}

// api returns the host and port of the query service.
func api(c *launch.Cluster) string { return c.Nodes[0].Address("api") }

// ready checks that the node has joined and, if all nodes have, runs a query: the cluster answers nothing before that.
func ready(ctx context.Context, c *launch.Cluster, n *launch.Node) error {
	k := newClient(api(c), nil)
	defer k.close()
	cluster, err := k.get(ctx, "/admin/cluster")
	if err != nil {
		return err
	}
	state := map[string]string{} // by node
	for _, nc := range gjson.GetBytes(cluster, "ncs").Array() {
		state[nc.Get("node_id").String()] = nc.Get("state").String()
	}
	if s := state[nodeID(n.Index)]; s != "ACTIVE" {
		return fmt.Errorf("the node is %s", cmp.Or(s, "not in the cluster"))
	}
	for i := range c.Nodes {
		if state[nodeID(i)] != "ACTIVE" {
			return nil
		}
	}
	_, err = k.run(ctx, request{text: "SELECT VALUE 1"})
	return err
}

// form waits until the cluster of all nodes answers.
func form(ctx context.Context, c *launch.Cluster) error {
	k := newClient(api(c), nil)
	defer k.close()
	ctx, stop := context.WithTimeout(ctx, formPatience)
	defer stop()
	return engine.Await(ctx, 5*pollInterval, func() error {
		_, err := k.run(ctx, request{text: "SELECT VALUE 1"})
		return err
	})
}

// formPatience is how long running nodes may take to answer as a cluster.
const formPatience = time.Minute
