package enginetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/lab"
)

// EnvRequire lists, separated by commas, the engines (by scheme) and tools that must be installed: a test
// that would skip without them fails.
const EnvRequire = "BAROGRAPH_REQUIRE"

// EnvSkip lists servers and tools whose tests are skipped although they are installed. A second run, with
// the race detector, need not start all of them.
const EnvSkip = "BAROGRAPH_SKIP"

// Installed skips a test whose server is not installed and prints the command that installs it. With
// EnvRequire the test fails instead.
func Installed(t testing.TB, d engine.Driver) {
	t.Helper()
	Needs(t, lab.Servers(&d)[0])
}

// Needs skips a test whose server or tool is not installed; see Installed.
func Needs(t testing.TB, n lab.Need) {
	t.Helper()
	if isListed(EnvSkip, n.Name) {
		t.Skipf("NOT TESTED: %s is excluded by %s", n.Name, EnvSkip)
	}
	err := n.Find()
	if err == nil {
		return
	}
	skip := t.Skipf
	if isListed(EnvRequire, n.Name) {
		skip = t.Fatalf
	}
	skip("NOT TESTED: %s is missing: %v; install it: %s", n.Name, err, lab.InstallLine([]lab.Need{n}))
}

// isListed reports whether a variable's comma-separated list contains a name.
func isListed(env, name string) bool {
	return slices.Contains(strings.Split(os.Getenv(env), ","), name)
}

// Lab starts a temporary server for a test or a benchmark and stops it at the end; see Installed. A child
// process of a crash test gets the URL of its parent's server; there Lab is nil.
func Lab(t testing.TB, d engine.Driver, o lab.Options) *lab.Lab {
	t.Helper()
	if _, child := childJob(t); child {
		return nil
	}
	l := start(t, d, o)
	t.Cleanup(func() {
		printLogs(t, l)
		if err := stop(l); err != nil {
			t.Error(err)
		}
	})
	return l
}

// Servers are the servers that the tests of a package share. Each starts with the first test that needs it
// and stops after the last test of the package. A test that kills its server, or changes its settings, uses
// its own Lab.
type Servers struct {
	up map[string]*lab.Lab // by engine and options
}

// Main runs the tests of a package, and stops the servers. TestMain calls it.
func (s *Servers) Main(m *testing.M) {
	m.Run() // when TestMain returns, the test program exits with this status
	s.End()
}

// End stops the servers.
func (s *Servers) End() {
	var err error
	for _, l := range s.up {
		err = errors.Join(err, stop(l))
	}
	if err != nil {
		panic(err)
	}
}

// Lab returns the server with these options, for tests that run one after another. They must create things
// with different names in it.
func (s *Servers) Lab(t testing.TB, d engine.Driver, o lab.Options) *lab.Lab {
	t.Helper()
	if _, child := childJob(t); child {
		return nil
	}
	key := fmt.Sprintf("%s %+v", d.Scheme, o)
	if s.up[key] == nil {
		if s.up == nil {
			s.up = map[string]*lab.Lab{}
		}
		s.up[key] = start(t, d, o)
	}
	t.Cleanup(func() { printLogs(t, s.up[key]) })
	return s.up[key]
}

// labs returns the folder of the servers that tests start.
func labs() string {
	return filepath.Join(os.TempDir(), "barograph-labs-"+strconv.Itoa(os.Geteuid()))
}

// QuickJava is a variable for lab.Options.Environment: Java compiles code once and simply, and loads classes without
// verification. The servers of tests run too short for optimized code, and their files are compared with checksums.
const QuickJava = "JAVA_TOOL_OPTIONS=-XX:TieredStopAtLevel=1 -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"

// start starts a server in a new folder.
func start(t testing.TB, d engine.Driver, o lab.Options) *lab.Lab {
	t.Helper()
	Installed(t, d)
	all := labs()
	if err := lab.Sweep(all); err != nil { // removes the servers of killed tests
		t.Logf("the labs of earlier tests: %v", err)
	}
	var err error
	for i := 0; o.Dir == "" && i < 10; i++ { // another test program may remove the folder when it ends
		if err = os.MkdirAll(all, 0o755); err == nil {
			o.Dir, err = os.MkdirTemp(all, d.Scheme+"-") //nolint:usetesting // a killed test leaves it for the next one to sweep
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	o.Owned = true
	if _, test := t.(*testing.T); test { // a benchmark measures a server as packaged
		o.Environment = append([]string{QuickJava}, o.Environment...)
	}
	l, err := lab.Up(context.WithoutCancel(t.Context()), &d, o)
	if err != nil {
		t.Fatal(err)
	}
	s := l.State()
	for _, pid := range s.PIDs() { // every user of this machine can read the arguments of its processes
		args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // not on every system
		if s.Cluster.Password != "" && strings.Contains(string(args), s.Cluster.Password) {
			t.Errorf("the arguments of process %d contain the server's password", pid)
		}
	}
	return l
}

// printLogs prints the server's log if the test failed.
func printLogs(t testing.TB, l *lab.Lab) {
	if !t.Failed() {
		return
	}
	for i := range l.State().Cluster.Nodes {
		t.Logf("the end of the log of %s, node %d:\n%s", l.State().Engine, i+1, l.Log(i))
	}
}

// stop stops a server and removes its remains.
func stop(l *lab.Lab) error {
	err := l.Down()
	_ = os.Remove(labs()) // an error: the labs of other test programs are in it
	return err
}

// Disks makes n empty folders that represent disks. A server with another account has access to them.
func Disks(t *testing.T, n int) (out []string) {
	t.Helper()
	for range n {
		dir, err := os.MkdirTemp("", "barograph-disk-") //nolint:usetesting // other accounts have no access to the parent of t.TempDir
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := os.RemoveAll(dir); err != nil {
				t.Error(err)
			}
		})
		if err := os.Chmod(dir, 0o711); err != nil {
			t.Fatal(err)
		}
		out = append(out, dir)
	}
	return out
}
