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

// EnvRequire lists the engines, by scheme, and tools, with commas between, whose
// servers must be there: a test that would skip for the lack of one fails.
const EnvRequire = "BAROGRAPH_REQUIRE"

// EnvSkip lists servers and tools whose tests are left out although they are
// installed: a second run, with the race detector, need not start them all.
const EnvSkip = "BAROGRAPH_SKIP"

// Installed skips a test whose server is not installed, with the line that
// installs it, or fails it under EnvRequire.
func Installed(t testing.TB, d engine.Driver) {
	t.Helper()
	Needs(t, lab.Servers(&d)[0])
}

// Needs skips a test whose server or tool is not installed; see Installed.
func Needs(t testing.TB, n lab.Need) {
	t.Helper()
	if listed(EnvSkip, n.Name) {
		t.Skipf("NOT TESTED: %s is left out by %s", n.Name, EnvSkip)
	}
	err := n.Find()
	if err == nil {
		return
	}
	skip := t.Skipf
	if listed(EnvRequire, n.Name) {
		skip = t.Fatalf
	}
	skip("NOT TESTED: %s is missing: %v; install it: %s", n.Name, err, lab.InstallLine([]lab.Need{n}))
}

// listed reports whether a variable's list, with commas between, has a name.
func listed(env, name string) bool {
	return slices.Contains(strings.Split(os.Getenv(env), ","), name)
}

// Lab starts a throwaway server for a test or a benchmark, which ends with it;
// see Installed. A child process of a crash test is given its
// server by a URL: there Lab is nil.
func Lab(t testing.TB, d engine.Driver, o lab.Options) *lab.Lab {
	t.Helper()
	if _, child := childJob(t); child {
		return nil
	}
	l := start(t, d, o)
	t.Cleanup(func() {
		tellLogs(t, l)
		if err := stop(l); err != nil {
			t.Error(err)
		}
	})
	return l
}

// Servers are those that the tests of a package share: each begins with the
// first test that asks for it and ends with the last test of all. A test that
// kills its server, or changes its settings, takes a Lab of its own.
type Servers struct {
	up map[string]*lab.Lab // by engine and options
}

// Main runs the tests of a package, and ends the servers; it is called from TestMain.
func (s *Servers) Main(m *testing.M) {
	m.Run() // the test program exits with what it returns
	s.End()
}

// End ends the servers.
func (s *Servers) End() {
	for _, l := range s.up {
		if err := stop(l); err != nil {
			panic(err)
		}
	}
}

// Lab is the server of these options, for tests that run one after another.
// Names of what they make in it must differ.
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
	t.Cleanup(func() { tellLogs(t, s.up[key]) })
	return s.up[key]
}

// labs is the folder of the servers that tests start.
func labs() string {
	return filepath.Join(os.TempDir(), "barograph-labs-"+strconv.Itoa(os.Geteuid()))
}

// start starts a server in a new folder.
func start(t testing.TB, d engine.Driver, o lab.Options) *lab.Lab {
	t.Helper()
	Installed(t, d)
	all := labs()
	if err := lab.Sweep(all); err != nil { // of tests that were killed
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
	l, err := lab.Up(context.WithoutCancel(t.Context()), &d, o)
	if err != nil {
		t.Fatal(err)
	}
	s := l.State()
	for _, pid := range s.PIDs() { // every user of this machine can read the arguments of its processes
		if args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); s.Cluster.Password != "" && strings.Contains(string(args), s.Cluster.Password) {
			t.Errorf("the arguments of process %d hold the server's password", pid)
		}
	}
	return l
}

// tellLogs shows what a server said to a test that failed.
func tellLogs(t testing.TB, l *lab.Lab) {
	if !t.Failed() {
		return
	}
	for i := range l.State().Cluster.Nodes {
		t.Logf("the end of the log of %s, node %d:\n%s", l.State().Engine, i+1, l.Log(i))
	}
}

// stop ends a server and removes what is left of it.
func stop(l *lab.Lab) error {
	err := l.Down()
	_ = os.Remove(labs()) // the labs of other test programs may be in it
	return err
}

// Disks makes n empty folders that stand for disks, which a server of another
// account can reach.
func Disks(t *testing.T, n int) (out []string) {
	t.Helper()
	for range n {
		dir, err := os.MkdirTemp("", "barograph-disk-") //nolint:usetesting // the folder above t.TempDir is closed to others
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
