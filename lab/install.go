package lab

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"barograph/engine"
	"barograph/fault"
)

// InstallCommands are what installs the packages of the servers on Debian and
// Ubuntu; none where every server is there already. What comes from a language
// registry is fetched by Install itself.
func InstallCommands(drivers []*engine.Driver) [][]string {
	var packages []string
	add := func(names ...string) {
		for _, n := range names {
			if !slices.Contains(packages, n) {
				packages = append(packages, n)
			}
		}
	}
	for _, d := range drivers {
		if d.Server == nil || d.Server.Find() == nil {
			continue
		}
		add(d.Server.Packages...)
		if slices.ContainsFunc(d.Server.Artifacts, func(a engine.Artifact) bool { return a.Maven != "" }) { // Maven fetches them, and Java runs them
			if _, err := exec.LookPath("java"); err != nil {
				add("default-jre-headless")
			}
			if _, err := exec.LookPath("mvn"); err != nil {
				add("maven")
			}
		}
		if slices.ContainsFunc(d.Server.Artifacts, func(a engine.Artifact) bool { return a.Wheel != "" }) {
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
func missing(drivers []*engine.Driver) []engine.Artifact {
	var out []engine.Artifact
	for _, d := range drivers {
		if d.Server == nil {
			continue
		}
		for _, a := range d.Server.Artifacts {
			if !a.Installed() {
				out = append(out, a)
			}
		}
	}
	return out
}

// Install runs InstallCommands, whose output goes to w, fetches artifacts, and
// looks whether the servers are there now.
func Install(ctx context.Context, drivers []*engine.Driver, w io.Writer) error {
	commands := InstallCommands(drivers)
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
	for _, a := range missing(drivers) {
		fmt.Fprintf(w, "fetching %s\n", a.Name)
		if err := fetch(ctx, a, w); err != nil {
			return err
		}
	}
	for _, d := range drivers {
		if d.Server == nil {
			continue
		}
		if err := d.Server.Find(); err != nil {
			return fmt.Errorf("%s was installed, but: %w", d.Scheme, err)
		}
	}
	return nil
}

// InstallLine is what a shell has to run to have the servers; "" where they
// are all there.
func InstallLine(drivers []*engine.Driver) string {
	commands := InstallCommands(drivers)
	if len(missing(drivers)) > 0 {
		args := []string{"barograph", "lab", "install", "--yes"}
		for _, d := range drivers {
			if len(missing([]*engine.Driver{d})) > 0 {
				args = append(args, d.Scheme)
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
