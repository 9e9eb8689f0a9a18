package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/fault"
)

// Need is what a server, or a tool beside the servers, needs on this machine.
type Need struct {
	Name      string            // as `barograph lab install` takes it
	Packages  []string          // of Debian and Ubuntu
	Artifacts []engine.Artifact // of a language registry
	Find      func() error      // looks for the programs; its error names what is missing
}

// Servers are what the servers and libraries of engines need; most embedded
// engines need nothing.
func Servers(drivers ...*engine.Driver) []Need {
	var out []Need
	for _, d := range drivers {
		if s := d.Server; s != nil {
			out = append(out, Need{Name: d.Scheme, Packages: s.Packages, Artifacts: s.Artifacts, Find: s.Find})
		}
		if l := d.Library; l != nil {
			out = append(out, Need{Name: d.Scheme, Artifacts: l.Artifacts, Find: l.Find})
		}
	}
	return out
}

// InstallCommands are what installs the packages that are needed on Debian and
// Ubuntu; none where everything is there already. What comes from a language
// registry is fetched by Install itself.
func InstallCommands(needs []Need) [][]string {
	var packages []string
	add := func(names ...string) {
		for _, n := range names {
			if !slices.Contains(packages, n) {
				packages = append(packages, n)
			}
		}
	}
	for _, n := range needs {
		if n.Find() == nil {
			continue
		}
		add(n.Packages...)
		if slices.ContainsFunc(n.Artifacts, func(a engine.Artifact) bool { return a.Maven != "" }) { // Maven fetches them, and Java runs them
			if _, err := exec.LookPath("java"); err != nil {
				add("default-jre-headless")
			}
			if _, err := exec.LookPath("mvn"); err != nil {
				add("maven")
			}
		}
		if slices.ContainsFunc(n.Artifacts, func(a engine.Artifact) bool { return a.Wheel != "" }) {
			if _, err := exec.LookPath("pip3"); err != nil {
				add("python3-pip")
			}
		}
		if slices.ContainsFunc(n.Artifacts, func(a engine.Artifact) bool { return a.NPM != "" }) {
			if _, err := exec.LookPath("npm"); err != nil {
				add("npm")
			}
		}
	}
	if len(packages) == 0 {
		return nil
	}
	return [][]string{
		{"apt-get", "update"},
		append([]string{"env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "--no-install-recommends"}, packages...),
	}
}

// missing are the artifacts that Install has to fetch.
func missing(needs ...Need) []engine.Artifact {
	var out []engine.Artifact
	for _, n := range needs {
		for _, a := range n.Artifacts {
			if !a.Installed() {
				out = append(out, a)
			}
		}
	}
	return out
}

// Install runs InstallCommands, whose output goes to w, fetches artifacts, and
// looks whether everything is there now.
func Install(ctx context.Context, needs []Need, w io.Writer) error {
	commands := InstallCommands(needs)
	if len(commands) > 0 && os.Geteuid() != 0 {
		return &fault.Error{Setting: "lab install", Problem: "needs root", Cure: "run as root: " + shellLine(commands)}
	}
	for _, args := range commands {
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Stdout, cmd.Stderr = w, w
		if err := cmd.Run(); err != nil {
			return &fault.Error{Setting: strings.Join(args, " "), Err: err, Cure: "labs install on Debian and Ubuntu; elsewhere install the server yourself"}
		}
	}
	for _, a := range missing(needs...) {
		fmt.Fprintf(w, "fetching %s\n", a.Name)
		if err := fetch(ctx, a, w); err != nil {
			return err
		}
	}
	for _, n := range needs {
		if err := n.Find(); err != nil {
			return fmt.Errorf("%s is still missing: %w", n.Name, err)
		}
	}
	return nil
}

// InstallLine is what a shell has to run to have everything; "" where it is all
// there.
func InstallLine(needs []Need) string {
	commands := InstallCommands(needs)
	if len(missing(needs...)) > 0 {
		args := []string{"barograph", "lab", "install", "--yes"}
		for _, n := range needs {
			if len(missing(n)) > 0 {
				args = append(args, n.Name)
			}
		}
		commands = append(commands, args)
	}
	return shellLine(commands)
}

func shellLine(commands [][]string) string {
	lines := make([]string, len(commands))
	for i, args := range commands {
		lines[i] = strings.Join(args, " ")
	}
	return strings.Join(lines, " && ")
}

// TPCGenName is how users name the generator of TPC-DS.
const TPCGenName = "tpcgen"

// tpcgenVersion is the one release that is taken: another may make other rows.
const tpcgenVersion = "4.0.0"

// TPCGen is the generator of TPC-DS whose rows are those of the TPC's own kit,
// tpcgen-cli (github.com/datafusion-contrib/tpcgen-rs, Apache-2.0). It comes
// from the Python package index as a program that needs no Python, or is found
// on the PATH.
func TPCGen() Need {
	n := Need{Name: TPCGenName, Find: func() error { _, err := TPCGenProgram(); return err }}
	if _, onPath := tpcgenOnPath(); onPath != nil {
		if a, ok := tpcgenWheel(runtime.GOOS, runtime.GOARCH); ok {
			n.Artifacts = []engine.Artifact{a}
		}
	}
	return n
}

// TPCGenProgram is the program's path: that which was installed, or else the
// same version on the PATH.
func TPCGenProgram() (string, error) {
	a, offered := tpcgenWheel(runtime.GOOS, runtime.GOARCH)
	if offered && a.Installed() {
		dir, err := a.Dir()
		if err != nil {
			return "", err
		}
		path := filepath.Join(dir, "tpcgen_cli-"+tpcgenVersion+".data", "scripts", "tpcgen-cli")
		if runtime.GOOS == "windows" {
			path += ".exe"
		}
		_, err = os.Stat(path)
		return path, err
	}
	path, err := tpcgenOnPath()
	if err == nil {
		return path, nil
	}
	cure := "`barograph lab install --yes " + TPCGenName + "`"
	if !offered {
		cure = "there is no wheel for " + runtime.GOOS + " on " + runtime.GOARCH + ": `cargo install tpcgen-cli --version " + tpcgenVersion + "`, and have it on the PATH"
	}
	return "", &fault.Error{Setting: "tpcgen-cli " + tpcgenVersion, Problem: "is not installed", Err: err, Cure: cure}
}

// tpcgenOnPath looks for the right version on the PATH.
func tpcgenOnPath() (string, error) {
	path, err := exec.LookPath("tpcgen-cli")
	if err != nil {
		return "", err
	}
	text, err := exec.Command(path, "--version").Output() //nolint:noctx // answers at once
	if err != nil {
		return "", err
	}
	if got := string(bytes.TrimSpace(text)); got != "tpcgen-cli "+tpcgenVersion {
		return "", errors.New(path + " is " + strings.TrimPrefix(got, "tpcgen-cli "))
	}
	return path, nil
}

// tpcgenWheel is the artifact for a kind of machine. Linux's is the one for
// glibc, which Barograph needs itself.
func tpcgenWheel(goos, arch string) (engine.Artifact, bool) {
	sums := map[string]string{
		"linux/amd64":   "490d693dad29ddc4ad6a41f96932a7ddd7b13b04546a54f8dd9c0468648aa17e",
		"linux/arm64":   "2fb311272eb71f99156870d2177164823a4a39730982be9bc2448af8da84c96e",
		"darwin/amd64":  "e011f8a1ecdaf560901fe2d8a795ca00f9e7d3e7d0187247604e59c1e63e240a",
		"darwin/arm64":  "2913936c31b6a28dd171af2e394f73b2c563f75f41154615813ed9b2d3988bf2",
		"windows/amd64": "469d0a5a6797fa6e98d51a12ef7d16afa7b6f9622d3eb4805acc585725fcd25b",
	}
	sum, ok := sums[goos+"/"+arch]
	return engine.Artifact{Name: "tpcgen-cli-" + tpcgenVersion, Wheel: "tpcgen-cli==" + tpcgenVersion, SHA256: sum}, ok
}
