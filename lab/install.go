package lab

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
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

// Servers are what the servers of engines need; an embedded engine needs nothing.
func Servers(drivers ...*engine.Driver) []Need {
	var out []Need
	for _, d := range drivers {
		if s := d.Server; s != nil {
			out = append(out, Need{Name: d.Scheme, Packages: s.Packages, Artifacts: s.Artifacts, Find: s.Find})
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
