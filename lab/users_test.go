package lab_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/lab"
)

// TestOtherUsers: other users can neither read nor change a lab, and Up refuses a parent folder
// that they own or can write. Servers do not inherit Barograph's environment, and get the variables
// of Options.
func TestOtherUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED: a process of another user needs root")
	}
	t.Setenv("LAB_TEST_SECRET", "hunter2")
	parent := filepath.Dir(t.TempDir())
	if err := os.Chmod(parent, 0o755); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(parent, "lab")
	l := up(t, driver(), lab.Options{Dir: dir, Environment: []string{"LAB_TEST_MORE=more"}})
	if text, err := os.ReadFile(filepath.Join(dir, engine.URLFile)); err != nil || string(text) != l.URL()+"\n" {
		t.Errorf("the file of the URL contains %q, %v", text, err)
	}
	const other = 65534 // the user nobody
	for _, try := range []string{
		"cat url", "cat lab.json", "cat node1.log", "ls", "ls node1",
		"ln -s /etc/x node1.log", "ln -sf /etc/x url", "touch ../lab2",
	} {
		c := exec.CommandContext(t.Context(), "sh", "-c", try)
		c.Dir = dir
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: other, Gid: other}}
		if out, err := c.CombinedOutput(); err == nil {
			t.Errorf("%s: %s", try, out)
		} else if _, ran := errors.AsType[*exec.ExitError](err); !ran {
			t.Error(err)
		}
	}
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", l.State().Nodes[0].Processes[0].PID))
	if err != nil || strings.Contains(string(environ), "hunter2") || !strings.Contains(string(environ), "PATH=") ||
		!strings.Contains(string(environ), "LAB_TEST_MORE=more") {
		t.Errorf("the server's environment is %q, %v", environ, err)
	}
	for name, change := range map[string]func(string) error{
		"theirs":          func(dir string) error { return os.Chown(dir, other, other) },
		"writable by all": func(dir string) error { return os.Chmod(dir, 0o777) },
		"writable by a group": func(dir string) error {
			return errors.Join(os.Chown(dir, os.Geteuid(), other), os.Chmod(dir, 0o775))
		},
	} {
		foreign := filepath.Join(parent, name)
		if err := errors.Join(os.Mkdir(foreign, 0o755), change(foreign)); err != nil {
			t.Fatal(err)
		}
		_, err := lab.Up(t.Context(), driver(), lab.Options{Dir: filepath.Join(foreign, "lab")})
		if err == nil || !strings.Contains(err.Error(), "--lab-dir") {
			t.Errorf("Up used a folder that is %s: %v", name, err)
		}
	}
	theirs := filepath.Join(parent, "their lab")
	if err := errors.Join(os.Mkdir(theirs, 0o755), os.Chown(theirs, other, other)); err != nil {
		t.Fatal(err)
	}
	if _, err := lab.Up(t.Context(), driver(), lab.Options{Dir: theirs}); err == nil || !strings.Contains(err.Error(), "another user") {
		t.Errorf("Up used another user's folder: %v", err)
	}
	own := filepath.Join(parent, "of the own group")
	if err := errors.Join(os.Mkdir(own, 0o755), os.Chmod(own, 0o775)); err != nil {
		t.Fatal(err)
	}
	up(t, driver(), lab.Options{Dir: filepath.Join(own, "lab")})
}

// TestUmask: the account of a server reaches its folder, although the umask gives other accounts no rights.
func TestUmask(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED: only root starts servers with accounts")
	}
	parent := filepath.Dir(t.TempDir())
	if err := os.Chmod(parent, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", filepath.Join(parent, "tmp")) // the lab opens other folders for the account only if they are in it
	defer syscall.Umask(syscall.Umask(0o077))
	d := driver()
	d.Server.User = "nobody"
	d.Server.Start = func(*launch.Cluster, *launch.Node) ([]launch.Command, error) {
		return []launch.Command{{Args: []string{"sleep", "1000"}}}, nil
	}
	d.Server.Ready = func(context.Context, *launch.Cluster, *launch.Node) error { return nil }
	up(t, d, lab.Options{Dir: filepath.Join(parent, "a", "folder of labs", "stub")})
}
