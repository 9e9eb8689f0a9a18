package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/flavour"
)

const (
	mebi = 1 << 20
	gibi = 1 << 30
)

// server tells the lab how to start PostgreSQL.
func server() *engine.Server {
	return &engine.Server{
		Packages: []string{"postgresql"},
		User:     "postgres",
		Nodes:    []int{1},
		Ports:    []string{"sql"},
		Profiles: []engine.Profile{
			{Name: "default", Summary: "the settings of the package"},
			{Name: "tuned", Summary: "memory for the machine, a long log between checkpoints, no just-in-time compiler", Settings: tuned},
		},
		Stop:    syscall.SIGINT, // fast: sessions are ended, data are written
		Find:    func() error { _, err := programs(); return err },
		Prepare: prepare,
		Start: func(_ *engine.Cluster, n *engine.Node) ([]engine.Command, error) {
			bin, err := programs()
			err = errors.Join(err, forgetKilled(n))
			return []engine.Command{{Args: []string{filepath.Join(bin, "postgres"), "-D", data(n), "-c", "config_file=" + config(n)}}}, err
		},
		Ready: ready,
		URL:   func(c *engine.Cluster) string { return address(c, &c.Nodes[0]) },
	}
}

// forgetKilled removes the note of a postmaster that was killed, as the lab knows
// of none that runs: until its parent reaps it, PostgreSQL takes the zombie for
// one that does. What it left in shared memory is looked for in another way.
func forgetKilled(n *engine.Node) error {
	dir, err := os.OpenRoot(n.Dir) // no link of the server's account leads out of it
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // only a handle
	if err := dir.Remove(filepath.Join(filepath.Base(data(n)), "postmaster.pid")); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// tuned is what PostgreSQL's manual and its experts advise for a machine that
// loads in bulk and answers few, large questions. Nothing of it gives up
// durability.
func tuned(memory int64) map[string]string {
	mib := func(n int64) string { return strconv.FormatInt(n/mebi, 10) + "MB" }
	return map[string]string{
		"shared_buffers":               mib(min(memory/4, 8*gibi)),
		"effective_cache_size":         mib(memory / 2),
		"work_mem":                     mib(min(max(memory/256, 4*mebi), 64*mebi)),
		"maintenance_work_mem":         mib(min(max(memory/32, 64*mebi), gibi)),
		"wal_buffers":                  "16MB",
		"max_wal_size":                 "4GB",
		"checkpoint_completion_target": "0.9",
		"random_page_cost":             "1.1", // solid-state disks
		"jit":                          "off",
		"default_toast_compression":    "lz4", // of documents; see docs/decisions/0005-postgres.md
	}
}

// programs is the folder of the newest PostgreSQL that is installed.
func programs() (string, error) {
	names, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	newest, bin := -1.0, ""
	for _, name := range names {
		dir := filepath.Dir(name)
		if v, err := strconv.ParseFloat(filepath.Base(filepath.Dir(dir)), 64); err == nil && v > newest {
			newest, bin = v, dir
		}
	}
	if bin != "" {
		return bin, nil
	}
	if name, err := exec.LookPath("initdb"); err == nil { // systems that are not Debian
		if name, err = filepath.EvalSymlinks(name); err == nil {
			return filepath.Dir(name), nil
		}
	}
	return "", &fault.Error{Setting: "PostgreSQL", Problem: "is not installed", Err: errors.New("no initdb in /usr/lib/postgresql/*/bin or on the path"), Cure: "`barograph lab install postgres`"}
}

func data(n *engine.Node) string   { return filepath.Join(n.Dir, "data") }
func config(n *engine.Node) string { return filepath.Join(n.Dir, "postgresql.conf") }

func address(c *engine.Cluster, n *engine.Node) string {
	return fmt.Sprintf("postgres://postgres:%s@%s:%d/postgres", c.Password, n.Host, n.Ports["sql"])
}

// prepare writes the settings, and the password: every user of this machine
// reaches loopback.
func prepare(c *engine.Cluster, n *engine.Node) ([]engine.Command, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "cluster_name = 'barograph lab, profile %s'\n", c.Profile) // goes into the run folder with the settings
	fmt.Fprintf(&b, "listen_addresses = '%s'\nport = %d\nunix_socket_directories = ''\n", n.Host, n.Ports["sql"])
	for _, name := range slices.Sorted(maps.Keys(c.Settings)) {
		fmt.Fprintf(&b, "%s = %s\n", name, flavour.Quote(c.Settings[name]))
	}
	password := filepath.Join(n.Dir, "password")
	return []engine.Command{{Args: []string{
		filepath.Join(bin, "initdb"), "-D", data(n), "-U", "postgres", "--auth=scram-sha-256", "--pwfile=" + password, "-E", "UTF8", "--locale=C",
	}}}, errors.Join(os.WriteFile(config(n), []byte(b.String()), 0o600), os.WriteFile(password, []byte(c.Password+"\n"), 0o600))
}

func ready(ctx context.Context, c *engine.Cluster, n *engine.Node) error {
	conn, err := pgx.Connect(ctx, address(c, n))
	if err != nil {
		return err
	}
	defer conn.Close(ctx) //nolint:errcheck // the answer is there
	var one int
	return conn.QueryRow(ctx, "SELECT 1").Scan(&one)
}
