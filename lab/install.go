package lab

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"barograph/engine"
	"barograph/fault"
)

// InstallCommands are what installs the servers on Debian and Ubuntu; none
// where every server is there already.
func InstallCommands(drivers []*engine.Driver) [][]string {
	var packages []string
	for _, d := range drivers {
		if d.Server != nil && d.Server.Find() != nil {
			packages = append(packages, d.Server.Packages...)
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

// Install runs InstallCommands, whose output goes to w, and looks whether the
// servers are there now.
func Install(ctx context.Context, drivers []*engine.Driver, w io.Writer) error {
	commands := InstallCommands(drivers)
	if len(commands) > 0 && os.Geteuid() != 0 {
		return &fault.Error{Setting: "lab install", Problem: "needs root", Cure: "run as root: " + InstallLine(drivers)}
	}
	for _, args := range commands {
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Stdout, cmd.Stderr = w, w
		if err := cmd.Run(); err != nil {
			return &fault.Error{Setting: strings.Join(args, " "), Err: err, Cure: "labs install on Debian and Ubuntu; elsewhere install the server yourself"}
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

// InstallLine is the commands as one line for a shell; "" where there is nothing to do.
func InstallLine(drivers []*engine.Driver) string {
	commands := InstallCommands(drivers)
	lines := make([]string, len(commands))
	for i, args := range commands {
		lines[i] = strings.Join(args, " ")
	}
	return strings.Join(lines, " && ")
}
