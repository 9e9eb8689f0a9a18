package launch_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/internal/fault"
)

// Checksums of sha256sum.
const (
	sumOfA = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb" // printf a | sha256sum

	// printf a > x.jar; printf b > y.jar; LC_ALL=C sha256sum *.jar | sha256sum
	sumOfJars = "083372255edd521a90048977cc5f6b264ee1df2e2fb229688cc1bc27eec5ae61"

	// for f in Z a-1 a/1 bz ca; do printf $f > $f; done; then the command in the comment of TreeSum
	sumOfTree = "60cde78039a5cbce7e1bebfb12c8f6e7db4d15d0111790cb40d5345717d1f8c2"
)

// install makes the folder of artifacts, in which the folder name has these files, and returns the folder name.
func install(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	all := t.TempDir()
	t.Setenv(launch.EnvArtifacts, all)
	for file, text := range files {
		path := filepath.Join(all, name, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(all, name)
}

// TestDir: artifacts are in the folder of the environment variable, otherwise in the user's cache.
func TestDir(t *testing.T) {
	a := launch.Artifact{Name: "x-1"}
	t.Setenv(launch.EnvArtifacts, "/artifacts")
	if dir, err := a.Dir(); err != nil || dir != filepath.FromSlash("/artifacts/x-1") {
		t.Errorf("%s, %v", dir, err)
	}
	t.Setenv(launch.EnvArtifacts, "")
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip("NOT TESTED: this user has no cache folder")
	}
	if dir, err := a.Dir(); err != nil || dir != filepath.Join(cache, "barograph", "artifacts", "x-1") {
		t.Errorf("%s, %v", dir, err)
	}
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
		t.Setenv(name, "")
	}
	if dir, err := a.Dir(); err == nil || a.Installed() || a.Check() == nil {
		t.Errorf("without a cache folder: %s", dir)
	}
}

// TestFind: an artifact is found if its folder exists and all programs that it needs are installed.
func TestFind(t *testing.T) {
	dir := install(t, "x-1", map[string]string{"bin/tool": ""})
	t.Setenv("PATH", filepath.Join(dir, "bin"))
	if err := os.Chmod(filepath.Join(dir, "bin", "tool"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(dir), "file-1"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, says string
		programs   []string
		installed  bool
	}{
		{"x-1", "", nil, true},
		{"x-1", "", []string{"tool"}, true},
		{"x-1", "barograph-none is not installed", []string{"tool", "barograph-none"}, true},
		{"y-1", "y-1 does not exist", []string{"tool"}, false},
		{"file-1", "file-1 does not exist", nil, false}, // an artifact is a folder
	} {
		a := launch.Artifact{Name: c.name}
		if a.Installed() != c.installed || a.Program() != c.name {
			t.Errorf("%s is installed: %t, its program: %s", c.name, a.Installed(), a.Program())
		}
		got, err := a.Find(c.programs...)
		if c.says == "" && (err != nil || got != dir) || c.says != "" && (err == nil || !strings.HasSuffix(err.Error(), c.says)) {
			t.Errorf("%s with %q: %s, %v; want %q", c.name, c.programs, got, err, c.says)
		}
	}
}

// TestChecksOfJars: one jar has the checksum of its bytes, a folder of jars that of the list which sha256sum prints.
func TestChecksOfJars(t *testing.T) {
	one, jars := map[string]string{"x.jar": "a"}, map[string]string{"x.jar": "a", "y.jar": "b"}
	for name, c := range map[string]struct {
		artifact launch.Artifact
		files    map[string]string
		says     string
	}{
		"one jar":            {launch.Artifact{SHA256: sumOfA}, one, ""},
		"another jar":        {launch.Artifact{SHA256: sumOfA}, map[string]string{"x.jar": "b"}, "its SHA-256 is "},
		"one jar of two":     {launch.Artifact{SHA256: sumOfA}, jars, "contains 2 files"},
		"no folder":          {launch.Artifact{SHA256: sumOfA}, nil, "no such file"},
		"a folder of jars":   {launch.Artifact{SHA256: sumOfJars, Jars: true}, jars, ""},
		"a jar is missing":   {launch.Artifact{SHA256: sumOfJars, Jars: true}, one, "not " + sumOfJars},
		"no folder of jars":  {launch.Artifact{SHA256: sumOfJars, Jars: true}, nil, "no such file"},
		"names in any order": {launch.Artifact{Tree: sumOfTree}, map[string]string{"ca": "ca", "a/1": "a/1", "bz": "bz", "a-1": "a-1", "Z": "Z"}, ""},
	} {
		c.artifact.Name = "x-1"
		dir := install(t, "x-1", c.files)
		err := c.artifact.Check()
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
		if f, ok := errors.AsType[*fault.Error](err); ok && (f.File != dir || f.Cure == "" || !errors.Is(err, launch.ErrChanged)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCheckFetched: the checksum of a fetched file is its own, that of a jar among Jars is that of its folder.
func TestCheckFetched(t *testing.T) {
	dir := install(t, "x-1", map[string]string{"x.jar": "a", "y.jar": "b"})
	x, y, none := filepath.Join(dir, "x.jar"), filepath.Join(dir, "y.jar"), filepath.Join(dir, "none", "z.jar")
	for _, c := range []struct {
		artifact launch.Artifact
		file     string
		ok       bool
	}{
		{launch.Artifact{SHA256: sumOfA}, x, true},
		{launch.Artifact{SHA256: sumOfA}, y, false},
		{launch.Artifact{SHA256: sumOfA}, none, false},
		{launch.Artifact{SHA256: sumOfA}, dir, false},
		{launch.Artifact{SHA256: sumOfJars, Jars: true}, y, true},
		{launch.Artifact{SHA256: sumOfA, Jars: true}, x, false},
		{launch.Artifact{SHA256: sumOfJars, Jars: true}, none, false},
	} {
		if err := c.artifact.CheckFetched(c.file); (err == nil) != c.ok {
			t.Errorf("%+v, %s: %v", c.artifact, c.file, err)
		}
	}
}

// TestParameters: a cluster with TLS adds its CA to the parameters of the engine.
func TestParameters(t *testing.T) {
	for _, c := range []struct {
		tls  bool
		own  []string
		want string
	}{
		{false, nil, ""},
		{false, []string{"a=1", "b=2"}, "?a=1&b=2"},
		{true, nil, "?tls_ca=%2Fmy+lab%2Fca.pem"},
		{true, []string{"a=1"}, "?a=1&tls_ca=%2Fmy+lab%2Fca.pem"},
	} {
		cluster := launch.Cluster{Dir: "/my lab", TLS: c.tls}
		if got := cluster.Parameters(c.own...); got != c.want {
			t.Errorf("TLS %t, %q: %s, want %s", c.tls, c.own, got, c.want)
		}
	}
	n := launch.Node{Dir: "/lab/node1", Host: "::1", Ports: map[string]int{"sql": 5432}}
	if n.Certificate() != "/lab/node1.pem" || n.Address("sql") != "[::1]:5432" {
		t.Errorf("%s, %s", n.Certificate(), n.Address("sql"))
	}
}

// TestIsolation: isolations with the same limits are the same. Their text names each limit with its unit.
func TestIsolation(t *testing.T) {
	limits := launch.Isolation{Name: "a", Subnet: "10.213.7.0/24", CPUs: 1.5, Memory: 512 << 20, Latency: 2e6}
	other := limits
	other.Name, other.Subnet = "b", "10.213.8.0/24"
	cpus, memory, latency := limits, limits, limits
	cpus.CPUs, memory.Memory, latency.Latency = 2, 1<<20, 1
	var none *launch.Isolation
	if !limits.Equal(&other) || !none.Equal(nil) {
		t.Error("equal isolations differ")
	}
	for _, o := range []*launch.Isolation{nil, &cpus, &memory, &latency} {
		if limits.Equal(o) || o.Equal(&limits) {
			t.Errorf("%+v and %+v are equal", limits, o)
		}
	}
	for want, i := range map[string]*launch.Isolation{
		"nodes share this machine":                                    nil,
		"nodes in network namespaces and control groups of their own": {},
		"nodes in network namespaces and control groups of their own, 1.5 cores each, 512 MiB each, 2ms later on the wire": &limits,
	} {
		if got := i.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
